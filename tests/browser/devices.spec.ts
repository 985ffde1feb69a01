// GPUs of one file below each other: one axis, one scale of bytes, the failed one in words.
import { expect, test, type Locator, type Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { settledView } from './page.ts';
import { MiB, pickled, type Value } from './pickle.ts';
import { choose, openKnown, openSnapshot, shot } from './support.ts';

const firstTime = 1_700_000_000_000_000;
interface Step {
  action?: string;
  at: number;
  mib: number;
}

/** Events of one device in a segment of 20 MiB that was there before; `at` in milliseconds. */
function traceOf(device: number, steps: readonly Step[], times: boolean): { segment: Value; trace: Value } {
  const address = 0x7f0000000000 + device * 0x100000000;
  let used = 0;
  const blocks: Value[] = [];
  const trace = steps.map(({ action = 'alloc', at, mib }) => {
    const size = mib * MiB;
    const event = {
      ...{ action, size, stream: 0, frames: [] },
      addr: action === 'oom' ? 0 : address + used,
      ...(action === 'oom' && { device_free: 0 }),
      ...(times && { time_us: firstTime + at * 1000 }),
    };
    if (action === 'alloc') {
      blocks.push({ address: address + used, size, requested_size: size, state: 'active_allocated' });
      used += size;
    }
    return event;
  });
  blocks.push({ address: address + used, size: 20 * MiB - used, requested_size: 0, state: 'inactive' });
  return {
    trace,
    segment: { device, address, total_size: 20 * MiB, stream: 0, segment_type: 'large', blocks },
  };
}

/**
 * Device 0: 4 MiB at 0 ms, 8 MiB from 10 ms, its last event, on. Device 1: 16 MiB from 10 ms on, at 30 ms no room for
 * 30 MiB, 17 MiB from 40 ms on. Device 2: nothing but a segment. Device 3: 18 MiB at 20 ms, more than any other.
 */
function fourDevices(times = true): Buffer {
  const all = [
    traceOf(
      0,
      [
        { at: 0, mib: 4 },
        { at: 10, mib: 4 },
      ],
      times,
    ),
    traceOf(
      1,
      [
        { at: 10, mib: 16 },
        { action: 'oom', at: 30, mib: 30 },
        { at: 40, mib: 1 },
      ],
      times,
    ),
    traceOf(2, [], times),
    traceOf(3, [{ at: 20, mib: 18 }], times),
  ];
  return pickled({
    segments: all.map(({ segment }) => segment),
    device_traces: all.map(({ trace }) => trace),
  });
}

const track = (page: Page, device: number): Locator => page.locator(`[data-track="${device}"]`);
const device = (page: Page): Locator => page.getByLabel('Device', { exact: true });

async function openTracks(page: Page, times = true): Promise<void> {
  await openSnapshot(page, fourDevices(times));
  await settledView(page);
  await page.getByRole('tab', { name: /^Devices/ }).click();
  await expect(page.locator('[data-track] canvas[data-settled]')).toHaveCount(4);
}

/** The page's place of a share of the plot's width, in the middle of its height. */
async function placeIn(canvas: Locator, share: number): Promise<{ x: number; y: number }> {
  const [left = 0, top = 0, width = 0, height = 0] = (await canvas.getAttribute('data-plot'))!
    .split(' ')
    .map(Number);
  return { x: left + width * share, y: top + height / 2 };
}

/** How high the area is there, from the bottom of the plot up to the ground's colour, in pixels of the canvas. */
const heightAt = (canvas: Locator, share: number): Promise<number> =>
  canvas.evaluate((element, part) => {
    const of = element as HTMLCanvasElement;
    const [left = 0, top = 0, width = 0, height = 0] = of.dataset['plot']!.split(' ').map(Number);
    const ctx = of.getContext('2d')!;
    const [r = 0, g = 0, b = 0] = ctx.getImageData(1, 1, 1, 1).data;
    const column = ctx.getImageData(Math.round(left + width * part), top, 1, height).data;
    let rows = 0;
    for (let y = height - 1; y >= 0; y--, rows++) {
      const [r1 = 0, g1 = 0, b1 = 0] = column.subarray(y * 4);
      if (Math.abs(r1 - r) + Math.abs(g1 - g) + Math.abs(b1 - b) < 90) break;
    }
    return rows;
  }, share);

test('the device that ran out of memory opens first, and says so among the others', async ({ page }) => {
  await openTracks(page);
  await expect(device(page)).toHaveValue('1');
  await expect(track(page, 1)).toContainText('Out of memory at event 1');
  await expect(track(page, 1)).toHaveAttribute('data-failed', '1');
  await expect(track(page, 1)).toContainText('in the timeline above');
  for (const other of [0, 2, 3]) await expect(track(page, other)).not.toContainText('Out of memory');
  await expectAccessible(page, 'devices');
  await shot(page, 'devices');
  await page.keyboard.press('t');
  await shot(page, 'devices-other-theme');
});

test('heights and moments of all devices can be compared', async ({ page }) => {
  await openTracks(page);
  await expect(page.locator('[data-tracks]')).toHaveAttribute('data-axis', 'time');
  const of = (name: string): Promise<(string | undefined)[]> =>
    page
      .locator('[data-track] canvas')
      .evaluateAll((all, what) => all.map((one) => (one as HTMLElement).dataset[what]), name);
  // 20 MiB are reserved on each; the plot has a tenth more.
  expect(await of('top')).toEqual(Array(4).fill(String(22 * MiB)));
  expect(new Set(await of('plot')).size).toBe(1);
  const left = await page
    .locator('[data-track] canvas')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
  expect(new Set(left).size).toBe(1);

  const [first, second] = [track(page, 0).locator('canvas'), track(page, 1).locator('canvas')];
  // 40 ms across: 5 ms is an eighth, 20 ms the half. 4 MiB, then 8 beside 16.
  const early = await heightAt(first, 1 / 8);
  expect(await heightAt(first, 1 / 2)).toBeGreaterThanOrEqual(2 * early - 2);
  expect(Math.abs((await heightAt(first, 1 / 2)) - 2 * early)).toBeLessThanOrEqual(2);
  expect(Math.abs((await heightAt(second, 1 / 2)) - 4 * early)).toBeLessThanOrEqual(4);
  expect(await heightAt(second, 1 / 8)).toBe(0); // it had not begun
  expect(Math.abs((await heightAt(first, 7 / 8)) - 2 * early)).toBeLessThanOrEqual(2); // its events end at 10 ms
});

test('zoom and pointer are the same in all tracks', async ({ page }) => {
  await openTracks(page);
  const [first, second] = [track(page, 0).locator('canvas'), track(page, 1).locator('canvas')];
  await first.focus();
  await page.keyboard.press('w');
  await expect(first).not.toHaveAttribute('data-stretch', /^0 /);
  await expect(second).toHaveAttribute('data-stretch', (await first.getAttribute('data-stretch'))!);
  await page.keyboard.press('f');
  await first.hover({ position: await placeIn(first, 1 / 8) });
  await expect(track(page, 0).locator('[data-curve=allocated]')).toHaveAttribute(
    'data-bytes',
    String(4 * MiB),
  );
  await expect(track(page, 1).locator('[data-curve=allocated] b')).toHaveText('–');
  await first.hover({ position: await placeIn(first, 1 / 2) });
  await expect(track(page, 0).locator('[data-curve=allocated]')).toHaveAttribute(
    'data-bytes',
    String(8 * MiB),
  );
  await expect(track(page, 1).locator('[data-curve=allocated]')).toHaveAttribute(
    'data-bytes',
    String(16 * MiB),
  );
});

test('what is seen of the tracks comes back after a reload, and Back shows all again', async ({ page }) => {
  await openTracks(page);
  const first = track(page, 0).locator('canvas');
  await expect(first).toHaveAttribute('data-stretch', / /);
  const all = (await first.getAttribute('data-stretch'))!;
  await first.focus();
  await page.keyboard.press('w');
  await expect(page).toHaveURL(/devices\.stretch=/);
  const places = async (): Promise<number[]> =>
    // Nothing yet, right after a reload.
    ((await first.getAttribute('data-stretch')) ?? '').split(' ').map((place) => Math.round(Number(place)));
  const wanted = await places();
  await page.goBack();
  await expect(first).toHaveAttribute('data-stretch', all);
  await page.goForward();
  await expect.poll(places).toEqual(wanted);
  await page.reload();
  await choose(page, { name: 'known.pickle', buffer: fourDevices() });
  await expect.poll(places).toEqual(wanted);
});

test('a place in a track leads to that moment of that device, by click, key and name', async ({ page }) => {
  await openTracks(page);
  const first = track(page, 0).locator('canvas');
  await first.click({ position: await placeIn(first, 1 / 8) });
  await expect(device(page)).toHaveValue('0');
  await expect(track(page, 0)).toContainText('in the timeline above');
  await page.keyboard.press('2');
  await expect(page.locator('[data-state-event]')).toHaveAttribute('data-state-event', '0');

  await page.getByRole('tab', { name: /^Devices/ }).click();
  const second = track(page, 1).locator('canvas[data-settled]');
  await second.focus();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await expect(device(page)).toHaveValue('1');
  await page.keyboard.press('2');
  await expect(page.locator('[data-state-event]')).toHaveAttribute('data-state-event', '2');

  await page.getByRole('tab', { name: /^Devices/ }).click();
  await track(page, 2).getByRole('button', { name: 'Device 2' }).press('Enter');
  await expect(device(page)).toHaveValue('2');
});

test('without times each is by its own events, and that is said', async ({ page }) => {
  await openTracks(page, false);
  await expect(page.locator('[data-tracks]')).toHaveAttribute('data-axis', 'event');
  await expect(page.locator('[data-tracks] > p')).toContainText('moments do not line up');
});

test('on a phone the tracks are as wide as the page', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openTracks(page);
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(wider).toBeLessThanOrEqual(0);
  await track(page, 1).scrollIntoViewIfNeeded();
  await shot(page, 'devices-phone');
});

test('one device has no tab for several', async ({ page }) => {
  await openKnown(page);
  await expect(page.getByRole('tab', { name: /^Flame graph/ })).toBeVisible();
  await expect(page.getByRole('tab', { name: /^Devices/ })).toHaveCount(0);
});
