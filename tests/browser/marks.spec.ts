// Regions above the timeline and markers on its ruler: what the program said about itself.
import { expect, test, type Locator, type Page } from '@playwright/test';
import { colorsOf, themes } from '../../web/src/draw/colors.ts';
import { settledView, viewAfter, pointAt, watchErrors } from './page.ts';
import { type KnownOptions, MiB } from './pickle.ts';
import { openKnown } from './support.ts';

// Events come after i * i ms. Step 0 holds events 1 to 4, forward in it 2 and 3; step 1 has no end.
const annotations: KnownOptions['annotations'] = [
  ['ProfilerStep#0', 'START', 500],
  ['forward', 'START', 4000],
  ['forward', 'END', 9500],
  ['ProfilerStep#0', 'END', 17_000],
  ['ProfilerStep#1', 'START', 25_000],
];
// Event 2 is a snapshot as it is; 7 runs out of memory, 8 is a note about block A.
const changed: KnownOptions['changed'] = {
  7: { action: 'oom', size: 3 * MiB, device_free: MiB },
  8: { action: 'annotate', addr: 0x7f0000000000, size: 0, user_metadata: 'after the third layer' },
};

const strip = (page: Page): Locator => page.locator('gpustrata-regions canvas');
const tip = (page: Page): Locator => page.locator('.tip');
const marker = (page: Page): Locator => page.locator('[data-marker]');

/** A place of the strip in page pixels: on the axis, and the lane from the top. */
async function inStrip(page: Page, units: number, lane: number): Promise<{ x: number; y: number }> {
  const { x0, x1 } = await settledView(page);
  const { x } = await pointAt(page, (units - x0) / (x1 - x0), 0.5);
  return { x, y: (await strip(page).boundingBox())!.y + 9 + 18 * lane };
}

async function stripColor(page: Page, units: number, lane: number): Promise<string> {
  const { x, y } = await inStrip(page, units, lane);
  return strip(page).evaluate(
    (canvas, at) => {
      const rect = canvas.getBoundingClientRect();
      const ctx = (canvas as HTMLCanvasElement).getContext('2d')!;
      const [r = 0, g = 0, b = 0] = ctx.getImageData(
        (at.x - rect.left) * devicePixelRatio,
        (at.y - rect.top) * devicePixelRatio,
        1,
        1,
      ).data;
      return '#' + [r, g, b].map((part) => part.toString(16).padStart(2, '0')).join('');
    },
    { x, y },
  );
}

test('regions nest above the timeline and tell what happened in them', async ({ page }) => {
  const errors = watchErrors(page);
  await openKnown(page, { annotations });
  await expect(strip(page)).toHaveAttribute('data-regions', '3');
  await expect(strip(page)).toHaveAttribute('data-levels', '2');
  const { steps, regions, background } = colorsOf(themes.light);
  expect(await stripColor(page, 4.5, 0)).toBe(steps[0]);
  expect(await stripColor(page, 9.5, 0)).toBe(steps[1]);
  expect(await stripColor(page, 3.8, 1)).toBe(regions[0]);
  expect(await stripColor(page, 0.5, 0)).toBe(background);
  expect(await stripColor(page, 4.5, 1)).toBe(background);

  const forward = await inStrip(page, 3, 1);
  await page.mouse.move(forward.x, forward.y);
  await expect(tip(page)).toContainText('forward');
  await expect(tip(page)).toContainText('events 2 to 3 (2)');
  await expect(tip(page)).toContainText('+0.004000 s to +0.009500 s: 5.5 ms');
  await expect(tip(page)).toContainText('2.0 MiB allocated in 1 block');
  const first = await inStrip(page, 3, 0);
  await page.mouse.move(first.x, first.y);
  await expect(tip(page)).toContainText('ProfilerStep#0');
  await expect(tip(page)).toContainText('7.0 MiB allocated in 3 blocks');
  const last = await inStrip(page, 7, 0);
  await page.mouse.move(last.x, last.y);
  await expect(tip(page)).toContainText('ProfilerStep#1');
  await expect(tip(page)).toContainText('Its end was not recorded.');
  await expect(tip(page)).toContainText('0 B allocated in 0 blocks');
  await page.mouse.move(5, 5);
  await expect(tip(page)).toHaveCount(0);
  expect(errors).toEqual([]);
});

test('a click fits the region, on both axes', async ({ page }) => {
  const all = await openKnown(page, { annotations });
  const step = await inStrip(page, 7.5, 0); // step 1: events 5 to 9; the smallest view is 8 events
  await page.mouse.click(step.x, step.y);
  const fitted = await viewAfter(page, all);
  expect([fitted.x0, fitted.x1]).toEqual([2, 10]);
  expect([fitted.y0, fitted.y1]).toEqual([all.y0, all.y1]);

  await page.keyboard.press('f');
  await viewAfter(page, fitted);
  await page.locator('.plot').focus();
  await page.keyboard.press('e');
  await expect.poll(async () => (await settledView(page)).x1).toBe(81_001);
  const forward = await inStrip(page, 6000, 1);
  await page.mouse.click(forward.x, forward.y);
  await expect.poll(async () => Math.round((await settledView(page)).x0)).toBe(3890); // 4000 - 2 % of 5500
  expect(Math.round((await settledView(page)).x1)).toBe(9610);
});

