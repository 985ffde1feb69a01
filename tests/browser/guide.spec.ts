// The guide: static pages under a policy of their own. Everything they lead to is there, also below a path.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { serve } from '../../site/serve.mjs';
import { site } from '../built.mjs';
import { expectAccessible } from './accessible.ts';

const pages = readdirSync(join(site, 'guide')).filter((name) => name.endsWith('.html'));

test.describe.configure({ timeout: 300_000 }); // many pages a test
let address: string;
let close: () => Promise<unknown>;
test.beforeAll(async () => {
  // As if the site lay below /team/tools/: nothing may begin with a slash.
  ({ url: address, close } = await serve({ folder: site, below: 'team/tools' }));
  address += 'team/tools/';
});
test.afterAll(async () => {
  await close();
});

test('every page loads under its policy, from its own folder, and leads to what is there', async ({
  page,
}) => {
  const wrong: string[] = [];
  page.on('console', (message) => wrong.push(message.text()));
  page.on('requestfailed', (request) => wrong.push(request.url()));
  page.on('response', (response) => response.ok() || wrong.push(`${response.status()} ${response.url()}`));
  page.on('request', (request) => request.url().startsWith(address) || wrong.push(request.url()));
  const links = new Set<string>();
  expect(pages.length).toBeGreaterThan(15);
  for (const name of pages) {
    await page.goto(`${address}guide/${name}`);
    const sizes = await page.locator('img').evaluateAll((pictures) =>
      Promise.all(
        (pictures as HTMLImageElement[]).map(async (picture) => {
          picture.loading = 'eager';
          await picture.decode();
          return [picture.naturalWidth, Number(picture.getAttribute('width'))];
        }),
      ),
    );
    for (const [real, said] of sizes) expect(real).toBe(said);
    const anchors = page.locator('a');
    for (const link of await anchors.evaluateAll((all) =>
      (all as HTMLAnchorElement[]).map(({ href }) => href),
    ))
      links.add(link);
  }
  for (const link of links) {
    const url = new URL(link);
    expect(link.startsWith(address), link).toBe(true);
    expect((await page.request.get(url.href)).ok(), link).toBe(true);
    const opens = url.searchParams.get('open');
    if (opens) expect((await page.request.get(new URL(opens, address).href)).ok(), opens).toBe(true);
  }
  expect(wrong).toEqual([]);
});

test('axe finds nothing; in dark on a page that has everything', async ({ page }) => {
  const look = async (name: string): Promise<void> => {
    await page.goto(`${address}guide/${name}`);
    await expectAccessible(page, name);
  };
  for (const name of pages) await look(name);
  await page.emulateMedia({ colorScheme: 'dark' });
  await look('picture.html');
});

test('on a phone nothing sticks out', async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  for (const name of pages) {
    await page.goto(`${address}guide/${name}`);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBeLessThanOrEqual(320);
  }
});
