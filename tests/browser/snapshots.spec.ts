// Every real snapshot opens and shows the numbers of the command line tool.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { realFiles } from '../built.mjs';
import { bytesOf, settledView, watchErrors } from './page.ts';
import { openPage, openFile, told } from './support.ts';

interface Device {
  device: number;
  events: number;
  initial_requested_bytes: number;
  final_requested_bytes: number;
  peak: { requested_bytes: number; event: number };
}
interface Summary {
  /** `pickle`, `json`, `pickle in html`. */
  format: string;
  snapshots: { devices: Device[] }[];
  diagnostics: { name: string; count: number }[];
}

const folder = realFiles('snapshots');
const files = folder
  ? readdirSync(folder).filter((name) => /\.(pickle|json|html)$/.test(name) && !name.startsWith('NOT_'))
  : [];
const groups = [0, 1]; // two tests, for two workers

for (const group of groups) {
  test(`the numbers of the header are those of the command line (${group + 1} of ${groups.length})`, async ({
    page,
  }) => {
    test.skip(folder === undefined, 'no real snapshots beside the repository');
    test.setTimeout(120_000);
    const errors = watchErrors(page);
    await openPage(page);
    for (const name of files.filter((_, index) => index % groups.length === group)) {
      const path = join(folder!, name);
      const { format, snapshots, diagnostics } = told<Summary>('summary', '--json', path);
      const devices = snapshots.flatMap((snapshot) => snapshot.devices);
      await openFile(page, path);
      await expect(page.locator('.file-name')).toHaveText(name);
      await expect(page.locator('[data-format]'), `${name}: format`).toHaveText(format);
      if (devices.length === 0) {
        await expect(page.getByText('Nothing to draw')).toBeVisible();
        continue;
      }
      for (const device of devices) {
        if (devices.length > 1)
          await page.getByLabel('Device', { exact: true }).selectOption(String(device.device));
        await expect(page.locator('[data-stat="peak"]'), `${name}: peak`).toHaveAttribute(
          'data-bytes',
          String(device.peak.requested_bytes),
        );
        await expect(page.locator('[data-stat="events"]'), `${name}: events`).toHaveAttribute(
          'data-count',
          String(device.events),
        );
        expect(await bytesOf(page, 'initial'), `${name}: before recording`).toBe(
          device.initial_requested_bytes,
        );
        expect(await bytesOf(page, 'final'), `${name}: at the end`).toBe(device.final_requested_bytes);
        const peak = page.locator('[data-stat="peak"]');
        expect(Number(await peak.getAttribute('data-event')), `${name}: peak event`).toBe(device.peak.event);
        const view = await settledView(page);
        expect(view.x1, `${name}: the whole recording is shown`).toBe(Math.max(device.events, 1));
        expect(view.y1).toBeGreaterThan(device.peak.requested_bytes);
      }
      if (diagnostics.length > 0) {
        await expect(page.locator('[data-stat="notes"]'), `${name}: notes`).toBeVisible();
        const notes = page.locator('gpustrata-notes [data-diagnostic]');
        const shown = new Map(
          await notes.evaluateAll((all) =>
            all.map(({ dataset }) => [dataset['diagnostic'], Number(dataset['count'])] as const),
          ),
        );
        for (const one of diagnostics) expect(shown.get(one.name), `${name}: ${one.name}`).toBe(one.count);
        // What undoing events had to repair is added as soon as the states are built.
        for (const { name: read } of diagnostics) shown.delete(read);
        for (const repaired of shown.keys()) expect(repaired, `${name}: a note more`).toMatch(/^state_/);
      }
    }
    expect(errors).toEqual([]);
  });
}
