// Flame graph, its table, and who holds memory: numbers by hand of the known snapshot; of the sample those of
// `gpustrata top`, which finds them another way.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import { samples } from '../built.mjs';
import { expectAccessible } from './accessible.ts';
import { watchErrors } from './page.ts';
import { MiB } from './pickle.ts';
import { openKnown, openSample, told } from './support.ts';

const graph = (page: Page) => page.locator('gpustrata-flame-graph .scroller');
const settledGraph = (page: Page) => page.locator('gpustrata-flame-graph .scroller[data-settled]');
const rows = (page: Page) => page.locator('gpustrata-frame-table .rows [role=row]');
const pick = (page: Page, name: string, value: string) =>
  page.locator(`gpustrata-flame-bar [data-choice=${name}]`).selectOption(value);
const matches = (page: Page) => page.locator('gpustrata-filter [data-count]');

interface TopRow {
  bytes: number;
  blocks: number;
  function: string;
  file: string;
  line: number;
}
function top(): { requested_bytes: number; rows: TopRow[] } {
  const sample = join(samples, 'training_run.pickle');
  type Tops = { tops: { requested_bytes: number; rows: TopRow[] }[] };
  return told<Tops>('top', '--json', '--by', 'line', sample).tops[0]!;
}

async function openFlame(page: Page): Promise<void> {
  await page.getByRole('tab', { name: /^Flame graph/ }).click();
  await expect(settledGraph(page)).toBeVisible();
}

test('the calls of the moment, of a range and of a difference add up', async ({ page }) => {
  const errors = watchErrors(page);
  await openKnown(page); // at its peak, after event 4: A, B and C, all by attention
  await openFlame(page);
  await expect(graph(page)).toHaveAttribute('data-total', String(7 * MiB));
  await expect(graph(page)).toHaveAttribute('data-rects', '2'); // all, attention: it begins with own code
  await pick(page, 'weight', 'blocks');
  await expect(graph(page)).toHaveAttribute('data-total', '3');
  await pick(page, 'frames', 'shown');
  await expect(graph(page)).toHaveAttribute('data-rects', '3'); // and empty_cuda
  await pick(page, 'frames', 'own');
  await pick(page, 'weight', 'bytes');

  // Without a range: all of the recording. A, B and C were made; A stays.
  const says = page.locator('gpustrata-flame .says');
  for (const [of, bytes] of [
    ['allocated', 7 * MiB],
    ['kept', 4 * MiB],
    ['passed', 3 * MiB],
    ['difference', 7 * MiB],
  ] as const) {
    await pick(page, 'of', of);
    await expect(says).toHaveAttribute('data-of', of);
    await expect(settledGraph(page)).toHaveAttribute('data-total', String(bytes));
  }
  // From the moment after event 4 on: 3 MiB less at the end.
  await page.locator('[data-hold]').click();
  await expect(settledGraph(page)).toHaveAttribute('data-total', '0');
  await page.locator('.plot').focus();
  for (let event = 4; event < 9; event += 1) await page.keyboard.press(']');
  await expect(says).toHaveAttribute('data-to', '9');
  await expect(settledGraph(page)).toHaveAttribute('data-total', String(3 * MiB));
  await expect(says).toContainText('−3.0 MiB');
  expect(errors).toEqual([]);
});

test('the ruler marks the range that all panels answer for', async ({ page }) => {
  await openKnown(page);
  await page.mouse.move(2, 2);
  for (const _ of [0, 1, 2]) await page.keyboard.press('[');
  await expect(page.locator('[data-readout="event"]')).toHaveText('event 1');
  await page.keyboard.press('m');
  for (const _ of [0, 1, 2]) await page.keyboard.press(']');
  await expect(page.locator('[data-readout="event"]')).toHaveText('event 4');
  await expect(page.locator('[data-measured]')).toHaveAttribute(
    'data-measured',
    '+3.0 MiB · 3 events · 15 ms',
  );
  await openFlame(page);
  await pick(page, 'of', 'allocated');
  // B and C, not A.
  await expect(page.locator('gpustrata-flame .says')).toHaveAttribute('data-from', '1');
  await expect(settledGraph(page)).toHaveAttribute('data-total', String(3 * MiB));
});

