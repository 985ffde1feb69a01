// A thousand ranks: findings, heat map, tables, and the way from a rank to its snapshot. What is planted in them is told in
// tests/data/fleet/make.py.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import { themes } from '../../web/src/draw/colors.ts';
import { heatColors } from '../../web/src/draw/heat_colors.ts';
import { fleetIn } from '../../web/src/model/fleet_choice.ts';
import { command, tool } from '../built.mjs';
import { fleetOf, openFleet, settledHeat, curveOf, factsOf, heatOf } from './fleets.ts';
import { watchErrors } from './page.ts';
import { knownSnapshot } from './pickle.ts';
import { waitForState, openPage, choose, shot } from './support.ts';

const buckets = 128;
const oom = 613;
const outlier = 127;
const leak = 42;

const table = (page: Page) => page.locator('gpustrata-rank-table');
const row = (page: Page, number: number) => table(page).locator(`[role=row][data-row="${number}"]`);
/** Numbers of the rows that are first in the table. */
const firstRows = (page: Page, count: number): Promise<number[]> =>
  table(page)
    .locator('[role=row][data-row]')
    .evaluateAll(
      (all, most) => all.slice(0, most).map((one) => Number((one as HTMLElement).dataset['row'])),
      count,
    );
const fileName = (page: Page) => page.locator('gpustrata-top-bar .file-name');
/** What the picture should be of rows in an order: of those that share pixels the highest, in the colours of the theme. */
function expectedColors(
  values: Uint8Array,
  order: number[],
  share: number,
  theme: 'light' | 'dark',
): string[][] {
  const colors = heatColors(themes[theme]);
  const painted: string[][] = [];
  for (let first = 0; first < order.length; first += share)
    painted.push(
      Array.from({ length: buckets }, (_, bucket) => {
        const here = order.slice(first, first + share).map((one) => values[one * buckets + bucket]!);
        return colors[Math.max(...here)]!;
      }),
    );
  return painted;
}
const inOrder = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

test('out of memory, the outlier and the leak are the first findings, and light their ranks', async ({
  page,
}) => {
  const errors = watchErrors(page);
  await openFleet(page, fleetOf('1000'));
  const findings = page.locator('[data-finding]');
  await expect(findings).toHaveCount(4);
  expect(
    await findings.evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset['finding'])),
  ).toEqual(['oom', 'outlier', 'leak', 'coverage']);
  for (const [at, rank, text] of [
    [0, oom, 'ran out of memory first'],
    [1, outlier, 'peaks at 72.0 GiB'],
    [2, leak, 'keeps 1.0 GiB more'],
  ] as const) {
    const button = findings.nth(at).getByRole('button');
    await expect(button).toContainText(`Rank ${rank} ${text}`);
    await button.click();
    await expect(button).toHaveAttribute('aria-pressed', 'true');
    await expect(row(page, rank)).toHaveClass(/lit/);
    await expect(page.locator('[data-now]')).toContainText(`Rank ${rank} · node`);
    if (at === 1) await shot(page, 'fleet-lit');
  }
  await findings.nth(2).getByRole('button').click();
  await expect(table(page).locator('.lit')).toHaveCount(0);
  // One that names no rank lights none.
  await expect(findings.nth(3).getByRole('button')).toHaveCount(0);
  await expect(page.locator('[data-coverage]')).toContainText('1,000 ranks');
  expect(errors).toEqual([]);
});

test('twenty thousand findings are counted, not shown', async ({ page }) => {
  const fleet = JSON.parse(fleetOf('small').toString()) as { findings: object[] };
  fleet.findings = Array.from({ length: 20_000 }, () => fleet.findings[0]!);
  await openFleet(page, Buffer.from(JSON.stringify(fleet)));
  await expect(page.locator('[data-finding]')).toHaveCount(200);
  await expect(page.locator('gpustrata-fleet-findings')).toContainText('19,800 more findings not shown.');
});

