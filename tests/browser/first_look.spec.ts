// What the page shows of itself, and where its buttons and keys lead.
import { expect, test, type Locator, type Page } from '@playwright/test';
import { settledView, pointAt } from './page.ts';
import { pickled, knownSnapshot, MiB } from './pickle.ts';
import { openSnapshot, openSample } from './support.ts';

/** A segment with one block of 4 MiB. */
const oneBlock = {
  device: 0,
  address: 0,
  total_size: 20 * MiB,
  stream: 0,
  segment_type: 'large',
  blocks: [{ address: 0, size: 4 * MiB, requested_size: 4 * MiB, state: 'active_allocated', frames: [] }],
};

for (const [way, act] of [
  ['key', (page: Page) => page.keyboard.press('o')],
  ['number', (page: Page) => page.locator('[data-stat=oom]').click()],
] as const)
  test(`out of memory by ${way} shows the event, not a block`, async ({ page }) => {
    await openSample(page, 'out_of_memory.pickle.gz');
    await act(page);
    await expect(page.locator('gpustrata-details [data-title]')).toHaveText('Out of memory');
  });

test('the key O goes to the out-of-memory events of all devices, and round', async ({ page }) => {
  const event = (action: string, size: number): object => ({
    action,
    addr: 4096,
    size,
    stream: 0,
    frames: [],
  });
  const device = (...sizes: number[]): object[] => [
    event('alloc', MiB),
    ...sizes.map((size) => ({ action: 'oom', size, device_free: 0, stream: 0, frames: [] })),
  ];
  const snapshot = { segments: [], device_traces: [device(3 * MiB, 5 * MiB), device(), device(7 * MiB)] };
  await openSnapshot(page, pickled(snapshot as unknown as Parameters<typeof pickled>[0]));
  await settledView(page);
  const asked = page.locator('gpustrata-details h2');
  // Events 1 and 2 of device 0, then event 1 of device 2, then the first again.
  for (const [index, size, number] of [
    [0, 3, 1],
    [0, 5, 2],
    [2, 7, 1],
    [0, 3, 1],
  ] as const) {
    await page.keyboard.press('o');
    await expect(asked).toHaveAttribute('data-bytes', String(size * MiB));
    await expect(page).toHaveURL(new RegExp(`device=${index}.*event=${number}(&|$)`));
  }
});

test('a wrong filter takes the count and the dimming of the one before away', async ({ page }) => {
  await openSnapshot(page, knownSnapshot());
  const field = page.getByLabel('Search and filter blocks');
  const filter = page.locator('gpustrata-filter');
  await field.fill('size>3MiB');
  await expect(filter.locator('[data-count]')).toHaveAttribute('data-count', '1');
  await field.fill('size>x');
  await field.press('Enter');
  await expect(filter.locator('[role=alert]')).toBeVisible();
  await expect(filter.locator('[data-count]')).toHaveCount(0);
});

test('a link made at the peak shows the peak', async ({ page }) => {
  await openSnapshot(page, knownSnapshot());
  await page.keyboard.press('p');
  await expect(page).toHaveURL(/event=4/);
});

test('after going to the peak, zooming keeps it in view', async ({ page }) => {
  await openSample(page); // the peak is after event 1017 of 3168
  await page.keyboard.press('p');
  await expect(page.locator('[data-readout="event"]')).toContainText('1,017');
  const plus = page.getByRole('button', { name: 'Zoom in', exact: true });
  for (let click = 0; click < 3; click += 1) {
    await plus.click();
    await settledView(page);
  }
  const { x0, x1 } = await settledView(page);
  expect(x0).toBeLessThanOrEqual(1017);
  expect(x1).toBeGreaterThanOrEqual(1018);
  expect(x1 - x0).toBeLessThan(400);
});

test('each thing has one word', async ({ page }) => {
  await openSample(page, 'out_of_memory.pickle.gz');
  // A stretch of the program is a region; addresses that segments had are ranges.
  await page.getByRole('tab', { name: /^Address map/ }).click();
  const map = page.locator('gpustrata-address-map');
  await expect(map.locator('[data-regions]')).toContainText('address range');
  expect((await map.innerText()).toLowerCase()).not.toContain('region');
  expect(await map.innerText()).not.toContain('free device memory');
  await expect(page.getByLabel('Colour by').locator('option').first()).toHaveText('Each block');
});

test('of one moment no number is told twice', async ({ page }) => {
  await openSnapshot(page, pickled({ segments: [oneBlock], device_traces: [] }));
  const stats = page.locator('gpustrata-stats');
  await expect(stats.locator('[data-stat=peak]')).toContainText('In use');
  for (const same of ['initial', 'final']) await expect(stats.locator(`[data-stat=${same}]`)).toBeHidden();
  await expect(page.locator('[role=tab][data-panel=events]')).toHaveAttribute('aria-disabled', 'true');
});

test('without a history nothing is said of what was before', async ({ page }) => {
  // The mark of the snapshot is none.
  const mark = { action: 'snapshot', addr: 0, size: 0, stream: 0, frames: [] };
  await openSnapshot(page, pickled({ segments: [oneBlock], device_traces: [[mark]] }));
  const tab = (panel: string): Locator => page.locator(`[role=tab][data-panel=${panel}]`);
  await expect(tab('oom')).toHaveAttribute('title', /^Without a history it is not known/);
  await tab('fragmentation').click();
  await expect(page.locator('[data-never-full]')).toHaveText(/^Without a history it is not known/);
  await expect(page.locator('[data-never-full]')).toHaveAttribute('data-never-full', '0');
  await expect(tab('leaks')).toHaveAttribute('title', /^No history of this device/);
});

test('what only these blocks are at their peak is called so', async ({ page }) => {
  await openSnapshot(page, knownSnapshot());
  await page.getByLabel('Search and filter blocks').fill('size>3MiB');
  await page.getByRole('button', { name: 'Only these' }).click();
  await expect(page.locator('[data-stat=peak]')).toContainText('Peak of these');
});

test('on paper there is nothing to press', async ({ page }) => {
  await openSnapshot(page, knownSnapshot());
  await settledView(page);
  const at = await pointAt(page, 0.5, 0.02);
  await page.mouse.click(at.x, at.y);
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeVisible();
  await page.emulateMedia({ media: 'print' });
  for (const control of await page.locator('select, gpustrata-copy, .button').all())
    await expect(control).toBeHidden();
});
