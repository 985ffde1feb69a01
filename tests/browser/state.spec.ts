// The allocator's state history: the list of events, the state after each, and how all views show the same.
import { execFileSync } from 'node:child_process';
import { expect, test, type Page } from '@playwright/test';
import { themes } from '../../web/src/draw/colors.ts';
import { shadesOfFree } from '../../web/src/draw/palettes.ts';
import { root } from '../built.mjs';
import { settledView, keepDetails, pointOf, watchErrors } from './page.ts';
import { pickled, MiB } from './pickle.ts';
import { holdBack, letGo } from './questions.ts';
import { waitForState, openPage, choose } from './support.ts';

test.use({ viewport: { width: 1440, height: 1100 } }); // the list, the state and the timeline at once

const small = 0x7f0000000000;
const large = 0x7f1000000000;
const stack = (name: string, line: number) => [{ filename: '/home/me/train.py', line, name }];

/**
 * Twelve events in two segments: `large` (20 MiB) and `small` (2 MiB).
 *   0 large comes   1 X 6 MiB at large   2 small comes   3 Y 1000 bytes (1024) at small   4 Z 4 MiB behind X
 *   5 snapshot   6 X is freed, but waits   7 W 512 bytes behind Y   8 out of memory   9 X is gone   10, 11 Z is freed
 */
function busySnapshot(): Buffer {
  const event = (action: string, addr: number, size: number, name = 'step', line = 7) => ({
    action,
    addr,
    size,
    stream: 0,
    frames: stack(name, line),
  });
  const x = large;
  const z = large + 6 * MiB;
  const trace = [
    event('segment_alloc', large, 20 * MiB),
    event('alloc', x, 6 * MiB, 'attention', 42),
    event('segment_alloc', small, 2 * MiB),
    event('alloc', small, 1000),
    event('alloc', z, 4 * MiB, 'feed_forward', 88),
    event('snapshot', 0, 0),
    event('free_requested', x, 6 * MiB),
    event('alloc', small + 1024, 512),
    { action: 'oom', size: 64 * MiB, device_free: MiB, stream: 0, frames: stack('attention', 42) },
    event('free_completed', x, 6 * MiB),
    event('free_requested', z, 4 * MiB),
    event('free_completed', z, 4 * MiB),
  ].map((one, index) => ({ ...one, time_us: 1_700_000_000_000_000 + index * 1000 }));
  const segment = (address: number, size: number, blocks: readonly object[]) => ({
    device: 0,
    address,
    total_size: size,
    stream: 0,
    segment_type: size > 2 * MiB ? 'large' : 'small',
    segment_pool_id: [0, 0],
    is_expandable: false,
    frames: stack('step', 7),
    blocks,
  });
  const block = (address: number, size: number, requested_size: number, state: string) => ({
    address,
    size,
    requested_size,
    state,
    frames: stack('step', 7),
  });
  return pickled({
    segments: [
      segment(small, 2 * MiB, [
        block(small, 1024, 1000, 'active_allocated'),
        block(small + 1024, 512, 512, 'active_allocated'),
        block(small + 1536, 2 * MiB - 1536, 0, 'inactive'),
      ]),
      segment(large, 20 * MiB, [block(large, 20 * MiB, 0, 'inactive')]),
    ],
    device_traces: [trace],
  } as unknown as Parameters<typeof pickled>[0]);
}

const row = (page: Page, event: number) => page.locator(`[role=row][data-event="${event}"]`);
const number = (page: Page, name: string) => page.locator(`[data-number="${name}"]`);
const after = (page: Page, event: number) =>
  expect(page.locator('[data-state-event]')).toHaveAttribute('data-state-event', String(event));
const details = (page: Page) => page.locator('gpustrata-details');
const unpin = (page: Page) => page.getByRole('button', { name: 'Unpin' });

async function bytes(page: Page, expected: Record<string, number>): Promise<void> {
  for (const [name, value] of Object.entries(expected))
    await expect(number(page, name), name).toHaveAttribute('data-bytes', String(value));
}

async function settled(page: Page, event: number): Promise<void> {
  await expect(page.locator(`.picture[data-settled][data-event="${event}"]`)).toBeVisible();
}

