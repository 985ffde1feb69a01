// Makes timeline.png and timeline-dark.png of this folder from the bundled sample. Run by hand after the page changed,
// with the page built and tests/node_modules installed:
//
//   node site/guide/screenshots.mjs [--folder build/site]
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { serve } from '../serve.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
const { values: options } = parseArgs({
  options: { folder: { type: 'string', default: join(root, 'build/site') } },
});
const { chromium } = createRequire(join(root, 'tests/package.json'))('@playwright/test');
const executablePath = [
  process.env.MEMSTRATA_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));

/** An activation of the second step, as parts of the plot from the left and from the bottom. */
const block = { right: 0.33, up: 0.387 };

const { url, close } = await serve({ folder: options.folder });
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
for (const [colorScheme, name] of [
  ['light', 'timeline.png'],
  ['dark', 'timeline-dark.png'],
]) {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 800 },
    deviceScaleFactor: 1,
    colorScheme,
    reducedMotion: 'reduce',
    timezoneId: 'UTC',
  });
  await page.goto(`${url}?open=samples/training_run.pickle`);
  await page.locator('.plot[data-settled]').waitFor();
  const at = await page.locator('.plot').evaluate((plot, { right, up }) => {
    const [left, top, width, height] = plot.dataset.plot.split(' ').map(Number);
    const rect = plot.getBoundingClientRect();
    return { x: rect.left + left + width * right, y: rect.top + top + height * (1 - up) };
  }, block);
  await page.mouse.click(at.x, at.y);
  await page.getByRole('button', { name: 'Unpin' }).waitFor();
  await page.locator('.plot[data-settled]').waitFor();
  await page.waitForTimeout(500); // the outline is drawn
  await page.screenshot({ path: join(here, name) });
  await page.close();
}
await browser.close();
await close();
