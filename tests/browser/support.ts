// How the browser tests open the page and files in it.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, type Page } from '@playwright/test';
import { command, site } from '../built.mjs';
import { settledView, type View } from './page.ts';
import { knownSnapshot, type KnownOptions } from './pickle.ts';

/** `data-state` of <gpustrata-viewer>. */
export type ViewerState = 'empty' | 'loading' | 'ready' | 'error';

export async function waitForState(page: Page, state: ViewerState, timeout = 30_000): Promise<void> {
  await expect(page.locator('gpustrata-viewer')).toHaveAttribute('data-state', state, { timeout });
}

/** Opens the served page; `query` is what follows its address, such as `?open=samples/leak.pickle.gz`. */
export async function openPage(page: Page, query = ''): Promise<void> {
  await page.goto(process.env.GPUSTRATA_URL + query);
  if (query === '') await waitForState(page, 'empty');
}

/** Opens the one-file page from the disk, without a server. */
export async function openOfflinePage(page: Page): Promise<void> {
  await page.goto(pathToFileURL(join(site, 'gpustrata.html')).href);
  await waitForState(page, 'empty');
}

/** A file that a test makes. */
export interface MadeFile {
  name: string;
  buffer: Buffer;
}

/** Chooses files in an open page, by their paths or made by the test. */
export async function choose(page: Page, ...files: readonly (string | MadeFile)[]): Promise<void> {
  const input = page.locator('input[type=file]').first();
  const made = files.filter((file) => typeof file !== 'string');
  await input.setInputFiles(
    made.length > 0
      ? made.map((file) => ({ mimeType: '', ...file }))
      : files.filter((file) => typeof file === 'string'),
  );
}

/** Chooses the file `path` in an open page and waits until it is shown. */
export async function openFile(page: Page, path: string, timeout = 30_000): Promise<void> {
  await choose(page, path);
  // Locators look into open shadow roots. An error ends the wait early.
  const viewer = page.locator('gpustrata-viewer');
  await expect(viewer).toHaveAttribute('data-state', /^(ready|error)$/, { timeout });
  expect(await viewer.getAttribute('data-state'), `state after opening ${path}`).toBe('ready');
}

/** Opens the page and in it a snapshot that the test made. */
export async function openSnapshot(page: Page, buffer: Buffer, name = 'known.pickle'): Promise<void> {
  await openPage(page);
  await choose(page, { name, buffer });
  await waitForState(page, 'ready');
}

/** The same with `knownSnapshot`; waits until all of it is shown. */
export async function openKnown(page: Page, options: KnownOptions = {}): Promise<View> {
  await openSnapshot(page, knownSnapshot(options));
  return settledView(page);
}

/** Opens a sample of the page by its address; waits until all of it is shown. */
export async function openSample(page: Page, name = 'training_run.pickle'): Promise<View> {
  await openPage(page, `?open=samples/${name}`);
  await waitForState(page, 'ready');
  return settledView(page);
}

/** What the command says as JSON. */
export const told = <T>(...args: string[]): T => JSON.parse(command(...args)) as T;

/** A picture of the page in GPUSTRATA_SCREENSHOTS, for people; none where that is not set. */
export async function shot(page: Page, name: string): Promise<void> {
  const folder = process.env.GPUSTRATA_SCREENSHOTS;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}
