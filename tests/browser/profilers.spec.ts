// Files of other memory profilers in the page: nothing is blank, and the numbers are those of the files.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import { realFiles, root } from '../built.mjs';
import { expectAccessible } from './accessible.ts';
import { settledView } from './page.ts';
import { MiB } from './pickle.ts';
import { waitForState, openPage, choose, openFile, openKnown } from './support.ts';

const own = (name: string): string => join(root, 'tests/data/profilers', name);
const traces = realFiles('traces');

const series = (page: Page) => page.locator('gpustrata-series');
const canvases = (page: Page) => page.locator('gpustrata-chart canvas');
const bytes = (page: Page, curve: string) => page.locator(`[data-curve="${curve}"]`);

async function openSeries(page: Page, name: string): Promise<void> {
  await openPage(page);
  await openFile(page, own(name));
  await expect(series(page)).toBeVisible();
  for (const canvas of await canvases(page).all()) await expect(canvas).toHaveAttribute('data-settled', '');
}

/** A place in a chart, in page pixels; parts from left and top of its plot. */
async function placeIn(
  page: Page,
  chart: number,
  right: number,
  down: number,
): Promise<{ x: number; y: number }> {
  return canvases(page)
    .nth(chart)
    .evaluate(
      (canvas, at) => {
        const [left = 0, top = 0, width = 0, height = 0] = (canvas as HTMLElement).dataset['plot']!.split(
          ' ',
        ).map(Number);
        const rect = canvas.getBoundingClientRect();
        return {
          x: rect.left + (left + width * at.right) / devicePixelRatio,
          y: rect.top + (top + height * at.down) / devicePixelRatio,
        };
      },
      { right, down },
    );
}

/** Colour of a chart at a place, as three numbers. */
async function colorIn(page: Page, chart: number, right: number, down: number): Promise<number[]> {
  return canvases(page)
    .nth(chart)
    .evaluate(
      (canvas, at) => {
        const [left = 0, top = 0, width = 0, height = 0] = (canvas as HTMLElement).dataset['plot']!.split(
          ' ',
        ).map(Number);
        const context = (canvas as HTMLCanvasElement).getContext('2d')!;
        return [
          ...context.getImageData(
            Math.round(left + width * at.right),
            Math.round(top + height * at.down),
            1,
            1,
          ).data,
        ].slice(0, 3);
      },
      { right, down },
    );
}

test('a memory timeline is a stack of categories in the official order and colours', async ({ page }) => {
  await openSeries(page, 'timeline.json');
  await expect(page.locator('[data-peak]')).toHaveAttribute('data-bytes', '16384');
  await expect(page.locator('[data-category=PARAMETER]')).toHaveAttribute('data-bytes', '4096');
  await expect(page.locator('[data-category=ACTIVATION]')).toHaveAttribute('data-bytes', '8192');
  await expect(page.locator('[data-category=GRADIENT]')).toHaveAttribute('data-bytes', '4096');
  await expect(page.locator('[data-course] tbody tr.highest')).toContainText('16.0 KiB');
  // From the bottom at half past the second millisecond: 4 KiB parameter, 8 KiB activation, 4 KiB gradient, of 17.6 KiB.
  const part = (kib: number): number => 1 - kib / 17.6;
  const mixed = (color: readonly number[]): number[] => color.map((channel) => 0.7 * channel + 0.3 * 255);
  const near = (color: number[], expected: number[]): void =>
    color.forEach((channel, i) => expect(Math.abs(channel - expected[i]!), color.join()).toBeLessThan(6));
  near(await colorIn(page, 0, 0.75, part(2.3)), mixed([0x00, 0x64, 0x00]));
  near(await colorIn(page, 0, 0.75, part(7.3)), mixed([0xff, 0x00, 0x00]));
  near(await colorIn(page, 0, 0.75, part(14.7)), mixed([0x00, 0x00, 0xcd]));
});