test('what gpustrata fleet reduced of a thousand ranks says the same', async ({ page }, { outputDir }) => {
  const [facts, reduced] = ['ranks.facts.json', 'run.fleet.json'].map((name) => join(outputDir, name));
  mkdirSync(outputDir, { recursive: true });
  writeFileSync(facts!, fleetOf('1000', '--facts'));
  command('fleet', facts!, '-o', reduced!);
  await openFleet(page, readFileSync(reduced!));
  const findings = page.locator('[data-finding]');
  for (const [at, kind, rank] of [
    [0, 'oom', oom],
    [1, 'outlier', outlier],
    [2, 'leak', leak],
  ] as const) {
    await expect(findings.nth(at)).toHaveAttribute('data-finding', kind);
    await expect(findings.nth(at)).toContainText(new RegExp(`rank ${rank}\\b`, 'i'));
    await findings.nth(at).getByRole('button').click();
    await page.getByRole('searchbox', { name: 'Only ranks' }).fill(String(rank));
    await expect(row(page, rank)).toHaveClass(/lit/);
    await page.getByRole('searchbox', { name: 'Only ranks' }).fill('');
  }
  await shot(page, 'fleet-reduced');
  await openFleet(page, readFileSync(reduced!)); // what was lit has a frame over its neighbours
  const { colors, share } = await heatOf(page);
  expect(colors).toEqual(
    expectedColors(curveOf(readFileSync(reduced!), 'allocated'), inOrder(1000), share, 'light'),
  );
});

test('the heat map shows every rank, moment by moment', async ({ page }) => {
  await page.setViewportSize({ width: 1300, height: 900 });
  const text = fleetOf('16');
  await openFleet(page, text);
  for (const curve of ['allocated', 'reserved'] as const) {
    await page.locator('[data-choice=curve]').selectOption(curve);
    await expect(async () => {
      const heat = await heatOf(page);
      expect(heat.share).toBe(1);
      expect(heat.colors).toEqual(expectedColors(curveOf(text, curve), inOrder(16), 1, 'light'));
    }).toPass();
  }
  await expect(page.locator('[data-shares="1"]')).toContainText('16 ranks, from the top down.');
});

