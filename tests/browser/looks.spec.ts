// What twelve states of the page look like, light, dark and on a phone, held against small pictures in looks/. What they say is
// tested elsewhere; this sees what no other test asks for: something that has moved, is gone, or has lost its colour.
import { join } from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import { samples } from '../built.mjs';
import { fleetOf, openFleet } from './fleets.ts';
import { settledView } from './page.ts';
import { shownBy } from './panels.mjs';
import { pickled, MiB } from './pickle.ts';
import { expectLook } from './small_picture.ts';
import { choose, openPage, openSample, openSnapshot, waitForState } from './support.ts';

async function panelOf(page: Page, panel: string, sample?: string): Promise<void> {
  await openSample(page, sample);
  await page.locator(`[role=tab][data-panel=${panel}]`).click();
  const shown = page.locator(shownBy(panel)).first();
  await expect(shown).toBeVisible({ timeout: 60_000 });
  await shown.scrollIntoViewIfNeeded();
}

async function withoutHistory(page: Page): Promise<void> {
  const block = {
    address: 0x7f0000000000,
    size: 4 * MiB,
    requested_size: 4 * MiB,
    state: 'active_allocated',
  };
  const segment = {
    device: 0,
    address: block.address,
    total_size: 20 * MiB,
    stream: 0,
    segment_type: 'large',
    blocks: [
      block,
      { address: block.address + 4 * MiB, size: 16 * MiB, requested_size: 0, state: 'inactive' },
    ],
  };
  await openSnapshot(page, pickled({ segments: [segment], device_traces: [] }));
  await expect(page.locator('gpustrata-stats [data-stat=peak]')).toBeVisible();
}

async function compared(page: Page): Promise<void> {
  await openPage(page);
  await choose(page, join(samples, 'training_run.pickle'), join(samples, 'out_of_memory.pickle.gz'));
  await expect(page.locator('[data-entry-state=ready]')).toHaveCount(2);
  await page.locator('[role=tab][data-panel=compare]').click();
  await expect(page.locator('tr[data-change]').first()).toBeVisible();
  await expect(page.locator('[data-curves] canvas[data-settled]')).toBeVisible();
  await settledView(page);
  // Where a click scrolls to on a phone depends on what was laid out by then.
  await page.locator('[role=tab][data-panel=compare]').evaluate((tab) => tab.scrollIntoView());
}

async function refused(page: Page): Promise<void> {
  await openPage(page);
  await choose(page, { name: 'notes.txt', buffer: Buffer.from('Dear diary, the run died again.\n') });
  await waitForState(page, 'error');
}

const states: readonly (readonly [string, (page: Page) => Promise<unknown>])[] = [
  ['start', (page) => openPage(page)],
  ['out_of_memory', (page) => openSample(page, 'out_of_memory.pickle.gz')],
  ['leak', (page) => openSample(page, 'leak.pickle.gz')],
  ['compare', compared],
  ['eight_ranks', (page) => openSample(page, 'eight_ranks.zip')],
  ['trace', (page) => openSample(page, 'profiler_trace.json.gz')],
  ['fleet', (page) => openFleet(page, fleetOf('small'))],
  ['no_history', withoutHistory],
  ['state', (page) => panelOf(page, 'state')],
  ['flame', (page) => panelOf(page, 'flame')],
  ['what_if', (page) => panelOf(page, 'whatif', 'out_of_memory.pickle.gz')],
  ['refused', refused],
];

for (const [name, open] of states) {
  test(`${name}: light and dark`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: 'light' });
    await open(page);
    await expectLook(page, `${name}_light`);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectLook(page, `${name}_dark`);
  });

  test(`${name}: on a phone`, async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await open(page);
    await expectLook(page, `${name}_phone`);
  });
}
