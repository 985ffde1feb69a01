// The address map over time: numbers of poolSnapshot() and manySegments(), worked out by hand.
import { expect, test, type Page } from '@playwright/test';
import { settledView, viewAfter, keepDetails, pointOf, watchErrors } from './page.ts';
import { MiB } from './pickle.ts';
import { poolSnapshot, manySegments } from './pool_snapshot.ts';
import { holdBack, letGo } from './questions.ts';
import { openSnapshot } from './support.ts';

const details = (page: Page) => page.locator('gpustrata-details');
const map = (page: Page) => page.locator('gpustrata-address-map');
const scroller = (page: Page) => page.getByRole('application', { name: /^Address map over time/ });
const words = 18;

async function openMap(page: Page, buffer = poolSnapshot()): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await openSnapshot(page, buffer, 'map.pickle');
  await settledView(page);
  await page.getByRole('tab', { name: /^Address map/ }).click();
  await expect(map(page).locator('[data-regions]')).toBeVisible();
  await keepDetails(page);
  await expect(scroller(page)).toHaveAttribute('data-settled', '');
  await settledView(page);
}

const rowHeight = async (page: Page): Promise<number> =>
  Number(await scroller(page).getAttribute('data-row'));

/** Of a row that is seen: a moment of the axis, and a part of its height from below. */
async function pointIn(
  page: Page,
  index: number,
  units: number,
  part: number,
): Promise<{ x: number; y: number }> {
  const { x } = await pointOf(page, units, 0);
  const box = (await scroller(page).boundingBox())!;
  const row = await rowHeight(page);
  const top = await scroller(page).evaluate((element) => element.scrollTop);
  return { x, y: box.y + index * row - top + words + (row - words - 5) * (1 - part) };
}

async function pointAt(page: Page, index: number, units: number, part: number): Promise<void> {
  const { x, y } = await pointIn(page, index, units, part);
  await page.mouse.move(x, y);
}

