// What the measurements in the browser share: the page as built, Chromium, inputs by name, lines of JSON.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { serve } from '../../site/serve.mjs';

const root = join(import.meta.dirname, '../..');
export const site = join(root, 'build/site');
const { chromium } = createRequire(join(root, 'tests/package.json'))('@playwright/test');

export const small = process.argv.includes('--small');
/** `--files PATH...`: files to measure instead of the inputs. */
export const given = process.argv.includes('--files')
  ? process.argv.slice(process.argv.indexOf('--files') + 1)
  : [];

/** Path of an input (inputs.py), made if it is not there. */
export function inputOf(name) {
  const script = join(import.meta.dirname, 'inputs.py');
  return execFileSync('python3', [script, name], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
}

/** Runs `measure(browser, url)` with the page served and a browser open. */
export async function withBrowser(measure, more = []) {
  const executablePath = [
    process.env.GPUSTRATA_CHROMIUM,
    '/usr/bin/chromium',
    '/usr/bin/chromium-headless-shell',
  ].find((path) => path !== undefined && existsSync(path));
  const server = await serve({ folder: site });
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-background-networking', ...more],
  });
  try {
    await measure(browser, server.url);
  } finally {
    await browser.close();
    await server.close();
  }
}

/** Runs in the page: the first element that fits, also inside shadow roots, or null. */
function within(from, selector) {
  const found = from.querySelector(selector);
  if (found) return found;
  for (const element of from.querySelectorAll('*')) {
    const inside = element.shadowRoot && within(element.shadowRoot, selector);
    if (inside) return inside;
  }
  return null;
}

/** A page that waits for a file; what runs in it finds `within`. */
export async function emptyPage(context, url) {
  const page = await context.newPage();
  await page.addInitScript(`globalThis.within = ${within};`);
  await page.goto(url);
  await page.locator('gpustrata-viewer[data-state="empty"]').waitFor();
  return page;
}

/** Opens each of the inputs [name, ...rest], or the given files, in a page without a GPU and calls
 * `measure(page, label, ...rest)` with the whole timeline on the screen. */
export async function forEachOpened(inputs, measure) {
  const files =
    given.length > 0
      ? given.map((path) => [path, basename(path), ...inputs[0].slice(1)])
      : inputs.map(([name, ...rest]) => [inputOf(name), `${name} events`, ...rest]);
  await withBrowser(
    async (browser, url) => {
      for (const [path, label, ...rest] of files) {
        const page = await emptyPage(browser, url);
        await page.setViewportSize({ width: 1440, height: 900 });
        await page.locator('input[type=file]').first().setInputFiles(path);
        await page.locator('.plot[data-settled]').waitFor({ timeout: 180_000 });
        const events = Number(await page.locator('[data-stat="events"]').getAttribute('data-count'));
        if (!(events > 0)) throw new Error(`${path}: no events are shown`);
        await measure(page, label, ...rest);
        await page.close();
      }
    },
    ['--disable-gpu'],
  );
}

/** The value that `part` of all do not reach. */
export const percentile = (values, part) =>
  values.toSorted((a, b) => a - b)[Math.min(Math.floor(values.length * part), values.length - 1)];

/** One measurement (README.md). */
export const say = (line) => console.log(JSON.stringify(line));
