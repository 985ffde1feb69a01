// From a chosen file to the first picture in Chromium, against a bare streamed read of the same File in the same run.
// Prints JSON lines (README.md). `--files PATH...` measures other files, without goals.
//
// Cold: the first file of a fresh page, whose engine has not run yet. Warm: the same file once more in that page.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { serve } from '../../site/serve.mjs';

const root = join(import.meta.dirname, '../..');
const { chromium } = createRequire(join(root, 'tests/package.json'))('@playwright/test');
const repeats = 3;
const ratioGoal = 1.4;
const small = process.argv.includes('--small');
const given = process.argv.includes('--files') ? process.argv.slice(process.argv.indexOf('--files') + 1) : [];

/** Events of the inputs, and the seconds that must never be passed. */
const inputs = [
  [100_000, 0.2],
  [1_000_000, 0.8],
  [3_000_000, 2.2],
  [6_000_000, 4],
  [10_000_000, 8],
].slice(0, small ? 1 : undefined);

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const executablePath = [process.env.MEMSTRATA_CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
);

/** Seconds of reading the file as a stream in a worker that does nothing else. */
async function bareRead(context, path) {
  const page = await context.newPage();
  await page.setContent('<input type="file">');
  await page.locator('input').setInputFiles(path);
  const seconds = await page.evaluate(async () => {
    const source = `onmessage = async ({ data }) => {
      const start = performance.now();
      const reader = data.stream().getReader();
      let bytes = 0;
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        bytes += value.length;
      }
      postMessage({ seconds: (performance.now() - start) / 1000, bytes });
    }`;
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
    const file = document.querySelector('input').files[0];
    const { seconds, bytes } = await new Promise((resolve) => {
      worker.onmessage = (event) => resolve(event.data);
      worker.postMessage(file);
    });
    worker.terminate();
    if (bytes !== file.size) throw new Error('the bare read is not complete');
    return seconds;
  });
  await page.close(); // a page behind another one gets no frames
  return seconds;
}

/** Seconds from the choice of the file to its first picture. */
async function open(page, path, events) {
  await page.evaluate(() => performance.clearMarks());
  await page.locator('input[type=file]').first().setInputFiles(path);
  await page.waitForFunction(
    () => performance.getEntriesByName('memstrata:first-picture').length > 0,
    undefined,
    {
      timeout: 120_000,
    },
  );
  const shown = Number(await page.locator('[data-stat="events"]').getAttribute('data-count'));
  if (shown < events) throw new Error(`${shown} events are shown, ${events} were expected`);
  return page.evaluate(() => {
    const at = (name) => performance.getEntriesByName(name)[0].startTime;
    return (at('memstrata:first-picture') - at('memstrata:picked')) / 1000;
  });
}

async function measure(browser, url, path, events) {
  const bare = [];
  const cold = [];
  const warm = [];
  for (let i = 0; i < repeats; ++i) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    bare.push(await bareRead(context, path));
    const page = await context.newPage();
    await page.goto(url);
    await page.locator('memstrata-viewer[data-state="empty"]').waitFor();
    cold.push(await open(page, path, events));
    bare.push(await bareRead(context, path));
    warm.push(await open(page, path, events));
    await context.close();
  }
  return { bare: median(bare), cold: median(cold), warm: median(warm), worst: Math.max(...cold, ...warm) };
}

function tell(path, limit, { bare, cold, warm, worst }) {
  const size = `${(statSync(path).size / 1e6).toFixed(0)} MB`;
  for (const [name, seconds] of [
    ['cold', cold],
    ['warm', warm],
  ]) {
    const line = {
      work: `picked to first picture, ${size}, ${name}`,
      measured: seconds,
      unit: 's',
      reference: 'bare read',
      reference_value: bare,
      ratio: `${(seconds / bare).toFixed(2)} x`,
      goal: `${ratioGoal} x, never over ${limit} s`,
      met: seconds <= ratioGoal * bare && worst <= limit,
    };
    console.log(JSON.stringify(line));
  }
}

const server = await serve({ folder: join(root, 'build/site') });
const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-background-networking'],
});
try {
  if (given.length > 0) {
    for (const path of given) tell(path, Infinity, await measure(browser, server.url, path, 1));
  } else {
    for (const [events, limit] of inputs) {
      const count = small ? events / 30 : events;
      const made = execFileSync(
        'python3',
        [join(import.meta.dirname, 'inputs.py'), String(Math.floor(count))],
        {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      const path = made.trim();
      tell(path, limit, await measure(browser, server.url, path, count));
    }
  }
} finally {
  await browser.close();
  await server.close();
}
