// The site without a network, installed, and under any path: what the service worker keeps, and what it leaves alone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import { serve } from '../../site/serve.mjs';
import { site } from '../built.mjs';
import { knownSnapshot } from './pickle.ts';
import { waitForState, choose } from './support.ts';

test.use({ serviceWorkers: 'allow' });
test.describe.configure({ timeout: 240_000 });

let address: string;
let close: () => Promise<unknown>;
test.beforeEach(async () => {
  ({ url: address, close } = await serve({ folder: site, below: 'team/tools' }));
  address += 'team/tools/';
});
test.afterEach(async () => {
  await close();
});

/** Until the worker has all it keeps. */
async function kept(page: Page): Promise<void> {
  await page.goto(address);
  await waitForState(page, 'empty', 120_000);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
}

test('without a network the page opens, a snapshot in it, and the guide; no other origin was asked', async ({
  page,
  context,
}) => {
  const foreign: string[] = [];
  const wrong: string[] = [];
  context.on('request', (request) => {
    if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(address))
      foreign.push(request.url());
  });
  page.on(
    'console',
    (message) => message.type() === 'error' && wrong.push(`${message.location().url}: ${message.text()}`),
  );
  await kept(page);
  await close(); // nobody answers any more
  await page.goto(address);
  await waitForState(page, 'empty', 120_000);
  await choose(page, { name: 'known.pickle', buffer: knownSnapshot() });
  await waitForState(page, 'ready', 120_000);
  await page.locator('.plot[data-settled]').waitFor({ timeout: 120_000 });
  expect(wrong).toEqual([]); // of its policy, too
  await page.goto(`${address}guide/leak.html`);
  await expect(page.locator('h1')).toHaveText('What leaks?');
  await page.locator('nav a').first().click();
  await expect(page.locator('h1')).toHaveText('The guide');
  expect(foreign).toEqual([]);
});

test('files of the installed page: opened by the system, and shared with it', async ({ page }) => {
  // No browser without a system around it launches a page with files: this is what it would call.
  await page.addInitScript(() => {
    // Chromium's own cannot be assigned to.
    Object.defineProperty(globalThis, 'launchQueue', {
      value: { setConsumer: (consumer: unknown) => Object.assign(globalThis, { launched: consumer }) },
    });
  });
  await kept(page);
  const bytes = [...knownSnapshot()];
  await page.waitForFunction(() => 'launched' in globalThis);
  await page.evaluate((all) => {
    const file = new File([new Uint8Array(all)], 'launched.pickle');
    const { launched } = globalThis as unknown as { launched: (launch: object) => void };
    launched({ files: [{ getFile: () => Promise.resolve(file) }] });
  }, bytes);
  await waitForState(page, 'ready', 120_000);
  await expect(page.locator('.file-name')).toHaveText('launched.pickle');

  await page.goto(address); // the worker answers for this one
  await waitForState(page, 'empty', 120_000);
  // What the system sends; the answer leads to the page.
  const share = (): Promise<void> =>
    page.evaluate(async (all) => {
      const form = new FormData();
      form.append('files', new File([new Uint8Array(all)], 'geteilt äöü.pickle'));
      await fetch('share', { method: 'POST', body: form });
    }, bytes);
  const led = page.waitForRequest(`${address}?shared`);
  await share();
  expect((await led).redirectedFrom()?.url()).toBe(`${address}share`);
  // A form of any web page may send it, too: nothing is opened unasked.
  const asked: string[] = [];
  page.once('dialog', (dialog) => {
    asked.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(`${address}?shared`);
  await expect.poll(() => asked.join()).toContain('Open geteilt äöü.pickle?');
  await waitForState(page, 'empty', 120_000);
  await share();
  page.once('dialog', (dialog) => void dialog.accept());
  await page.goto(`${address}?shared`);
  await waitForState(page, 'ready', 120_000);
  await expect(page.locator('.file-name')).toHaveText('geteilt äöü.pickle');
  const left = await page.evaluate(async () => {
    const name = (await caches.keys()).find((one) => one.startsWith('gpustrata shared'));
    return name === undefined ? 0 : (await (await caches.open(name)).keys()).length;
  });
  expect(left).toBe(0);
});

test('the manifest is one that browsers take', async ({ page }) => {
  await page.goto(address);
  const session = await page.context().newCDPSession(page);
  const { errors, url } = await session.send('Page.getAppManifest');
  expect(url).toBe(`${address}manifest.webmanifest`);
  expect(errors).toEqual([]);
});

test('the one-file page has no worker of that kind, no manifest', () => {
  const text = readFileSync(join(site, 'gpustrata.html'), 'utf8');
  expect(text).not.toContain('manifest.webmanifest');
  expect(text).not.toContain('offline');
});
