// Movements over the timeline of a page, as a reader makes them.

import { percentile, say } from './chromium.mjs';

/** Milliseconds between frames, a little more than 60 a second need. */
const frameGoal = 1000 / 60 + 0.5;

/** Makes 120 movements of each kind on each axis of the page and calls `tell({axis, kind, rest, intervals, answers})`: milliseconds
 * between frames at rest and in motion, and from a movement to its answer. */
export async function eachMovement(page, kinds, tell) {
  for (const axis of ['Events', 'Time']) {
    await page.getByLabel(axis, { exact: true }).check({ force: true });
    await page.locator('.plot[data-settled]').waitFor({ timeout: 30_000 });
    await page.waitForTimeout(500);
    const rest = percentile((await page.evaluate(move, { kind: 'rest', steps: 60 })).intervals, 0.5);
    for (const kind of kinds) {
      await page.keyboard.press('f');
      await page.waitForTimeout(400);
      await page.evaluate(move, { kind: 'zoom', steps: kind === 'pan' ? 8 : 0 });
      const { intervals, answers } = await page.evaluate(move, { kind, steps: 120 });
      if (answers.length < 20)
        throw new Error(`${kind}: only ${answers.length} of 120 movements were answered`);
      tell({ axis: axis.toLowerCase(), kind, rest, intervals, answers });
    }
  }
}

export function sayFrames(on, intervals, rest) {
  const frames = percentile(intervals, 0.5);
  say({
    work: `${on}: frame, median (p95 ${percentile(intervals, 0.95).toFixed(0)})`,
    measured: frames,
    unit: 'ms',
    reference: 'frame at rest',
    reference_value: rest,
    ratio: `${(frames / rest).toFixed(2)} x`,
    goal: '60 frames/s',
    met: frames <= Math.max(frameGoal, rest * 1.03),
  });
}

/** Runs in the page: `steps` movements, each given time to be answered; what the reader of the screen would see. */
async function move({ kind, steps }) {
  const { within } = globalThis; // chromium.mjs
  const plot = within(document, '.plot');
  const canvas = plot.querySelector('canvas.overlay');
  const rect = canvas.getBoundingClientRect();
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const intervals = [];
  let running = true;
  let last = performance.now();
  (async () => {
    while (running) {
      await frame();
      const now = performance.now();
      intervals.push(now - last);
      last = now;
    }
  })();
  const at = (right, down) => ({
    clientX: rect.left + rect.width * right,
    clientY: rect.top + rect.height * down,
  });
  const wheel = (options) =>
    canvas.dispatchEvent(new WheelEvent('wheel', { ...at(0.6, 0.6), cancelable: true, ...options }));
  const readout = () => plot.parentNode.querySelector('[data-readout="event"]')?.textContent ?? '';
  const settled = () => {
    const lanes = within(document, 'gpustrata-lanes');
    return !lanes || lanes.hasAttribute('data-settled') ? plot.dataset.view : '';
  };
  // A timer would be heard 4 ms later.
  const written = (state, before) =>
    new Promise((resolve) => {
      const watch = new globalThis.MutationObserver(() => state() !== before && over());
      const late = setTimeout(() => over(), 1000);
      const over = () => {
        clearTimeout(late);
        watch.disconnect();
        resolve();
      };
      watch.observe(plot.parentNode, { subtree: true, childList: true, characterData: true });
    });
  const answers = [];
  const pointer = (name, place) =>
    canvas.dispatchEvent(
      new PointerEvent(name, { pointerId: 1, pointerType: 'mouse', button: 0, bubbles: true, ...place }),
    );
  for (let i = 0; i < steps; i += 1) {
    const state = kind === 'hover' ? readout : settled;
    const before = state();
    const start = performance.now();
    if (kind === 'rest') await new Promise((resolve) => setTimeout(resolve, 16));
    if (kind === 'zoom') wheel({ deltaY: i % 40 < 20 ? -120 : 120 });
    if (kind === 'tall') wheel({ deltaY: i % 20 < 10 ? -120 : 120, shiftKey: true });
    if (kind === 'pan') wheel({ deltaX: i % 40 < 20 ? 40 : -40 });
    if (kind === 'hover') pointer('pointermove', at(0.15 + ((i * 0.377) % 0.8), 0.7));
    if (kind === 'rest') continue;
    if (kind === 'hover') await written(state, before);
    // A movement that changes nothing, as at the end of the recording, has no answer to wait for.
    while ((state() === before || state() === '') && performance.now() - start < 1000)
      await new Promise((resolve) => setTimeout(resolve));
    if (state() !== before) answers.push(performance.now() - start);
    await frame();
  }
  running = false;
  return { intervals, answers };
}
