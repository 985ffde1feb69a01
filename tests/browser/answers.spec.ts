// The answers in words: the overview, why it ran out of memory, what leaks, what is fragmented. What the samples hold is planted
// by site/samples/make_samples.py.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, type Locator, type Page } from '@playwright/test';
import { command, realFiles } from '../built.mjs';
import { expectAccessible } from './accessible.ts';
import { settledView, watchErrors } from './page.ts';
import { knownSnapshot, MiB } from './pickle.ts';
import { poolSnapshot } from './pool_snapshot.ts';
import { openPage, openFile, openSnapshot, openSample, told, shot } from './support.ts';

const finding = (page: Page, kind: string): Locator => page.locator(`[data-finding="${kind}"]`);
const tab = (page: Page, name: string): Locator => page.getByRole('tab', { name: new RegExp(`^${name}`) });
async function open(page: Page, name: string): Promise<void> {
  await tab(page, name).click();
  await expect(page.getByRole('tabpanel', { name }).locator('[data-answered]')).toBeVisible();
}
const number = async (at: Locator, name: string): Promise<number> =>
  Number(await at.getAttribute(`data-${name}`));

test('the overview begins with what went wrong; its sentences lead to what proves them', async ({ page }) => {
  const errors = watchErrors(page);
  await openSample(page, 'out_of_memory.pickle.gz');
  const first = page.locator('[data-finding]').first();
  await expect(first).toHaveAttribute('data-finding', 'oom');
  expect(await number(first, 'bytes')).toBe(4120903680); // as the sample asks for
  await expect(first).toContainText('no cached memory could make room');
  // To the event: the sentence stays where it was read, the details lie behind a tab.
  await first.locator('[data-way=event]').click();
  await tab(page, 'Details').click();
  await expect(page.locator('gpustrata-details')).toContainText('Out of memory');
  await expect(first).toBeHidden();
  await tab(page, 'Overview').click();
  // To the answer that tells more.
  await first.locator('[data-way~=oom]').last().click();
  await expect(tab(page, 'Out of memory')).toHaveAttribute('aria-selected', 'true');
  expect(errors).toEqual([]);
});

