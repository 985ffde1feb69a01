// Two files, two moments, many files: what grew, whose parts add up to the byte.
import { join } from 'node:path';
import { expect, test, type Locator, type Page } from '@playwright/test';
import { samples } from '../built.mjs';
import { expectAccessible } from './accessible.ts';
import { settledView, watchErrors } from './page.ts';
import { knownSnapshot, wrapper, MiB } from './pickle.ts';
import { waitForState, openPage, choose, openSample, told, shot } from './support.ts';

async function openBoth(page: Page): Promise<void> {
  await openPage(page);
  await choose(page, join(samples, 'training_run.pickle'), join(samples, 'out_of_memory.pickle.gz'));
  await waitForState(page, 'ready');
  await expect(page.locator('[data-entry-state=ready]')).toHaveCount(2);
  await settledView(page);
}
async function openCompare(page: Page): Promise<Locator> {
  await page.getByRole('tab', { name: /^Compare/ }).click();
  const found = page.locator('gpustrata-compare h2[data-before]');
  await expect(found).toBeVisible();
  return found;
}
/** Sums of all that the table tells. */
async function sums(page: Page): Promise<[number, number]> {
  return page
    .locator('gpustrata-compare tbody tr[data-before]')
    .evaluateAll((rows) =>
      rows.reduce<[number, number]>(
        ([before, after], row) => [
          before + Number((row as HTMLElement).dataset['before']),
          after + Number((row as HTMLElement).dataset['after']),
        ],
        [0, 0],
      ),
    );
}

test('two files at their peaks: rows add up, what grew most comes first, curves lie over each other', async ({
  page,
}) => {
  const errors = watchErrors(page);
  await openBoth(page);
  const found = await openCompare(page);
  // The first file is shown; the other one is the side before, until somebody turns them round.
  await page.locator('[data-side-file=before]').selectOption('training_run.pickle');
  await page.locator('[data-side-file=after]').selectOption('out_of_memory.pickle.gz');
  await expect(found).toHaveAttribute('data-before', '2814816256');
  await expect(found).toHaveAttribute('data-after', '6059896832');
  await expect.poll(() => sums(page)).toEqual([2814816256, 6059896832]);
  // A longer batch: lm_head, 393 MiB to 1.9 GiB.
  const first = page.locator('tr[data-change]').first();
  await expect(first).toHaveAttribute('data-who', /^lm_head /);
  await expect(first).toHaveAttribute('data-change', 'grew');
  const chart = page.locator('[data-curves=event] canvas[data-settled]');
  await expect(page.locator('[data-curves=event] [data-curve=before]')).toHaveAttribute(
    'data-bytes',
    '2814816256',
  );
  await expect(page.locator('[data-curves=event] [data-curve=after]')).toHaveAttribute(
    'data-bytes',
    '6059896832',
  );
  const whole = (await chart.getAttribute('data-stretch'))!;
  await chart.focus();
  await page.keyboard.press('w');
  await expect(chart).not.toHaveAttribute('data-stretch', whole);
  await page.keyboard.press('f');
  await expect(chart).toHaveAttribute('data-stretch', whole);
  await page.locator('[data-align]').selectOption('step');
  await expect(page.locator('[data-curves=step]')).toBeVisible();
  await page.locator('[data-align]').selectOption('time');
  await expect(page.locator('[data-curves=time]')).toBeVisible();
  await page.locator('[data-align]').selectOption('region');
  await expect(page.locator('[data-curves=region]')).toBeVisible();
  // Four passes forward in the one, three in the other: the fourth has a level in one file only.
  await page.locator('[data-align-region]').selectOption('forward');
  await expect(page.locator('gpustrata-compare-curves [data-extent]')).toContainText('4 regions forward');
  const passes = page.locator('[data-curves=region] canvas[data-settled]');
  await expect(passes).toHaveAttribute('data-stretch', `0 ${4 * 65536}`);
  await passes.focus();
  await page.keyboard.press('End');
  await expect(page.locator('[data-curves=region] [data-curve][data-bytes]')).toHaveCount(1);
  await page.keyboard.press('Home');
  await expect(page.locator('[data-curves=region] [data-curve][data-bytes]')).toHaveCount(2);
  // How stacks were found to be the same is said; whatever is in both, or in one, is a row or did not change.
  const matching = page.locator('[data-by-stack]');
  await expect(matching).toContainText('matched by their lines');
  expect(Number(await matching.getAttribute('data-by-stack'))).toBeGreaterThan(0);
  await shot(page, 'compare-region');
  expect(Number(await page.locator('[data-curves]').getAttribute('data-most'))).toBe(6059896832);
  await expectAccessible(page);
  expect(errors).toEqual([]);
});