for (const theme of ['light', 'dark'] as const)
  test(`of a thousand ranks those that share pixels show the highest, ${theme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: theme });
    const text = fleetOf('1000');
    await openFleet(page, text);
    await shot(page, `fleet-${theme}`);
    const values = curveOf(text, 'allocated');
    const plain = await heatOf(page);
    expect(plain.share).toBeGreaterThan(1);
    await expect(page.locator('[data-shares]')).toContainText(`${plain.share} share a row of pixels`);
    expect(plain.colors).toEqual(expectedColors(values, inOrder(1000), plain.share, theme));
    // Sorted by peak the planted ones come first, whatever they share pixels with.
    await page.locator('[data-choice=sort]').selectOption('peak_requested');
    const peaks = factsOf(text, 'peak_requested') as number[];
    const sorted = inOrder(1000).sort((a, b) => peaks[b]! - peaks[a]! || a - b);
    expect(sorted.slice(0, 3)).toEqual([oom, outlier, leak]);
    await expect(async () => {
      expect((await heatOf(page)).colors).toEqual(expectedColors(values, sorted, plain.share, theme));
    }).toPass();
  });

test('ranks stand together by host, run and group', async ({ page }) => {
  const text = fleetOf('24', '--runs', '2');
  await openFleet(page, text);
  const ways = page.locator('[data-choice=by] option');
  expect(await ways.evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value))).toEqual([
    '',
    'run',
    'host',
    'pp',
    'tp',
  ]);
  await page.locator('[data-choice=by]').selectOption('host');
  await page.locator('[data-choice=sort]').selectOption('peak_requested');
  const hosts = factsOf(text, 'host') as string[];
  const peaks = factsOf(text, 'peak_requested') as number[];
  const expected = inOrder(48).sort(
    (a, b) => hosts[a]!.localeCompare(hosts[b]!) || peaks[b]! - peaks[a]! || a - b,
  );
  await expect.poll(() => firstRows(page, 8)).toEqual(expected.slice(0, 8));
  const { share } = await heatOf(page);
  await expect(async () => {
    const heat = await heatOf(page);
    // The line between two groups takes the first pixels of a row, never its middle.
    expect(heat.colors).toEqual(expectedColors(curveOf(text, 'allocated'), expected, share, 'light'));
  }).toPass();
  await shot(page, 'fleet-by-host');
  await page.locator('[data-choice=by]').selectOption('tp');
  await page.locator('[data-choice=sort]').selectOption('');
  await expect.poll(() => firstRows(page, 4)).toEqual([0, 8, 16, 1]); // run0 tp 0, then run0 tp 1
});

test('the table sorts by any fact, marks what is odd, and leaves the unknown for the end', async ({
  page,
}) => {
  await openFleet(page, fleetOf('1000'));
  const peak = table(page).locator('[data-sort=peak_requested]');
  await peak.click();
  await expect.poll(() => firstRows(page, 3)).toEqual([oom, outlier, leak]);
  const header = table(page)
    .locator('[role=columnheader]')
    .filter({ hasText: /^\s*Peak( [↑↓])?\s*$/ });
  await expect(header).toHaveAttribute('aria-sort', 'descending');
  for (const rank of [oom, outlier, leak])
    await expect(row(page, rank).locator('[data-column=peak_requested]')).toHaveAttribute('data-odd', '');
  await expect(row(page, oom).locator('[data-column=ooms]')).toHaveAttribute('data-odd', '');
  await expect(row(page, outlier).locator('[data-column=ooms]')).not.toHaveAttribute('data-odd', '');
  await expect(table(page).locator('[data-odd][data-column=peak_requested]')).toHaveCount(3);
  await shot(page, 'fleet-sorted');
  await peak.click();
  await expect(header).toHaveAttribute('aria-sort', 'ascending');
  expect(await firstRows(page, 3)).not.toContain(oom);
  await peak.click();
  await expect.poll(() => firstRows(page, 3)).toEqual([0, 1, 2]);

  // Row 0 has no rank and no peak: last, up or down.
  await page.reload();
  await openFleet(page, fleetOf('small'));
  await table(page).locator('[data-sort=peak_requested]').click();
  await expect.poll(() => firstRows(page, 5)).toEqual([4, 1, 2, 3, 0]);
  await table(page).locator('[data-sort=peak_requested]').click();
  await expect.poll(() => firstRows(page, 5)).toEqual([1, 2, 3, 4, 0]);
  await expect(page.locator('.says')).toContainText('Ranks 4 to 5 of run a are missing.');
  await page.locator('[data-unreadable] summary').click();
  await expect(page.locator('[data-unreadable]')).toContainText('empty.facts.json: The file is empty.');
});

test('text filters ranks, and goes along as CSV', async ({ page }) => {
  const text = fleetOf('1000').toString().replace('"rank613.pickle"', '"=SUM(A1)"');
  await openFleet(page, Buffer.from(text));
  const find = page.getByRole('searchbox', { name: 'Only ranks with this text' });
  await find.fill('node0076'); // ranks 608 to 615
  await expect(table(page).locator('[data-rows]')).toHaveAttribute('data-rows', '8');
  await expect(page.locator('[data-shares]')).toContainText('8 ranks');
  const download = page.waitForEvent('download');
  await page.locator('[data-action=save-csv]').click();
  const csv = readFileSync(await (await download).path(), 'utf8')
    .trimEnd()
    .split('\n');
  expect(csv).toHaveLength(9);
  expect(csv[0]).toMatch(/^rank,host,device,file,peak_requested,/);
  expect(csv[1]).toMatch(/^608,node0076,0,rank608\.pickle,/);
  expect(csv[6]).toMatch(/^613,node0076,5,'=SUM\(A1\),84825604096,/); // 79 GiB
  await find.fill('613'); // a rank is a whole number
  await expect(table(page).locator('[data-rows]')).toHaveAttribute('data-rows', '1');
  await find.fill('no such thing');
  await expect(page.getByText('No rank has this text.')).toBeVisible();
});

test('everything is done with keys, too', async ({ page }) => {
  await openFleet(page, fleetOf('1000'));
  const canvas = await settledHeat(page);
  await canvas.focus();
  const now = page.locator('[data-now]');
  await page.keyboard.press('ArrowDown');
  await expect(now).toContainText('Rank 0 ·');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await expect(now).toContainText('Rank 1 · at most 18.');
  await expect(now).toContainText('allocated, +0.000000 s');
  await page.keyboard.press('Shift+ArrowRight');
  await expect(now).toContainText('+4.687500 s'); // 10 of 128 moments of 60 s
  await page.keyboard.press('End');
  await expect(now).toContainText('Rank 999 ·');
  await page.keyboard.press('PageUp');
  await expect(now).toContainText('Rank 949 ·');
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  const missing = page.locator('[data-missing]');
  await expect(missing).toBeFocused();
  await expect(missing).toHaveAttribute('data-missing', 'rank0.pickle');
  await expect(missing).toContainText('not among the files that this page knows');

  const grid = table(page).getByRole('grid');
  await grid.focus();
  await page.keyboard.press('End');
  await expect(row(page, 999)).toBeInViewport();
  await expect(row(page, 999)).toHaveAttribute('aria-selected', 'true');
  await expect(grid).toHaveAttribute('aria-activedescendant', 'row-999');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await expect(missing).toHaveAttribute('data-missing', 'rank998.pickle');
});

test('groups and stacks are tables that light ranks', async ({ page }) => {
  await openFleet(page, fleetOf('1000'));
  await page.locator('[role=tab][data-panel=groups]').click();
  await expect(page.locator('[data-groups]')).toHaveAttribute('data-groups', '12');
  const tp5 = page.locator('tr[data-group="tp 5"]');
  await expect(tp5).toContainText('Rank 613'); // 613 = 8 * 76 + 5
  await tp5.getByRole('button').click();
  await expect(tp5).toHaveClass(/lit/);
  await shot(page, 'fleet-groups');
  await page.locator('[role=tab][data-panel=stacks]').click();
  await expect(page.locator('[data-stacks]')).toHaveAttribute('data-stacks', '30');
  await page.locator('tr[data-stack]').nth(3).getByRole('button', { name: 'Rank 21' }).click();
  await page.locator('[role=tab][data-panel=ranks]').click();
  await expect(row(page, 21)).toHaveClass(/lit/);
});

test('a rank opens its snapshot when that was chosen with the fleet; both stay', async ({ page }) => {
  await openPage(page);
  await choose(
    page,
    { name: 'run.fleet.json', buffer: fleetOf('1000') },
    { name: `rank${oom}.pickle`, buffer: knownSnapshot() },
    { name: 'rank7.pickle', buffer: knownSnapshot() },
  );
  await waitForState(page, 'ready');
  // Only the fleet is open.
  await expect(fileName(page)).toHaveText('run.fleet.json');
  await expect(page.locator('[data-entry]')).toHaveCount(0);
  await table(page).locator('[data-sort=peak_requested]').click();
  await row(page, oom)
    .getByRole('button', { name: `Open Rank ${oom}` })
    .click();
  await expect(fileName(page)).toHaveText(`rank${oom}.pickle`);
  await waitForState(page, 'ready');
  // Back: it is as it was, and the file is not opened twice.
  await page.locator('[data-entry="run.fleet.json"] .bar').click();
  await expect(row(page, oom)).toHaveAttribute('aria-selected', 'true');
  await expect.poll(() => firstRows(page, 2)).toEqual([oom, outlier]);
  await row(page, oom)
    .getByRole('button', { name: `Open Rank ${oom}` })
    .click();
  await expect(fileName(page)).toHaveText(`rank${oom}.pickle`);
  await expect(page.locator('[data-entry]')).toHaveCount(2);
});

test('a click on the picture opens the rank that its pixel shows', async ({ page }) => {
  await openPage(page);
  await choose(
    page,
    { name: 'run.fleet.json', buffer: fleetOf('1000') },
    { name: `rank${oom}.pickle`, buffer: knownSnapshot() },
  );
  await waitForState(page, 'ready');
  const { left, top, width, rowHeight, share } = await heatOf(page);
  const canvas = await settledHeat(page);
  const at = { x: left + (8.5 * width) / buckets, y: top + Math.floor(oom / share) * rowHeight };
  await canvas.hover({ position: at }); // the peak of the first step
  await expect(page.locator('.tip b')).toHaveText(`Rank ${oom}`);
  await expect(page.locator('.tip')).toContainText('at most 79.1 GiB allocated, +3.75'); // 252 of 255 parts of 80 GiB
  await canvas.click({ position: at });
  await expect(fileName(page)).toHaveText(`rank${oom}.pickle`);
});

test('a file that is not known is asked for: one, or its folder', async ({ page }, { outputDir }) => {
  await openFleet(page, fleetOf('16', '--runs', '2'));
  const missing = page.locator('[data-missing]');
  await row(page, 3).getByRole('button', { name: 'Open Rank 3 of run0' }).click();
  await expect(missing).toContainText('Rank 3 of run0 was recorded in rank3.pickle.');
  await shot(page, 'fleet-missing');
  const [one, folder] = [
    page.locator('gpustrata-fleet input[type=file]').first(),
    page.locator('gpustrata-fleet input[webkitdirectory]'),
  ];
  // A folder with a file for each run: folders tell which.
  for (const run of ['run0', 'run1']) {
    mkdirSync(join(outputDir, 'facts', `run=${run}`), { recursive: true });
    writeFileSync(join(outputDir, 'facts', `run=${run}`, 'rank3.pickle'), knownSnapshot());
  }
  await folder.setInputFiles(join(outputDir, 'facts'));
  await expect(fileName(page)).toHaveText('rank3.pickle');
  await page.locator('[data-entry="run.fleet.json"] .bar').click();
  await row(page, 4).getByRole('button', { name: 'Open Rank 4 of run0' }).click();
  await expect(missing).toHaveAttribute('data-missing', 'rank4.pickle');
  await one.setInputFiles({ name: 'elsewhere.pickle', mimeType: '', buffer: knownSnapshot() });
  await expect(fileName(page)).toHaveText('elsewhere.pickle');
});

test('over gpustrata serve a rank opens from the served folder', async ({ page }) => {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-'));
  mkdirSync(join(folder, 'run=run1'));
  writeFileSync(join(folder, 'both.fleet.json'), fleetOf('16', '--runs', '2'));
  writeFileSync(join(folder, 'run=run1', 'rank3.pickle'), knownSnapshot());
  const server = spawn(tool, ['serve', folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(server.stdout, 'data')) as [Buffer];
    await page.goto(line.toString().trim());
    await page.getByRole('button', { name: 'both.fleet.json' }).click();
    await waitForState(page, 'ready');
    await settledHeat(page);
    await expect(page.locator('[data-served]')).toBeVisible();
    await row(page, 5).getByRole('button').click();
    await expect(page.locator('[data-missing]')).toContainText('The server does not have it in its folder.');
    await page.getByRole('searchbox', { name: 'Only ranks' }).fill('rank3.pickle'); // of both runs
    await row(page, 16 + 3)
      .getByRole('button')
      .click();
    await expect(fileName(page)).toHaveText('rank3.pickle');
    await expect(page.locator('[data-served]')).toBeVisible();
  } finally {
    server.kill();
    rmSync(folder, { recursive: true });
  }
});

test('a link restores sort, curve, group, filter and rank', async ({ page }) => {
  const text = fleetOf('1000');
  await openFleet(page, text);
  await page.locator('[data-choice=curve]').selectOption('reserved');
  await page.locator('[data-choice=by]').selectOption('pp');
  await page.locator('[data-choice=sort]').selectOption('fragmentation');
  await page.locator('[data-finding]').first().getByRole('button').click();
  await expect.poll(() => new URL(page.url()).hash).toContain('row=613');
  const { hash } = new URL(page.url());
  expect(fleetIn(new URLSearchParams(hash.slice(1)))).toMatchObject({
    curve: 'reserved', by: 'pp', sort: 'fragmentation', descending: true, row: 613, lit: { of: 'finding', at: 0 }, table: 'ranks',
  }); // prettier-ignore
  await page.goto('about:blank');
  await openPage(page, hash);
  await expect(page.locator('gpustrata-link-note')).toContainText('run.fleet.json');
  await choose(page, { name: 'run.fleet.json', buffer: text });
  await waitForState(page, 'ready');
  await expect(page.locator('[data-choice=curve]')).toHaveValue('reserved');
  await expect(page.locator('[data-choice=by]')).toHaveValue('pp');
  await expect(page.locator('[data-choice=sort]')).toHaveValue('fragmentation');
  await expect(row(page, oom)).toHaveClass(/lit/);
});

test('ten thousand ranks are one picture and one table', async ({ page }) => {
  const text = fleetOf('10000');
  await openFleet(page, text);
  const { share, colors } = await heatOf(page);
  expect(colors).toEqual(expectedColors(curveOf(text, 'allocated'), inOrder(10_000), share, 'light'));
  await expect(page.locator('[data-shares]')).toContainText('10,000 ranks: ');
  await table(page).getByRole('grid').focus();
  await page.keyboard.press('End');
  await expect(row(page, 9_999)).toBeInViewport();
  expect(await table(page).locator('[role=row][data-row]').count()).toBeLessThan(60);
});

test('a fleet that ends early, and one of a later version, are refused in words', async ({ page }) => {
  await openPage(page);
  const text = fleetOf('1000');
  await choose(page, { name: 'cut.fleet.json', buffer: text.subarray(0, 20_000) });
  await waitForState(page, 'error');
  await expect(page.locator('gpustrata-failure')).toContainText('ends in the middle');
  const later = Buffer.from(text.toString().replace('"gpustrata_fleet":1', '"gpustrata_fleet":2'));
  await choose(page, { name: 'later.fleet.json', buffer: later });
  await expect(page.locator('gpustrata-fleet').getByRole('alert')).toContainText('version 2');
});
