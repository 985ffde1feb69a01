// Finding blocks.
import { expect, test, type Page } from '@playwright/test';
import { settledView, viewAfter, colorAt } from './page.ts';
import { pickled, knownSnapshot, MiB } from './pickle.ts';
import { waitForState, openPage, choose, openKnown } from './support.ts';

const count = (page: Page) => page.locator('gpustrata-filter [data-count]');
const details = (page: Page) => page.locator('gpustrata-details h2');

test('an address is found, counted and shown, the others are dimmed', async ({ page }) => {
  await openKnown(page);
  const before = await colorAt(page, 4.3, 1.3 * MiB);
  const beforeB = await colorAt(page, 4.3, 5.3 * MiB);
  await page.keyboard.press('/');
  await page.keyboard.insertText('7f0000400000');
  await expect(count(page)).toHaveAttribute('data-count', '1');
  await expect(count(page)).toHaveAttribute('data-bytes', String(2 * MiB));
  await expect.poll(() => colorAt(page, 4.3, 1.3 * MiB)).not.toBe(before);
  expect(await colorAt(page, 4.3, 5.3 * MiB)).toBe(beforeB);
  await page.keyboard.press('Enter');
  await expect(details(page)).toHaveAttribute('data-bytes', String(2 * MiB));
  await page.keyboard.press('Escape');
  await expect(count(page)).toHaveCount(0);
  await expect.poll(() => colorAt(page, 4.3, 1.3 * MiB)).toBe(before);
});

test('next and previous walk through the matches, by key and by button', async ({ page }) => {
  await openKnown(page);
  await page.keyboard.press('/');
  await page.keyboard.insertText('train.py');
  await expect(count(page)).toHaveAttribute('data-count', '3');
  await page.locator('.plot').focus();
  const sizes = [4 * MiB, 2 * MiB, 1 * MiB];
  for (const size of sizes) {
    await page.keyboard.press('n');
    await expect(details(page)).toHaveAttribute('data-bytes', String(size));
  }
  await page.keyboard.press('Shift+N');
  await expect(details(page)).toHaveAttribute('data-bytes', String(sizes[1]));
  await page.getByRole('button', { name: 'Next match' }).click();
  await expect(details(page)).toHaveAttribute('data-bytes', String(sizes[2]));
  await expect(count(page)).toContainText('3 of 3');
});

test('a field narrows the search; no match says so', async ({ page }) => {
  await openKnown(page);
  await page.getByLabel('Search and filter blocks').fill('metadata:attention');
  await expect(count(page)).toHaveText('no match');
  await page.getByLabel('Search and filter blocks').fill('stack:attention');
  await expect(count(page)).toHaveAttribute('data-count', '3');
});

test('a filter by size and moment dims the others and tells its total', async ({ page }) => {
  await openKnown(page);
  const a = await colorAt(page, 4.3, 1.3 * MiB);
  const b = await colorAt(page, 4.3, 5.3 * MiB);
  await page.getByLabel('Search and filter blocks').fill('size<3MiB alive@peak');
  await expect(count(page)).toHaveAttribute('data-count', '2');
  await expect(count(page)).toHaveAttribute('data-bytes', String(3 * MiB));
  await expect(count(page)).toHaveAttribute('data-at-peak', String(3 * MiB));
  await expect.poll(() => colorAt(page, 4.3, 1.3 * MiB)).not.toBe(a);
  expect(await colorAt(page, 4.3, 5.3 * MiB)).toBe(b);
});

test('a wrong filter says what and where, and means nothing until it is right', async ({ page }) => {
  await openKnown(page);
  const field = page.getByLabel('Search and filter blocks');
  await field.fill('size>1MiB');
  await expect(count(page)).toHaveAttribute('data-count', '2');
  await field.fill('stack:é size>1Mx');
  await page.keyboard.press('Enter');
  const error = page.locator('gpustrata-filter [role=alert]');
  await expect(error).toContainText('no unit of sizes');
  await expect(error).toHaveAttribute('data-offset', '14'); // in characters, though é is two bytes
  await expect(error.locator('mark')).toHaveText('Mx');
  await expect(count(page)).toHaveCount(0);
  await field.fill('size>1MiB stack:attention');
  await expect(error).toBeHidden();
  await expect(count(page)).toHaveAttribute('data-count', '2');
});

test('the filter completes fields and values', async ({ page }) => {
  await openKnown(page);
  const options = page.locator('gpustrata-filter').getByRole('option');
  await page.keyboard.press('/');
  await expect(options).toHaveCount(14);
  await page.keyboard.type('al');
  await expect(options).toHaveCount(1);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Search and filter blocks')).toHaveValue('alive@');
  await expect(options).toHaveText([/alive@peak/, /alive@start/, /alive@end/]);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  await expect(page.getByLabel('Search and filter blocks')).toHaveValue('alive@peak ');
  await expect(count(page)).toHaveAttribute('data-count', '3');
  await page.keyboard.type('stack:att');
  await expect(options).toHaveText([/stack:attention/]);
  await options.click();
  await expect(page.getByLabel('Search and filter blocks')).toHaveValue('alive@peak stack:attention ');
  await page.keyboard.type('category:te');
  await expect(options).toHaveText([/category:temporary/]);
});

test('a match outside the view is brought into it', async ({ page }) => {
  await openPage(page);
  await page.getByRole('button', { name: 'Open the sample' }).click();
  await waitForState(page, 'ready');
  let view = await settledView(page);
  const box = (await page.locator('.plot').boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.95, box.y + box.height * 0.5);
  for (let i = 0; i < 4; i += 1) {
    await page.mouse.wheel(0, -300);
    view = await viewAfter(page, view);
  }
  await page.getByLabel('Search and filter blocks').fill("b'");
  await expect(count(page)).not.toHaveAttribute('data-count', '0');
  await page.keyboard.press('Enter');
  await expect(count(page)).toContainText('1 of');
  const born = await page.locator('gpustrata-details dd').first().textContent();
  expect(born).toBeTruthy();
});

test('a search does not outlive its field', async ({ page }) => {
  await openKnown(page);
  await page.keyboard.press('/');
  await page.keyboard.insertText('7f0000400000');
  await expect(count(page)).toHaveAttribute('data-count', '1');
  const nothing = pickled({ segments: [], device_traces: [] });
  await choose(page, { name: 'nothing.pickle', buffer: nothing });
  await expect(page.getByRole('heading', { name: 'Nothing to draw' })).toBeVisible();
  await choose(page, { name: 'again.pickle', buffer: knownSnapshot() });
  await expect(page.locator('.file-name')).toHaveText('again.pickle');
  await settledView(page);
  await expect(page.getByLabel('Search and filter blocks')).toHaveValue('');
  await expect(count(page)).toBeHidden();
});