/** The picture has its place beside the details: it follows them a frame later. */
async function beforeDetails(page: Page): Promise<void> {
  await expect(async () => {
    const picture = (await page.locator('.picture').boundingBox())!;
    const beside = (await details(page).boundingBox())!;
    expect(beside.x + beside.width).toBeLessThanOrEqual(page.viewportSize()!.width + 1); // it has its own place, too
    expect(picture.x + picture.width).toBeLessThanOrEqual(beside.x + 1);
  }).toPass();
}

/** A point of the picture by its parts of width and height. */
async function inPicture(page: Page, right: number, down: number): Promise<{ x: number; y: number }> {
  const { x, y, width, height } = (await page.locator('.picture').boundingBox())!;
  const margin = 6;
  return {
    x: x + margin + (width - 2 * margin) * right,
    y: y + 1 + margin + (height - 1 - 2 * margin) * down,
  };
}

async function openBusy(page: Page): Promise<void> {
  await choose(page, { name: 'busy.pickle', buffer: busySnapshot() });
  await waitForState(page, 'ready');
  await settledView(page);
}
async function openState(page: Page): Promise<void> {
  await page.addInitScript(() =>
    localStorage.setItem('gpustrata', '{"panelHeight":400,"colour":"allocation"}'),
  );
  await openPage(page);
  await openBusy(page);
  await page.keyboard.press('2');
  await settled(page, 8);
  await page.keyboard.press('0');
  await expect(row(page, 8)).toBeVisible();
  await settled(page, 8);
}

test('while the events are undone one sees a sketch of the state', async ({ page }) => {
  await holdBack(page, 'prepare'); // long traces take seconds: so does this one
  await page.addInitScript(() => localStorage.setItem('gpustrata', '{"colour":"allocation"}'));
  await openPage(page);
  await openBusy(page);
  await page.keyboard.press('2');
  await expect(page.locator('[data-sketched]')).toContainText(
    'A sketch; undoing the events to find the state: 0 %',
  );
  const pixels = () =>
    page.locator('.picture canvas').evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      return [new Set(new Uint32Array(data.buffer)).size, data.join()] as const;
    });
  const [colours, sketch] = await pixels();
  expect(colours).toBeGreaterThan(4); // of segments, blocks, rounding and what waits
  await expect(async () => {
    await letGo(page); // one part follows the other
    await expect(page.locator('.picture[data-settled][data-event="8"]')).toBeVisible({ timeout: 50 });
  }).toPass({ intervals: [50] });
  await expect(page.locator('[data-sketched]')).toHaveCount(0);
  expect((await pixels())[1] === sketch).toBe(true);
});

test('the state opens where memory ran out, with its numbers', async ({ page }) => {
  await openState(page);
  await after(page, 8);
  await expect(row(page, 8)).toHaveAttribute('aria-selected', 'true');
  // X (6 MiB) waits: active, not allocated. Gaps: 10 MiB in `large`, the rest of `small`.
  await bytes(page, {
    reserved: 22 * MiB,
    allocated: 4 * MiB + 1536,
    active: 10 * MiB + 1536,
    rounding: 24,
    free: 12 * MiB - 1536,
    'largest-free': 10 * MiB,
  });
  const share = Number(await number(page, 'fragmentation').getAttribute('data-share'));
  expect(share).toBeCloseTo(1 - (10 * MiB) / (12 * MiB - 1536), 9);
});

test('a click on an event, arrows, Home and End choose the moment', async ({ page }) => {
  await openState(page);
  await page.keyboard.press('ArrowDown'); // who opens by key is in the list
  await after(page, 9);
  await row(page, 4).click();
  await after(page, 4);
  await bytes(page, { reserved: 22 * MiB, allocated: 10 * MiB + 1024, rounding: 24, free: 12 * MiB - 1024 });
  await expect(number(page, 'active')).toBeHidden(); // nothing waits
  await expect(details(page).locator('[data-title]')).toHaveText('alloc');
  await expect(details(page).locator('h2')).toHaveAttribute('data-bytes', String(4 * MiB));
  await expect(details(page)).toContainText('feed_forward');
  await page.keyboard.press('ArrowUp');
  await after(page, 3);
  await bytes(page, { allocated: 6 * MiB + 1024 });
  await page.keyboard.press('Home');
  await after(page, 0);
  await bytes(page, { reserved: 20 * MiB, allocated: 0, free: 20 * MiB });
  await page.keyboard.press('End');
  await after(page, 11);
  await bytes(page, { reserved: 22 * MiB, allocated: 1536, rounding: 24 });
  await page.keyboard.press('['); // anywhere on the page
  await after(page, 10);
  await page.keyboard.press(']');
  await after(page, 11);
});