test('a frame filters every view, by click and by key; double click and plus zoom', async ({ page }) => {
  await openSample(page);
  await openFlame(page);
  const peak = top();
  await expect(graph(page)).toHaveAttribute('data-total', String(peak.requested_bytes));
  await expect(graph(page)).toHaveAttribute('data-steps', '0');
  await graph(page).focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const chosen = (await graph(page).getAttribute('data-current'))!;
  expect(chosen).not.toBe('');
  await page.keyboard.press('Enter');
  await expect(matches(page)).toHaveAttribute('data-count', /[1-9]/);
  await expect(page.locator('gpustrata-filter input')).toHaveValue(/^call:"/);
  await page.keyboard.press('Enter'); // and off again
  await expect(page.locator('gpustrata-filter input')).toHaveValue('');
  await page.keyboard.press('+');
  await expect(settledGraph(page)).toHaveAttribute('data-steps', '2');
  await expect(graph(page)).toHaveAttribute('data-current', chosen);
  await page.keyboard.press('-');
  await expect(settledGraph(page)).toHaveAttribute('data-steps', '1');
  await page.keyboard.press('Home');
  await expect(settledGraph(page)).toHaveAttribute('data-steps', '0');

  const box = (await graph(page).boundingBox())!;
  await page.mouse.click(box.x + 20, box.y + 2.5 * 19);
  await expect(page.locator('gpustrata-filter input')).toHaveValue(/^call:"/);
  await page.mouse.dblclick(box.x + 20, box.y + 2.5 * 19);
  await expect(settledGraph(page)).toHaveAttribute('data-steps', '2');
  await page.locator('button[data-whole]').click();
  await expect(settledGraph(page)).toHaveAttribute('data-steps', '0');
  await page.getByRole('searchbox', { name: 'Look for a frame' }).fill('train.py');
  await expect(page.locator('[data-found]')).toContainText('%');
});

test('the table has the same sums, is sorted, copied and saved', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openSample(page);
  await openFlame(page);
  await pick(page, 'frames', 'own');
  await page.locator('[data-shape=table]').click();
  const grid = page.locator('gpustrata-frame-table .scroller');
  const peak = top();
  await page.locator('[data-sort=self]').click();
  const first = rows(page).first();
  // What a line of own code asked for itself is what `top` says of it.
  await expect(first).toHaveAttribute('data-self', String(peak.rows[0]!.bytes));
  await expect(first).toHaveAttribute(
    'data-label',
    `${peak.rows[0]!.function} train.py:${peak.rows[0]!.line}`,
  );
  await expect(grid).toHaveAttribute('data-total', String(peak.requested_bytes));
  await page.locator('[data-sort=self]').click();
  await expect(first).not.toHaveAttribute('data-self', String(peak.rows[0]!.bytes));
  await page.locator('[data-sort=total]').click();
  await expect(first).toHaveAttribute('data-weight', String(peak.requested_bytes));

  // The filter of a row means the blocks that the row counts.
  await page.locator('[data-sort=self]').click();
  await expect(first).not.toHaveAttribute('data-weight', String(peak.requested_bytes));
  const weight = (await first.getAttribute('data-weight'))!;
  await first.click();
  await expect(matches(page)).toHaveAttribute('data-at-peak', weight);
  await expect(first).toHaveAttribute('aria-selected', 'true');

  const count = Number(await grid.getAttribute('data-rows'));
  await page.locator('gpustrata-frame-table [data-copy]').click();
  await expect(page.locator('gpustrata-frame-table .foot [role=status]')).toHaveText(`${count} rows copied`);
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied.trim().split('\n').length).toBe(count + 1);
  const saved = page.waitForEvent('download');
  await page.locator('gpustrata-frame-table [data-csv]').click();
  const csv = readFileSync(await (await saved).path(), 'utf8')
    .trim()
    .split('\n');
  expect(csv[0]).toBe('self (bytes),total (bytes),blocks,function,file,line');
  const selves = csv.slice(1).map((line) => Number(line.split(',')[0]));
  expect(selves.reduce((sum, self) => sum + self, 0)).toBe(peak.requested_bytes);
});

test('who holds the memory of the moment, by line, module and category', async ({ page }) => {
  await openSample(page);
  await page.getByRole('tab', { name: /^Memory/ }).click();
  const table = page.locator('gpustrata-holders .table');
  const settled = page.locator('gpustrata-holders .table[data-settled]');
  const peak = top();
  await expect(settled).toHaveAttribute('data-bytes', String(peak.requested_bytes));
  await expect(settled).toHaveAttribute('data-count', String(peak.rows.length));
  const found = await table
    .locator('tr[data-bytes]')
    .evaluateAll((all) => all.map((one) => Number((one as HTMLElement).dataset['bytes'])));
  expect(found).toEqual(peak.rows.map(({ bytes }) => bytes));

  await table.locator('tr[data-bytes] button').first().click();
  await expect(page.locator('gpustrata-filter input')).toHaveValue(/^who:"/);
  await expect(matches(page)).toHaveAttribute('data-at-peak', String(peak.rows[0]!.bytes));
  await expect(table.locator('tr.chosen')).toHaveCount(1);

  // Another moment: what is in use after event 0 is what was there before, and what that event made.
  await page.locator('.plot').focus();
  await page.locator('.plot').press('[');
  await expect(settled).toHaveAttribute('data-event', '1016');

  for (const by of ['function', 'file', 'module', 'category']) {
    await page.locator(`gpustrata-holders [data-by=${by}]`).click();
    await expect(settled).toHaveAttribute('data-count', /[1-9]/);
    const bytes = await table
      .locator('tr[data-bytes]')
      .evaluateAll((all) => all.reduce((sum, one) => sum + Number((one as HTMLElement).dataset['bytes']), 0));
    expect(String(bytes)).toBe(await table.getAttribute('data-bytes'));
  }
  await expect(page.locator('[data-rules]')).toHaveText('inferred');
  const picker = page.getByLabel('Rules of categories');
  await picker.setInputFiles({
    name: 'mine.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('everything 0.5 kept\neverything 0.5 freed\n'),
  });
  await expect(page.locator('[data-rules]')).toHaveText('by mine.txt');
  await expect(settled).toHaveAttribute('data-count', '1');
  await expect(table.locator('tr[data-label=everything]')).toHaveCount(1);
  await picker.setInputFiles({
    name: 'wrong.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('input 0.5 sometimes\n'),
  });
  await expect(page.locator('gpustrata-holders').getByRole('alert')).toContainText('line 1');
});

test('the table is readable by all, on a desk and on a phone at night', async ({ page }) => {
  await openSample(page);
  await openFlame(page);
  await page.locator('[data-shape=table]').click();
  await expect(page.locator('gpustrata-frame-table .scroller[data-settled]')).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press('t');
  await page.setViewportSize({ width: 420, height: 800 });
  await expectAccessible(page);
});
