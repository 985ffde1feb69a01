// What is seen without scrolling: the answer beside the picture, one line above both; on a phone the answer first.
import { join } from 'node:path';
import { expect, test, type Locator, type Page } from '@playwright/test';
import { realFiles, samples } from '../built.mjs';
import { bytesOf, settledView } from './page.ts';
import { knownSnapshot, MiB } from './pickle.ts';
import { choose, openFile, openPage, openSample, waitForState } from './support.ts';

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}
async function boxOf(one: Locator): Promise<Box> {
  await expect(one).toBeVisible();
  return (await one.boundingBox())!;
}
/** All of it lies in the window, and nothing lies over its middle. */
async function expectSeen(page: Page, one: Locator): Promise<void> {
  const { x, y, width, height } = await boxOf(one);
  const size = page.viewportSize()!;
  expect(x).toBeGreaterThanOrEqual(0);
  expect(y).toBeGreaterThanOrEqual(0);
  expect(x + width).toBeLessThanOrEqual(size.width);
  expect(y + height).toBeLessThanOrEqual(size.height);
  const isOnTop = await one.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const root = element.getRootNode() as ShadowRoot;
    const there = root.elementFromPoint(left + width / 2, top + height / 2);
    return there !== null && (element.contains(there) || there.contains(element));
  });
  expect(isOnTop).toBe(true);
}

async function expectAnswerBesidePicture(page: Page): Promise<void> {
  const bar = await boxOf(page.locator('gpustrata-top-bar'));
  expect(bar.height).toBeLessThanOrEqual(41); // a line of 40 and its border
  const plot = await boxOf(page.locator('.plot'));
  const answers = await boxOf(page.locator('gpustrata-answers'));
  expect(plot.width).toBeGreaterThanOrEqual(1440 * 0.6);
  expect(plot.x + plot.width).toBeLessThanOrEqual(answers.x);
  expect(answers.y).toBeLessThanOrEqual(plot.y);
  expect(answers.y + answers.height).toBe(900);
}

test('an out of memory: verdict, remedy and the lines of the peak lie beside the whole timeline', async ({
  page,
}) => {
  const folder = realFiles('snapshots');
  if (folder) {
    await openPage(page);
    await openFile(page, join(folder, 'torchtitan_fsdp_oom_rank0.pickle'));
    await settledView(page);
  } else {
    await openSample(page, 'out_of_memory.pickle.gz');
  }
  await expectAnswerBesidePicture(page);
  const plot = await boxOf(page.locator('.plot'));
  expect(plot.height).toBeGreaterThanOrEqual(450);
  const oom = page.locator('[data-finding=oom]');
  for (const one of await oom.locator('p').all()) await expectSeen(page, one);
  const parts = page.locator('[data-finding=peak] [data-part]');
  for (const at of [0, 1, 2, 3, 4]) await expectSeen(page, parts.nth(at));
});

test('a leak: who, how much, and the peak lie beside the timeline', async ({ page }) => {
  await openSample(page, 'leak.pickle.gz');
  await expectAnswerBesidePicture(page);
  for (const one of await page.locator('[data-finding=leaks] p').all()) await expectSeen(page, one);
  await expectSeen(page, page.locator('[data-finding=peak] [data-part]').last());
});

test('two files: both levels, curves and what changed most are seen with the timeline', async ({ page }) => {
  await openPage(page);
  await choose(page, join(samples, 'training_run.pickle'), join(samples, 'out_of_memory.pickle.gz'));
  await waitForState(page, 'ready');
  await expect(page.locator('[data-entry-state=ready]')).toHaveCount(2);
  await page.locator('[role=tab][data-panel=compare]').click();
  await expect(page.locator('tr[data-change]').first()).toBeVisible();
  await settledView(page);
  await expectAnswerBesidePicture(page);
  const plot = await boxOf(page.locator('.plot'));
  expect(plot.height).toBeGreaterThanOrEqual(180);
  await expectSeen(page, page.locator('gpustrata-compare h2'));
  await expectSeen(page, page.locator('gpustrata-compare-curves canvas'));
  for (const at of [0, 1, 2]) await expectSeen(page, page.locator('tr[data-change]').nth(at));
});

