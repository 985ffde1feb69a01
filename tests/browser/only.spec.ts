// Only what the filter means, stacked from zero; and a filter from a block.
import { expect, test, type Page } from '@playwright/test';
import { alike, bytesOf, countOf, settledView, pointOf, colorAt } from './page.ts';
import { knownSnapshot, MiB } from './pickle.ts';
import { openPage, choose, openKnown } from './support.ts';

const field = (page: Page) => page.getByLabel('Search and filter blocks');
const only = (page: Page) => page.getByRole('button', { name: 'Only these' });
const found = (page: Page) => page.locator('gpustrata-filter [data-count]');

/** B of 2 MiB and C of 1 MiB: at event 4 both, at event 6 only C. */
async function openSmall(page: Page): Promise<void> {
  await openKnown(page);
  await field(page).fill('size<3MiB');
  await expect(found(page)).toHaveAttribute('data-count', '2');
  await only(page).click();
  await expect(only(page)).toHaveAttribute('aria-pressed', 'true');
  await settledView(page);
}

test('only what the filter means, from zero, with its own peak', async ({ page }) => {
  await openKnown(page);
  await field(page).fill('size<3MiB');
  await expect(found(page)).toHaveAttribute('data-at-peak', String(3 * MiB));
  await page.locator('.plot').focus();
  await page.keyboard.press('h');
  await expect(only(page)).toHaveAttribute('aria-pressed', 'true');
  const view = await settledView(page);
  expect(await bytesOf(page, 'peak')).toBe(3 * MiB);
  expect(await countOf(page, 'blocks')).toBe(2);
  expect(view.y1).toBeLessThan(4 * MiB);
  // B lies at the bottom, C on it; when B is gone C slides down to zero.
  const b = await colorAt(page, 3.3, 0.4 * MiB);
  const c = await colorAt(page, 6.3, 0.4 * MiB);
  expect(c).not.toBe(b);
  expect(await colorAt(page, 4.3, 1.6 * MiB)).toBe(b);
  expect(await colorAt(page, 4.3, 2.2 * MiB)).toBe(c);
  expect(await colorAt(page, 1.3, 0.4 * MiB)).toBe('#ffffff'); // A is left out, and what it leaves is no gap
  const at = await pointOf(page, 4.3, 2.2 * MiB);
  await page.mouse.move(at.x, at.y);
  await expect(page.locator('.tip')).toContainText('1.0 MiB');
  await expect(page.locator('[data-readout="gap"]')).toHaveCount(0);
  await page.keyboard.press('h');
  await expect(only(page)).toHaveAttribute('aria-pressed', 'false');
  await settledView(page);
  expect(await bytesOf(page, 'peak')).toBe(7 * MiB);
});

test('it follows the filter and ends with it', async ({ page }) => {
  await openSmall(page);
  await field(page).fill('size<1.5MiB'); // C
  await expect(page.locator('[data-stat="peak"]')).toHaveAttribute('data-bytes', String(1 * MiB));
  await expect(only(page)).toHaveAttribute('aria-pressed', 'true');
  await field(page).fill('');
  await expect(page.locator('[data-stat="peak"]')).toHaveAttribute('data-bytes', String(7 * MiB));
  await expect(only(page)).toHaveCount(0);
});

test('by groups, and in a link', async ({ page }) => {
  await openSmall(page);
  await page.getByLabel('Colour by').selectOption('size');
  await page.locator('.plot').focus();
  await page.keyboard.press('y');
  await expect(page.locator('.plot')).toHaveAttribute('data-stacking', 'groups');
  await settledView(page);
  const below = await page.locator('gpustrata-legend [data-kind^="32 KiB"] rect').getAttribute('fill');
  expect(alike(await colorAt(page, 4.3, 0.2 * MiB), below)).toBe(true);
  await expect.poll(() => page.url()).toContain('&only=1');
  const { hash } = new URL(page.url());
  await page.goto('about:blank');
  await openPage(page, hash);
  await choose(page, { name: 'known.pickle', buffer: knownSnapshot() });
  await expect(page.locator('[data-stat="peak"]')).toHaveAttribute('data-bytes', String(3 * MiB));
  await expect(only(page)).toHaveAttribute('aria-pressed', 'true');
});

test('the details of a block lead to the blocks like it', async ({ page }) => {
  await openKnown(page);
  const at = await pointOf(page, 4.3, 5.3 * MiB); // B
  await page.mouse.click(at.x, at.y);
  await page.locator('gpustrata-details [data-way="its size"]').click();
  await expect(found(page)).toHaveAttribute('data-count', '1');
  await expect(field(page)).toHaveValue(`size:${2 * MiB}`);
  await page.locator('gpustrata-details [data-way="its stream"]').click();
  await expect(found(page)).toHaveAttribute('data-count', '3');
  await page.locator('.plot').focus();
  await page.keyboard.press('x');
  await expect(field(page)).toHaveValue('stack:"train.py:42:"');
  await expect(found(page)).toHaveAttribute('data-count', '3');
  await page.keyboard.press('x');
  await expect(field(page)).toHaveValue('');
});
