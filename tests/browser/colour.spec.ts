// Colours by kind, the legend with its shares, the minimap and the ruler.
import { expect, test, type Page } from '@playwright/test';
import { settledView, viewAfter, pointAt, pointOf, colorAt } from './page.ts';
import { MiB } from './pickle.ts';
import { waitForState, openPage, openKnown } from './support.ts';

const kind = (page: Page, label: string) => page.locator(`[data-kind="${label}"]`);
const channels = (color: string): number[] =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

test('colours by size class, with shares of the peak', async ({ page }) => {
  await openKnown(page);
  await page.getByLabel('Colour by').selectOption('size');
  // A of 4 MiB and B of 2 MiB are of one class, C of 1 MiB is still small.
  await expect(kind(page, '1 to 10 MiB')).toHaveAttribute('data-bytes', String(6 * MiB));
  await expect(kind(page, '1 to 10 MiB')).toContainText('86 % · 6.0 MiB');
  await expect(kind(page, '32 KiB to 1 MiB (small pool)')).toContainText('14 % · 1.0 MiB');
  await expect(kind(page, '1 GiB and more')).toContainText('0 %');
  await settledView(page);
  const hue = async (event: number, bytes: number): Promise<number> => {
    const [r = 0, , b = 0] = channels(await colorAt(page, event, bytes));
    return b - r;
  };
  // One blue, deeper for the larger class.
  expect(await hue(4.3, 1.3 * MiB)).toBeGreaterThan(20);
  expect(await hue(4.3, 6.5 * MiB)).toBeGreaterThan(20);
});

test('the legend lights one kind on hover and keeps it by click', async ({ page }) => {
  await openKnown(page);
  await page.getByLabel('Colour by').selectOption('size');
  await expect(kind(page, '1 to 10 MiB')).toContainText('86 %');
  await settledView(page);
  const a = await colorAt(page, 4.3, 1.3 * MiB);
  const c = await colorAt(page, 4.3, 6.5 * MiB);
  await kind(page, '1 to 10 MiB').hover();
  await expect.poll(() => colorAt(page, 4.3, 6.5 * MiB)).not.toBe(c);
  expect(await colorAt(page, 4.3, 1.3 * MiB)).toBe(a);
  await page.mouse.move(5, 5);
  await expect.poll(() => colorAt(page, 4.3, 6.5 * MiB)).toBe(c);
  await kind(page, '1 to 10 MiB').click();
  await page.locator('.plot').focus();
  await page.mouse.move(5, 5);
  await expect(kind(page, '1 to 10 MiB')).toHaveAttribute('aria-pressed', 'true');
  await expect.poll(() => colorAt(page, 4.3, 6.5 * MiB)).not.toBe(c);
  await page.keyboard.press('Escape');
  await expect.poll(() => colorAt(page, 4.3, 6.5 * MiB)).toBe(c);
});

test('C walks through all ways to colour', async ({ page }) => {
  await openKnown(page);
  for (const way of ['stack', 'size', 'stream', 'pool', 'lifetime', 'age', 'category']) {
    await page.keyboard.press('c');
    await expect(page.getByLabel('Colour by')).toHaveValue(way);
    await expect(page.locator('[data-kind]').first()).toBeVisible();
    await settledView(page);
  }
  await page.keyboard.press('c');
  await expect(page.locator('[data-kind]')).toHaveCount(0);
});

test('the brush of the minimap moves and sizes the view, by key too', async ({ page }) => {
  await openPage(page, '?open=samples/training_run.pickle');
  await waitForState(page, 'ready');
  const all = await settledView(page);
  const map = page.locator('gpustrata-minimap canvas');
  const box = (await map.boundingBox())!;
  const at = (part: number): [number, number] => [box.x + box.width * part, box.y + box.height / 2];
  await page.mouse.move(...at(0.25));
  await page.mouse.down();
  await page.mouse.move(...at(0.5), { steps: 4 });
  await page.mouse.up();
  const half = await viewAfter(page, all);
  expect(half.x0 / all.x1).toBeCloseTo(0.25, 2);
  expect(half.x1 / all.x1).toBeCloseTo(0.5, 2);
  await page.mouse.move(...at(0.4));
  await page.mouse.down();
  await page.mouse.move(...at(0.6), { steps: 4 });
  await page.mouse.up();
  const moved = await viewAfter(page, half);
  expect(moved.x0 / all.x1).toBeCloseTo(0.45, 2);
  expect(moved.x1 - moved.x0).toBeCloseTo(half.x1 - half.x0, 3);
  await page.mouse.move(...at(0.7));
  await page.mouse.down();
  await page.mouse.move(...at(0.9), { steps: 4 });
  await page.mouse.up();
  const wider = await viewAfter(page, moved);
  expect(wider.x1 / all.x1).toBeCloseTo(0.9, 2);
  expect(wider.x0).toBeCloseTo(moved.x0, 3);
  await map.focus();
  await page.keyboard.press('Home');
  const first = await viewAfter(page, wider);
  expect(first.x0).toBe(0);
  await map.dblclick();
  expect((await viewAfter(page, first)).x1).toBe(all.x1);
});

test('the ruler measures bytes, events and time, by drag and by key', async ({ page }) => {
  await openKnown(page);
  const measured = page.locator('[data-measured]');
  await page.keyboard.press('m');
  await expect(page.locator('[data-tool="ruler"]')).toHaveAttribute('aria-pressed', 'true');
  const from = await pointOf(page, 1.5, MiB);
  const to = await pointOf(page, 4.5, 3 * MiB);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 3 });
  await page.mouse.up();
  // Events 1 and 4 lie at 1 and 16 ms; a pixel is a few KiB.
  await expect(measured).toHaveAttribute('data-measured', '+2.0 MiB · 3 events · 15 ms');
  const view = await settledView(page);
  await page.keyboard.press('Escape');
  await expect(measured).toHaveAttribute('data-measured', '');
  expect(await settledView(page)).toEqual(view);

  await page.mouse.move(2, 2);
  // The cursor stands at the peak, event 4, from the start.
  for (const _ of [0, 1, 2]) await page.keyboard.press('[');
  await expect(page.locator('[data-readout="event"]')).toHaveText('event 1');
  await page.keyboard.press('m');
  for (const _ of [0, 1, 2]) await page.keyboard.press(']');
  await expect(page.locator('[data-readout="event"]')).toHaveText('event 4');
  // From A alone to A, B and C.
  await expect(measured).toHaveAttribute('data-measured', '+3.0 MiB · 3 events · 15 ms');
  const middle = await pointAt(page, 0.5, 0.5);
  await page.mouse.move(middle.x, middle.y);
  await page.keyboard.press('m');
  await expect(measured).toHaveAttribute('data-measured', '');
});
