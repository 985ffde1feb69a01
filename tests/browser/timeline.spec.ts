// Moving, zooming, choosing axis and device on the timeline.
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { realFiles } from '../built.mjs';
import { type View, bytesOf, settledView, viewAfter, textOf, keepDetails, pointAt, pointOf } from './page.ts';
import { MiB } from './pickle.ts';
import { openPage, openFile, openKnown, openSample, shot } from './support.ts';

test('the wheel zooms about the pointer, drag moves, F shows everything again', async ({ page }) => {
  const all = await openSample(page);
  const at = await pointAt(page, 0.25, 0.5);
  await page.mouse.move(at.x, at.y);
  await page.mouse.wheel(0, -600);
  const near = await viewAfter(page, all);
  expect(near.x1 - near.x0).toBeLessThan((all.x1 - all.x0) * 0.8);
  expect(near.y1 - near.y0).toBeCloseTo(all.y1 - all.y0);
  const under = (view: View): number => view.x0 + 0.25 * (view.x1 - view.x0);
  expect(Math.abs(under(near) - under(all))).toBeLessThan((near.x1 - near.x0) * 0.01);

  await page.mouse.down();
  await page.mouse.move(at.x - 100, at.y, { steps: 4 });
  await page.mouse.up();
  const moved = await viewAfter(page, near);
  expect(moved.x0).toBeGreaterThan(near.x0);
  expect(moved.x1 - moved.x0).toBeCloseTo(near.x1 - near.x0);

  await page.keyboard.press('f');
  await expect(page.locator('.plot')).toHaveAttribute('data-view', textOf(all));
});

test('Shift and Alt with the wheel zoom the height, Ctrl both', async ({ page }) => {
  const all = await openSample(page);
  const at = await pointAt(page, 0.5, 0.2);
  await page.mouse.move(at.x, at.y);
  await page.keyboard.down('Alt');
  await page.mouse.wheel(0, -300);
  await page.keyboard.up('Alt');
  const tall = await viewAfter(page, all);
  expect([tall.x0, tall.x1]).toEqual([all.x0, all.x1]);
  expect(tall.y1 - tall.y0).toBeLessThan(all.y1 - all.y0);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -50);
  await page.keyboard.up('Control');
  const both = await viewAfter(page, tall);
  expect(both.x1 - both.x0).toBeLessThan(tall.x1 - tall.x0);
  expect(both.y1 - both.y0).toBeLessThan(tall.y1 - tall.y0);
});

test('one cannot leave the recording', async ({ page }) => {
  const all = await openSample(page);
  const at = await pointAt(page, 0.5, 0.5);
  await page.mouse.move(at.x, at.y);
  await page.mouse.wheel(0, -2000);
  let view = await viewAfter(page, all);
  for (const [dx, dy] of [
    [5000, 0],
    [-9000, 0],
    [0, 3000],
    [0, -6000],
  ] as const) {
    await page.mouse.down();
    await page.mouse.move(at.x + dx, at.y + dy);
    await page.mouse.up();
    await page.mouse.move(at.x, at.y);
    view = await settledView(page);
    expect(view.x0).toBeGreaterThanOrEqual(0);
    expect(view.x1).toBeLessThanOrEqual(all.x1 * 1.000001);
    expect(view.y0).toBeGreaterThanOrEqual(0);
  }
  await page.mouse.wheel(0, 9000);
  await page.mouse.wheel(0, 9000);
  await page.mouse.wheel(0, 9000);
  await page.mouse.wheel(0, 9000);
  view = await viewAfter(page, view);
  expect(view.x0).toBeGreaterThanOrEqual(0);
  expect(view.x1).toBeLessThanOrEqual(all.x1);
});

test('a box drawn with Shift or with the tool is zoomed to', async ({ page }) => {
  const all = await openSample(page);
  const from = await pointAt(page, 0.25, 0.5);
  const to = await pointAt(page, 0.5, 0.1);
  const drag = async (): Promise<void> => {
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 4 });
    await page.mouse.up();
  };
  await page.keyboard.down('Shift');
  await drag();
  await page.keyboard.up('Shift');
  const boxed = await viewAfter(page, all);
  expect(boxed.x0 / all.x1).toBeCloseTo(0.25, 2);
  expect(boxed.x1 / all.x1).toBeCloseTo(0.5, 2);
  expect(boxed.y0 / all.y1).toBeCloseTo(0.1, 2);
  expect(boxed.y1 / all.y1).toBeCloseTo(0.5, 2);

  await page.keyboard.press('f');
  await expect(page.locator('.plot')).toHaveAttribute('data-view', textOf(all));
  await page.locator('[data-tool="box"]').click();
  await expect(page.locator('[data-tool="box"]')).toHaveAttribute('aria-pressed', 'true');
  await drag();
  await viewAfter(page, all);
  await expect(page.locator('[data-tool="box"]')).toHaveAttribute('aria-pressed', 'false');
});

