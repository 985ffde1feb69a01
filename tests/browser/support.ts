// What the browser tests share.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, type Page } from '@playwright/test';
import { settledView, type View } from './page.ts';
import { knownSnapshot, type KnownOptions } from './pickle.ts';

const root = join(import.meta.dirname, '../..');

/** `data-state` of <memstrata-viewer>. */
export type ViewerState = 'empty' | 'loading' | 'ready' | 'error';

export async function waitForState(page: Page, state: ViewerState, timeout = 30_000): Promise<void> {
  await expect(page.locator('memstrata-viewer')).toHaveAttribute('data-state', state, { timeout });
}

/** Opens the served page; `query` is what follows its address, such as `?open=samples/oom.pickle`. */
export async function openPage(page: Page, query = ''): Promise<void> {
  await page.goto(process.env.MEMSTRATA_URL + query);
  if (query === '') await waitForState(page, 'empty');
}

/** Opens the one-file page from the disk, without a server. */
export async function openOfflinePage(page: Page): Promise<void> {
  await page.goto(pathToFileURL(join(root, 'build/site/memstrata.html')).href);
  await waitForState(page, 'empty');
}

/** Chooses the file `path` in an open page and waits until it is shown. */
export async function openFile(page: Page, path: string, timeout = 30_000): Promise<void> {
  await page.locator('input[type=file]').first().setInputFiles(path);
  // Locators look into open shadow roots. An error ends the wait early.
  const viewer = page.locator('memstrata-viewer');
  await expect(viewer).toHaveAttribute('data-state', /^(ready|error)$/, { timeout });
  expect(await viewer.getAttribute('data-state'), `state after opening ${path}`).toBe('ready');
}

/** Opens the page and in it a snapshot that the test made. */
export async function openSnapshot(page: Page, buffer: Buffer, name = 'known.pickle'): Promise<void> {
  await openPage(page);
  await page.locator('input[type=file]').first().setInputFiles({ name, mimeType: '', buffer });
  await waitForState(page, 'ready');
}

/** The same with `knownSnapshot`; waits until all of it is shown. */
export async function openKnown(page: Page, options: KnownOptions = {}): Promise<View> {
  await openSnapshot(page, knownSnapshot(options));
  return settledView(page);
}

/** Opens the page and its sample of a training run, as a visitor does; waits until all of it is shown. */
export async function openSample(page: Page): Promise<View> {
  await openPage(page);
  await page.getByRole('button', { name: 'Open the sample' }).click();
  await waitForState(page, 'ready');
  return settledView(page);
}

/** Folder of real snapshots beside the repository, or null where there is none: skip the test then. */
export function snapshotsFolder(): string | null {
  const folder = join(root, '../shared/data/snapshots');
  return existsSync(folder) ? folder : null;
}

/** What the command line tool says about the file. */
export function cliSummary(path: string): unknown {
  const tool = join(root, 'build/native-release/bin/memstrata');
  return JSON.parse(execFileSync(tool, ['summary', '--json', path], { encoding: 'utf8' }));
}
