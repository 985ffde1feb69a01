// From a click on a file of `gpustrata serve` over loopback to its first picture, against the same file chosen in the page
// alone, in the same run. Prints JSON lines (README.md). Both pages have been there for a second and a half; the server is
// a new process each time, which has looked at the file for its list.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, linkSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { emptyPage, given, inputOf, percentile, say, small, withBrowser } from './chromium.mjs';

const tool = join(import.meta.dirname, '../../build/native-release/bin/gpustrata');
const sample = join(import.meta.dirname, '../../site/samples/training_run.pickle');
const repeats = 3;
const toChoose = 1500; // ms
const viewport = { width: 1440, height: 900 };

/** Seconds since `start`, which the page's clock gave. */
async function untilPicture(page, start) {
  await page.waitForFunction(
    () => performance.getEntriesByName('gpustrata:first-picture').length > 0,
    undefined,
    { timeout: 120_000 },
  );
  const events = Number(await page.locator('[data-stat="events"]').getAttribute('data-count'));
  if (!(events > 0)) throw new Error('no events are shown');
  return page.evaluate(
    (from) => (performance.getEntriesByName('gpustrata:first-picture')[0].startTime - from) / 1000,
    start,
  );
}

async function alone(browser, url, path) {
  const context = await browser.newContext({ viewport });
  const page = await emptyPage(context, url);
  await page.waitForTimeout(toChoose);
  const start = await page.evaluate(() => performance.now());
  await page.locator('input[type=file]').first().setInputFiles(path);
  const seconds = await untilPicture(page, start);
  await context.close();
  return seconds;
}

async function served(browser, path) {
  const folder = mkdtempSync(join(dirname(path), 'served-')); // on the disk of the file, for a hard link
  linkSync(path, join(folder, 'file.pickle'));
  copyFileSync(sample, join(folder, 'sample.pickle')); // a single file would open by itself
  const server = spawn(tool, ['serve', folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [address] = await once(server.stdout, 'data');
    const context = await browser.newContext({ viewport });
    const page = await emptyPage(context, address.toString().trim());
    await page
      .locator('gpustrata-served[data-to-examine="0"]')
      .waitFor({ state: 'attached', timeout: 120_000 });
    await page.waitForTimeout(toChoose);
    const row = page.locator('gpustrata-served [data-file="file.pickle"] button');
    const start = await page.evaluate(() => performance.now());
    await row.click();
    const seconds = await untilPicture(page, start);
    await context.close();
    return seconds;
  } finally {
    server.kill();
    await once(server, 'exit');
    rmSync(folder, { recursive: true });
  }
}

await withBrowser(async (browser, url) => {
  for (const path of given.length > 0 ? given : [inputOf(small ? 100_000 : 1_000_000)]) {
    const times = { alone: [], served: [] };
    for (let i = 0; i < repeats; ++i) {
      times.alone.push(await alone(browser, url, path));
      times.served.push(await served(browser, path));
    }
    const [own, over] = [percentile(times.alone, 0.5), percentile(times.served, 0.5)];
    say({
      work: `served over loopback, ${(statSync(path).size / 1e6).toFixed(0)} MB: a click to the first picture`,
      measured: over,
      unit: 's',
      reference: 'the page alone',
      reference_value: own,
      ratio: `${(over / own).toFixed(2)} x`,
      goal: 'no slower than the page alone',
      met: over <= own,
    });
  }
});