test('every region is a row, with the blocks at their offsets under their moments', async ({ page }) => {
  const errors = watchErrors(page);
  await openMap(page);
  await expect(map(page).locator('[data-regions]')).toHaveAttribute('data-regions', '2');
  const name = details(page).locator('[data-name]');
  const tip = map(page).locator('.tip');
  // Row 0 is the default segment of 20 MiB: A in 0-4 from event 1 on, B in 4-6 at events 3 to 9.
  await pointAt(page, 0, 2.5, 2 / 20);
  await expect(name).toHaveText(/^b'7f0000000000_/);
  await pointAt(page, 0, 5.5, 5 / 20);
  await expect(name).toHaveText(/^b'7f0000400000_/);
  await expect(tip).toContainText("in s'7f0000000000_0");
  await pointAt(page, 0, 2.5, 5 / 20);
  await expect(tip).toContainText('free at');
  await pointAt(page, 0, 0.5, 2 / 20);
  await expect(tip).toContainText('free at');
  // Row 1 is the pool of 8 MiB, from event 2 on: X in 0-3 at 4 to 6, Y in 3-5 from 5, Z in 0-1 from 8.
  await pointAt(page, 1, 6.5, 4 / 8);
  await expect(name).toHaveText(/^b'7f1000300000_/);
  await expect(details(page).locator('h2')).toHaveAttribute('data-bytes', String(2 * MiB));
  await pointAt(page, 1, 6.5, 2 / 8);
  await expect(details(page).locator('h2')).toHaveAttribute('data-bytes', String(3 * MiB));
  await pointAt(page, 1, 7.5, 2 / 8);
  await expect(tip).toContainText('free at');
  await pointAt(page, 1, 9.5, 0.5 / 8);
  await expect(details(page).locator('h2')).toHaveAttribute('data-bytes', String(MiB));
  await pointAt(page, 1, 1.5, 0.5 / 8);
  await expect(tip).toHaveAttribute('data-rank', '-1'); // no memory there yet
  expect(errors).toEqual([]);
});

test('a click pins the block everywhere, a click beside it lets go', async ({ page }) => {
  await openMap(page);
  const at = await pointIn(page, 1, 6.5, 4 / 8);
  await page.mouse.click(at.x, at.y);
  await page.mouse.move(5, 5);
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeVisible();
  await expect(details(page).locator('h2')).toHaveAttribute('data-bytes', String(2 * MiB));
  await expect.poll(() => page.url()).toContain('block=3');
  expect(page.url()).toContain('main=map');
  const free = await pointIn(page, 0, 2.5, 18 / 20);
  await page.mouse.click(free.x, free.y);
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeHidden();
});

test('free memory is shaded by how much of its segment is free, and tells it', async ({ page }) => {
  await openMap(page);
  const tip = map(page).locator('.tip');
  const canvas = map(page).locator('canvas');
  /** What is drawn there, as a text. */
  const colour = async (index: number, units: number, part: number): Promise<string> => {
    const { x, y } = await pointIn(page, index, units, part);
    const box = (await canvas.boundingBox())!;
    return canvas.evaluate(
      (element: HTMLCanvasElement, [left, top]) =>
        [...element.getContext('2d')!.getImageData(left, top, 1, 1).data.slice(0, 3)].join(),
      [Math.round(x - box.x), Math.round(y - box.y)] as const,
    );
  };
  const plain = await colour(0, 2.5, 15 / 20);
  expect(await colour(0, 5.5, 15 / 20)).toBe(plain);
  await page.getByLabel('Colour of the address ranges').selectOption('free');
  await expect(map(page).locator('[data-colouring=free]')).toContainText('all free');
  await expect(scroller(page)).toHaveAttribute('data-settled', '');
  // Of 20 MiB all are free after event 0, 16 after event 2, 14 after event 5.
  for (const [units, share] of [
    [0.5, 1],
    [2.5, 16 / 20],
    [5.5, 14 / 20],
  ] as const) {
    await pointAt(page, 0, units, 15 / 20);
    await expect.poll(async () => Number(await tip.getAttribute('data-free'))).toBeCloseTo(share, 4);
  }
  await expect(tip).toContainText('70 % of which is free');
  // Of the pool's 8 MiB 3 are free after event 5, 6 after event 7.
  await pointAt(page, 1, 7.5, 7 / 8);
  await expect.poll(async () => Number(await tip.getAttribute('data-free'))).toBeCloseTo(6 / 8, 4);
  await page.mouse.move(5, 5);
  const shades = [await colour(0, 0.5, 15 / 20), await colour(0, 5.5, 15 / 20), await colour(1, 5.5, 7 / 8)];
  expect(new Set([plain, ...shades]).size).toBe(4);
  // Blocks all look alike then.
  expect(await colour(0, 5.5, 2 / 20)).toBe(await colour(1, 5.5, 1 / 8));
  // It is there again when the map is.
  await page.keyboard.press('2');
  await page.keyboard.press('3');
  await expect(page.getByLabel('Colour of the address ranges')).toHaveValue('free');
});

test('it moves with the timeline', async ({ page }) => {
  await openMap(page);
  const all = await settledView(page);
  const middle = await pointOf(page, 6, 3 * MiB);
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.wheel(0, -600);
  const zoomed = await viewAfter(page, all);
  expect(zoomed.x1 - zoomed.x0).toBeLessThan(10);
  await expect(scroller(page)).toHaveAttribute('data-settled', '');
  // The same places as before, at their new x.
  await pointAt(page, 1, 6.5, 4 / 8);
  await expect(details(page).locator('[data-name]')).toHaveText(/^b'7f1000300000_/);
  await pointAt(page, 0, 5.5, 5 / 20);
  await expect(details(page).locator('[data-name]')).toHaveText(/^b'7f0000400000_/);
});

test('rows are ordered, and walked through by key', async ({ page }) => {
  await openMap(page, manySegments());
  const said = map(page).locator('[data-said]');
  await expect(map(page).locator('[data-regions]')).toHaveAttribute('data-regions', '300');
  await scroller(page).focus();
  await page.keyboard.press('Home');
  await expect(said).toHaveText(/^2\.0 MiB, s'7f0000000000_0/);
  await page.keyboard.press('ArrowDown');
  await expect(said).toHaveText(/s'7f0000400000_0/);
  await page.keyboard.press('End');
  await expect(said).toHaveText(/s'7f004ac00000_0/); // 299 * 4 MiB
  await expect(scroller(page)).toHaveAttribute('data-settled', '');
  await page.keyboard.press('ArrowRight');
  await expect(said).toHaveText(/^block at/);
  await page.keyboard.press('Enter');
  await expect(details(page).locator('[data-name]')).toHaveText(/^b'7f004ac00000_0$/);
  // The largest is number 150, the only one of 4 MiB.
  await page.getByLabel('Order of the address ranges').selectOption('size');
  await scroller(page).focus();
  await page.keyboard.press('Home');
  await expect(said).toHaveText(/^4\.0 MiB, s'7f0025800000_0/);
});

test('the row of a block that is pinned elsewhere is scrolled to', async ({ page }) => {
  await openMap(page, manySegments());
  // Block 299 lies in row 299.
  await expect.poll(() => page.url()).toContain('main=map');
  await page.evaluate(() => {
    location.hash += '&block=299';
  });
  await expect(details(page).locator('[data-name]')).toHaveText(/^b'7f004ac00000_0$/);
  const height = (await scroller(page).boundingBox())!.height;
  const row = await rowHeight(page);
  expect(row).toBe(46); // as small as they get
  await expect
    .poll(() => scroller(page).evaluate((element) => element.scrollTop))
    .toBeCloseTo(300 * row - height, -1);
  await pointAt(page, 299, 299.5, 1 / 4);
  await expect(map(page).locator('.tip')).toHaveAttribute('data-rank', '299');
});

test('a block that was let go before its row was known is not scrolled to', async ({ page }) => {
  await holdBack(page, 'regionOfBlock');
  await openMap(page, manySegments());
  await page.evaluate(() => {
    location.hash += '&block=299';
  });
  await expect(details(page).locator('[data-name]')).toHaveText(/^b'7f004ac00000_0$/);
  await page.getByRole('button', { name: 'Unpin' }).click();
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeHidden();
  await expect.poll(() => letGo(page)).toBe(1);
  // What is asked after it is answered after it.
  await pointAt(page, 0, 299.5, 1 / 4);
  await expect(details(page).locator('[data-name]')).toHaveText(/^b'7f0000000000_0$/);
  expect(await scroller(page).evaluate((element) => element.scrollTop)).toBe(0);
});

test('the row of a segment that is pinned in the state is scrolled to', async ({ page }) => {
  await openMap(page, manySegments());
  await page.evaluate(() => {
    location.hash += '&block=299';
  });
  await expect(details(page).locator('[data-name]')).toHaveText(/^b'7f004ac00000_0$/);
  const down = (): Promise<number> => scroller(page).evaluate((element) => element.scrollTop);
  await expect.poll(down).toBeGreaterThan(0);
  await details(page).locator('[data-way="segment"]').click();
  await expect(details(page).locator('[data-title]')).toHaveText('Segment');
  await expect(page.getByRole('tabpanel', { name: 'State' })).toBeVisible();
  await page.getByRole('tab', { name: /^Address map/ }).click();
  await scroller(page).evaluate((element) => (element.scrollTop = 0));
  await page.keyboard.press('2');
  await page.keyboard.press('3');
  await expect(map(page)).toBeVisible();
  await expect(scroller(page)).toHaveAttribute('data-row', '46'); // as small as they get: all rows are known
  const height = (await scroller(page).boundingBox())!.height;
  await expect.poll(down).toBeCloseTo(300 * 46 - height, -1);
});
