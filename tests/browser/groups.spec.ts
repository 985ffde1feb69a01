// The stack by group, and the gap above it up to what is reserved.
import { expect, test, type Page } from '@playwright/test';
import { alike, settledView, pointOf, colorAt } from './page.ts';
import { MiB } from './pickle.ts';
import { openPage, openKnown, openSample } from './support.ts';

const large = '1 to 10 MiB';
const small = '32 KiB to 1 MiB (small pool)';
const kind = (page: Page, label: string) => page.locator(`gpustrata-legend [data-kind="${label}"]`);
const colorOf = async (page: Page, label: string): Promise<string | null> =>
  kind(page, label).locator('rect').getAttribute('fill');
const stacked = async (page: Page, way: 'blocks' | 'groups'): Promise<void> => {
  await expect(page.locator('.plot')).toHaveAttribute('data-stacking', way);
  await settledView(page);
};

/** By size C of 1 MiB lies below A and B, 6 MiB together, at event 4. */
async function openGroups(page: Page): Promise<void> {
  await openKnown(page);
  await page.getByLabel('Colour by').selectOption('size');
  await expect(kind(page, large)).toBeVisible();
  await page.keyboard.press('y');
  await stacked(page, 'groups');
}

test('blocks lie within their groups, in the order and the hues of the legend', async ({ page }) => {
  await openGroups(page);
  const [below, above] = [await colorOf(page, small), await colorOf(page, large)];
  const shows = async (event: number, bytes: number, color: string | null): Promise<void> =>
    expect(alike(await colorAt(page, event, bytes), color), `${event} ${bytes}`).toBe(true);
  await shows(4.3, 0.2 * MiB, below);
  await shows(4.3, 0.8 * MiB, below);
  await shows(4.3, 1.2 * MiB, above);
  await shows(4.3, 6.8 * MiB, above);
  // Before C came there is no lower group.
  await shows(3.3, 0.2 * MiB, above);
  await shows(3.3, 5.8 * MiB, above);
  // A and B are told apart.
  expect(await colorAt(page, 4.3, 4.5 * MiB)).not.toBe(await colorAt(page, 4.3, 5.5 * MiB));
  await page.keyboard.press('y');
  await stacked(page, 'blocks');
  await shows(4.3, 6.8 * MiB, below); // C is the youngest
});

test('pointing tells the block and its group; a click pins the block', async ({ page }) => {
  await openGroups(page);
  const at = await pointOf(page, 4.3, 6.5 * MiB); // B
  await page.mouse.move(at.x, at.y);
  const told = page.locator('[data-readout="group"]');
  await expect(told).toHaveAttribute('data-group', large);
  await expect(told).toHaveAttribute('data-bytes', String(6 * MiB));
  await expect(told).toHaveAttribute('data-blocks', '2');
  await expect(told).toContainText('6.0 MiB, 86 %, 2 blocks');
  await page.mouse.click(at.x, at.y);
  await expect(page.locator('gpustrata-details h2')).toHaveAttribute('data-bytes', String(2 * MiB));
  await expect(kind(page, large)).toHaveAttribute('aria-pressed', 'false');
});

test('a kind that is held stays lit, Esc lets it go', async ({ page }) => {
  await openGroups(page);
  const [below, above] = [await colorOf(page, small), await colorOf(page, large)];
  await kind(page, large).click();
  await expect(kind(page, large)).toHaveAttribute('aria-pressed', 'true');
  await expect.poll(async () => alike(await colorAt(page, 4.3, 0.5 * MiB), below)).toBe(false);
  expect(alike(await colorAt(page, 4.3, 6.5 * MiB), above)).toBe(true);
  await page.locator('.plot').focus();
  await page.keyboard.press('Escape');
  await expect.poll(async () => alike(await colorAt(page, 4.3, 0.5 * MiB), below)).toBe(true);
});

test('what a filter does not mean fades where it lies', async ({ page }) => {
  await openGroups(page);
  const above = await colorOf(page, large);
  await page.getByLabel('Search and filter blocks').fill('size>3MiB'); // A
  await expect.poll(async () => alike(await colorAt(page, 4.3, 6.5 * MiB), above)).toBe(false);
  await settledView(page);
  expect(alike(await colorAt(page, 4.3, 4.5 * MiB), above)).toBe(true);
});

test('the way to stack is remembered and goes with a link; without kinds there are no groups', async ({
  page,
}) => {
  await openGroups(page);
  await expect.poll(() => page.url()).toContain('&stack=groups');
  await openPage(page);
  await openKnown(page);
  await stacked(page, 'groups');
  await page.getByLabel('Colour by').selectOption('allocation');
  await stacked(page, 'blocks');
  await page.getByRole('radio', { name: 'Groups' }).check({ force: true });
  await stacked(page, 'groups');
  await expect(page.getByLabel('Colour by')).toHaveValue('stack');
});

test('groups move and zoom as blocks do', async ({ page }) => {
  const all = await openSample(page);
  await stacked(page, 'groups');
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  for (const key of ['w', 'd', 's', 'p', 'f']) {
    await page.keyboard.press(key);
    await stacked(page, 'groups');
  }
  expect(await settledView(page)).toEqual(all);
  expect(errors).toEqual([]);
});

test('what is reserved and in no block is hatched, and its bytes are told', async ({ page }) => {
  await openKnown(page);
  const at = await pointOf(page, 4.3, 7.3 * MiB); // between 7 MiB in use and 20 MiB reserved
  await page.mouse.move(at.x, at.y);
  await expect(page.locator('[data-readout="gap"]')).toHaveAttribute('data-bytes', String(13 * MiB));
  await page.mouse.move(2, 2);
  expect(await colorAt(page, 4.3, 7.3 * MiB)).not.toBe('#ffffff');
  expect(await colorAt(page, 0.5, 7.3 * MiB)).not.toBe('#ffffff');
});
