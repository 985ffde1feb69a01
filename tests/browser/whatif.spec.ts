// What if: the recorded run under other settings, against what the command says of the same file.
import { join } from 'node:path';
import { expect as plain, test, type Locator, type Page } from '@playwright/test';
import { samples } from '../built.mjs';
import { expectAccessible } from './accessible.ts';
import { holdBack, letGo } from './questions.ts';
import { openSample, told } from './support.ts';

/** Runs take their time on a busy machine. */
const expect = plain.configure({ timeout: 60_000 });
const sample = join(samples, 'training_run.pickle');

interface Told {
  recorded: { peak_reserved_bytes: number };
  simulated: { peak_reserved_bytes: number; device_allocs: number; ooms: number };
  smallest_capacity_bytes: number;
  search: { conf: string; peak_reserved_bytes: number }[];
}
const toldOf = (...args: string[]): Told => told<Told>('whatif', '--json', sample, ...args);

const panel = (page: Page): Locator => page.locator('gpustrata-whatif');
const idle = (page: Page): Promise<void> =>
  expect(panel(page).locator('.columns')).toHaveAttribute('data-task', 'none');
const number = (page: Page, name: string): Locator => panel(page).locator(`[data-number=${name}]`);

const field = (page: Page, name: string): Locator => panel(page).locator(`input[name=${name}]`);

async function openWhatIf(page: Page): Promise<void> {
  await openSample(page);
  await page.locator('[role=tab][data-panel=whatif]').click();
  await expect(panel(page).locator('[data-run="as recorded"]')).toBeVisible({ timeout: 60_000 });
  await idle(page);
}

async function run(page: Page): Promise<void> {
  await panel(page).getByRole('button', { name: 'Run', exact: true }).click();
}

test('it says how exactly the recording repeats, and runs it under other settings', async ({ page }) => {
  await openWhatIf(page);
  await expect(panel(page).locator('[data-exact]')).toHaveAttribute('data-exact', 'true');
  const { recorded } = toldOf();
  await expect(number(page, 'peak_reserved')).toHaveAttribute(
    'data-recorded',
    String(recorded.peak_reserved_bytes),
  );
  await expect(number(page, 'peak_reserved')).toHaveAttribute(
    'data-simulated',
    String(recorded.peak_reserved_bytes),
  );

  const conf = 'expandable_segments:True';
  await field(page, 'conf').fill(conf);
  await page.keyboard.press('Enter');
  await expect(panel(page).locator(`[data-run="${conf}"]`)).toBeVisible();
  const { simulated } = toldOf('--conf', conf);
  await expect(number(page, 'peak_reserved')).toHaveAttribute(
    'data-simulated',
    String(simulated.peak_reserved_bytes),
  );
  await expect(number(page, 'device_allocs')).toHaveAttribute(
    'data-simulated',
    String(simulated.device_allocs),
  );
  await expect(panel(page).locator('[data-recommendation]')).toContainText('expandable_segments:True');
  await expect(panel(page).locator('gpustrata-chart canvas[data-settled]')).toBeVisible();

  await expectAccessible(page);
});

test('what is refused is said at its place', async ({ page }) => {
  await openWhatIf(page);
  await field(page, 'conf').fill('max_split_size_mb:x');
  await run(page);
  const wrong = panel(page).locator('#wrong-conf');
  await expect(wrong).toHaveAttribute('data-at', '18');
  await expect(wrong.locator('mark')).toHaveText('x');
  await field(page, 'conf').fill('');
  await field(page, 'filter').fill('size>>1');
  await run(page);
  await expect(panel(page).locator('#wrong-filter')).toContainText('number is missing');
  await field(page, 'filter').fill('');
  await field(page, 'capacity').fill('forty');
  await run(page);
  await expect(panel(page).locator('#wrong-capacity')).toContainText('40 GiB');
});

test('a small device, one more request and a block left out', async ({ page }) => {
  await openWhatIf(page);
  const { recorded } = toldOf();
  const capacity = String(Math.floor(recorded.peak_reserved_bytes / 2));
  await field(page, 'capacity').fill(capacity);
  await run(page);
  const small = toldOf('--capacity', capacity).simulated;
  expect(small.ooms).toBeGreaterThan(0);
  await expect(number(page, 'ooms')).toHaveAttribute('data-simulated', String(small.ooms));
  await expect(panel(page).locator('[data-way=oom]')).toBeVisible();
  await field(page, 'capacity').fill('');
  await field(page, 'filter').fill('size>1MiB');
  await run(page);
  await expect(panel(page).locator('[data-run="without size>1MiB"]')).toBeVisible();
  await expect(number(page, 'peak_reserved')).toHaveAttribute(
    'data-simulated',
    String(toldOf('--without', 'size>1MiB').simulated.peak_reserved_bytes),
  );
  await field(page, 'filter').fill('');
  await panel(page).getByRole('button', { name: 'Smallest device' }).click();
  await expect(panel(page).locator('[data-smallest]')).toHaveAttribute(
    'data-smallest',
    String(toldOf('--smallest').smallest_capacity_bytes),
  );
});

test('settings are tried in engines of their own, ranked as the command does', async ({ page }) => {
  await openWhatIf(page);
  const tries = panel(page).getByRole('button', { name: 'Try settings' });
  await tries.click();
  await idle(page);
  const { search } = toldOf('--search');
  const rows = panel(page).locator('tr[data-conf]');
  await expect(rows).toHaveCount(search.length);
  for (const [index, { conf }] of search.entries())
    await expect(rows.nth(index)).toHaveAttribute('data-conf', conf);
  await expect(panel(page).locator('svg.scatter circle')).toHaveCount(search.length + 1);
});

test('trials that are cancelled end, and a run opens an engine again', async ({ page }) => {
  await holdBack(page, 'whatIf'); // long recordings take seconds: so does this one
  const letRun = (): Promise<void> => expect.poll(() => letGo(page)).toBeGreaterThan(0);
  await openSample(page);
  await page.locator('[role=tab][data-panel=whatif]').click();
  await letRun();
  await idle(page);
  await panel(page).getByRole('button', { name: 'Try settings' }).click();
  await panel(page).locator('[data-cancel]').click();
  await idle(page);
  await letGo(page); // to engines that are no more
  await field(page, 'conf').fill('expandable_segments:True');
  await run(page);
  await letRun();
  await expect(panel(page).locator('[data-run="expandable_segments:True"]')).toBeVisible();
});

test('both states stand beside each other, and the run is a file like any other', async ({ page }) => {
  await openWhatIf(page);
  await field(page, 'conf').fill('expandable_segments:True');
  await run(page);
  await panel(page).locator('[data-way=states]').click();
  await expect(panel(page).locator('.sides[data-event]')).toBeVisible({ timeout: 60_000 });
  await expect(panel(page).locator('[data-pools]')).toBeVisible();
  // Pages in place of segments: every segment of one side is not there, or is another one, in the other.
  const segments = panel(page).locator('[data-segments]');
  await expect(segments).not.toHaveAttribute('data-segments', '0');
  await expect(segments.locator('tr[data-segment]')).toHaveCount(
    Number(await segments.getAttribute('data-segments')),
  );
  await idle(page);
  await panel(page).locator('[data-way=file]').click();
  await expect(page.locator('gpustrata-viewer')).toHaveAttribute('data-state', 'ready');
  const { simulated } = toldOf('--conf', 'expandable_segments:True');
  await expect(page.locator('[data-stat=reserved-peak]')).toHaveAttribute(
    'data-bytes',
    String(simulated.peak_reserved_bytes),
  );
});
