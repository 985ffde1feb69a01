// Lanes of ops above the timeline of a profiler's trace: the same axis, zoom and search; pointer, keys, both themes.
import { join } from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import { root } from '../built.mjs';
import { settledView, viewAfter } from './page.ts';
import { openPage, openFile, openSnapshot, openKnown } from './support.ts';

const trace = join(root, 'tests/data/profilers/trace.json');
const lanes = (page: Page) => page.locator('gpustrata-lanes');
const canvas = (page: Page, thread = 0) => lanes(page).locator(`canvas[data-thread="${thread}"]`);

/** Thread 100: train; below it linear and relu; below these empty and addmm. The axis begins at 13 us. */
async function openTrace(page: Page): Promise<void> {
  await openPage(page);
  await openFile(page, trace);
  await settledView(page);
  await page.getByLabel('Time', { exact: true }).check({ force: true });
  await settledView(page);
  await expect(lanes(page)).toHaveAttribute('data-settled', '');
}

/** A point of a row at a microsecond of the axis. */
async function pointOf(page: Page, row: number, us: number): Promise<{ x: number; y: number }> {
  const { x0, x1 } = await settledView(page);
  const [left = 0, , width = 0] = ((await page.locator('.plot').getAttribute('data-plot')) ?? '')
    .split(' ')
    .map(Number);
  const ratio = await page.evaluate(() => devicePixelRatio);
  const box = await canvas(page).boundingBox();
  if (!box) throw new Error('no lanes');
  return { x: box.x + (left + ((us - x0) / (x1 - x0)) * width) / ratio, y: box.y + row * 16 + 8 };
}
async function hoverAt(page: Page, row: number, us: number): Promise<void> {
  const { x, y } = await pointOf(page, row, us);
  await page.mouse.move(x, y);
}
const tip = (page: Page) => lanes(page).locator('.tip');
const count = (page: Page) => page.locator('gpustrata-filter [data-count]');

test('ops of a trace lie in rows above the timeline; snapshots have none', async ({ page }) => {
  await openTrace(page);
  await expect(canvas(page)).toHaveAttribute('data-rows', '3');
  await expect(lanes(page).locator('[data-thread-head="0"]')).toContainText('Ops, thread 100, process 1');
  await hoverAt(page, 0, 70 - 13);
  await expect(tip(page)).toContainText('train');
  await hoverAt(page, 1, 45 - 13 - 8); // 37 us: in linear, behind addmm
  await expect(tip(page)).toContainText('aten::linear');
  await expect(tip(page)).toContainText('net 2.0 KiB · allocated 12.0 KiB · peak 12.0 KiB · 4 records');
  await hoverAt(page, 2, 25 - 13);
  await expect(tip(page)).toContainText('aten::addmm');
  await expect(tip(page)).toContainText('in aten::linear in train');
  await openKnown(page);
  await expect(lanes(page)).toHaveCount(0);
});

test('a trace that tells nothing of reserved memory is not said to have none', async ({ page }) => {
  const memory = { ph: 'i', name: '[memory]', pid: 1, tid: 1, ts: 5 };
  const args = { Addr: 4096, Bytes: 4096, 'Device Type': 1, 'Device Id': 0 };
  const about = async (more: object) => {
    const events = [{ ...memory, args: { ...args, ...more } }];
    await openSnapshot(page, Buffer.from(JSON.stringify({ traceEvents: events })), 'trace.json');
    await settledView(page);
  };
  const line = page.getByRole('group', { name: 'Lines' }).locator('.reserved');
  await about({});
  await expect(page.locator('[data-stat=peak]')).toHaveAttribute('data-bytes', '4096');
  await expect(page.locator('[data-stat=reserved-peak]')).toHaveCount(0);
  await expect(line).toHaveCount(0);
  await about({ 'Total Allocated': 4096, 'Total Reserved': 8192 });
  await expect(page.locator('[data-stat=reserved-peak]')).toHaveAttribute('data-bytes', '8192');
  await expect(line).toHaveCount(1);
});

test('categories of a trace are called by lifetime, with their rule', async ({ page }) => {
  const memory = { ph: 'i', name: '[memory]', pid: 1, tid: 1 };
  const at = (ts: number, Bytes: number, Addr: number) => ({
    ...memory,
    ts,
    args: { Addr, Bytes, 'Device Type': 1, 'Device Id': 0 },
  });
  const op = { ph: 'X', cat: 'cpu_op', name: 'aten::linear', pid: 1, tid: 1, ts: 10, dur: 10 };
  const events = [op, at(5, -1024, 4096), at(12, 2048, 8192), at(13, -2048, 8192)];
  await openSnapshot(page, Buffer.from(JSON.stringify({ traceEvents: events })), 'trace.json');
  await settledView(page);
  await page.getByLabel('Colour').selectOption('category');
  const legend = page.locator('gpustrata-legend');
  await expect(legend.locator('[data-inferred]')).toHaveText('by lifetime: see Memory');
  await expect(legend.locator('[data-kind=preexisting]')).toHaveAttribute(
    'title',
    /^preexisting, there before the first event: /,
  );
  await expect(legend.locator('[data-kind=temporary]')).toHaveAttribute('title', /freed in one outermost op/);
});

