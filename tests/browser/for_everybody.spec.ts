// What is there for readers who hear the page, use no single keys, or need more contrast.
import { expect, test } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { settledView } from './page.ts';
import { openSample, openPage, waitForState } from './support.ts';

test('where the keys go on the timeline is said; where the pointer goes is not', async ({ page }) => {
  await openSample(page);
  const spoken = page.locator('[data-spoken]');
  await page.locator('.plot').hover();
  await expect(page.locator('[data-readout=event]')).toBeVisible();
  await expect(spoken).toHaveText('');
  await page.locator('.plot').focus();
  await page.keyboard.press(']');
  await expect(spoken).toHaveText(/^event [\d,]+, [\d.]+ (B|KiB|MiB|GiB) allocated, [\d.]+ GiB reserved/);
  const first = await spoken.textContent();
  await page.keyboard.press(']');
  await expect(spoken).not.toHaveText(first ?? '');
});

test('keys of one letter can be switched off, for good; others stay', async ({ page }) => {
  await openSample(page);
  await expect(page.getByLabel('Colour by')).toHaveValue('category'); // what it opens with
  const state = page.locator('[role=tab][data-panel=state]');
  await page.keyboard.press('?');
  await page.getByLabel('Single letters, digits and signs are shortcuts').uncheck();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  for (const key of ['2', 'c', 'l', '?']) await page.keyboard.press(key);
  await expect(state).toHaveAttribute('aria-selected', 'false');
  await expect(page.getByLabel('Colour by')).toHaveValue('category');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await openPage(page, '?open=samples/training_run.pickle');
  await waitForState(page, 'ready');
  const whole = await settledView(page);
  await page.keyboard.press('2');
  await expect(state).toHaveAttribute('aria-selected', 'false');
  await page.keyboard.down('ArrowUp');
  await expect(page.locator('.plot')).not.toHaveAttribute(
    'data-view',
    [whole.x0, whole.x1, whole.y0, whole.y1].join(' '),
  );
  await page.keyboard.up('ArrowUp');
  await page.getByRole('button', { name: 'Keys' }).click();
  await page.getByLabel('Single letters, digits and signs are shortcuts').check();
  await page.keyboard.press('Escape');
  await page.keyboard.press('2');
  await expect(state).toHaveAttribute('aria-selected', 'true');
});

test('in colours of the system what is chosen has a frame; more contrast is given where it is wanted', async ({
  page,
}) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await openSample(page);
  const tab = page.locator('[role=tab][data-panel=timeline]');
  await expect(tab).toHaveAttribute('aria-selected', 'true');
  await expect(tab).toHaveCSS('outline-style', 'solid');
  const dim = (): Promise<string> =>
    page.evaluate(() =>
      getComputedStyle(document.querySelector('gpustrata-viewer')!).getPropertyValue('--dim').trim(),
    );
  await page.emulateMedia({ forcedColors: 'none' });
  const usual = await dim();
  await page.emulateMedia({ contrast: 'more' });
  expect(await dim()).not.toBe(usual);
  await expectAccessible(page);
});

test('the row that keys are on is known, in every list', async ({ page }) => {
  await openSample(page);
  await page.locator('[role=tab][data-panel=flame]').click();
  await page.locator('[data-shape=table]').click();
  await page.locator('[role=tab][data-panel=events]').click();
  for (const list of ['gpustrata-frame-table', 'gpustrata-event-list']) {
    const grid = page.locator(`${list} .scroller`);
    await grid.locator('.rows [role=row]').first().waitFor();
    await grid.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await expect(grid).toHaveAttribute('aria-activedescendant', 'row-1');
    const row = grid.locator('#row-1');
    const heads = await grid.locator('[role=columnheader]').count();
    await expect(row).toHaveAttribute('aria-rowindex', heads > 0 ? '3' : '2');
    await expect(row).toHaveClass(/current/);
  }
});

test('exact bytes stand beside sizes when they are asked for, by key and in the sheet of keys', async ({
  page,
}) => {
  await openSample(page, 'leak.pickle.gz');
  const peak = page.locator('gpustrata-overview .value').nth(1);
  const beside = (): Promise<string> => peak.evaluate((one) => getComputedStyle(one, '::after').content);
  expect(await beside()).toBe('none');
  await page.keyboard.press('Shift+B');
  expect(await beside()).toContain('520,093,792 bytes'); // as the README's `check` says of it
  await expectAccessible(page);
  await page.keyboard.press('?');
  await page.getByLabel('Exact bytes beside sizes').uncheck();
  await page.keyboard.press('Escape');
  expect(await beside()).toBe('none');
});

test('a panel below a narrow page comes into view when its tab is chosen', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openSample(page, 'out_of_memory.pickle.gz');
  await page.locator('[role=tab][data-panel=whatif]').click();
  await expect(page.getByRole('button', { name: 'Run', exact: true })).toBeInViewport();
});
