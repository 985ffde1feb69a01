// Allocated memory with private pools as envelopes: numbers of poolSnapshot(), worked out by hand there.
import { expect, test, type Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import {
  bytesOf,
  countOf,
  settledView,
  viewAfter,
  keepDetails,
  pointOf,
  colorAt,
  watchErrors,
} from './page.ts';
import { MiB } from './pickle.ts';
import { poolSnapshot } from './pool_snapshot.ts';
import { waitForState, choose, openSnapshot } from './support.ts';

const view = (page: Page) => page.getByRole('combobox', { name: 'View' });
const details = (page: Page) => page.locator('gpustrata-details');
const envelopeLight = '#d3d6da';

const pools = { name: 'pool.pickle', buffer: poolSnapshot() };
async function openBlocks(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await openSnapshot(page, pools.buffer, pools.name);
  await settledView(page);
}

async function openPools(page: Page): Promise<void> {
  await openBlocks(page);
  await view(page).selectOption('pools');
  await expect(view(page)).toHaveAttribute('data-bands', 'pools');
  await keepDetails(page);
}

test('the peak is that of blocks, and with pools that of their envelopes', async ({ page }) => {
  const errors = watchErrors(page);
  await openBlocks(page);
  expect(await bytesOf(page, 'peak')).toBe(11 * MiB);
  await expect(page.locator('[data-note="bands"]')).toHaveCount(0);
  await view(page).selectOption('pools');
  await expect(page.locator('[data-stat="peak"]')).toHaveAttribute('data-bytes', String(14 * MiB));
  expect(await page.locator('[data-stat="peak"]').getAttribute('data-event')).toBe('3');
  expect(await countOf(page, 'pools')).toBe(1);
  expect(await countOf(page, 'blocks')).toBe(5);
  await expect(page.locator('[data-note="bands"]')).toContainText('Private pools count as allocated');
  await view(page).selectOption('blocks');
  await expect(page.locator('[data-stat="peak"]')).toHaveAttribute('data-bytes', String(11 * MiB));
  expect(errors).toEqual([]);
});

test('blocks lie inside the envelope, what they leave is grey and nothing above moves', async ({ page }) => {
  await openPools(page);
  const name = details(page).locator('[data-name]');
  const size = details(page).locator('h2');
  const at = async (event: number, bytes: number): Promise<void> => {
    const point = await pointOf(page, event + 0.5, bytes);
    await page.mouse.move(point.x, point.y);
  };
  // Event 5, from the bottom: A 0-4, X 4-7, Y 7-9, unused 9-12, B 12-14.
  await at(5, 2 * MiB);
  await expect(size).toHaveAttribute('data-bytes', String(4 * MiB));
  await at(5, 5 * MiB);
  await expect(size).toHaveAttribute('data-bytes', String(3 * MiB));
  await at(5, 10.5 * MiB);
  await expect(name).toHaveText('Private Pool (0,1,s0)');
  await expect(size).toHaveAttribute('data-bytes', String(8 * MiB));
  await expect(details(page)).toContainText('In blocks at most');
  await expect(page.locator('[data-readout="level"]')).toHaveAttribute('data-bytes', String(14 * MiB));
  await expect(page.locator('[data-readout="allocated"]')).toHaveAttribute('data-bytes', String(11 * MiB));
  expect(await colorAt(page, 5.5, 10.5 * MiB)).toBe(envelopeLight);
  expect(await colorAt(page, 5.5, 8 * MiB)).not.toBe(envelopeLight);
  // After X has gone Y lies at the bottom of the pool, and B where it was.
  await at(7, 5 * MiB);
  await expect(size).toHaveAttribute('data-bytes', String(2 * MiB));
  expect(await colorAt(page, 7.5, 7 * MiB)).toBe(envelopeLight);
  await at(7, 13 * MiB);
  await expect(name).toHaveText(/^b'7f0000400000_/);
  // The envelope is there before its first block, and gray all over.
  expect(await colorAt(page, 2.5, 4.5 * MiB)).toBe(envelopeLight);
  expect(await colorAt(page, 1.5, 4.5 * MiB)).not.toBe(envelopeLight);
});

test('a pinned block stays pinned, an envelope can be pinned and fitted', async ({ page }) => {
  await openBlocks(page);
  const onX = await pointOf(page, 5.5, 5.5 * MiB); // by line, the largest first: A, then X from 4 to 7
  await page.mouse.click(onX.x, onX.y);
  await expect(details(page).locator('h2')).toHaveAttribute('data-bytes', String(3 * MiB));
  await view(page).selectOption('pools');
  await expect(view(page)).toHaveAttribute('data-bands', 'pools');
  await settledView(page);
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeVisible();
  await expect(details(page).locator('h2')).toHaveAttribute('data-bytes', String(3 * MiB));
  const onRest = await pointOf(page, 5.5, 11 * MiB);
  const before = await settledView(page);
  await page.mouse.dblclick(onRest.x, onRest.y);
  await expect(details(page).locator('[data-name]')).toHaveText('Private Pool (0,1,s0)');
  // Its life is events 2 to 11 and 8 MiB from 4 on, with some air on every side.
  const fitted = await viewAfter(page, before);
  expect(fitted.y1).toBeGreaterThanOrEqual(12 * MiB);
});

test('V walks through the views, and the link and the history tell which', async ({ page }) => {
  await openBlocks(page);
  await page.keyboard.press('v');
  await expect(view(page)).toHaveAttribute('data-bands', 'pools');
  await settledView(page);
  await expect.poll(() => page.url()).toContain('bands=pools');
  const link = page.url();
  await page.keyboard.press('v');
  await expect(view(page)).toHaveAttribute('data-bands', 'segments');
  await page.keyboard.press('v');
  await expect(view(page)).toHaveAttribute('data-bands', 'blocks');
  await settledView(page);
  expect(page.url()).not.toContain('bands=');
  await page.goBack();
  await expect(view(page)).toHaveAttribute('data-bands', 'segments');
  await page.goBack();
  await expect(view(page)).toHaveAttribute('data-bands', 'pools');
  // Opened anew, the link asks for its file and shows its view.
  await page.goto('about:blank');
  await page.goto(link);
  await choose(page, pools);
  await waitForState(page, 'ready');
  await settledView(page);
  await expect(view(page)).toHaveAttribute('data-bands', 'pools');
  await expect(page.locator('[data-stat="peak"]')).toHaveAttribute('data-bytes', String(14 * MiB));
});

test('the stretch that is seen stays when the view changes', async ({ page }) => {
  await openPools(page);
  const all = await settledView(page);
  const middle = await pointOf(page, 6, 7 * MiB);
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.wheel(0, -500);
  const zoomed = await viewAfter(page, all);
  expect(zoomed.x1 - zoomed.x0).toBeLessThan(10);
  await view(page).selectOption('blocks');
  await expect(view(page)).toHaveAttribute('data-bands', 'blocks');
  const after = await settledView(page);
  expect(after.x0).toBeCloseTo(zoomed.x0, 6);
  expect(after.x1).toBeCloseTo(zoomed.x1, 6);
});

test('filters and colours mean the blocks in the pool', async ({ page }) => {
  await openPools(page);
  await page.getByLabel('Search and filter blocks').fill('pool:0,1');
  await expect(page.locator('gpustrata-filter [data-count]')).toHaveAttribute('data-count', '3');
  // At the peak (event 3) the pool has no block yet.
  await expect(page.locator('gpustrata-filter [data-count]')).toHaveAttribute('data-at-peak', '0');
  await page.keyboard.press('Escape');
  await page.getByLabel('Colour by').selectOption('pool');
  await settledView(page);
  const kind = page.locator('[data-kind="pool (0, 1)"]');
  await expect(kind).toHaveAttribute('data-bytes', '0');
  await expect(page.locator('[data-kind="default pool (0, 0)"]')).toHaveAttribute(
    'data-bytes',
    String(6 * MiB),
  );
  await expect(page.locator('[data-unused]')).toHaveAttribute('data-unused', String(8 * MiB));
});

test('readable by all, on a desk and on a phone at night', async ({ page }) => {
  await openPools(page);
  await expectAccessible(page);
  await page.setViewportSize({ width: 320, height: 800 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect(page.locator('gpustrata-viewer')).toHaveAttribute('data-theme', 'dark');
  await settledView(page);
  await expectAccessible(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
});