test('keys: W and S zoom, A and D move, P goes to the peak', async ({ page }) => {
  const all = await openSample(page);
  await page.keyboard.press('w');
  const near = await viewAfter(page, all);
  expect(near.x1 - near.x0).toBeLessThan(all.x1 - all.x0);
  await page.keyboard.press('d');
  const right = await viewAfter(page, near);
  expect(right.x0).toBeGreaterThan(near.x0);
  await page.keyboard.press('ArrowLeft');
  const left = await viewAfter(page, right);
  expect(left.x0).toBeLessThan(right.x0);
  await page.keyboard.press('s');
  await viewAfter(page, left);

  const peak = page.locator('[data-stat="peak"]');
  await peak.click();
  await expect(page.locator('[data-readout="allocated"]')).toBeVisible();
  const event = await peak.getAttribute('data-event');
  await expect(page.locator('[data-readout="event"]')).toHaveText(
    `event ${Number(event).toLocaleString('en-US')}`,
  );
});

test('the same with motion reduced', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const all = await openSample(page);
  await page.keyboard.press('w');
  const near = await viewAfter(page, all);
  await page.keyboard.press('f');
  expect(textOf(await viewAfter(page, near))).toBe(textOf(all));
});

test('hover tells the moment and the block, a click pins it, another click lets it go', async ({ page }) => {
  await openKnown(page);
  await keepDetails(page);
  // After event 4: A 0-4 MiB, B 4-6 MiB, C 6-7 MiB.
  const inB = await pointOf(page, 4.5, 5 * MiB);
  await page.mouse.move(inB.x, inB.y);
  await expect(page.locator('gpustrata-details [data-name]')).toHaveText("b'7f0000400000_0");
  await expect(page.locator('gpustrata-details h2')).toHaveAttribute('data-bytes', String(2 * MiB));
  await expect(page.locator('[data-readout="event"]')).toHaveText('event 4');
  await expect(page.locator('[data-readout="allocated"]')).toHaveAttribute('data-bytes', String(7 * MiB));
  await expect(page.locator('[data-readout="reserved"]')).toHaveAttribute('data-bytes', String(20 * MiB));
  await expect(page.locator('gpustrata-details')).toContainText('/home/me/train.py:42'.slice(-11));

  await page.mouse.click(inB.x, inB.y);
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeVisible();
  const inA = await pointOf(page, 4.5, 1 * MiB);
  await page.mouse.move(inA.x, inA.y);
  await expect(page.locator('[data-readout="event"]')).toHaveText('event 4');
  await expect(page.locator('gpustrata-details h2')).toHaveAttribute('data-bytes', String(2 * MiB));
  await page.mouse.move(inB.x, inB.y);
  await page.mouse.click(inB.x, inB.y, { delay: 400 });
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeHidden();
  await page.mouse.click(inA.x, inA.y, { delay: 400 });
  await expect(page.locator('gpustrata-details h2')).toHaveAttribute('data-bytes', String(4 * MiB));
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeHidden();
});

test('while nothing is chosen the picture has the whole width, and what is pointed at is told beside the pointer', async ({
  page,
}) => {
  await openKnown(page);
  await page.keyboard.press('5'); // no answer beside it
  await expect(page.locator('gpustrata-answers')).toHaveCount(0);
  await expect(page.locator('gpustrata-details')).toHaveCount(0);
  await settledView(page);
  const inB = await pointOf(page, 4.5, 5 * MiB);
  await page.mouse.move(inB.x, inB.y);
  const tip = page.locator('.plot .tip');
  await expect(tip).toContainText("2.0 MiB  b'7f0000400000_0");
  await expect(tip).toContainText('attention  train.py:42');
  const before = (await page.locator('.plot').boundingBox())!.width;
  await page.mouse.click(inB.x, inB.y);
  await expect(page.locator('gpustrata-details h2')).toHaveAttribute('data-bytes', String(2 * MiB));
  await expect(tip).toHaveCount(0);
  await expect.poll(async () => (await page.locator('.plot').boundingBox())!.width).toBeLessThan(before);
  await page.keyboard.press('Escape');
  await expect(page.locator('gpustrata-details')).toHaveCount(0);
});

test('memory that waits to be freed is not counted as allocated', async ({ page }) => {
  await openKnown(page);
  const at = await pointOf(page, 5.5, 5 * MiB);
  await page.mouse.move(at.x, at.y);
  await expect(page.locator('[data-readout="event"]')).toHaveText('event 5');
  const allocated = Number(await page.locator('[data-readout="allocated"]').getAttribute('data-bytes'));
  // Adjacent request and completion count as one free (engine/replay/block_lives.h).
  expect([5 * MiB, 7 * MiB]).toContain(allocated);
});

test('a double click fits the life of a block', async ({ page }) => {
  const all = await openSample(page);
  const at = await pointAt(page, 0.5, 0.03);
  await page.mouse.dblclick(at.x, at.y);
  const near = await viewAfter(page, all);
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeVisible();
  // Again, now that it is pinned.
  const size = await page.locator('gpustrata-details h2').getAttribute('data-bytes');
  await page.keyboard.press('f');
  await viewAfter(page, near);
  await page.mouse.dblclick(at.x, at.y);
  expect(textOf(await viewAfter(page, all))).toBe(textOf(near));
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeVisible();
  await expect(page.locator('gpustrata-details h2')).toHaveAttribute('data-bytes', size!);
});

