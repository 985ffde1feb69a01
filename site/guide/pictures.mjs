// Makes the pictures of this folder from the bundled samples. Run by hand after the page changed, with the page built and
// tests/node_modules installed:
//
//   node site/guide/pictures.mjs [--folder build/site] [NAME...]      all, or those of these names
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
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
  process.env.GPUSTRATA_CHROMIUM,
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

/** The panel of the drawer opens, or closes without a name; the main view has what is left. */
const drawer = async (page, name, height) => {
  const chosen = page.locator('gpustrata-drawer [role=tab][aria-selected=true]');
  const now = await chosen
    .first()
    .getAttribute('data-panel', { timeout: 2000 })
    .catch(() => undefined);
  if (name !== now) await page.locator(`[role=tab][data-panel=${name ?? now}]`).click();
  if (height)
    await page
      .locator('[style*="--panel"]')
      .evaluate((area, px) => area.style.setProperty('--panel', `${px}px`), height);
};
/** The answer beside the picture. */
const answer = async (page, name) => {
  const tab = page.locator(`gpustrata-answers [role=tab][data-panel=${name}]`);
  if ((await tab.getAttribute('aria-selected')) !== 'true') await tab.click();
};
const filter = async (page, text) => {
  await page.keyboard.press('/');
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
  await page.locator('gpustrata-filter [data-count]').waitFor();
};
const choose = async (page, ...files) => {
  await page.locator('input[type=file]').first().setInputFiles(files);
  await page.locator('.plot[data-settled]').waitFor({ timeout: 60_000 });
};
const sample = (name) => join(options.folder, 'samples', name);
/** The sample of a training run as it is recorded without stacks, and its last 1,200 events alone. */
const lessRecorded = `
import gzip, pickle, sys
run = pickle.load(open(sys.argv[1], "rb"))
run["device_traces"] = [[{**event, "frames": []} for event in trace[-1200:]] for trace in run["device_traces"]]
for segment in run["segments"]:
    segment["frames"] = []
    for block in segment["blocks"]:
        block["frames"] = []
sys.stdout.buffer.write(pickle.dumps(run, protocol=4))
`;

/** What of the page is the picture, after `prepare`; `around`: pixels of the page about it. */
const parts = {
  'why-oom': {
    open: 'out_of_memory.pickle.gz',
    of: 'gpustrata-answers',
    prepare: (page) => answer(page, 'oom'),
    height: 760,
  },
  peak: { open: 'training_run.pickle', of: '[data-finding=peak]', around: 6 },
  leak: {
    open: 'leak.pickle.gz',
    of: 'gpustrata-timeline',
    prepare: async (page) => {
      await drawer(page);
      await filter(page, 'freed:never -born:before');
    },
    height: 560,
  },
  fragmentation: {
    open: 'fragmentation.pickle.gz',
    of: 'gpustrata-panel',
    prepare: async (page) => {
      await drawer(page);
      await page.locator('[role=tab][data-panel=state]').click();
      await page.locator('.picture[data-settled]').waitFor();
    },
    height: 620,
  },
  op: {
    open: 'profiler_trace.json.gz',
    of: 'gpustrata-drawer',
    prepare: (page) => drawer(page, 'ops', 430),
    width: 1700,
  },
  rank: { open: 'eight_ranks.zip', of: 'gpustrata-peak-row' },
  fleet: {
    of: 'gpustrata-fleet',
    prepare: async (page) => {
      // A thousand made-up ranks, three of them planted.
      const script = join(root, 'tests/data/fleet/make.py');
      const buffer = execFileSync('python3', [script, '1000'], { maxBuffer: 1 << 28 });
      await page
        .locator('input[type=file]')
        .first()
        .setInputFiles({ name: 'run-a.fleet.json', mimeType: '', buffer });
      await page.locator('gpustrata-heat-map canvas[data-settled]').waitFor();
      await page.locator('[data-finding]').nth(1).getByRole('button').click();
    },
  },
  changed: {
    of: 'gpustrata-drawer',
    prepare: async (page) => {
      // What is shown is the later one.
      await choose(page, sample('out_of_memory.pickle.gz'), sample('training_run.pickle'));
      await drawer(page, 'compare', 560);
    },
    height: 1000,
  },
  whatif: {
    open: 'fragmentation.pickle.gz',
    of: 'gpustrata-drawer',
    prepare: async (page) => {
      await drawer(page, 'whatif', 515);
      await page.locator('[data-run="as recorded"]').waitFor();
      await page.locator('gpustrata-whatif input[name=conf]').fill('expandable_segments:True');
      await page.keyboard.press('Enter');
      await page.locator('[data-run="expandable_segments:True"]').waitFor();
    },
    height: 1000,
  },
  fit: {
    of: 'gpustrata-drawer',
    prepare: async (page) => {
      // A training program at three batches, recorded by PyTorch 2.8.0.
      await choose(page, ...[2, 4, 16].map((batch) => join(root, `tests/data/fit/batch${batch}.pickle.gz`)));
      await drawer(page, 'fit', 760);
      await page.locator('gpustrata-fit section[data-value]').waitFor();
      await page.locator('gpustrata-fit input[name=capacity]').fill('256 MiB');
      await page.keyboard.press('Enter');
      await page.locator('gpustrata-fit .chart[data-capacity]').waitFor();
      await page.locator('gpustrata-fit [data-task=none] section[data-value]').waitFor();
    },
    width: 1660,
    height: 1100,
  },
  unknown: {
    open: 'profiler_trace.json.gz',
    of: 'gpustrata-timeline',
    prepare: async (page) => {
      await drawer(page);
      await filter(page, 'born:before');
    },
    height: 560,
  },
  less: {
    of: 'gpustrata-answers',
    height: 760,
    prepare: async (page) => {
      const buffer = execFileSync('python3', ['-c', lessRecorded, sample('training_run.pickle')], {
        maxBuffer: 1 << 26,
      });
      await choose(page, { name: 'run.pickle', mimeType: '', buffer });
      await answer(page, 'overview');
    },
  },
};
for (const [name, { open: file, of, prepare, around = 0, width = 1100, height = 900 }] of Object.entries(
  parts,
)) {
  if (!wanted(name)) continue;
  const page = await open(file ? `?open=samples/${file}` : '', width, height);
  await prepare?.(page);
  await page.waitForTimeout(1500); // what is on its way has come
  const box = await page.locator(of).first().boundingBox();
  const clip = {
    x: Math.max(0, box.x - around),
    y: Math.max(0, box.y - around),
    width: Math.min(1100, box.width + 2 * around),
    height: box.height + 2 * around,
  };
  await page.screenshot({ path: join(here, 'pictures', `${name}.png`), clip });
  await page.close();
}
await browser.close();
await close();