test('the strip moves with the timeline in the same frame', async ({ page }) => {
  await openKnown(page, { annotations });
  const at = await pointAt(page, 0.2, 0.5);
  const changedInFrame = await page.locator('gpustrata-timeline').evaluate((timeline, { x, y }) => {
    const root = timeline.shadowRoot!;
    const base = root.querySelector<HTMLCanvasElement>('canvas.base')!;
    const regions = root.querySelector('gpustrata-regions')!.shadowRoot!.querySelector('canvas')!;
    const before = [base.toDataURL(), regions.toDataURL()];
    root
      .querySelector('canvas.overlay')!
      .dispatchEvent(new WheelEvent('wheel', { deltaY: -200, clientX: x, clientY: y, cancelable: true }));
    // Behind the timeline's own drawing of the same frame.
    return new Promise<boolean[]>((resolve) =>
      requestAnimationFrame(() =>
        resolve([base.toDataURL() !== before[0], regions.toDataURL() !== before[1]]),
      ),
    );
  }, at);
  expect(changedInFrame).toEqual([true, true]);

  // Wheel and drag on the strip move the timeline, too.
  const view = await settledView(page);
  const place = await inStrip(page, (view.x0 + view.x1) / 2, 0);
  await page.mouse.move(place.x, place.y);
  await page.mouse.wheel(0, 400);
  const wider = await viewAfter(page, view);
  expect(wider.x1 - wider.x0).toBeGreaterThan(view.x1 - view.x0);
  expect(wider.y1).toBe(view.y1);
});

test('regions are reached by key', async ({ page }) => {
  await openKnown(page, { annotations });
  await strip(page).focus();
  const said = page.locator('[data-region]');
  await page.keyboard.press('ArrowRight');
  await expect(said).toHaveText(/ProfilerStep#0, events 1 to 4/);
  await page.keyboard.press('ArrowDown');
  await expect(said).toHaveAttribute('data-region', 'forward');
  await expect(tip(page)).toContainText('forward');
  await page.keyboard.press('ArrowRight'); // none of this level behind it
  await expect(said).toHaveAttribute('data-region', 'forward');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowRight');
  await expect(said).toHaveAttribute('data-region', 'ProfilerStep#1');
  await page.keyboard.press('Enter');
  await expect.poll(async () => (await settledView(page)).x0).toBe(2);
  await page.keyboard.press('Home'); // ProfilerStep#0 is partly visible: the view stays
  await expect(said).toHaveAttribute('data-region', 'ProfilerStep#0');
  await page.keyboard.press('Escape');
  await expect(tip(page)).toHaveCount(0);
});

test('markers stand on the ruler, tell what they are and are gone to', async ({ page }) => {
  const errors = watchErrors(page);
  await openKnown(page, { changed });
  await expect(page.locator('[data-markers]')).toHaveAttribute('data-markers', '3');
  await expect(page.locator('gpustrata-regions')).toHaveCount(0); // no regions: no room is taken

  const onRuler = async (event: number): Promise<{ x: number; y: number }> =>
    pointAt(page, (event + 0.5) / 10, 0);
  const snapshot = await onRuler(2);
  await page.mouse.move(snapshot.x, snapshot.y);
  await expect(tip(page)).toContainText('Snapshot taken');
  await expect(tip(page)).toContainText('event 2 · +0.004000 s');
  const note = await onRuler(8);
  await page.mouse.move(note.x, note.y);
  await expect(tip(page)).toContainText('Note');
  await expect(tip(page)).toContainText('after the third layer');
  const oom = await pointAt(page, 0.75, 1);
  await page.mouse.move(oom.x, oom.y - 12);
  await expect(tip(page)).toContainText('Out of memory');
  await expect(tip(page)).toContainText('3.0 MiB requested');

  await page.mouse.click(note.x, note.y);
  await expect(page.locator('[data-readout="event"]')).toHaveText('event 8');
  await expect(page.getByRole('button', { name: 'Unpin' })).toHaveCount(0);
  await page.mouse.move(5, 5);
  await page.locator('.plot').focus();
  await page.keyboard.press('k');
  await expect(marker(page)).toHaveAttribute('data-marker', '2');
  await expect(page.locator('[data-readout="event"]')).toHaveText('event 2');
  await page.keyboard.press('k');
  await expect(marker(page)).toHaveAttribute('data-marker', '7');
  await page.keyboard.press('Shift+K');
  await expect(marker(page)).toHaveAttribute('data-marker', '2');
  await expect(marker(page)).toHaveText(/Snapshot taken, event 2/);
  expect(errors).toEqual([]);
});

test('too many regions and levels are bounded, and it is said', async ({ page }) => {
  const many: [string, 'START' | 'END', number][] = [];
  for (let level = 0; level < 8; level += 1) many.push([`level ${level}`, 'START', level]);
  for (let i = 0; i < 2500; i += 1) many.push([`r${i}`, 'START', 100 + 2 * i], [`r${i}`, 'END', 101 + 2 * i]);
  for (let level = 7; level >= 0; level -= 1) many.push([`level ${level}`, 'END', 80_000 - level]);
  await openKnown(page, { annotations: many });
  await expect(strip(page)).toHaveAttribute('data-levels', '6');
  await expect(page.locator('[data-regions-note]')).toHaveText(
    'Shown: the 2,000 longest of 2,508 regions, 6 of 9 levels.',
  );
});

test('nothing is clipped at 320 px, in either theme', async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 700 });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await openKnown(page, { annotations, changed });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    await page.locator('gpustrata-regions').scrollIntoViewIfNeeded(); // the answer comes before it
    const place = await inStrip(page, 9.5, 0);
    await page.mouse.move(place.x, place.y);
    const box = (await tip(page).boundingBox())!;
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(320);
    await page.screenshot({ path: test.info().outputPath(`regions-320-${colorScheme}.png`) });
  }
});
