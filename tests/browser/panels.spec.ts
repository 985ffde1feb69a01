// Pictures and answers: tabs, keys, height, link; the settings of the allocator.
import { expect, test, type Page } from '@playwright/test';
import { pointAt, settledView } from './page.ts';
import { waitForState, openPage, openKnown } from './support.ts';

const tab = (page: Page, name: string) => page.getByRole('tab', { name: new RegExp(`^${name}`) });
/** The answer beside the picture, the tool below it. */
const answer = (page: Page) => page.locator('gpustrata-answers').getByRole('tabpanel');
const tool = (page: Page) => page.locator('gpustrata-drawer').getByRole('tabpanel');

test('the overview is open at first; tab, key and button open and close answers and tools', async ({
  page,
}) => {
  await openKnown(page);
  await expect(tab(page, 'Overview')).toHaveAttribute('aria-selected', 'true');
  await expect(answer(page)).toBeVisible();
  await expect(tool(page)).toHaveCount(0);
  await tab(page, 'Overview').click();
  await expect(answer(page)).toHaveCount(0);
  // Its tabs are below the picture now, with those of the tools.
  await tab(page, 'Events').click();
  await expect(tab(page, 'Events')).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('5');
  await expect(tab(page, 'Overview')).toHaveAttribute('aria-selected', 'true');
  await expect(tab(page, 'Events')).toHaveAttribute('aria-selected', 'true'); // both have room
  await page.keyboard.press('0');
  await expect(tool(page)).toHaveCount(0);
  await page.keyboard.press('0');
  await tab(page, 'Compare').focus();
  await page.keyboard.press('End'); // what has nothing to show
  await expect(tab(page, 'Settings')).toBeFocused();
  await expect(tab(page, 'Events')).toHaveAttribute('aria-selected', 'true');
  await page.locator('gpustrata-drawer').getByRole('button', { name: 'Close the panel' }).click();
  await expect(tool(page)).toHaveCount(0);
  await page.locator('gpustrata-answers').getByRole('button', { name: 'Close the panel' }).click();
  await expect(answer(page)).toHaveCount(0);
});

test('what is chosen lies over the answer, and goes away before it does', async ({ page }) => {
  await openKnown(page);
  await settledView(page);
  const width = async (): Promise<number> => (await page.locator('.plot').boundingBox())!.width;
  const before = await width();
  const at = await pointAt(page, 0.5, 0.1);
  await page.mouse.click(at.x, at.y);
  const details = page.locator('gpustrata-details');
  await expect(details).toBeVisible();
  await expect(answer(page)).toBeHidden();
  expect(await width()).toBe(before); // the picture does not move under the pointer
  await tab(page, 'Overview').click();
  await expect(answer(page)).toBeVisible();
  await expect(details).toBeHidden();
  await tab(page, 'Details').click();
  await expect(details).toBeVisible();
  await page.locator('gpustrata-answers').getByRole('button', { name: 'Close the panel' }).click();
  await expect(details).toHaveCount(0);
  await expect(answer(page)).toBeVisible();
});

test('a panel whose part comes late begins with what is its own, not with what the one before it kept', async ({
  page,
}) => {
  let letGo = (): void => undefined;
  let held = Promise.resolve();
  await page.route(/\/parts\/panel-/, async (route) => {
    await held;
    await route.continue();
  });
  await page.addInitScript(() => {
    // Nothing is loaded ahead: that is what the page does when it rests.
    Object.assign(globalThis, { requestIdleCallback: () => 0 });
  });
  await openPage(page, '?open=samples/profiler_trace.json.gz');
  await waitForState(page, 'ready');
  await expect(answer(page).locator('[data-finding=peak]')).toBeVisible();
  held = new Promise((resolve) => (letGo = resolve));
  await page.locator('[role=tab][data-panel=ops]').click();
  await expect(tool(page)).toHaveText('Loading…');
  letGo();
  await expect(tool(page)).toContainText('aten::gelu');
  await expect(tool(page)).not.toContainText('is missing');
});

test('the pictures take turns, by tab and key; the timeline stays as a strip', async ({ page }) => {
  await openKnown(page);
  await expect(tab(page, 'Timeline')).toHaveAttribute('aria-selected', 'true');
  const height = async (): Promise<number> =>
    (await page.locator('gpustrata-timeline').boundingBox())!.height;
  const before = await height();
  await page.keyboard.press('2');
  await expect(tab(page, 'State')).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('tabpanel', { name: 'State' })).toBeVisible();
  expect(await height()).toBeLessThan(before / 2);
  await tab(page, 'Address map').click();
  await expect(page.getByRole('tabpanel', { name: 'Address map' })).toBeVisible();
  await expect(page.getByRole('tabpanel', { name: 'State' })).toHaveCount(0);
  await page.keyboard.press('1');
  await expect(tab(page, 'Timeline')).toHaveAttribute('aria-selected', 'true');
  await expect.poll(height).toBe(before);
  await page.keyboard.press('?');
  // The first nine panels have a digit.
  for (const id of [
    'timeline',
    'state',
    'map',
    'flame',
    'overview',
    'oom',
    'leaks',
    'fragmentation',
    'compare',
  ])
    await expect(page.locator(`[data-key-of=panel-${id}]`)).toContainText(/[1-9]/);
});

