// A snapshot, a trace and counters of one run, opened together: by the clock, nudged, in links; a block names its op, an op
// and a row of the op table light their blocks.
import { expect, test, type Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { runSnapshot, runTrace, runCounters, openRun, onTime } from './one_run.ts';
import { settledView, keepDetails, pointOf as pointOnPlot } from './page.ts';
import { MiB } from './pickle.ts';
import { waitForState, openPage, choose } from './support.ts';

const lanes = (page: Page) => page.locator('gpustrata-lanes');
const counters = (page: Page) => page.locator('gpustrata-counters');
const beside = (page: Page) => lanes(page).locator('[data-beside]');
const filter = (page: Page) => page.locator('gpustrata-filter input');
const count = (page: Page) => page.locator('gpustrata-filter [data-count]');
const details = (page: Page) => page.locator('gpustrata-details');
const told = (page: Page) => lanes(page).locator('[data-told]');

/** A point above the plot's microsecond, in a canvas `down` pixels below its top. */
async function pointIn(page: Page, canvas: string, us: number, down: number): Promise<[number, number]> {
  const { x0, x1 } = await settledView(page);
  const [left = 0, , width = 0] = ((await page.locator('.plot').getAttribute('data-plot')) ?? '')
    .split(' ')
    .map(Number);
  const box = await page.locator(canvas).first().boundingBox();
  if (!box) throw new Error(`no ${canvas}`);
  const ratio = await page.evaluate(() => devicePixelRatio);
  return [box.x + (left + ((us - x0) / (x1 - x0)) * width) / ratio, box.y + down];
}
const opAt = (page: Page, row: number, us: number) =>
  pointIn(page, 'gpustrata-lanes canvas[data-thread="0"]', us, row * 16 + 8);
/** Blocks of 1, 2, 3, 4, 5 MiB lie on each other at the end. */
async function pin(page: Page, mib: number, at = 4.5): Promise<void> {
  const { x, y } = await pointOnPlot(page, at, mib * MiB);
  await page.mouse.click(x, y);
}
const fact = (page: Page, label: string) => details(page).locator(`dt:text-is("${label}") + dd`);

test('a trace opened beside a snapshot of the same run is drawn above it, by the clock', async ({ page }) => {
  await openPage(page);
  await openRun(page, [runSnapshot(), runTrace()]);
  await expect(beside(page)).toHaveText('Ops of trace.json lie on the axis of time: choose Time (E).');
  await onTime(page);
  await expect(beside(page)).toHaveText('Ops of trace.json, by the clock.');
  await expect(lanes(page)).toHaveAttribute('data-settled', '');
  await page.mouse.move(...(await opAt(page, 1, 3500)));
  await expect(lanes(page).locator('.tip')).toContainText('aten::linear');
  // What was allocated while it ran: events 1 and 2.
  await page.mouse.click(...(await opAt(page, 1, 3500)));
  await expect(filter(page)).toHaveValue('born:1..2');
  await expect(count(page)).toHaveAttribute('data-bytes', String(5 * MiB));
});

test('the details of a block name the op that it was made in, and lead to its lane', async ({ page }) => {
  await openPage(page);
  await openRun(page, [runSnapshot(), runTrace()]);
  await keepDetails(page); // else the plot moves with the first block that is pinned
  await pin(page, 2);
  await expect(fact(page, 'Op')).toContainText('aten::empty');
  await expect(fact(page, 'Op')).toContainText('in aten::linear · in ## forward ## · thread 100');
  await details(page).locator('[data-way="its op"]').click();
  await expect(page.getByLabel('Time', { exact: true })).toBeChecked();
  await expect(lanes(page).locator('[role=status]')).toHaveAttribute('data-op', 'aten::empty');
  const { x0, x1 } = await settledView(page);
  expect(x0).toBeLessThanOrEqual(2100);
  expect(x1).toBeGreaterThanOrEqual(2200);
  await expect(lanes(page).locator('canvas[data-thread="0"]')).toBeFocused();
});

test('where several threads ran ops all are named; where none ran that is said', async ({ page }) => {
  await openPage(page);
  await openRun(page, [runSnapshot(), runTrace()]);
  await keepDetails(page);
  await pin(page, 8);
  await expect(fact(page, 'Op')).toHaveText('one of these, which is not recorded');
  await expect(details(page).locator('dl')).toContainText('aten::to');
  // The other thread's lane is opened.
  await details(page).locator('[data-way="op: aten::to"]').click();
  await expect(lanes(page).locator('[role=status]')).toHaveAttribute('data-op', 'aten::to');
  await expect(lanes(page).locator('canvas[data-thread="1"]')).toBeFocused();
  await page.keyboard.press('e');
  await settledView(page);
  await page.keyboard.press('f');
  await pin(page, 12);
  await expect(fact(page, 'Op')).toHaveText('none of the trace ran when it was allocated');
});

test('a row of the op table lights the blocks of the snapshot that were made in it', async ({ page }) => {
  await openPage(page);
  await openRun(page, [runSnapshot(), runTrace()]);
  await expect(told(page)).toHaveText(
    '2 of 5 allocations have their op (2 before or after the trace, 1 while several threads ran ops).',
  );
  await page.locator('[role=tab][data-panel=ops]').click();
  await expect(page.locator('gpustrata-ops [data-of-trace]')).toContainText(
    'Numbers are those of trace.json',
  );
  await page.locator('gpustrata-ops [data-op="aten::linear"]').click();
  await expect(filter(page)).toHaveValue('op:"aten::linear"');
  await expect(count(page)).toHaveAttribute('data-count', '2');
  await expect(count(page)).toHaveAttribute('data-bytes', String(5 * MiB));
  await page.locator('gpustrata-ops [data-op="aten::empty"]').click();
  await expect(count(page)).toHaveAttribute('data-bytes', String(2 * MiB));
});

test('clocks that differ are said, and nudged; filters mean the ops of the nudged clock', async ({
  page,
}) => {
  await openPage(page);
  await openRun(page, [runSnapshot(60_000_000), runTrace()]);
  await expect(beside(page)).toContainText('after this recording ends. If they are of one run, nudge.');
  await page.keyboard.press('/');
  await page.keyboard.type('op:aten::linear');
  await page.keyboard.press('Enter');
  await expect(count(page)).toHaveAttribute('data-count', '0');
  await lanes(page).locator('[data-nudge]').fill('60000000');
  await lanes(page).locator('[data-nudge]').press('Enter');
  await onTime(page);
  await expect(beside(page)).toHaveText('Ops of trace.json, by the clock.');
  await expect(count(page)).toHaveAttribute('data-count', '2');
  await page.mouse.move(...(await opAt(page, 1, 3500)));
  await expect(lanes(page).locator('.tip')).toContainText('aten::linear');
  await expectAccessible(page);
});

test('a link restores what lies beside, the nudge and the open lanes', async ({ page }) => {
  const files = [runSnapshot(60_000_000), runTrace(), runCounters()];
  await openPage(page);
  await openRun(page, files);
  for (const name of ['trace.json', 'counters.json']) {
    await page.locator(`[data-nudge="${name}"]`).fill('60000000');
    await page.locator(`[data-nudge="${name}"]`).press('Enter');
  }
  await onTime(page);
  await lanes(page).locator('[data-thread-head="1"]').click();
  await expect(lanes(page).locator('canvas')).toHaveCount(2);
  await expect.poll(() => page.url()).toContain('%2C0.1%2Ctrace.json');
  const link = page.url();
  const shown = await settledView(page);

  await page.goto('about:blank');
  await page.goto(link);
  await waitForState(page, 'empty');
  // First without what lies beside: that is said, and when it is there the picture is the same.
  await choose(page, ...files.slice(0, 1));
  await waitForState(page, 'ready');
  await expect(page.locator('[data-link-note]')).toContainText(
    'This link opens run.json beside trace.json and counters.json.',
  );
  await choose(page, ...files.slice(1));
  await expect(page.locator('[data-entry-state=ready]')).toHaveCount(3);
  await expect(page.locator('[data-link-note]')).toHaveCount(0);
  await expect(beside(page)).toHaveText('Ops of trace.json, by the clock.');
  await expect(page.locator('[data-nudge="trace.json"]')).toHaveValue('60000000');
  await expect(page.locator('[data-nudge="counters.json"]')).toHaveValue('60000000');
  await expect(lanes(page).locator('canvas')).toHaveCount(2);
  expect(await settledView(page)).toEqual(shown);
  await expect.poll(() => page.url()).toBe(link);
  // A nudge is a step that one can go back from.
  await page.locator('[data-nudge="trace.json"]').fill('60000500');
  await page.locator('[data-nudge="trace.json"]').press('Enter');
  await expect.poll(() => page.url()).toContain('60000500');
  await page.goBack();
  await expect(page.locator('[data-nudge="trace.json"]')).toHaveValue('60000000');
});

test('counters of the run are curves above the timeline, by the clock', async ({ page }) => {
  await openPage(page);
  await openRun(page, [runSnapshot(), runTrace(), runCounters()]);
  const line = counters(page).locator('[data-beside]');
  await expect(line).toHaveText('Counters of counters.json lie on the axis of time: choose Time (E).');
  await onTime(page);
  await expect(line).toHaveText('Counters of counters.json, by the clock.');
  await expect(counters(page).locator('canvas[data-settled]')).toBeVisible();
  await expect(counters(page).locator('[data-curve=allocated]')).toHaveAttribute(
    'data-bytes',
    String(80 * MiB),
  );
  // 48 MiB from 4,000 us on, 64 from 6,000 us on.
  for (const [us, mib] of [
    [5500, 48],
    [6500, 64],
  ] as const) {
    await page.mouse.move(...(await pointIn(page, 'gpustrata-counters canvas', us, 40)));
    await expect(counters(page).locator('[data-curve=allocated] b')).toHaveText(`${mib}.0 MiB`);
  }
  // They move with the timeline: what is under the pointer stays there.
  const [x, y] = await pointIn(page, 'gpustrata-counters canvas', 6500, 40);
  await page.mouse.move(x, y);
  for (let i = 0; i < 4; i += 1) await page.mouse.wheel(0, -120);
  await settledView(page);
  await page.mouse.move(x + 1, y);
  await expect(counters(page).locator('[data-curve=allocated] b')).toHaveText('64.0 MiB');
  await expectAccessible(page);
});

test('counters that cannot be aligned say why, and are nudged', async ({ page }) => {
  await openPage(page);
  await openRun(page, [runSnapshot(), runCounters('late.json', 1_700_000_030_000_000)]);
  await onTime(page);
  const line = counters(page).locator('[data-beside]');
  await expect(line).toHaveText(
    'Counters of late.json, by the clock: they begin 29.990 s after this recording ends. If they are of one run, nudge.',
  );
  await expect(counters(page).locator('canvas').first()).toBeHidden();
  await counters(page).locator('[data-nudge]').fill('30000000');
  await counters(page).locator('[data-nudge]').press('Enter');
  await expect(line).toHaveText('Counters of late.json, by the clock.');
  await expect(counters(page).locator('canvas').first()).toBeVisible();
});

test('of several traces the one whose clock meets is drawn; another one can be chosen', async ({ page }) => {
  await openPage(page);
  await openRun(page, [runSnapshot(), runTrace('other.json', 1_600_000_000_000_000), runTrace()]);
  await onTime(page);
  await expect(beside(page)).toHaveText('Ops of trace.json, by the clock.');
  await lanes(page).locator('[data-trace]').selectOption('other.json');
  await expect(beside(page)).toContainText('Ops of other.json, by the clock: they end');
});
