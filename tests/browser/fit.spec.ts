// What fits: three small runs of one program are opened, and others foretold. All numbers are worked out by hand.
//
// The program: weights of 20 MiB, an activation of 12 MiB for each of the batch, its gradient of 16 MiB; nothing is freed, and every block
// has a segment of its own size. So peak requested and reserved are 20 + 28 batch MiB: 76, 132 and 160 MiB for 2, 4 and 5.
import { expect as plain, test, type Locator, type Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { MiB, pickled } from './pickle.ts';
import { holdBack, letGo } from './questions.ts';
import { choose, openPage, waitForState, type MadeFile } from './support.ts';

/** Runs take their time on a busy machine. */
const expect = plain.configure({ timeout: 60_000 });

const memory = 0x7f0000000000;
type Line = readonly [name: string, bytes: number];

function recording(lines: readonly Line[]): Buffer {
  const place = (at: number): number => memory + at * 2 ** 34;
  const frames = (name: string, at: number) => [{ filename: 'train.py', line: at + 1, name }];
  return pickled({
    device_traces: [
      lines.flatMap(([name, size], at) =>
        ['segment_alloc', 'alloc'].map((action) => ({
          ...{ action, addr: place(at), size, stream: 0 },
          frames: frames(name, at),
        })),
      ),
    ],
    segments: lines.map(([name, size], at) => ({
      ...{ device: 0, address: place(at), total_size: size, allocated_size: size, active_size: size },
      ...{ stream: 0, segment_type: 'large', frames: frames(name, at) },
      blocks: [{ address: place(at), size, requested_size: size, state: 'active_allocated' }],
    })),
  });
}
const program = (batch: number, last = 'backward'): Buffer =>
  recording([
    ['weights', 20 * MiB],
    ['activate', 12 * MiB * batch],
    [last, 16 * MiB * batch],
  ]);
const made = (name: string, buffer: Buffer): MadeFile => ({ name, buffer });
const run = (batch: number): MadeFile => made(`run-b${batch}.pickle`, program(batch));

const panel = (page: Page): Locator => page.locator('gpustrata-fit');
const field = (page: Page, name: string): Locator => panel(page).locator(`input[name=${name}]`);
const chosen = (page: Page): Locator => panel(page).locator('section[data-value]');
const foretell = (page: Page): Promise<void> => panel(page).getByRole('button', { name: 'Foretell' }).click();
const idle = (page: Page): Promise<void> =>
  expect(panel(page).locator('.columns')).toHaveAttribute('data-task', 'none');

async function openFit(page: Page, ...files: readonly MadeFile[]): Promise<void> {
  await openPage(page);
  await choose(page, ...files);
  await waitForState(page, 'ready');
  if (files.length > 1) await expect(page.locator('[data-entry-state="ready"]')).toHaveCount(files.length);
  await page.locator('[role=tab][data-panel=fit]').click();
}

test('what is asked while the curve is made is answered', async ({ page }) => {
  await holdBack(page, 'fit');
  await openFit(page, run(2), run(4));
  await expect(panel(page).locator('.columns')).not.toHaveAttribute('data-task', 'none');
  await field(page, 'capacity').fill('200 MiB');
  await page.keyboard.press('Enter');
  await expect
    .poll(async () => {
      await letGo(page);
      return panel(page)
        .locator('[data-answer]')
        .getAttribute('data-largest', { timeout: 1000 })
        .catch(() => '');
    })
    .toBe('6');
});

test('names tell the batch, and the largest that fits comes first', async ({ page }) => {
  await openFit(page, run(2), run(5), run(4));
  await expect(field(page, 'value-0-0')).toHaveValue('2');
  await expect(field(page, 'value-1-0')).toHaveValue('5');
  // Without a device there is a curve alone, up to four times the largest recorded.
  await expect(chosen(page)).toHaveAttribute('data-requested', String(160 * MiB));
  await expect(panel(page).locator('gpustrata-chart')).toHaveAttribute('data-last', '21');
  await expect(panel(page).locator('[data-recorded="4"]')).toHaveAttribute('data-bytes', String(132 * MiB));

  // Of values that are not drawn nothing is known: no highest is told.
  await expect(panel(page).locator('gpustrata-chart .legend')).toContainText('peak reserved');
  await expect(panel(page).locator('gpustrata-chart .legend')).not.toContainText('at most');

  // 200 MiB: 20 + 28 * 6 = 188; at 7 it is 216, and the last 112 are not there.
  await field(page, 'capacity').fill('200 MiB');
  await page.keyboard.press('Enter');
  await expect(panel(page).locator('[data-answer]')).toHaveAttribute('data-largest', '6');
  await expect(panel(page).locator('[data-answer] strong')).toContainText('batch 6 fits 200.0 MiB');
  await idle(page);
  await expect(chosen(page)).toHaveAttribute('data-value', '6');
  await expect(chosen(page)).toHaveAttribute('data-fits', 'true');
  // The largest that fits, and a third more: 9.
  await expect(panel(page).locator('gpustrata-chart')).toHaveAttribute('data-last', '9');
  await expect(panel(page).locator('gpustrata-chart')).toHaveAttribute('data-capacity', String(200 * MiB));
  await expect(panel(page).locator('[data-exact]')).toHaveAttribute('data-exact', 'true');
  await expect(panel(page).locator('[data-recording="run-b2.pickle"]')).toContainText('to the byte');

  // One more by key does not fit, and what it is made of is told.
  await field(page, 'value').press('ArrowRight');
  await expect(chosen(page)).toHaveAttribute('data-value', '7');
  await expect(chosen(page)).toHaveAttribute('data-requested', String(216 * MiB));
  await expect(chosen(page)).toHaveAttribute('data-fits', 'false');
  await expect(chosen(page).locator('.says')).toContainText('112.0 MiB requested by backward train.py:3');
  const rows = chosen(page).locator('tr[data-grows]');
  await expect(rows).toHaveCount(3);
  for (const [at, [grows, bytes]] of (
    [
      ['batch', 112],
      ['batch', 84],
      ['constant', 20],
    ] as const
  ).entries()) {
    await expect(rows.nth(at)).toHaveAttribute('data-grows', grows);
    await expect(rows.nth(at)).toHaveAttribute('data-bytes', String(bytes * MiB));
  }
  await expect(page).toHaveURL(/fit\.capacity=200/);
  await expectAccessible(page);
});

test('the pointer reads the curve, and a click chooses', async ({ page }) => {
  await openFit(page, run(2), run(4));
  await expect(chosen(page)).toHaveAttribute('data-value', '4');
  const plot = panel(page).locator('gpustrata-chart canvas[data-settled]');
  await plot.scrollIntoViewIfNeeded();
  const { x, y, height } = (await plot.boundingBox())!;
  const [left = 0, , width = 0] = (await plot.getAttribute('data-plot'))!.split(' ').map(Number);
  // To four times the largest and one more, 17: a column for each from 1 on, the tenth in the middle of [10, 11).
  const at = x + left + (width * 10.5) / 18;
  await page.mouse.move(at, y + height / 2);
  await expect(panel(page).locator('[data-pointed]')).toHaveAttribute('data-pointed', '10');
  await expect(panel(page).locator('[data-curve="peak reserved"]')).toHaveAttribute(
    'data-bytes',
    String(300 * MiB),
  ); // 20 + 280
  await page.mouse.click(at, y + height / 2);
  await expect(chosen(page)).toHaveAttribute('data-value', '10');
  await expect(chosen(page)).toHaveAttribute('data-reserved', String(300 * MiB));
});

test('of two parameters the second is held', async ({ page }) => {
  // 1 MiB for each of batch times seq, 20 MiB for each of seq.
  const of = (batch: number, seq: number): MadeFile =>
    made(
      `b${batch}-seq${seq}.pickle`,
      recording([
        ['scores', 2 * MiB * batch * seq],
        ['table', 20 * MiB * seq],
      ]),
    );
  await openFit(page, of(8, 2), of(16, 2), of(8, 4));
  await expect(field(page, 'parameter-1')).toHaveValue('seq');
  // The recording with the largest batch is of seq 2: 2 * 16 * 2 + 40.
  await expect(chosen(page)).toHaveAttribute('data-requested', String(104 * MiB));
  await expect(field(page, 'held-0')).toHaveValue('2');
  await field(page, 'held-0').fill('5');
  await foretell(page);
  // 2 * 16 * 5 + 100
  await expect(chosen(page)).toHaveAttribute('data-requested', String(260 * MiB));
  await expect(chosen(page).locator('h2')).toHaveText('batch 16, seq is 5');
  await expect(chosen(page).locator('tr[data-grows="batch*seq"]')).toHaveAttribute(
    'data-bytes',
    String(160 * MiB),
  );
});

test('what is missing is said in words', async ({ page }) => {
  await openFit(page, run(2));
  await expect(panel(page).locator('[data-empty]')).toContainText('Open a second recording');
  await expectAccessible(page);

  await choose(page, made('another.pickle', program(4)));
  await expect(field(page, 'value-1-0')).toHaveValue('');
  await foretell(page);
  await expect(panel(page).locator('[data-wrong]')).toContainText('Write the batch of another.pickle');
  await expect(field(page, 'value-1-0')).toHaveAttribute('aria-invalid', 'true');
  await expect(field(page, 'value-0-0')).toHaveValue('2');
  await field(page, 'value-1-0').fill('4');
  await foretell(page);
  await expect(chosen(page)).toHaveAttribute('data-requested', String(132 * MiB));

  await field(page, 'conf').fill('max_split_size_mb:x');
  await foretell(page);
  await expect(panel(page).locator('#wrong-conf')).toBeVisible();
});

test('recordings of two programs are refused with the request that differs', async ({ page }) => {
  await openFit(page, run(2), made('run-b4.pickle', program(4, 'evaluate')));
  const problem = panel(page).locator('[data-problem]');
  await expect(problem).toContainText('backward');
  await expect(problem).toContainText('evaluate');
  await expect(problem).toContainText('batch=2');
  await expectAccessible(page);
});