test('the height is remembered, and the timeline keeps its room', async ({ page }) => {
  await openKnown(page);
  const splitter = page.getByRole('separator', { name: 'Height of the panel' });
  const height = async (selector: string): Promise<number> =>
    (await page.locator(selector).boundingBox())!.height;
  await page.keyboard.press('0');
  await expect(tool(page)).toBeVisible();
  const before = await height('gpustrata-drawer');
  await splitter.focus();
  await page.keyboard.press('ArrowUp');
  await expect.poll(() => height('gpustrata-drawer')).toBe(before + 16);
  const at = (await splitter.boundingBox())!;
  await page.mouse.move(at.x + 300, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x + 300, 0, { steps: 4 });
  await page.mouse.up();
  expect(await height('gpustrata-timeline')).toBeGreaterThanOrEqual(240);
  const most = await height('gpustrata-drawer');
  expect(most).toBeGreaterThan(before + 16);

  await openKnown(page);
  await page.keyboard.press('0');
  await expect.poll(() => height('gpustrata-drawer')).toBe(most);
  await page.setViewportSize({ width: 1280, height: 560 });
  expect(await height('gpustrata-timeline')).toBeGreaterThanOrEqual(240);
});

test('what is open is in the link and in the history', async ({ page }) => {
  await openKnown(page);
  await page.keyboard.press('2');
  await expect(page).toHaveURL(/main=state/);
  await tab(page, 'Events').click();
  await expect(page).toHaveURL(/main=state&panel=events/);
  await page.goBack();
  await expect(tool(page)).toHaveCount(0);
  await expect(tab(page, 'State')).toHaveAttribute('aria-selected', 'true');
  await page.goForward();
  await expect(tab(page, 'Events')).toHaveAttribute('aria-selected', 'true');
  await tab(page, 'Leaks').click();
  await expect(page).toHaveURL(/side=leaks&panel=events/);
  await tab(page, 'Leaks').click(); // none
  await expect(page).toHaveURL(/side=&panel=events/);
});

test('a link made when all answers were below the picture opens them where they are now', async ({
  page,
}) => {
  await openKnown(page);
  await expect(page).toHaveURL(/#.*device=0/);
  await page.evaluate(() => (location.hash += '&panel=leaks'));
  await expect(tab(page, 'Leaks')).toHaveAttribute('aria-selected', 'true');
  await expect(tool(page)).toHaveCount(0);
});

test('the settings of the allocator are a table, JSON, and text to copy', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openPage(page, '?open=samples/out_of_memory.pickle.gz');
  await waitForState(page, 'ready');
  await tab(page, 'Settings').click();
  const row = tool(page).getByRole('row', { name: 'expandable_segments' });
  await expect(row).toContainText('false');
  await tool(page).getByRole('button', { name: 'Copy the table' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('expandable_segments\tfalse\n');
  const json: unknown = JSON.parse(await tool(page).locator('pre').innerText());
  expect(json).toMatchObject({ expandable_segments: false });
});

test('a panel that has nothing to show is grey and says why, to the pointer, to a key and to a reader', async ({
  page,
}) => {
  await openKnown(page); // its file tells no settings
  const settings = tab(page, 'Settings');
  await expect(settings).toHaveAttribute('aria-disabled', 'true');
  await expect(settings).toHaveAttribute('title', /does not say how the allocator was set/);
  await expect(settings).toHaveAccessibleName(/^Settings +The file does not say/);
  const said = page.locator('gpustrata-toast').getByRole('status');
  for (const [ask, why] of [
    [() => settings.click({ force: true }), 'does not say'],
    [() => page.keyboard.press('6'), 'was not out of memory'],
  ] as const) {
    await ask();
    await expect(said).toContainText(why);
    await expect(settings).toHaveAttribute('aria-selected', 'false');
    await expect(tab(page, 'Overview')).toHaveAttribute('aria-selected', 'true');
    await expect(said).toBeEmpty();
  }
  await tab(page, 'Events').click();
  await expect(tab(page, 'Events')).toHaveAttribute('aria-selected', 'true'); // it has events
  await expect(tab(page, 'Events')).not.toHaveAttribute('aria-disabled');
});

test('a link to a panel that has nothing to show says why in its place', async ({ page }) => {
  await openKnown(page);
  await expect(page).toHaveURL(/#.*device=0/); // the page's own link is there
  await page.evaluate(() => (location.hash += '&panel=settings'));
  await expect(tool(page).locator('[data-lacks]')).toContainText('does not say');
});
