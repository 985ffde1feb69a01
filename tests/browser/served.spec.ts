// The page over `gpustrata serve`: files are read there, and the page says so.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import { samples, tool } from '../built.mjs';
import { expectAccessible } from './accessible.ts';
import { settledView } from './page.ts';
import { waitForState, openFile } from './support.ts';

let folder: string;
let server: ChildProcess;

test.beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'served-'));
  mkdirSync(join(folder, 'run'));
  cpSync(join(samples, 'leak.pickle.gz'), join(folder, 'run', 'leak.pickle.gz'));
});
test.afterEach(() => {
  server.kill();
  rmSync(folder, { recursive: true });
});

async function serve(...options: string[]): Promise<string> {
  server = spawn(tool, ['serve', folder, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(server.stdout!, 'data')) as [Buffer];
  return line.toString().trim();
}

function watchRequests(page: Page, address: string): string[] {
  const foreign: string[] = [];
  page.on('request', (request) => {
    const url = request.url();
    if (url.startsWith('http') && !url.startsWith(address)) foreign.push(url);
  });
  page.on('pageerror', (error) => foreign.push(String(error)));
  return foreign;
}

test('a folder is a list by peak; a file of it opens, and the page says who reads it', async ({ page }) => {
  cpSync(join(samples, 'training_run.pickle'), join(folder, 'training_run.pickle'));
  const address = await serve();
  const foreign = watchRequests(page, address);
  await page.goto(address);
  await waitForState(page, 'empty');
  await expect(page.locator('gpustrata-served')).toHaveAttribute('data-to-examine', '0');
  const rows = page.locator('gpustrata-served tbody tr');
  await expect(rows).toHaveCount(2);
  const peaks = await rows.evaluateAll((all) =>
    all.map((row) => Number((row as HTMLElement).dataset['peak'])),
  );
  expect(peaks).toEqual([...peaks].sort((a, b) => b - a));
  expect(peaks).toContain(2_814_816_256); // what the README says of the sample
  await expectAccessible(page);

  await page.getByRole('button', { name: 'training_run.pickle' }).click();
  await waitForState(page, 'ready');
  await settledView(page);
  await expect(page.locator('[data-stat=peak]')).toHaveAttribute('data-bytes', '2814816256');
  await expect(page.locator('[data-served]')).toContainText(new URL(address).host);

  // Another one, from the sheet; the first one stays open.
  await page.locator('[data-action=served]').click();
  await page.getByRole('button', { name: 'run/leak.pickle.gz' }).click();
  await expect(page.locator('[data-entry="leak.pickle.gz"]')).toHaveAttribute('data-entry-state', 'ready');
  await settledView(page);

  // A file of this computer is read here.
  await page.locator('[data-action=served]').click();
  await openFile(page, join(samples, 'fragmentation.pickle.gz'));
  await expect(page.locator('.file-name')).toHaveText('fragmentation.pickle.gz');
  await expect(page.locator('[data-served]')).toHaveCount(0);
  expect(foreign).toEqual([]);
});

test('the only file opens at once; a server that ends is told in words', async ({ page }) => {
  await page.goto(await serve());
  await waitForState(page, 'ready');
  await settledView(page);
  server.kill('SIGKILL');
  await once(server, 'exit');
  await page.keyboard.press('2'); // asks for what is not there yet
  await expect(page.locator('[data-banner=died]')).toContainText('The server does not answer');
});

test('a request that is lost on the way is sent again', async ({ page }) => {
  const address = await serve();
  let lost = 0;
  await page.route('**/ask*', (route) => {
    if (lost > 1) return route.fallback();
    lost += 1;
    return route.abort('connectionreset');
  });
  await page.goto(address);
  await waitForState(page, 'ready');
  await settledView(page);
  expect(lost).toBe(2);
  await expect(page.locator('[data-banner=died]')).toHaveCount(0);
});

test('what if runs on the server, and its run is a file of the page', async ({ page }) => {
  const address = await serve();
  const foreign = watchRequests(page, address);
  await page.goto(address);
  await waitForState(page, 'ready');
  await page.locator('[role=tab][data-panel=whatif]').click();
  const panel = page.locator('gpustrata-whatif');
  const idle = (): Promise<void> =>
    expect(panel.locator('.columns')).toHaveAttribute('data-task', 'none', { timeout: 60_000 });
  await expect(panel.locator('[data-run="as recorded"]')).toBeVisible({ timeout: 60_000 });
  await idle();
  await panel.getByRole('button', { name: 'Try settings' }).click();
  await idle();
  await expect(panel.locator('tr[data-conf]').first()).toBeVisible();
  await panel.locator('[data-way=states]').click();
  await expect(panel.locator('.sides[data-event]')).toBeVisible({ timeout: 60_000 });
  await idle();
  await panel.locator('[data-way=file]').click();
  await expect(page.locator('.file-name')).toContainText('Run: ');
  await expect(page.locator('gpustrata-viewer')).toHaveAttribute('data-state', 'ready');
  expect(foreign).toEqual([]);
});

test('a page of another release says so, and how to get the right one', async ({ page }) => {
  await page.route('**/sessions/*/ask*', async (route) => {
    const answer = await route.fetch();
    const frame = await answer.body();
    frame.writeUInt32LE(99, 4); // the version
    await route.fulfill({ response: answer, body: frame });
  });
  await page.goto(await serve());
  await expect(page.locator('body')).toContainText('different releases (protocol 1 and 99)');
  await expect(page.locator('body')).toContainText('Ctrl+Shift+R');
});

test('without the token there is nothing', async ({ page }) => {
  const address = new URL(await serve());
  const response = await page.goto(`${address.origin}/`);
  expect(response?.status()).toBe(404);
  await expect(page.locator('body')).toContainText('lacks the token');
});