test('a file with itself: no change, and from its start to its end all that came', async ({ page }) => {
  await openSample(page);
  const found = await openCompare(page);
  await expect(found).toHaveAttribute('data-before', '0');
  await expect(found).toHaveAttribute('data-after', '973320192');
  await expect.poll(() => sums(page)).toEqual([0, 973320192]);
  await page.locator('[data-side-moment=before]').selectOption('end');
  await expect(found).toHaveAttribute('data-before', '973320192');
  await expect(page.locator('tr[data-change]')).toHaveCount(0);
  await expect.poll(() => sums(page)).toEqual([973320192, 973320192]);
});

test('a flame graph of two files: what grew and what shrank, path by path', async ({ page }) => {
  const errors = watchErrors(page);
  await openBoth(page);
  await page.getByRole('tab', { name: /^Flame graph/ }).click();
  const bar = page.locator('gpustrata-flame-bar');
  const graph = page.locator('gpustrata-flame-graph .scroller[data-settled]');
  await bar.locator('[data-choice=of]').selectOption('difference');
  await bar.locator('[data-other-file]').selectOption('out_of_memory.pickle.gz');
  const says = page.locator('gpustrata-flame .says');
  await expect(says).toContainText('less out_of_memory.pickle.gz after event');
  // As the command finds it, another way: stack by stack.
  const files = ['out_of_memory.pickle.gz', 'training_run.pickle'].map((name) => join(samples, name));
  const { parts } = told<{ parts: { before_bytes: number; after_bytes: number }[] }>(
    'compare',
    '--json',
    '--at',
    'peak',
    ...files,
  );
  const changes = parts.map((part) => part.after_bytes - part.before_bytes);
  expect(changes.reduce((sum, change) => sum + change, 0)).toBe(2814816256 - 6059896832);
  const width = changes.reduce((sum, change) => sum + Math.abs(change), 0);
  await expect(graph).toHaveAttribute('data-total', String(width));
  await shot(page, 'flame-two-files');
  // The table tells the same; a file against its own start is all that it holds.
  await bar.locator('[data-shape=table]').click();
  const row = page.locator('gpustrata-frame-table .rows [role=row]').first();
  await expect(row).toContainText('<module> train.py:171');
  await expect(row).toHaveAttribute('data-weight', String(width));
  await bar.locator('[data-shape=icicle]').click();
  await bar.locator('[data-other-moment]').selectOption('start');
  await expect(says).toContainText('less out_of_memory.pickle.gz after the start');
  // Bytes x time are of one file only; nor is there another one when it is closed.
  await bar.locator('[data-choice=weight]').selectOption('time');
  await expect(bar.locator('[data-other-file]')).toHaveValue('');
  await expect(says).toContainText('less after the start');
  await bar.locator('[data-other-file]').selectOption('out_of_memory.pickle.gz');
  await expect(bar.locator('[data-choice=weight]')).toHaveValue('bytes');
  await expect(says).toContainText('less out_of_memory.pickle.gz');
  await page.getByRole('button', { name: /^Close out_of_memory/ }).click();
  await expect(says).toContainText('less after the start');
  await expectAccessible(page);
  expect(errors).toEqual([]);
});

test('a difference with another file is there again when it is chosen again', async ({ page }) => {
  await openBoth(page);
  await page.getByRole('tab', { name: /^Flame graph/ }).click();
  const bar = page.locator('gpustrata-flame-bar');
  const graph = page.locator('gpustrata-flame-graph .scroller[data-settled]');
  await bar.locator('[data-choice=of]').selectOption('difference');
  await bar.locator('[data-other-file]').selectOption('out_of_memory.pickle.gz');
  await expect(page.locator('gpustrata-flame .says')).toContainText('less out_of_memory.pickle.gz');
  await graph.waitFor();
  const total = await graph.getAttribute('data-total');
  await bar.locator('[data-other-file]').selectOption('');
  await expect(graph).not.toHaveAttribute('data-total', total ?? '');
  await bar.locator('[data-other-file]').selectOption('out_of_memory.pickle.gz');
  await expect(graph).toHaveAttribute('data-total', total ?? '');
});

