// Fingers: tap, drag, pinch.
import { expect, test, type CDPSession } from '@playwright/test';
import { viewAfter, pointAt } from './page.ts';
import { openSample } from './support.ts';

test.use({ hasTouch: true, viewport: { width: 390, height: 844 }, deviceScaleFactor: 3 });

interface Finger {
  x: number;
  y: number;
}
async function move(cdp: CDPSession, from: Finger[], to: Finger[]): Promise<void> {
  const at = (part: number): Finger[] =>
    from.map(({ x, y }, i) => ({ x: x + (to[i]!.x - x) * part, y: y + (to[i]!.y - y) * part }));
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(0) });
  for (const part of [0.25, 0.5, 0.75, 1])
    await cdp.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(part) });
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}

test('a tap pins the block under it', async ({ page }) => {
  await openSample(page);
  await page.locator('.plot').scrollIntoViewIfNeeded(); // the answer comes before it
  const at = await pointAt(page, 0.5, 0.02);
  await page.touchscreen.tap(at.x, at.y);
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeVisible();
});

test('a pinch zooms both ways, a drag moves', async ({ page }) => {
  const all = await openSample(page);
  await page.locator('.plot').scrollIntoViewIfNeeded();
  const cdp = await page.context().newCDPSession(page);
  const middle = await pointAt(page, 0.5, 0.5);
  const fingers = (by: number): Finger[] => [
    { x: middle.x - by, y: middle.y - by },
    { x: middle.x + by, y: middle.y + by },
  ];
  await move(cdp, fingers(30), fingers(75));
  const near = await viewAfter(page, all);
  expect((near.x1 - near.x0) / (all.x1 - all.x0)).toBeCloseTo(0.4, 1);
  expect((near.y1 - near.y0) / (all.y1 - all.y0)).toBeCloseTo(0.4, 1);
  await move(cdp, [middle], [{ x: middle.x - 60, y: middle.y }]);
  const right = await viewAfter(page, near);
  expect(right.x0).toBeGreaterThan(near.x0);
  expect(right.x1 - right.x0).toBeCloseTo(near.x1 - near.x0, 3);
});