test('a request and its completion right behind it read as one free', async ({ page }) => {
  await openState(page);
  await expect(row(page, 10).locator('.action')).toHaveText('free');
  await expect(row(page, 11).locator('.action')).toHaveText('completed');
  await expect(row(page, 6).locator('.action')).toHaveText('free_requested'); // X waits
});

test('moving over an event shows it without choosing it', async ({ page }) => {
  await openState(page);
  await keepDetails(page);
  await row(page, 1).hover();
  await expect(details(page).locator('[data-name]')).toHaveText("b'7f1000000000_0");
  await expect(details(page)).toContainText('attention');
  await after(page, 8);
  await page.mouse.move(5, 5);
  await expect(details(page).locator('[data-name]')).toHaveCount(0);
});

test('events are filtered in the language of the timeline', async ({ page }) => {
  await openState(page);
  const found = page.locator('[data-found]');
  await expect(found).toHaveAttribute('data-found', '12');
  await page.getByLabel('Action', { exact: true }).selectOption('segment_alloc');
  await expect(found).toHaveAttribute('data-found', '2');
  await expect(page.locator('gpustrata-event-list .rows [role=row]')).toHaveCount(2);
  await page.getByRole('button', { name: 'Clear' }).click();
  const filter = page.getByLabel('Filter of events');
  await expect(filter).toHaveValue('');
  await filter.fill("address:b'7f1000000000_0");
  await expect(found).toHaveAttribute('data-found', '3'); // X
  await row(page, 9).click();
  await after(page, 9);
  await page.keyboard.press('ArrowUp');
  await after(page, 6);
  await filter.fill('size:6MiB..20MiB');
  await expect(found).toHaveAttribute('data-found', '4'); // X three times, and its segment
  await page.getByLabel('Action', { exact: true }).selectOption('blocks');
  await expect(filter).toHaveValue('action:blocks size:6MiB..20MiB');
  await expect(found).toHaveAttribute('data-found', '3');
  await filter.fill('action:alloc size:6MiB..20MiB stack:train.py:42');
  await expect(page.getByLabel('Action', { exact: true })).toHaveValue('alloc');
  await expect(found).toHaveAttribute('data-found', '1');
  // What cannot be meant is said, and the list stays.
  await filter.fill('size>much');
  await expect(filter).toHaveAttribute('aria-invalid', 'true');
  await expect(page.locator('gpustrata-event-filter [role=alert]')).toHaveText('Here a number is missing.');
  await expect(found).toHaveAttribute('data-found', '1');
});

test('jumps lead to the peak, to out of memory and to the snapshot', async ({ page }) => {
  await openState(page);
  await page.getByLabel('Jump to').selectOption('peak');
  await page.getByRole('button', { name: 'Previous: Peak' }).click();
  await after(page, 7); // X, Y, Z, and W
  await page.getByLabel('Jump to').selectOption('snapshot');
  await page.getByRole('button', { name: 'Next: Snapshot' }).click();
  await after(page, 5);
  await page.getByLabel('Jump to').selectOption('oom');
  await page.getByRole('button', { name: 'Next: Out of memory' }).click();
  await after(page, 8);
  await expect(details(page).locator('[data-title]')).toHaveText('Out of memory');
  await expect(details(page)).toContainText('1.0 MiB'); // free on the device
});

