// A profiler's trace of 1 GB in Chromium without a GPU: from the chosen file to the first picture, the memory of the process
// that holds it, frames while timeline and lanes of ops move, and the time from a movement to the exact picture of both.
// Prints JSON lines (README.md). `--files PATH...` measures other files.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { emptyPage, given, percentile, say, small, withBrowser } from './chromium.mjs';
import { eachMovement, sayFrames } from './moving.mjs';

const folder = process.env.GPUSTRATA_BENCH_INPUTS ?? join(import.meta.dirname, '../../build/bench/inputs');

/** Made if it is not there (traces.py). */
function traceOf(megabytes) {
  const path = join(folder, `trace_${megabytes}.json`);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(path))
    execFileSync('python3', [join(import.meta.dirname, 'traces.py'), String(megabytes), path], {
      stdio: 'inherit',
    });
  return path;
}

/** Bytes of memory that the largest renderer had at most. */
async function mostMemory(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const peaks = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0));
  return Math.max(...peaks) * 1024;
}

async function measure(browser, url, path) {
  const size = `${(statSync(path).size / 1e6).toFixed(0)} MB`;
  const page = await emptyPage(browser, url);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.waitForTimeout(1500);
  await page.locator('input[type=file]').first().setInputFiles(path);
  await page.waitForFunction(
    () => performance.getEntriesByName('gpustrata:first-picture').length > 0,
    undefined,
    { timeout: 240_000 },
  );
  const seconds = await page.evaluate(() => {
    const at = (name) => performance.getEntriesByName(name)[0].startTime;
    return (at('gpustrata:first-picture') - at('gpustrata:picked')) / 1000;
  });
  const rate = `${(statSync(path).size / seconds / 1e6).toFixed(0)} MB/s`;
  say({
    work: `trace in the page, picked to first picture, ${size}`,
    measured: seconds,
    unit: 's',
    ratio: rate,
    goal: 'opens',
    met: true,
  });
  await page.locator('gpustrata-lanes[data-settled]').waitFor({ timeout: 60_000 });
  const memory = await mostMemory(browser);
  const limit = statSync(path).size / 2 + 300e6; // a page and an engine without a file have some 250 MB
  say({
    work: `most memory of the process of that page, ${size}`,
    measured: memory / 1e6,
    unit: 'MB',
    goal: 'half the file and 300 MB',
    met: memory <= limit,
  });
  await eachMovement(page, ['zoom', 'pan'], ({ axis, kind, rest, intervals, answers }) => {
    const on = `timeline and lanes, ${kind}, trace of ${size}, ${axis} axis`;
    sayFrames(on, intervals, rest);
    say({
      work: `${on}: exact picture of both, median (p95 ${percentile(answers, 0.95).toFixed(0)})`,
      measured: percentile(answers, 0.5),
      unit: 'ms',
      goal: '',
      met: true,
    });
  });
  await page.close();
}

await withBrowser(
  async (browser, url) => {
    for (const path of given.length > 0 ? given : [traceOf(small ? 33 : 1000)])
      await measure(browser, url, path);
  },
  ['--disable-gpu'],
);
