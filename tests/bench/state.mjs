// The state panel in Chromium: from the key to the first state, a step to the next event, a jump to the other end.
// Prints JSON lines (README.md). `--files PATH...` measures other files.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { serve } from '../../site/serve.mjs';

const root = join(import.meta.dirname, '../..');
const { chromium } = createRequire(join(root, 'tests/package.json'))('@playwright/test');
const small = process.argv.includes('--small');
const given = process.argv.includes('--files') ? process.argv.slice(process.argv.indexOf('--files') + 1) : [];
const executablePath = [process.env.MEMSTRATA_CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
);
const inputs = small ? ['30000'] : ['1000000', '1000000-tiny', '10000000'];
const openGoal = 150;
const stepGoal = 16;

/** Runs in the page: presses keys, and waits each time until list and picture show the event that is meant. */
async function drive({ kind, steps }) {
  const within = (from, selector) => {
    const found = from.querySelector(selector);
    if (found) return found;
    for (const element of from.querySelectorAll('*')) {
      const inside = element.shadowRoot && within(element.shadowRoot, selector);
      if (inside) return inside;
    }
    return null;
  };
  const soon = () =>
    new Promise((resolve) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = resolve;
      channel.port2.postMessage(0);
    });
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const press = (key, target = document) =>
    target.dispatchEvent(
      new KeyboardEvent('keydown', { key, bubbles: true, composed: true, cancelable: true }),
    );
  const shows = (event) => {
    const picture = within(document, '.picture[data-settled]');
    const row = within(document, '[role=option][aria-selected=true]');
    if (!picture || row?.dataset.event !== picture.dataset.event) return false;
    return event === undefined || Number(picture.dataset.event) === event;
  };
  const until = async (event) => {
    const start = performance.now();
    while (!shows(event)) {
      if (performance.now() - start > 30_000) throw new Error(`event ${event} is not shown`);
      await soon();
    }
  };
  const times = [];
  const timed = async (act, event) => {
    const start = performance.now();
    act();
    await until(event);
    times.push(performance.now() - start);
  };
  if (kind === 'open') {
    await timed(() => press('1'));
    return times;
  }
  const last = Number(within(document, '[data-stat=events]').dataset.count) - 1;
  const list = within(document, '.scroller[role=listbox]');
  for (let i = 0; i < steps; i += 1) {
    await frame();
    await frame();
    const now = Number(within(document, '.picture').dataset.event);
    const back = now >= last || (now > 0 && i % 20 < 10);
    if (kind === 'step') await timed(() => press(back ? '[' : ']'), now + (back ? -1 : 1));
    else await timed(() => press(now === 0 ? 'End' : 'Home', list), now === 0 ? last : 0);
  }
  return times;
}

const at = (values, part) =>
  values.toSorted((a, b) => a - b)[Math.min(Math.floor(values.length * part), values.length - 1)];
const say = (work, measured, goal) =>
  console.log(
    JSON.stringify({
      work,
      measured,
      unit: 'ms',
      goal: goal ? `${goal} ms` : '',
      met: !goal || measured <= goal,
    }),
  );

async function measure(page, path, name) {
  await page.locator('input[type=file]').first().setInputFiles(path);
  await page.locator('.plot[data-settled]').waitFor({ timeout: 180_000 });
  await page.waitForTimeout(1000);
  const [first] = await page.evaluate(drive, { kind: 'open', steps: 1 });
  say(`state, ${name}: opened by key for the first time`, first, openGoal);
  await page.keyboard.press('1');
  await page.waitForTimeout(300);
  const [again] = await page.evaluate(drive, { kind: 'open', steps: 1 });
  say(`state, ${name}: opened again`, again, openGoal);
  const steps = await page.evaluate(drive, { kind: 'step', steps: 100 });
  say(`state, ${name}: step, median`, at(steps, 0.5), stepGoal);
  say(`state, ${name}: step, p95`, at(steps, 0.95));
  const jumps = await page.evaluate(drive, { kind: 'jump', steps: 20 });
  say(`state, ${name}: to the other end, median`, at(jumps, 0.5));
}

const server = await serve({ folder: join(root, 'build/site') });
const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-background-networking', '--disable-gpu'],
});
try {
  const files = given.map((path) => [path, basename(path)]);
  for (const name of given.length > 0 ? [] : inputs) {
    const path = execFileSync('python3', [join(import.meta.dirname, 'inputs.py'), name], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    files.push([path.trim(), `${name} events`]);
  }
  for (const [path, name] of files) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(server.url);
    await page.locator('memstrata-viewer[data-state="empty"]').waitFor();
    await measure(page, path, name);
    await page.close();
  }
} finally {
  await browser.close();
  await server.close();
}