test('a rectangle tells what it is and is pinned everywhere', async ({ page }) => {
  const errors = watchErrors(page);
  await openState(page);
  const tip = page.locator('.tip');
  // The smaller segment has the first row, the larger the second; 80 % of each are filled.
  const inX = await inPicture(page, 0.15, 0.7);
  await page.mouse.move(inX.x, inX.y);
  await expect(tip).toContainText("b'7f1000000000_0");
  await expect(tip).toContainText('waiting');
  await expect(tip).toHaveAttribute('data-part', 'pending');
  await expect(details(page)).toBeHidden(); // nothing is chosen
  await keepDetails(page);
  await beforeDetails(page);
  await settled(page, 8);
  const inNarrowX = await inPicture(page, 0.15, 0.7);
  await page.mouse.move(inNarrowX.x, inNarrowX.y);
  await expect(details(page).locator('h2')).toHaveAttribute('data-bytes', String(6 * MiB));
  const free = await inPicture(page, 0.8, 0.7);
  await page.mouse.move(free.x, free.y);
  await expect(tip).toHaveAttribute('data-part', 'gap');
  await expect(tip).toContainText('10.0 MiB');
  const nothing = await inPicture(page, 0.5, 0.2);
  await page.mouse.move(nothing.x, nothing.y);
  await expect(tip).toBeHidden();

  // What is chosen may change the height of the picture: each click waits until it rests.
  const clickAt = async (right: number, down: number): Promise<void> => {
    await settled(page, 8);
    const { x, y } = await inPicture(page, right, down);
    await page.mouse.click(x, y);
  };
  await clickAt(0.4, 0.7);
  await expect(unpin(page)).toBeVisible();
  await expect(details(page).locator('[data-name]')).toHaveText("b'7f1000600000_0");
  await expect(page).toHaveURL(/block=\d/);
  await expect(row(page, 4)).toHaveClass(/pinned/);
  await clickAt(0.4, 0.7);
  await expect(unpin(page)).toBeHidden();

  await clickAt(0.8, 0.7);
  await expect(details(page).locator('[data-title]')).toHaveText('Segment');
  await expect(details(page).locator('h2')).toHaveAttribute('data-bytes', String(20 * MiB));
  expect(errors).toEqual([]);
});

test('what is pointed at is told, also where the picture is drawn anew meanwhile', async ({ page }) => {
  await holdBack(page, 'stateBlock');
  await openState(page);
  await keepDetails(page);
  await beforeDetails(page);
  await settled(page, 8);
  const inX = await inPicture(page, 0.15, 0.7);
  await page.mouse.move(inX.x, inX.y);
  await expect(page.locator('.tip')).toContainText("b'7f1000000000_0");
  const theme = await page.locator('gpustrata-viewer').getAttribute('data-theme');
  await page.keyboard.press('t');
  await expect(page.locator('gpustrata-viewer')).not.toHaveAttribute('data-theme', theme!);
  await settled(page, 8);
  expect(await letGo(page)).toBe(1);
  await expect(details(page).locator('h2')).toHaveAttribute('data-bytes', String(6 * MiB));
});

/** The colour of a point of the picture, as `inPicture` names it. */
async function colorAt(page: Page, right: number, down: number): Promise<string> {
  const at = await inPicture(page, right, down);
  return page.locator('.picture').evaluate((picture, { x, y }) => {
    const canvas = picture.querySelector('canvas')!;
    const rect = canvas.getBoundingClientRect();
    const { data } = canvas
      .getContext('2d')!
      .getImageData((x - rect.left) * devicePixelRatio, (y - rect.top) * devicePixelRatio, 1, 1);
    return [...data.slice(0, 3)].join(' ');
  }, at);
}

test('blocks have the colours of the timeline, and fade with them when a filter means others', async ({
  page,
}) => {
  await openState(page);
  const picture = page.locator('.picture[data-settled]');
  const filter = page.getByLabel('Search and filter blocks');
  await page.keyboard.press('1');
  await page.getByLabel('Colour by').selectOption('stack');
  const fill = await page.locator('[data-kind*="feed_forward"] rect').getAttribute('fill');
  const channels = (color: string): number[] => color.split(' ').map(Number);
  const kind = [1, 3, 5].map((at) => Number.parseInt(fill!.slice(at, at + 2), 16));
  // Blocks of a kind are a little lighter or darker each, at most an eighth.
  const isOfKind = (color: string): boolean =>
    channels(color).every((channel, at) => Math.abs(channel - (kind[at] ?? 0)) <= 32);
  await page.keyboard.press('2');
  await expect(picture).toBeVisible();
  await expect(page.locator('gpustrata-state-picture .legend')).toContainText('feed_forward');
  await expect.poll(async () => isOfKind(await colorAt(page, 0.4, 0.7))).toBe(true);
  const z = await colorAt(page, 0.4, 0.7);
  // X, which waits, is of another stack: it fades, Z stays.
  await filter.fill('stack:feed_forward');
  await filter.press('Enter');
  await expect.poll(() => colorAt(page, 0.15, 0.7)).not.toBe('200 50 42');
  await expect(picture).toBeVisible();
  expect(await colorAt(page, 0.4, 0.7)).toBe(z);
  // And the other way round.
  await filter.fill('stack:attention');
  await filter.press('Enter');
  await expect.poll(() => colorAt(page, 0.15, 0.7)).toBe('200 50 42');
  await expect.poll(() => colorAt(page, 0.4, 0.7)).not.toBe(z);
});

