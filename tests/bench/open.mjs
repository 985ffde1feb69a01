// From a chosen file to the first picture in Chromium, against a bare streamed read of the same File in the same run.
// Prints JSON lines (README.md). `--files PATH...` measures other files, without goals.
//
// Cold: the first file of a fresh page, chosen a second and a half after the page is there; nobody who uses a dialog or
// drags a file is faster. Warm: the same file once more in that page. At once: chosen as soon as the page is there, whose
// engine is not even compiled, as a script might.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { emptyPage, given, inputOf, percentile, say, site, small, withBrowser } from './chromium.mjs';

const repeats = 3;
const ratioGoal = 1.4;
const toChoose = 1500; // ms
const largestAtOnce = 400e6; // bytes of a file; of a larger one the start is a small part

/** Events of the inputs, and the seconds that must never be passed. */
const inputs = [
  [100_000, 0.2],
  [1_000_000, 0.8],
  [3_000_000, 2.2],
  [6_000_000, 4],
  [10_000_000, 8],
].slice(0, small ? 1 : undefined);

const median = (values) => percentile(values, 0.5);

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
    () => performance.getEntriesByName('gpustrata:first-picture').length > 0,
    undefined,
    {
      timeout: 120_000,
    },
  );
  const shown = Number(await page.locator('[data-stat="events"]').getAttribute('data-count'));
  if (shown < events) throw new Error(`${shown} events are shown, ${events} were expected`);
  return page.evaluate(() => {
    const at = (name) => performance.getEntriesByName(name)[0].startTime;
    return (at('gpustrata:first-picture') - at('gpustrata:picked')) / 1000;
  });
}

async function measure(browser, url, path, events) {
  const bare = [];
  const times = { 'at once': [], cold: [], warm: [] };
  const newContext = () => browser.newContext({ viewport: { width: 1440, height: 900 } });
  for (let i = 0; i < repeats; ++i) {
    const context = await newContext();
    bare.push(await bareRead(context, path));
    const page = await emptyPage(context, url);
    await page.waitForTimeout(toChoose);
    times.cold.push(await open(page, path, events));
    bare.push(await bareRead(context, path));
    times.warm.push(await open(page, path, events));
    await context.close();
    if (statSync(path).size > largestAtOnce) continue;
    const another = await newContext();
    times['at once'].push(await open(await emptyPage(another, url), path, events));
    await another.close();
  }
  return { bare: median(bare), times };
}

function tell(path, limit, { bare, times }) {
  const size = `${(statSync(path).size / 1e6).toFixed(0)} MB`;
  for (const [name, seconds] of Object.entries(times)) {
    if (seconds.length === 0) continue;
    const measured = median(seconds);
    const hasGoal = name !== 'at once';
    say({
      work: `picked to first picture, ${size}, ${name}`,
      measured,
      unit: 's',
      reference: 'bare read',
      reference_value: bare,
      ratio: `${(measured / bare).toFixed(2)} x`,
      goal: hasGoal ? `${ratioGoal} x, never over ${limit} s` : '',
      met: !hasGoal || (measured <= ratioGoal * bare && Math.max(...seconds) <= limit),
    });
  }
}

/** What a browser fetches of the page, as a server packs it. */
function tellSize() {
  const page = readFileSync(join(site, 'index.html'), 'utf8');
  const preloaded = [...page.matchAll(/rel="modulepreload" href="([^"]+)"/g)].map(([, name]) => name);
  const names = ['index.html', 'page.css', 'main.js', ...preloaded, 'worker.js', 'engine.wasm'];
  const files = names.map((name) => readFileSync(join(site, name)));
  for (const [packing, pack] of [
    ['brotli', brotliCompressSync],
    ['gzip', (data) => gzipSync(data, { level: 9 })],
  ]) {
    const measured = files.reduce((sum, data) => sum + pack(data).length, 0) / 1000;
    say({ work: `the page's files, ${packing}`, measured, unit: 'KB', goal: '400 KB', met: measured <= 400 });
  }
}

if (given.length === 0) tellSize();
await withBrowser(async (browser, url) => {
  for (const path of given) tell(path, Infinity, await measure(browser, url, path, 1));
  for (const [events, limit] of given.length > 0 ? [] : inputs) {
    const count = Math.floor(small ? events / 30 : events);
    const path = inputOf(String(count));
    tell(path, limit, await measure(browser, url, path, count));
  }
});