test('a line of the peak sets the filter and goes to the peak', async ({ page }) => {
  await openSample(page, 'training_run.pickle');
  const peak = finding(page, 'peak');
  expect(await number(peak, 'bytes')).toBe(2814816256);
  const parts = peak.locator('[data-part]');
  await expect(parts).toHaveCount(5);
  const bytes = await parts.evaluateAll((all) =>
    all.map((one) => Number((one as HTMLElement).dataset['bytes'])),
  );
  expect(bytes).toEqual([...bytes].sort((a, b) => b - a));
  await parts.first().getByRole('button').click();
  const filter = page.locator('gpustrata-filter [data-count]');
  await expect(filter).toBeVisible();
  expect(await number(filter, 'at-peak')).toBeGreaterThanOrEqual(bytes[0]!);
  await expect(tab(page, 'Details')).toHaveAttribute('aria-selected', 'false');
  await tab(page, 'Details').click();
  await expect(page.locator('gpustrata-details h2')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(peak).toBeVisible();
});

test('a quiet file gets a quiet page', async ({ page }) => {
  await openSnapshot(page, knownSnapshot());
  await expect(finding(page, 'peak')).toHaveAttribute('data-bytes', String(7 * MiB));
  await expect(page.locator('[data-finding].bad')).toHaveCount(0);
  for (const panel of ['oom'])
    await expect(page.locator(`[role=tab][data-panel=${panel}]`)).toHaveAttribute('aria-disabled', 'true');
});

test('out of memory: numbers that add up, why each place was no use, what helps by bytes', async ({
  page,
}) => {
  await openSample(page, 'out_of_memory.pickle.gz');
  await open(page, 'Out of memory');
  const one = page.locator('[data-oom]');
  await expect(one).toHaveAttribute('data-verdict', 'full');
  const helps = one.locator('[data-remedy]');
  const asked = Number(await one.getAttribute('data-bytes'));
  const remedies = await helps.evaluateAll((all) =>
    all.map((li) => {
      const { remedy, bytes } = (li as HTMLElement).dataset;
      return { name: remedy ?? '', bytes: Number(bytes ?? -1) };
    }),
  );
  expect(remedies.length).toBeGreaterThan(2);
  // Most bytes first, those without last; before these to ask for less than half as much, which helps hardly any program.
  const place = ({ name, bytes }: { name: string; bytes: number }): number =>
    bytes < 0 ? 2 : name === 'smaller_request' && bytes > asked / 2 ? 1 : 0;
  expect(remedies).toEqual([...remedies].sort((a, b) => place(a) - place(b) || b.bytes - a.bytes));
  expect(remedies.map(place)).toContain(1);
  for (const cached of await one.locator('[data-place]').all())
    await expect(cached).toHaveAttribute('data-why', /^(too_small|small_or_large)$/);
  await one.locator('[data-way=state]').click();
  await expect(tab(page, 'State')).toHaveAttribute('aria-selected', 'true');
});

test('a setting among the remedies is tried by a run, as the command does it', async ({ page }) => {
  // 200 MiB: 90 are in use in segments of 80, 40 free on the device; 100 are asked for.
  const script = ['m a 80', 'f a', 'm c 30', 'm b 80', 'f b', 'm d 60', 'm e 100'].map((step) =>
    step.replace(/\d+$/, (size) => String(Number(size) * MiB)),
  );
  const folder = mkdtempSync(join(tmpdir(), 'gpustrata-'));
  const file = join(folder, 'pieces.pickle');
  writeFileSync(join(folder, 'script'), script.join('\n'));
  command('simulate', join(folder, 'script'), '--device', String(200 * MiB), '--dump', file);
  const { devices } = told<{
    devices: { oom: { remedies: { name: string; confirmed: boolean | null; text: string }[] }[] }[];
  }>('report', '--json', file);
  const remedy = devices[0]!.oom[0]!.remedies.find(({ name }) => name === 'expandable_segments')!;
  expect(remedy.confirmed).toBe(true);

  await openPage(page);
  await openFile(page, file);
  await open(page, 'Out of memory');
  const shown = page.locator('[data-remedy=expandable_segments]');
  await expect(shown).toHaveAttribute('data-confirmed', 'true');
  await expect(shown).toContainText(remedy.text);
  await expect(shown.locator('[data-trial]')).toHaveCount(0);
  await expectAccessible(page);
  rmSync(folder, { recursive: true });
});

test('the leak of the sample is found first, and a click lights it', async ({ page }) => {
  await openSample(page, 'leak.pickle.gz');
  await expect(page.locator('[data-finding]').first()).toHaveAttribute('data-finding', 'leaks');
  await open(page, 'Leaks');
  const first = page.locator('[data-leak]').first();
  await expect(first).toHaveAttribute('data-leak', /^mlp /);
  expect(await number(first, 'bytes')).toBe(24 * 3 * MiB); // 3 MiB in each of 24 steps
  await first.getByRole('button').click();
  await expect(page.locator('gpustrata-filter [data-count]')).toHaveAttribute('data-count', '24');
  await expectAccessible(page);
});

test('what was never freed follows the moment', async ({ page }) => {
  await openSample(page, 'leak.pickle.gz');
  await open(page, 'Leaks');
  const never = page.locator('[data-never-freed]');
  const before = await number(never, 'never-freed');
  await page.locator('.plot').focus();
  await page.keyboard.press('['); // the event before
  await expect.poll(() => number(never, 'until')).toBeLessThan(988);
  await tab(page, 'Events').click();
  const events = page.getByRole('grid', { name: 'Events' });
  await expect(events.locator('[data-event]').first()).toBeVisible(); // keys go to rows
  await events.focus();
  await page.keyboard.press('Home');
  await tab(page, 'Leaks').click();
  await expect.poll(() => number(never, 'until')).toBe(0);
  expect(await number(never, 'never-freed')).toBeLessThan(before);
});

test('fragmentation at a moment and over time, and what holds it back', async ({ page }) => {
  await openSample(page, 'fragmentation.pickle.gz');
  await expect(page.locator('[data-finding].bad').first()).toBeVisible();
  await open(page, 'Fragmentation');
  await expect(page.locator('[data-moments]')).toBeVisible();
  // Moments, not all events: no highest is told of them.
  await expect(page.locator('[data-moments] .legend')).toHaveText(/^\s*cached\s+held back\s+reserved\s*$/);
  const panel = page.locator('[data-fragmentation]');
  const plot = page.locator('gpustrata-fragmentation-over-time canvas[data-settled]');
  const [left = 0, , width = 0] = (await plot.getAttribute('data-plot'))!.split(' ').map(Number);
  await plot.click({ position: { x: left + width / 2, y: 40 } });
  // 1,688 events: half of them, and a pixel is about two.
  await expect.poll(async () => Math.abs((await number(panel, 'fragmentation')) - 844)).toBeLessThan(6);
  await page.getByRole('slider', { name: 'Moment' }).focus();
  await page.keyboard.press('End');
  await expect(panel).toHaveAttribute('data-fragmentation', '1687');
  await expect.poll(() => number(panel, 'share')).toBeGreaterThan(0.7);
  const pin = page.locator('[data-pin]').first();
  await expect(pin).toContainText('keep prefix_cache.py:25');
  await expectAccessible(page);
  await pin.getByRole('button').last().click();
  await expect(tab(page, 'State')).toHaveAttribute('aria-selected', 'true');
  await expect(page.locator('gpustrata-details')).toContainText(
    (await pin.getAttribute('data-pin'))!.slice(2),
  );
});

test('segments that were never full, with the most that was in use in each', async ({ page }) => {
  await openSnapshot(page, poolSnapshot(), 'pools.pickle');
  await settledView(page);
  await open(page, 'Fragmentation');
  // Of 20 MiB A and B, 4 + 2, from event 3 on; of the pool's 8 X and Y, 3 + 2, after event 5.
  const all = page.locator('[data-never-full]');
  await expect(all).toHaveAttribute('data-never-full', '2');
  expect(await number(all, 'bytes')).toBe((14 + 3) * MiB);
  const rows = page.locator('tr[data-never]');
  await expect(rows).toHaveCount(2);
  expect(await number(rows.first(), 'bytes')).toBe(14 * MiB);
  expect(await number(rows.first(), 'most')).toBe(6 * MiB);
  await expect(rows.first()).toContainText('event 3');
  await expect(rows.last()).toContainText('0x7f1000000000');
  expect(await number(rows.last(), 'bytes')).toBe(3 * MiB);
  await expectAccessible(page);
  await shot(page, 'never-full');
  await rows.last().getByRole('button', { name: 'event 5' }).click();
  await expect(page.locator('[data-fragmentation]')).toHaveAttribute('data-fragmentation', '5');
  await rows.last().getByRole('button').last().click();
  await expect(tab(page, 'State')).toHaveAttribute('aria-selected', 'true');
  await expect(page.locator('gpustrata-details')).toContainText('7f1000000000');
});

test('real failures are explained as the command explains them', async ({ page }) => {
  const folder = realFiles('snapshots');
  test.skip(folder === undefined, 'no real snapshots beside the repository');
  for (const [name, device, verdict] of [
    ['torchtitan_fsdp_oom_rank0.pickle', 0, 'fragmented'],
    ['code_location_3gpu_expandable_oom.pickle', 1, 'full'],
  ] as const) {
    await openPage(page);
    await openFile(page, join(folder!, name));
    await settledView(page);
    await open(page, 'Out of memory');
    const one = page.locator('[data-oom]');
    await expect(one).toHaveAttribute('data-verdict', verdict);
    const { devices } = told<{ devices: { oom: { text: string; event: number }[] }[] }>(
      'report',
      '--json',
      '--device',
      String(device),
      join(folder!, name),
    );
    await expect(one).toContainText(devices[0]!.oom[0]!.text);
    expect(await number(one, 'oom')).toBe(devices[0]!.oom[0]!.event);
  }
});