test('the picture has the colours of the states, and zooms about the pointer', async ({ page }) => {
  await openState(page);
  const color = (right: number, down: number): Promise<string> => colorAt(page, right, down);
  expect(await color(0.15, 0.7)).toBe('200 50 42'); // X waits
  expect(await color(0.8, 0.7)).toBe('255 255 255'); // free
  expect(await color(0.8, 0.2)).toBe('245 246 248'); // no segment there
  const z = await color(0.4, 0.7);
  expect(['200 50 42', '255 255 255']).not.toContain(z);
  await row(page, 9).click(); // X is gone
  await settled(page, 9);
  expect(await color(0.15, 0.7)).toBe('255 255 255');
  expect(await color(0.4, 0.7)).toBe(z);
  // Into the free space behind Z, until it is all that is seen.
  const free = await inPicture(page, 0.8, 0.7);
  await page.mouse.move(free.x, free.y);
  for (let i = 0; i < 6; i += 1) await page.mouse.wheel(0, -300);
  await settled(page, 9);
  expect(await color(0.05, 0.7)).toBe('255 255 255');
  await page.getByRole('button', { name: 'Show the whole state' }).click();
  await settled(page, 9);
  expect(await color(0.4, 0.7)).toBe(z);
});

test('segments are shaded by how much of them is free', async ({ page }) => {
  await openState(page);
  const shade = (step: number): string =>
    [1, 3, 5].map((at) => Number.parseInt(shadesOfFree(themes.light)[step]!.slice(at, at + 2), 16)).join(' ');
  await page.getByLabel('Colour of the state').selectOption('free');
  await expect(page.locator('gpustrata-state-picture .legend')).toContainText('all free');
  // X, which waits, and Z hold 10 of 20 MiB: the 8th of 16 steps.
  await expect.poll(() => colorAt(page, 0.8, 0.7)).toBe(shade(8));
  expect(await colorAt(page, 0.15, 0.7)).toBe('200 50 42');
  await row(page, 9).click(); // X is gone: 16 of 20 MiB
  await settled(page, 9);
  await expect.poll(() => colorAt(page, 0.8, 0.7)).toBe(shade(13));
  expect(await colorAt(page, 0.15, 0.7)).toBe(shade(13));
  // It stays when the panel is left and opened again.
  await page.keyboard.press('1');
  await page.keyboard.press('2');
  await expect(page.getByLabel('Colour of the state')).toHaveValue('free');
  await page.getByLabel('Colour of the state').selectOption('blocks');
  await expect.poll(() => colorAt(page, 0.8, 0.7)).toBe('255 255 255');
});

test('keys walk through the rectangles and pin', async ({ page }) => {
  await openState(page);
  await page.locator('.picture').focus();
  await page.keyboard.press('ArrowDown'); // a segment
  await expect(page.locator('.tip')).toContainText("s'7f0000000000_0");
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('.tip')).toContainText("s'7f1000000000_0");
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('.tip')).toContainText("b'7f1000000000_0");
  await page.keyboard.press('Enter');
  await expect(unpin(page)).toBeVisible();
  await expect(details(page).locator('[data-name]')).toHaveText("b'7f1000000000_0");
});

test('the moment is chosen on the timeline, by click and by drag', async ({ page }) => {
  await openState(page);
  await keepDetails(page); // the timeline keeps its width
  const empty = await pointOf(page, 3.5, 9.5 * MiB);
  await page.mouse.click(empty.x, empty.y);
  await after(page, 3);
  await expect(row(page, 3)).toHaveAttribute('aria-selected', 'true');
  const inX = await pointOf(page, 5.5, 3 * MiB);
  await page.mouse.click(inX.x, inX.y);
  await after(page, 5);
  await expect(details(page).locator('[data-name]')).toHaveText("b'7f1000000000_0");
  // Along the ruler below the plot.
  const from = await pointOf(page, 2.5, 0);
  const to = await pointOf(page, 10.5, 0);
  await page.mouse.move(from.x, from.y + 12);
  await page.mouse.down();
  await after(page, 2);
  await page.mouse.move(to.x, to.y + 12, { steps: 5 });
  await page.mouse.up();
  await after(page, 10);
  await expect(row(page, 10)).toHaveAttribute('aria-selected', 'true');
  // The same on the time axis: event k is k * 1000 µs behind the first.
  await page.keyboard.press('e');
  await settledView(page);
  const late = await pointOf(page, 4500, 0);
  await page.mouse.click(late.x, late.y + 12);
  await after(page, 4);
});