test('[ and ] walk through the events', async ({ page }) => {
  await openKnown(page);
  // From the moment that is shown at first, the peak after event 4.
  for (const event of [5, 6, 7]) {
    await page.keyboard.press(']');
    await expect(page.locator('[data-readout="event"]')).toHaveText(`event ${event}`);
  }
  await page.keyboard.press('[');
  await expect(page.locator('[data-readout="event"]')).toHaveText('event 6');
});

test('the time axis shows the same recording by its times', async ({ page }) => {
  await openKnown(page);
  await page.keyboard.press('e');
  await expect(page.getByRole('radio', { name: 'Time', exact: true })).toBeChecked();
  const view = await settledView(page);
  expect([view.x0, view.x1]).toEqual([0, 81_001]); // 9 * 9 ms and the last microsecond
  await keepDetails(page);
  // Event 4 at 16 ms, event 5 at 25 ms: between them A, B and C.
  const inC = await pointOf(page, 20_000, 6.5 * MiB);
  await page.mouse.move(inC.x, inC.y);
  await expect(page.locator('gpustrata-details h2')).toHaveAttribute('data-bytes', String(MiB));
  await page.getByRole('radio', { name: 'Events', exact: true }).check({ force: true });
  expect((await settledView(page)).x1).toBe(10);
});

test('without times the time axis is off and says why', async ({ page }) => {
  await openKnown(page, { times: false });
  await expect(page.getByRole('radio', { name: /Time/ })).toBeDisabled();
  await expect(page.getByRole('radio', { name: /carry no times/ })).toHaveCount(1);
  await page.keyboard.press('e');
  await expect(page.getByRole('radio', { name: 'Events', exact: true })).toBeChecked();
});

test('without stacks the panel says why', async ({ page }) => {
  await openKnown(page, { stacks: false });
  // Its events have stacks, but no frames in them.
  const missing = page.locator('[data-finding="no-frames"]');
  await expect(missing).toContainText('_record_memory_history(context="all", stacks="all")');
  await keepDetails(page);
  await expect(page.locator('[data-note="no-stacks"]')).toBeVisible();
  const at = await pointOf(page, 4.5, MiB);
  await page.mouse.move(at.x, at.y);
  await expect(page.locator('gpustrata-details')).toContainText('No stack is recorded');
});

test('the chip of an OOM leads to its event', async ({ page }) => {
  const folder = realFiles('snapshots');
  test.skip(folder === undefined, 'no real snapshots beside the repository');
  await openPage(page);
  await openFile(page, join(folder!, 'torchtitan_fsdp_oom_rank0.pickle'));
  await settledView(page);
  await page.mouse.move(0, 0);
  await page.locator('[data-stat="oom"]').click();
  await expect(page.locator('[data-readout="event"]')).toHaveText(/event 3,2\d\d/);
});

test('the peak of the header is exact', async ({ page }) => {
  await openKnown(page);
  expect(await bytesOf(page, 'peak')).toBe(7 * MiB);
  expect(await bytesOf(page, 'reserved-peak')).toBe(20 * MiB);
  expect(await bytesOf(page, 'initial')).toBe(0);
  expect(await bytesOf(page, 'final')).toBe(4 * MiB);
});

test('what the device has can be typed: a line, what is left below it, in the link and with Back', async ({
  page,
}) => {
  const all = await openKnown(page); // 20 MiB are reserved
  const field = page.getByLabel('Memory of the device');
  await expect(field).toHaveValue('');
  await field.fill('a lot');
  await field.press('Enter');
  expect(await field.evaluate((input: HTMLInputElement) => input.validationMessage)).toContain('80 GiB');
  await expect(page.locator('.plot')).toHaveAttribute('data-view', textOf(all));

  await field.fill('32MiB');
  await field.press('Enter');
  await expect(field).toHaveValue('32.0 MiB');
  const tall = await viewAfter(page, all);
  expect(tall.y1).toBeGreaterThan(32 * MiB); // it is seen
  const at = await pointAt(page, 0.5, 0.5);
  await page.mouse.move(at.x, at.y);
  await expect(page.locator('[data-readout="left"]')).toHaveAttribute('data-bytes', String(12 * MiB));
  await expect(page).toHaveURL(new RegExp(`capacity=${32 * MiB}`));
  await shot(page, 'typed-capacity');

  await page.goBack();
  await expect(field).toHaveValue('');
  await page.goForward();
  await expect(field).toHaveValue('32.0 MiB');
  await settledView(page);
  await field.fill('');
  await field.press('Enter');
  await expect(page).not.toHaveURL(/capacity=/);
  await page.mouse.move(at.x + 3, at.y);
  await expect(page.locator('[data-readout="left"]')).toHaveCount(0);
});
