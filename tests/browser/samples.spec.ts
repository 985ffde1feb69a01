// Samples of the page, packed inputs, and pages made by `gpustrata html`.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test, type Page } from '@playwright/test';
import { command, golden, samples, site } from '../built.mjs';
import { bytesOf, countOf } from './page.ts';
import { waitForState, openPage, choose, openFile, told } from './support.ts';

let folder = '';
test.beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpustrata-'));
});
test.afterAll(() => rmSync(folder, { recursive: true }));

interface Summary {
  format: string;
  snapshots: {
    devices: { peak: { requested_bytes: number }; final_requested_bytes: number; events: number }[];
  }[];
}

async function expectNumbersOf(page: Page, path: string): Promise<void> {
  const summary = told<Summary>('summary', '--json', path);
  const device = summary.snapshots[0]!.devices[0]!;
  expect(await bytesOf(page, 'peak')).toBe(device.peak.requested_bytes);
  expect(await bytesOf(page, 'final')).toBe(device.final_requested_bytes);
  expect(await countOf(page, 'events')).toBe(device.events);
}

for (const name of ['out_of_memory', 'leak', 'fragmentation']) {
  test(`the sample ${name} opens with one click`, async ({ page }) => {
    await openPage(page);
    await page.locator(`[data-action="sample-${name === 'out_of_memory' ? 'oom' : name}"]`).click();
    await waitForState(page, 'ready');
    await expectNumbersOf(page, join(samples, `${name}.pickle.gz`));
    await expect(page.locator('[data-format]')).toHaveText('pickle in gzip');
    if (name === 'out_of_memory') expect(await countOf(page, 'oom')).toBe(1);
  });
}

test('what is packed shows the same numbers as the plain file', async ({ page }) => {
  const plain = join(samples, 'training_run.pickle');
  const packed = join(folder, 'run.gz');
  writeFileSync(packed, gzipSync(readFileSync(plain)));
  await openPage(page);
  for (const [path, format] of [
    [packed, 'pickle in gzip'],
    [golden('zip_several_ranks'), 'pickle and pickle in gzip and json in zip'],
    [golden('zstd_compressed'), 'pickle in zstd'],
    [golden('json_text'), 'json'],
    [golden('html_trace_plot'), 'pickle in html'],
  ] as const) {
    await openFile(page, path);
    await expect(page.locator('[data-format]')).toHaveText(format);
    await expectNumbersOf(page, path === packed ? plain : path);
  }
});

test('a page made by the command opens from the disk and shows the numbers of the command', async ({
  page,
}) => {
  const plain = join(samples, 'training_run.pickle');
  const out = join(folder, 'run.html');
  const answer = told<{ bytes: number; packed_bytes: number }>('html', plain, '-o', out, '--json');
  const viewer = statSync(join(site, 'gpustrata.html')).size;
  expect(answer.bytes).toBeLessThan(1.4 * answer.packed_bytes + viewer + 1000);
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('request', (request) => request.url().startsWith('http') && errors.push(request.url()));
  await page.goto(pathToFileURL(out).href);
  await waitForState(page, 'ready');
  await expect(page.locator('.file-name')).toHaveText('training_run.pickle');
  await expectNumbersOf(page, plain);
  expect(errors).toEqual([]);
});

test('a link of a page made by the command names the file as a link of the file does', async ({ page }) => {
  const plain = join(samples, 'training_run.pickle');
  const out = join(folder, 'linked.html');
  command('html', plain, '-o', out);
  const linked = async (): Promise<string> => {
    await waitForState(page, 'ready');
    await expect(page).toHaveURL(/hash=[0-9a-f]{16}/);
    return /hash=([0-9a-f]{16})/.exec(page.url())![1]!;
  };
  await page.goto(pathToFileURL(out).href);
  const ofPage = await linked();
  await openPage(page);
  await choose(page, plain);
  expect(await linked()).toBe(ofPage);
});
