// What PyTorch's own viewer gets wrong or shows elsewhere, and no other test here looks at: see the table in
// tests/README.md.
import { expect, test } from '@playwright/test';
import { bytesOf, countOf, settledView, viewAfter, pointAt, watchErrors } from './page.ts';
import { type Value, pickled, knownSnapshot, MiB } from './pickle.ts';
import { openSnapshot, openKnown } from './support.ts';

const event = (action: string, addr: number, size: number, more: Record<string, Value> = {}): Value => ({
  action,
  addr,
  size,
  stream: 0,
  frames: [],
  ...more,
});

test('protocol 5, the default of Python 3.14, opens', async ({ page }) => {
  const buffer = knownSnapshot();
  buffer[1] = 5;
  await openSnapshot(page, buffer);
  await settledView(page);
  expect(await bytesOf(page, 'peak')).toBe(7 * MiB);
});

test('a snapshot of nothing says so', async ({ page }) => {
  const errors = watchErrors(page);
  await openSnapshot(page, pickled({ segments: [], device_traces: [] }));
  await expect(page.getByRole('heading', { name: 'Nothing to draw' })).toBeVisible();
  expect(errors).toEqual([]);
});

test('a lone free of 300 bytes is a peak of 300 bytes', async ({ page }) => {
  await openSnapshot(
    page,
    pickled({ segments: [], device_traces: [[event('free_completed', 0x7f0000000000, 300)]] }),
  );
  await settledView(page);
  expect(await bytesOf(page, 'peak')).toBe(300);
  expect(await bytesOf(page, 'initial')).toBe(300);
  expect(await bytesOf(page, 'final')).toBe(0);
});

test('blocks are never left out: 40,000 of them give the exact peak', async ({ page }) => {
  const trace: Value[] = [];
  for (let i = 0; i < 40_000; i += 1) trace.push(event('alloc', 0x7f0000000000 + 512 * i, 512));
  await openSnapshot(page, pickled({ segments: [], device_traces: [trace] }));
  await settledView(page);
  expect(await countOf(page, 'blocks')).toBe(40_000);
  expect(await bytesOf(page, 'peak')).toBe(40_000 * 512);
  // A single one of them is found and shown.
  await page.keyboard.press('/');
  await page.keyboard.insertText((0x7f0000000000 + 512 * 30_000).toString(16));
  await expect(page.locator('gpustrata-filter [data-count]')).toHaveAttribute('data-count', '1');
  await page.keyboard.press('Enter');
  await expect(page.locator('gpustrata-details')).toContainText('event 30,000');
});

test('categories colour the blocks, also if none is called unknown', async ({ page }) => {
  const errors = watchErrors(page);
  await openKnown(page, {
    changed: { 1: { category: 'parameter' }, 3: { category: 'activation' }, 4: { category: 'activation' } },
  });
  await settledView(page);
  await page.getByLabel('Colour by').selectOption('category');
  // The peak is at event 4: A of 4 MiB, B and C of 2 and 1.
  await expect(page.locator('[data-kind="parameter"]')).toHaveAttribute('data-bytes', String(4 * MiB));
  await expect(page.locator('[data-kind="activation"]')).toHaveAttribute('data-bytes', String(3 * MiB));
  await expect(page.locator('[data-kind]')).toHaveCount(2);
  expect(errors).toEqual([]);
});

test('the details of a block tell all that the file says of it', async ({ page }) => {
  await openKnown(page, {
    changed: {
      3: {
        stream: 70,
        pool_id: [1, 2],
        compile_context: 'Torch-Compiled Region: 0/0',
        user_metadata: { layer: 3, kind: 'attention' },
        forward_frames: ['model.py:10:forward\n'],
        frames: [
          {
            filename: '/home/me/graph.py',
            line: 5,
            name: 'call',
            fx_node_op: 'call_function',
            fx_node_name: 'mm_1',
            fx_node_target: 'aten.mm',
            fx_original_trace: 'y = self.linear(x)',
          },
        ],
      },
      7: { action: 'annotate', addr: 0x7f0000000000, size: 0, user_metadata: 'weights of layer 3' },
    },
  });
  await settledView(page);
  const details = page.locator('gpustrata-details');
  const show = async (address: string, bytes: number): Promise<void> => {
    await page.getByLabel('Search and filter blocks').fill(address);
    await expect(page.locator('gpustrata-filter [data-count]')).toHaveAttribute('data-bytes', String(bytes));
    await page.keyboard.press('Enter');
    await expect(details).toContainText(address);
  };
  await show('7f0000400000', 2 * MiB);
  for (const words of [
    "b'7f0000400000_0",
    '2,097,152 bytes',
    'event 3',
    'event 6',
    'Torch-Compiled Region: 0/0',
    'attention',
    '(1, 2)',
    'mm_1',
    'y = self.linear(x)',
    'model.py:10:forward',
  ])
    await expect(details).toContainText(words);
  await show('7f0000000000', 4 * MiB);
  await expect(details).toContainText('weights of layer 3');
});

test('without times no date is invented', async ({ page }) => {
  await openKnown(page, { times: false });
  await settledView(page);
  await page.getByLabel('Search and filter blocks').fill('7f0000400000');
  await expect(page.locator('gpustrata-filter [data-count]')).toHaveAttribute('data-count', '1');
  await page.keyboard.press('Enter');
  const details = page.locator('gpustrata-details');
  await expect(details).toContainText('event 3');
  await expect(details).not.toContainText(/invalid|NaN|1970/i);
});

test('Shift F fits the height of what is visible', async ({ page }) => {
  // A ramp: 100 blocks of 1 MiB come one after the other, so the first eight events are low.
  const trace: Value[] = [];
  for (let i = 0; i < 100; i += 1) trace.push(event('alloc', 0x7f0000000000 + i * MiB, MiB));
  await openSnapshot(page, pickled({ segments: [], device_traces: [trace] }));
  const all = await settledView(page);
  const at = await pointAt(page, 0, 0.5);
  await page.mouse.move(at.x, at.y);
  await page.mouse.wheel(0, -20_000);
  await expect.poll(async () => (await settledView(page)).x1).toBeLessThan(60);
  const near = await settledView(page);
  await page.keyboard.press('Shift+F');
  const fitted = await viewAfter(page, near);
  expect(fitted.y1).toBeCloseTo(Math.ceil(near.x1) * MiB * 1.1, -6); // within half a MiB
  expect([fitted.x0, fitted.x1]).toEqual([near.x0, near.x1]);
  expect(all.y1).toBeCloseTo(110 * MiB, -6);
});