test('a file that is shown another way is still this file, not another one', async ({ page }) => {
  await openSample(page);
  await page.getByRole('tab', { name: /^Flame graph/ }).click();
  const bar = page.locator('gpustrata-flame-bar');
  const differs = bar.locator('[data-choice=of]');
  await differs.selectOption('difference');
  await expect(bar.locator('[data-hold]')).toBeVisible();
  await expect(bar.locator('[data-other-file]')).toHaveCount(0);
  const shown = page.getByRole('combobox', { name: 'View' });
  await shown.selectOption('segments');
  await expect(shown).toHaveAttribute('data-bands', 'segments');
  await settledView(page);
  await differs.selectOption('difference');
  await expect(bar.locator('[data-hold]')).toBeVisible();
  await expect(bar.locator('[data-other-file]')).toHaveCount(0);
});

test('of many files the odd one is named', async ({ page }) => {
  await openPage(page);
  const files = [0, 1, 2, 3].map((rank) => ({
    name: `run_rank${rank}.pickle`,
    buffer: knownSnapshot(rank === 2 ? { extra: 7 * 1024 ** 2 } : {}),
  }));
  await choose(page, ...files);
  await expect(page.locator('[data-entry-state=ready]')).toHaveCount(4);
  await settledView(page);
  await openCompare(page);
  await expect(page.locator('[data-odd-files="1"]')).toContainText('rank2');
  await expect(page.locator('[data-rank-file]')).toHaveCount(4);
  await expect(page.locator('tr[data-odd]')).toHaveAttribute('data-rank-file', 'run_rank2.pickle');
  await page.locator('[data-rank-file="run_rank2.pickle"]').getByRole('button').click();
  await expect(page.locator('[data-side-file=before]')).toHaveValue('run_rank2.pickle');
});

/** Opens them as rank0, rank1, ... and Compare beside the picture. */
async function compareRanks(page: Page, ...snapshots: Buffer[]): Promise<void> {
  await openPage(page);
  await choose(page, ...snapshots.map((buffer, rank) => ({ name: `rank${rank}.pickle`, buffer })));
  await expect(page.locator('[data-entry-state=ready]')).toHaveCount(snapshots.length);
  await settledView(page);
  await openCompare(page);
  await expect(page.locator('[data-rank-file]')).toHaveCount(snapshots.length);
}
const withMore = (...mib: number[]): Buffer[] => mib.map((more) => knownSnapshot({ extra: more * MiB }));

test('of files that are all unlike each other none is called odd, nor are they called alike', async ({
  page,
}) => {
  await compareRanks(page, ...withMore(0, 70, 140, 700));
  await expect(page.locator('[data-odd-files="0"]')).toHaveText(/too far from each other/);
});

test('files that are the same are said to be alike', async ({ page }) => {
  await compareRanks(page, ...withMore(0, 0, 0, 0));
  await expect(page.locator('[data-odd-files="0"]')).toHaveText(/^None differs/);
});

test('of three files nobody can tell the odd one', async ({ page }) => {
  await compareRanks(page, ...withMore(0, 7, 14));
  await expect(page.locator('[data-odd-files]')).toHaveCount(0);
});

test('ranks of one file are compared as those of several: a typical one with the odd one', async ({
  page,
}) => {
  const errors = watchErrors(page);
  await openPage(page);
  const ranks = [0, 1, 2, 3, 4].map((rank) => [`rank${rank}`, rank === 3 ? { extra: 7 * MiB } : {}] as const);
  await choose(page, { name: 'job.pickle', buffer: wrapper(Object.fromEntries(ranks)) });
  await waitForState(page, 'ready');
  await settledView(page);
  await openCompare(page);
  await expect(page.locator('tr[data-odd]')).toHaveAttribute('data-rank-file', 'job.pickle/rank3');
  await expect(page.locator('[data-rank-file]')).toHaveCount(5);
  const told = page.locator('gpustrata-compare h2[data-before]');
  await expect(told).toHaveAttribute('data-before', String(7 * MiB));
  await expect(told).toHaveAttribute('data-after', String(14 * MiB));
  await expect(page.locator('[data-side-file=after]')).toHaveValue('job.pickle/rank3');
  await page.locator('[data-side-file=after]').selectOption('job.pickle/rank1');
  await expect(told).toHaveAttribute('data-after', String(7 * MiB));
  await shot(page, 'compare-ranks-of-one-file');

  // Another rank is shown.
  await page.locator('.plot').focus();
  await page.keyboard.press('r');
  await expect(page.getByLabel('Snapshot', { exact: true })).toHaveValue('4'); // rank3 was shown
  await expect(page.locator('tr[data-rank-file="job.pickle/rank4"]')).toContainText('shown');
  await expect(page.locator('[data-rank-file]')).toHaveCount(5);
  expect(errors).toEqual([]);
});
