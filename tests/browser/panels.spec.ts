// The room below the timeline: tabs, keys, height, link; the settings of the allocator.
import AxeBuilder from '@axe-core/playwright';
import { expect, test, type Page } from '@playwright/test';
import { settledView } from './page.ts';
import { knownSnapshot } from './pickle.ts';
import { openPage, waitForState } from './support.ts';

const tab = (page: Page, name: string) => page.getByRole('tab', { name });
const panel = (page: Page) => page.getByRole('tabpanel');

async function openKnown(page: Page): Promise<void> {
  await openPage(page);
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'known.pickle', mimeType: '', buffer: knownSnapshot() });
  await waitForState(page, 'ready');
  await settledView(page);
}

test('panels are closed at first; tab, key and button open and close them', async ({ page }) => {
  await openKnown(page);
  await expect(tab(page, 'State')).toBeVisible();
  await expect(panel(page)).toBeHidden();
  await tab(page, 'State').click();
  await expect(panel(page)).toBeVisible();
  await expect(tab(page, 'State')).toHaveAttribute('aria-selected', 'true');
  await tab(page, 'State').click();
  await expect(panel(page)).toBeHidden();

  await page.keyboard.press('1');
  await expect(tab(page, 'State')).toHaveAttribute('aria-selected', 'true');
  await tab(page, 'State').focus();
  await page.keyboard.press('End');
  await expect(tab(page, 'Settings')).toBeFocused();
  await expect(tab(page, 'Settings')).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('ArrowRight'); // around
  await expect(tab(page, 'State')).toHaveAttribute('aria-selected', 'true');
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await expect(panel(page)).toBeHidden();

  await page.keyboard.press('?');
  await expect(page.locator('[data-key-of=panel-state]')).toContainText('1');
});

test('the height is remembered, and the timeline keeps its room', async ({ page }) => {
  await openKnown(page);
  await page.keyboard.press('1');
  const splitter = page.getByRole('separator', { name: 'Height of the panel' });
  const height = async (selector: string): Promise<number> =>
    (await page.locator(selector).boundingBox())!.height;
  const before = await height('memstrata-panels');
  await splitter.focus();
  await page.keyboard.press('ArrowUp');
  await expect.poll(() => height('memstrata-panels')).toBe(before + 16);
  const at = (await splitter.boundingBox())!;
  await page.mouse.move(at.x + 300, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x + 300, 0, { steps: 4 });
  await page.mouse.up();
  expect(await height('memstrata-timeline')).toBeGreaterThanOrEqual(240);
  const most = await height('memstrata-panels');
  expect(most).toBeGreaterThan(before + 16);

  await openKnown(page);
  await page.keyboard.press('1');
  await expect.poll(() => height('memstrata-panels')).toBe(most);
  await page.setViewportSize({ width: 1280, height: 560 });
  expect(await height('memstrata-timeline')).toBeGreaterThanOrEqual(240);
});

test('the open panel is in the link and in the history', async ({ page }) => {
  await openKnown(page);
  await page.keyboard.press('1');
  await expect(page).toHaveURL(/panel=state/);
  await tab(page, 'Settings').click();
  await expect(page).toHaveURL(/panel=settings/);
  await page.goBack();
  await expect(tab(page, 'State')).toHaveAttribute('aria-selected', 'true');
  await page.goForward();
  await expect(tab(page, 'Settings')).toHaveAttribute('aria-selected', 'true');
});

test('the settings of the allocator are a table, JSON, and text to copy', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openPage(page, '?open=samples/out_of_memory.pickle.gz');
  await waitForState(page, 'ready');
  await tab(page, 'Settings').click();
  const row = panel(page).getByRole('row', { name: 'expandable_segments' });
  await expect(row).toContainText('false');
  await panel(page).getByRole('button', { name: 'Copy the table' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('expandable_segments\tfalse\n');
  const json: unknown = JSON.parse(await panel(page).locator('pre').innerText());
  expect(json).toMatchObject({ expandable_segments: false });
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id }) => id)).toEqual([]);
});

test('a file without settings says so', async ({ page }) => {
  await openKnown(page);
  await tab(page, 'Settings').click();
  await expect(page.locator('[data-note=no-settings]')).toContainText('does not say');
});
