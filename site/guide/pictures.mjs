// Makes the pictures of this folder from the bundled samples. Run by hand after the page changed, with the page built and
// tests/node_modules installed:
//
//   node site/guide/pictures.mjs [--folder build/site] [NAME...]      all, or those of these names
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { serve } from '../serve.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
const { values: options, positionals: names } = parseArgs({
  options: { folder: { type: 'string', default: join(root, 'build/site') } },
  allowPositionals: true,
});
const wanted = (name) => names.length === 0 || names.includes(name);
const { chromium } = createRequire(join(root, 'tests/package.json'))('@playwright/test');
const executablePath = [
  process.env.MEMSTRATA_CHROMIUM,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));

/** An activation of the second step, as parts of the plot from the left and from the bottom. */
const block = { right: 0.33, up: 0.387 };

const { url, close } = await serve({ folder: options.folder });
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const open = async (query, width, height, colorScheme = 'light') => {
  const page = await browser.newPage({
    viewport: { width, height },
    deviceScaleFactor: 1,
    colorScheme,
    reducedMotion: 'reduce',
    timezoneId: 'UTC',
  });
  await page.goto(url + query);
  if (query) await page.locator('.plot[data-settled]').waitFor();
  return page;
};

for (const [colorScheme, name] of [
  ['light', 'timeline'],
  ['dark', 'timeline-dark'],
]) {
  if (!wanted(name)) continue;
  const page = await open('?open=samples/training_run.pickle', 1280, 800, colorScheme);
  const at = await page.locator('.plot').evaluate((plot, { right, up }) => {
    const [left, top, width, height] = plot.dataset.plot.split(' ').map(Number);
    const rect = plot.getBoundingClientRect();
    return { x: rect.left + left + width * right, y: rect.top + top + height * (1 - up) };
  }, block);
  await page.mouse.click(at.x, at.y);
  await page.getByRole('button', { name: 'Unpin' }).waitFor();
  await page.locator('.plot[data-settled]').waitFor();
  await page.waitForTimeout(500); // the outline is drawn
  await page.screenshot({ path: join(here, `${name}.png`) });
  await page.close();
}

/** What of the page is the picture, after `prepare`. */
const parts = {
  'why-oom': { open: 'out_of_memory.pickle.gz', of: '[data-finding=oom]' },
  peak: { open: 'training_run.pickle', of: '[data-finding=peak]' },
  leak: {
    open: 'leak.pickle.gz',
    of: 'memstrata-timeline',
    prepare: async (page) => {
      await page.keyboard.press('/');
      await page.keyboard.type('freed:never -born:before');
      await page.keyboard.press('Enter');
      await page.locator('memstrata-filter [data-count]').waitFor();
    },
  },
  fragmentation: {
    open: 'fragmentation.pickle.gz',
    of: 'memstrata-panel',
    prepare: async (page) => {
      await page.keyboard.press('2');
      await page.locator('.picture[data-settled]').waitFor();
    },
  },
  whatif: {
    open: 'fragmentation.pickle.gz',
    of: 'memstrata-drawer',
    prepare: async (page) => {
      await page.setViewportSize({ width: 1280, height: 1100 });
      await page.locator('[role=tab][data-panel=whatif]').click();
      await page.locator('[data-run="as recorded"]').waitFor();
      await page.locator('memstrata-whatif input[name=conf]').fill('expandable_segments:True');
      await page.keyboard.press('Enter');
      await page.locator('[data-run="expandable_segments:True"]').waitFor();
      await page.locator('[style*="--panel"]').evaluate((area) => area.style.setProperty('--panel', '490px'));
    },
  },
  rank: {
    of: 'memstrata-peak-row',
    prepare: async (page) => {
      const sample = (name) => readFile(join(options.folder, 'samples', name));
      const [usual, odd] = await Promise.all([
        sample('training_run.pickle'),
        sample('out_of_memory.pickle.gz'),
      ]);
      const files = Array.from({ length: 8 }, (_, rank) => ({
        name: `rank${rank}.pickle`,
        mimeType: '',
        buffer: rank === 5 ? odd : usual,
      }));
      await page.locator('input[type=file]').first().setInputFiles(files);
      await page.locator('[data-entry][data-odd]').waitFor({ timeout: 60_000 });
    },
  },
};
for (const [name, { open: sample, of, prepare }] of Object.entries(parts)) {
  if (!wanted(name)) continue;
  const page = await open(sample ? `?open=samples/${sample}` : '', 1000, 760);
  await prepare?.(page);
  await page.waitForTimeout(800); // what is on its way has come
  const clip = await page.locator(of).first().boundingBox();
  await page.screenshot({ path: join(here, 'pictures', `${name}.png`), clip });
  await page.close();
}
await browser.close();
await close();
