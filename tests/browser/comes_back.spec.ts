// What goes away and comes back: a timeline, an element, a choice; what a host page gives the element; what is refused.
import { join } from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import { samples } from '../built.mjs';
import { pointAt, settledView, viewAfter, watchErrors } from './page.ts';
import { runCounters } from './one_run.ts';
import { refuse } from './questions.ts';
import { choose, openSample } from './support.ts';

async function wheelIn(page: Page): Promise<void> {
  const { x, y } = await pointAt(page, 0.6, 0.5);
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, -400);
}

test('a timeline that was away settles, shows what it showed, and answers', async ({ page }) => {
  const errors = watchErrors(page);
  const whole = await openSample(page);
  await wheelIn(page);
  const zoomed = await viewAfter(page, whole);
  await choose(page, runCounters());
  await expect(page.locator('gpustrata-series')).toBeVisible();
  await expect(page.locator('gpustrata-timeline')).toHaveCount(0);
  await page.locator('[data-entry="training_run.pickle"] button').first().click();
  const again = await settledView(page);
  for (const edge of ['x0', 'x1', 'y0', 'y1'] as const) expect(again[edge]).toBeCloseTo(zoomed[edge], 6);
  await wheelIn(page);
  const nearer = await viewAfter(page, zoomed);
  expect(nearer.x1 - nearer.x0).toBeLessThan(zoomed.x1 - zoomed.x0);
  await page.keyboard.press('f');
  expect(await viewAfter(page, nearer)).toEqual(whole);
  expect(errors).toEqual([]);
});

for (const [ask, what, open] of [
  ['levels', 'gpustrata-fragmentation-over-time', 'fragmentation'],
  ['neverFull', 'gpustrata-never-full', 'fragmentation'],
  ['compare', 'gpustrata-compare', 'compare'],
  ['holders', 'gpustrata-holders', 'memory'],
  ['regions', 'gpustrata-address-map', 'map'],
  ['filterEvents', 'gpustrata-event-list', 'events'],
  ['flame', 'gpustrata-flame-graph', 'flame'],
] as const)
  test(`${ask} that is refused says so where its answer would stand`, async ({ page }) => {
    await refuse(page, ask);
    await openSample(page);
    await page.locator(`[role=tab][data-panel=${open}]`).click();
    await expect(page.locator(what)).toContainText(`X${ask.slice(1)}`);
    await expect(page.locator(what)).not.toContainText('…');
  });

test('curves of two files that are refused say so where they would stand', async ({ page }) => {
  await refuse(page, 'levels');
  await openSample(page);
  await choose(page, join(samples, 'out_of_memory.pickle.gz'));
  await expect(page.locator('[data-entry-state=ready]')).toHaveCount(2);
  await page.locator('[role=tab][data-panel=compare]').click();
  await expect(page.locator('gpustrata-compare-curves')).toContainText('Xevels');
});

test('a range whose events are refused is said in the flame graph', async ({ page }) => {
  await refuse(page, 'range');
  await openSample(page);
  await page.locator('[role=tab][data-panel=flame]').click();
  await page.locator('gpustrata-flame-bar [data-choice=of]').selectOption('allocated');
  await page.locator('[role=tab][data-panel=timeline]').click();
  await settledView(page);
  const plot = (await page.locator('.plot').boundingBox())!;
  await page.keyboard.press('m');
  await page.mouse.move(plot.x + plot.width * 0.4, plot.y + plot.height / 2);
  await page.mouse.down();
  await page.mouse.move(plot.x + plot.width * 0.6, plot.y + plot.height / 2, { steps: 3 });
  await page.mouse.up();
  await page.locator('[role=tab][data-panel=flame]').click();
  await expect(page.locator('gpustrata-flame .says')).toContainText('Xange');
});