test('lanes move and zoom with the timeline', async ({ page }) => {
  await openTrace(page);
  const before = await settledView(page);
  const { x, y } = await pointOf(page, 2, 25 - 13);
  await page.mouse.move(x, y);
  await expect(tip(page)).toContainText('aten::addmm');
  for (let i = 0; i < 4; i += 1) await page.mouse.wheel(0, -120); // about that point, over the lanes
  const after = await viewAfter(page, before);
  expect(after.x1 - after.x0).toBeLessThan(before.x1 - before.x0);
  await page.mouse.move(x + 1, y);
  await expect(tip(page)).toContainText('aten::addmm');
  // A double click fits the op: 20 us and a little room.
  await page.mouse.dblclick(x, y);
  await expect(async () => {
    const view = await settledView(page);
    expect(view.x0).toBeGreaterThan(1);
    expect(view.x0).toBeLessThan(2.1);
    expect(view.x1).toBeGreaterThan(21.9);
    expect(view.x1).toBeLessThan(23);
  }).toPass();
});

test('a click lights the blocks that the op allocated, a second one lets them go', async ({ page }) => {
  await openTrace(page);
  const { x, y } = await pointOf(page, 2, 25 - 13);
  await page.mouse.click(x, y);
  await expect(count(page)).toHaveAttribute('data-bytes', '8192');
  await expect(page.locator('gpustrata-filter input')).toHaveValue('born:1..2 op:"aten::addmm"');
  await page.mouse.click(x, y);
  await expect(count(page)).toHaveCount(0);
});

test('on the axis of events an op has the events that it holds', async ({ page }) => {
  await openTrace(page);
  await page.getByLabel('Events', { exact: true }).check({ force: true });
  await settledView(page);
  await expect(lanes(page)).toHaveAttribute('data-settled', '');
  await hoverAt(page, 2, 2); // addmm holds events 1 and 2
  await expect(tip(page)).toContainText('aten::addmm');
  await hoverAt(page, 1, 4.5); // relu holds event 4
  await expect(tip(page)).toContainText('aten::relu');
});

test('what the filter means is lit', async ({ page }) => {
  await openTrace(page);
  const inside = await pointOf(page, 2, 20 - 13);
  const pixel = () =>
    canvas(page).evaluate(
      (element, at) => {
        const own = element as HTMLCanvasElement;
        const box = own.getBoundingClientRect();
        const scale = own.width / box.width;
        const x = Math.round((at.x - box.x) * scale);
        const y = Math.round((at.y - box.y - 6) * scale);
        return [...(own.getContext('2d')?.getImageData(x, y, 1, 1).data ?? [])].slice(0, 3).join();
      },
      { x: inside.x, y: inside.y },
    );
  const plain = await pixel();
  await page.keyboard.press('/');
  await page.keyboard.type('op:aten::addmm');
  await page.keyboard.press('Enter');
  await expect(count(page)).toHaveAttribute('data-count', '1');
  await expect.poll(pixel).not.toBe(plain);
});

test('by key: along and between the rows, lit and fitted', async ({ page }) => {
  await openTrace(page);
  await canvas(page).focus();
  const status = lanes(page).locator('[role=status]');
  await page.keyboard.press('ArrowRight');
  await expect(status).toHaveAttribute('data-op', 'train');
  await page.keyboard.press('ArrowDown');
  await expect(status).toHaveAttribute('data-op', 'aten::linear');
  await page.keyboard.press('ArrowRight');
  await expect(status).toHaveAttribute('data-op', 'aten::relu');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowDown');
  await expect(status).toHaveAttribute('data-op', 'aten::empty');
  await page.keyboard.press('ArrowRight');
  await expect(status).toHaveAttribute('data-op', 'aten::addmm');
  await page.keyboard.press('Enter');
  await expect(count(page)).toHaveAttribute('data-bytes', '8192');
  const before = await settledView(page);
  await page.keyboard.press('z');
  const after = await viewAfter(page, before);
  expect(after.x1 - after.x0).toBeLessThan(30);
  await page.keyboard.press('ArrowUp');
  await expect(status).toHaveAttribute('data-op', 'aten::linear');
  await page.keyboard.press('Escape');
  await expect(status).not.toHaveAttribute('data-op');
});

test('a thread is closed and opened with its button, by key too', async ({ page }) => {
  await openTrace(page);
  const head = lanes(page).locator('[data-thread-head="0"]');
  await expect(head).toHaveAttribute('aria-expanded', 'true');
  await head.click();
  await expect(canvas(page)).toHaveCount(0);
  await head.press('Enter');
  await expect(canvas(page)).toHaveCount(1);
  await expect(lanes(page)).toHaveAttribute('data-settled', '');
});