test('pointing at a chart tells the levels of that moment, zooming keeps them', async ({ page }) => {
  await openSeries(page, 'timeline.json');
  const at = await placeIn(page, 0, 0.25, 0.5);
  await page.mouse.move(at.x, at.y);
  await expect(bytes(page, 'total')).toHaveAttribute('data-bytes', '12288');
  await expect(bytes(page, 'GRADIENT')).toHaveAttribute('data-bytes', '0');
  await page.mouse.wheel(0, -300);
  await expect(canvases(page).first()).not.toHaveAttribute('data-stretch', '0 2001');
  await expect(bytes(page, 'total')).toHaveAttribute('data-bytes', '12288');
  await page.mouse.dblclick(at.x, at.y);
  await expect(canvases(page).first()).toHaveAttribute('data-stretch', '0 2001');
});

test('a chart does by keys what it does by mouse', async ({ page }) => {
  await page.setViewportSize({ width: 2400, height: 900 }); // the last column holds the last point alone
  await openSeries(page, 'timeline.json');
  const chart = canvases(page).first();
  await chart.focus();
  await page.keyboard.press('Home');
  await expect(bytes(page, 'total')).toHaveAttribute('data-bytes', '12288');
  await page.keyboard.press('End');
  await expect(bytes(page, 'total')).toHaveAttribute('data-bytes', '8192');
  await page.keyboard.press('w');
  await expect(chart).not.toHaveAttribute('data-stretch', '0 2001');
  await page.keyboard.press('f');
  await expect(chart).toHaveAttribute('data-stretch', '0 2001');
});