test('the details lead to events, block and segment', async ({ page }) => {
  await openPage(page);
  await openBusy(page);
  const inX = await pointOf(page, 5.5, 3 * MiB);
  await page.mouse.click(inX.x, inX.y);
  await expect(unpin(page)).toBeVisible();
  const way = (name: string) => details(page).locator(`[data-way="${name}"]`);
  await way('free_requested').click();
  await expect(page).toHaveURL(/event=6/);
  await expect(page.locator('[data-state-event]')).toHaveCount(0); // the main picture stays the timeline
  await page.keyboard.press('2');
  await after(page, 6);
  await expect(details(page).locator('[data-title]')).toHaveText('free_requested');
  await way('free_completed').click();
  await after(page, 9);
  await way('alloc').click();
  await after(page, 1);
  await way('block').click();
  await expect(details(page).locator('[data-title]')).toHaveCount(0);
  await way('segment').click();
  await expect(details(page).locator('[data-name]')).toHaveText("s'7f1000000000_0");
  await page.keyboard.press('Escape');
  await expect(details(page).locator('[data-name]')).toHaveText("b'7f1000000000_0");
  await way('its events').click();
  await expect(page.locator('[data-found]')).toHaveAttribute('data-found', '3');
});

test('a segment that is read about is told as it is at the next moment', async ({ page }) => {
  await openPage(page);
  await openBusy(page);
  await page.keyboard.press('2');
  await settled(page, 8);
  const at = await inPicture(page, 0.9, 0.75); // free, in the large segment
  await page.mouse.click(at.x, at.y);
  const moment = details(page).locator('dd').first();
  await expect(details(page).locator('[data-title]')).toHaveText('Segment');
  const name = (await details(page).locator('[data-name]').textContent())!;
  await expect(moment).toHaveText('after event 8');
  await page.keyboard.press(']');
  await after(page, 9);
  await expect(moment).toHaveText('after event 9');
  await expect(details(page).locator('[data-name]')).toHaveText(name);
});

test('a link shows the same moment, and back leads to the one before', async ({ page }) => {
  await openState(page);
  await row(page, 4).click();
  await after(page, 4);
  await row(page, 6).click();
  await after(page, 6);
  await expect(page).toHaveURL(/event=6/);
  await page.goBack();
  await after(page, 4);
  await page.goForward();
  await after(page, 6);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await waitForState(other, 'empty');
  await openBusy(other);
  await after(other, 6);
  await expect(row(other, 6)).toHaveAttribute('aria-selected', 'true');
});

test('the states of a sample are those of an independent calculation', async ({ page }) => {
  const events = [-1, 0, 137, 2000, 5555];
  const script = `
import json, sys
sys.path.insert(0, 'tests/golden')
import reference, reference_state
with open(sys.argv[1], 'rb') as file:
    snapshot = reference.snapshots_in(reference.load(file.read()))[0][1]
last = len(reference.usable_events(snapshot['device_traces'][0])) - 1
events = [min(event, last) for event in json.loads(sys.argv[2])]
print(json.dumps(reference_state.states(snapshot, 0, sorted(set(events)))))
`;
  const args = ['-c', script, 'build/site/samples/training_run.pickle', JSON.stringify(events)];
  const states = JSON.parse(execFileSync('python3', args, { cwd: root, encoding: 'utf8' })) as {
    event: number;
    reserved_bytes: number;
    allocated_bytes: number;
  }[];
  await openPage(page, '?open=samples/training_run.pickle');
  await waitForState(page, 'ready');
  await page.keyboard.press('2');
  await expect(page.locator('[data-state-event]')).toBeVisible();
  for (const { event, reserved_bytes, allocated_bytes } of states.filter((state) => state.event >= 0)) {
    const url = new URL(page.url());
    const parts = new URLSearchParams(url.hash.slice(1));
    parts.set('event', String(event));
    await page.evaluate((hash) => (location.hash = hash), parts.toString());
    await after(page, event);
    await bytes(page, { reserved: reserved_bytes, allocated: allocated_bytes });
  }
});

test('the state fits a phone', async ({ page }) => {
  await openState(page);
  await page.setViewportSize({ width: 320, height: 640 });
  await settled(page, 8);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  await expect(row(page, 8)).toBeVisible();
});