for (const count of [8, 16])
  test(`${count} ranks: the odd one is named, each can be gone to, the answer of one lies beside its timeline`, async ({
    page,
  }) => {
    await openPage(page);
    const name = (rank: number): string => `job_2026-11-24_llama_seven_b_zero3_rank${rank}.pickle`;
    await choose(
      page,
      ...Array.from({ length: count }, (_, rank) => ({
        name: name(rank),
        buffer: knownSnapshot({ extra: rank === 5 ? 7 * MiB : 0 }),
      })),
    );
    await expect(page.locator('[data-entry-state=ready]')).toHaveCount(count);
    await settledView(page);
    await expectAnswerBesidePicture(page);
    await expectSeen(page, page.locator('[data-odd-words]'));
    const row = await boxOf(page.locator('gpustrata-peak-row'));
    expect(row.height).toBeLessThanOrEqual(80);
    for (const rank of [0, 5, count - 1]) {
      const one = page
        .locator(`[data-entry="${name(rank)}"]`)
        .getByRole('button')
        .first();
      await expectSeen(page, one);
      await one.click();
      // What tells the names apart is not cut off.
      await expectSeen(page, page.locator('.file-name span').last());
      await expect(page.locator('.file-name span').last()).toContainText(`rank${rank}.pickle`);
      if (rank === 5) expect(await bytesOf(page, 'peak')).toBe(14 * MiB);
    }
    await expectSeen(page, page.locator('[data-finding=peak] [data-part]').first());
  });

test('what a press of a button of What if found is seen where it was pressed', async ({ page }) => {
  await openSample(page, 'out_of_memory.pickle.gz');
  await page.locator('[role=tab][data-panel=whatif]').click();
  const panel = page.locator('gpustrata-whatif');
  await expect(panel.locator('[data-run="as recorded"]')).toBeVisible({ timeout: 60_000 });
  for (const [name, found] of [
    ['Smallest device', '[data-smallest]'],
    ['Run', '[data-recommendation]'],
  ] as const) {
    const button = panel.getByRole('button', { name, exact: true });
    await expectSeen(page, button);
    await button.click();
    await expect(panel.locator('.columns')).toHaveAttribute('data-task', 'none', { timeout: 60_000 });
    await expectSeen(page, panel.locator(found));
  }
  // Also while one reads what is below.
  await panel.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await expectSeen(page, panel.getByRole('button', { name: 'Run', exact: true }));
  await expectSeen(page, panel.locator('[data-smallest]'));
});

test('on a phone the answer comes before the picture, and what is chosen behind it', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openSample(page, 'out_of_memory.pickle.gz');
  await expectSeen(page, page.locator('[data-finding=oom] .value'));
  const answers = await boxOf(page.locator('gpustrata-answers'));
  const plot = await boxOf(page.locator('.plot'));
  expect(answers.y + answers.height).toBeLessThanOrEqual(plot.y);
  await page.keyboard.press('o');
  const details = await boxOf(page.locator('gpustrata-details'));
  const after = await boxOf(page.locator('.plot'));
  expect(details.y).toBeGreaterThanOrEqual(after.y + after.height);
  await expect(page.locator('gpustrata-overview')).toBeVisible();
});

for (const width of [720, 1280, 1440, 1920])
  test(`a filter that is typed pushes nothing away or over another, ${width} px`, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 });
    await openSample(page, 'out_of_memory.pickle.gz');
    await page.getByLabel('Search and filter blocks').fill('size>1MiB');
    await expect(page.locator('gpustrata-filter [data-count]')).toBeAttached();
    for (const name of ['Only these', 'Previous match', 'Next match', 'Clear the filter'])
      await expectSeen(page, page.locator('gpustrata-filter').getByRole('button', { name }));
    for (const button of await page.locator('gpustrata-top-bar .end .button').all())
      await expectSeen(page, button);
  });

test('lines of one function are told apart in the legend', async ({ page }) => {
  const folder = realFiles('snapshots');
  test.skip(!folder, 'the shared data folder is absent');
  await openPage(page);
  await openFile(page, join(folder!, 'code_location_3gpu_expandable_oom.pickle'));
  await settledView(page);
  const label = page.locator('gpustrata-legend .label').first();
  await expect(label).toContainText('models.py:174');
  const [cut, whole] = [await boxOf(label), await boxOf(label.locator('span').last())];
  expect(whole.x + whole.width).toBeLessThanOrEqual(cut.x + cut.width + 0.5);
});

test('at 200 % nothing is cut off', async ({ page }) => {
  await page.setViewportSize({ width: 720, height: 450 }); // 1440 x 900 at 200 %
  await openSample(page, 'out_of_memory.pickle.gz');
  for (const one of await page
    .locator(
      'gpustrata-top-bar :is(button, select, input, .file-name):visible, gpustrata-stats button:visible',
    )
    .all()) {
    const box = await boxOf(one);
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(720);
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(720);
  // Selects have room for what is chosen in them.
  for (const select of await page.locator('select:visible').all())
    expect((await boxOf(select)).width).toBeGreaterThanOrEqual(60);
});