test('counters of another open file lie over these, both from the left, and links and a reload restore it', async ({
  page,
}) => {
  const first = JSON.parse(readFileSync(own('telemetry.json'), 'utf8')) as Record<string, unknown>[];
  const hour = 3_600_000_000_000;
  // A later run, half as high, without its last sample: 50 MiB, then 150 MiB at 0.1 s, and nothing after 0.2 s.
  const second = first.slice(0, 3).map((sample) => ({
    ...sample,
    timestamp_ns: Number(sample['timestamp_ns']) + hour,
    allocator_allocated_bytes: Number(sample['allocator_allocated_bytes']) / 2,
  }));
  const files = [
    { name: 'a.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(first)) },
    { name: 'b.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(second)) },
  ];
  const lower = canvases(page).nth(1); // of the allocator
  const choice = page.locator('[data-choice=over]');
  const open = async (): Promise<void> => {
    await page.locator('input[type=file]').first().setInputFiles(files);
    await expect(choice).toContainText('b.json');
  };
  await openPage(page);
  await open();
  await expect(bytes(page, 'over allocated')).toHaveCount(0);
  await choice.selectOption({ label: 'b.json' });
  await expect(bytes(page, 'over allocated')).toHaveAttribute('data-bytes', String(150 * MiB));
  await expect(lower).toHaveAttribute('data-settled', '');
  const half = await placeIn(page, 1, 0.5, 0.5);
  await page.mouse.move(half.x, half.y);
  await expect(bytes(page, 'allocated')).toHaveAttribute('data-bytes', String(300 * MiB));
  await expect(bytes(page, 'over allocated')).toHaveAttribute('data-bytes', String(150 * MiB));
  const late = await placeIn(page, 1, 0.9, 0.5);
  await page.mouse.move(late.x, late.y);
  await expect(bytes(page, 'allocated')).toHaveAttribute('data-bytes', String(300 * MiB));
  await expect(bytes(page, 'over allocated')).not.toHaveAttribute('data-bytes'); // it had ended

  await page.mouse.wheel(0, -300);
  await expect(lower).not.toHaveAttribute('data-stretch', '0 300001');
  const seen = async (): Promise<number[]> =>
    ((await lower.getAttribute('data-stretch')) ?? '').split(' ').map((place) => Math.round(Number(place)));
  const wanted = await seen();
  await expect(page).toHaveURL(/x=.*series\.over=[0-9a-f]{16}/);
  await page.reload();
  await open();
  await expect.poll(seen).toEqual(wanted);
  await expect(bytes(page, 'over allocated')).toHaveCount(1);
  await page.goBack();
  await expect(lower).toHaveAttribute('data-stretch', '0 300001');

  await choose(page, own('timeline.json')); // categories
  await expect(series(page).locator('[data-series]')).toHaveAttribute('data-series', 'categories');
  await choice.selectOption({ label: 'b.json' });
  await expect(series(page).getByRole('status')).toHaveText('None of its curves can be drawn over these.');
});

test('statistics of MemoryTracker: curves by operator, boundaries, any number of the largest, modules', async ({
  page,
}) => {
  await openSeries(page, 'tracker.pickle');
  await expect(bytes(page, 'allocated')).toHaveAttribute('data-bytes', String(30 * MiB));
  await expect(bytes(page, 'reserved')).toHaveAttribute('data-bytes', String(42 * MiB));
  await expect(page.locator('[data-marks]').first()).toHaveText('Forward begins; Backward begins');
  const rows = page.locator('[data-operators] tbody tr');
  await expect(rows).toHaveCount(4); // the first operator has none before it
  await expect(rows.first()).toHaveAttribute('data-bytes', String(15.5 * MiB));
  await expect(rows.first()).toContainText('layer2.forward.mm.default_1');
  await page.locator('gpustrata-operators input').fill('1');
  await page.locator('gpustrata-operators input').press('Enter');
  await expect(rows).toHaveCount(1);
  await expect(page.locator('[data-module=layer1]')).toHaveAttribute('data-bytes', String(4.5 * MiB));
  await expect(page.locator('[data-module=layer2]')).toHaveAttribute('data-bytes', String(7.5 * MiB));
  const third = await placeIn(page, 0, 0.5, 0.5);
  await page.mouse.move(third.x, third.y);
  await expect(page.locator('.now')).toContainText('Operator 2 · layer2.forward.mm.default_1');
});

test('telemetry: curves of each device, alerts, what is far higher in a chart of its own', async ({
  page,
}) => {
  await openSeries(page, 'telemetry.json');
  await expect(canvases(page)).toHaveCount(2); // 24 GiB of the device; 400 MiB at most of the allocator
  await expect(bytes(page, 'allocated')).toHaveAttribute('data-bytes', String(300 * MiB));
  await expect(page.locator('[data-marks]').first()).toHaveText('Warning: Large allocation: 200 MB');
  await expect(page.locator('[data-finding=alerts]')).toContainText('1 sample');
  await expect(page.locator('[data-device="0"]')).toHaveAttribute('data-bytes', String(300 * MiB));
});

test('profiled functions: before, peak and after of each call, and their sums', async ({ page }) => {
  await openSeries(page, 'functions.json');
  await expect(page.locator('[data-calls] tbody tr')).toHaveCount(2);
  await expect(page.locator('[data-calls] tbody tr').first()).toContainText(
    /train_step\s*100\.0 MiB\s*180\.0 MiB\s*140\.0 MiB\s*40\.0 MiB/,
  );
  await expect(page.locator('[data-function=evaluate]')).toContainText('260.0 MiB'); // over its beginning
});

test('the op table of a trace adds up, explains a negative self, and lights blocks', async ({ page }) => {
  await openPage(page);
  await openFile(page, own('trace.json'));
  await settledView(page);
  await page.getByRole('tab', { name: /^Ops/ }).click();
  const sums = page.locator('gpustrata-ops .sums');
  await expect(sums).toHaveAttribute('data-peak', '112640');
  await expect(sums).toHaveAttribute('data-end', '104448');
  const row = (op: string) => page.locator(`gpustrata-ops [role=row][data-op="${op}"]`);
  const cell = (op: string, column: string) => row(op).locator(`[data-column="${column}"]`);
  await expect(cell('aten::addmm', 'Peak')).toHaveAttribute('data-bytes', '8192');
  await expect(cell('train', 'Self')).toHaveAttribute('data-bytes', '-4096');
  await expect(row('train').locator('[data-why]')).toHaveText(
    '4.0 KiB freed here were allocated by aten::empty.',
  );
  await row('aten::addmm').click();
  await expect(page.locator('gpustrata-filter [data-count]')).toHaveAttribute('data-count', '1');
  await expect(page.locator('gpustrata-filter [data-count]')).toHaveAttribute('data-bytes', '8192');
  await row('aten::addmm').click();
  await expect(page.locator('gpustrata-filter [data-count]')).toHaveCount(0);
});

test('what a trace cannot tell is grey and says why; what only traces tell is not there for snapshots', async ({
  page,
}) => {
  await openPage(page);
  await openFile(page, own('trace.json'));
  await settledView(page);
  for (const name of ['State', 'Address map'])
    await expect(page.getByRole('tab', { name: new RegExp(`^${name}`) })).toHaveAttribute(
      'title',
      /names no segments/,
    );
  await expect(page.getByRole('tab', { name: /^Ops/ })).toBeVisible();
  await expect(page.getByRole('tab', { name: /^Counters/ })).toHaveCount(0);
  await openKnown(page);
  await expect(page.getByRole('tab', { name: /^State/ })).not.toHaveAttribute('aria-disabled');
  await expect(page.getByRole('tab', { name: /^Ops/ })).toHaveCount(0);
});

test('a trace without memory records says how to record them', async ({ page }) => {
  await openPage(page);
  const buffer = Buffer.from(
    '{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":2}]}',
  );
  await choose(page, { name: 'bare.json', buffer });
  await waitForState(page, 'ready');
  await expect(page.locator('[data-nothing=trace]')).toContainText('profile_memory=True');
});

test('ops within ops, other orders, and the table as PyTorch prints it', async ({ page }) => {
  await openPage(page);
  await openFile(page, own('trace.json'));
  await settledView(page);
  await page.getByRole('tab', { name: /^Ops/ }).click();
  const rows = page.locator('gpustrata-ops .rows [role=row]');
  await expect(rows).toHaveCount(5);
  await page.locator('[data-sort=peak]').click();
  await expect(rows.nth(2)).toHaveAttribute('data-op', 'aten::addmm');
  await page.locator('[data-choice=tree]').click();
  await expect(rows).toHaveCount(1);
  await page.locator('gpustrata-ops .scroller').focus();
  await page.keyboard.press('ArrowRight');
  await expect(rows).toHaveCount(3);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await expect(rows).toHaveCount(5);
  // Choosing one closes none.
  await rows.and(page.locator('[data-op="aten::addmm"]')).click();
  await expect(page.locator('gpustrata-filter [data-count]')).toHaveAttribute('data-bytes', '8192');
  await expect(rows).toHaveCount(5);
  await page.locator('gpustrata-ops .scroller').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowLeft');
  await expect(rows).toHaveCount(1);
  await page.locator('[data-choice=mode]').selectOption('pytorch');
  await expect(
    page.locator('gpustrata-ops [data-op="aten::linear"] [data-column="Device Mem"]'),
  ).toHaveAttribute('data-bytes', '2048');
  await expect(
    page.locator('gpustrata-ops [data-op="aten::linear"] [data-column="Self Device Mem"]'),
  ).toHaveAttribute('data-bytes', '-2048');
});

for (const theme of ['light', 'dark'] as const) {
  test(`charts and their tables are accessible: ${theme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: theme });
    for (const name of ['timeline.json', 'tracker.pickle', 'telemetry.json', 'functions.json']) {
      await openSeries(page, name);
      await expectAccessible(page, name);
    }
  });
}

test('every real file of other profilers shows something', async ({ page }) => {
  test.skip(traces === undefined, 'no real traces beside the repository');
  test.setTimeout(240_000);
  for (const name of readdirSync(traces!)) {
    await openPage(page);
    await openFile(page, join(traces!, name), 60_000);
    if ((await series(page).count()) > 0) {
      await expect(canvases(page).first(), name).toHaveAttribute('data-settled', '');
      continue;
    }
    await settledView(page);
    await page.getByRole('tab', { name: /^Ops/ }).click();
    await expect(page.locator('gpustrata-ops .rows [role=row]').first(), name).toBeVisible({
      timeout: 30_000,
    });
  }
});
