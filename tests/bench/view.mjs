// Moving about in Chromium without a GPU: frames, the time from a movement to the exact picture, hover to text.
// Prints JSON lines (README.md). `--files PATH...` measures other files.
//
// The reference is the same page's animation frames at rest: what the browser can do on this machine just then.
import { forEachOpened, percentile, say, small } from './chromium.mjs';
import { eachMovement, sayFrames } from './moving.mjs';

/** Inputs by name (inputs.py), and milliseconds to the exact picture: median and 95th percentile. */
const usual = { median: 35, p95: 70 };
const inputs = small
  ? [['30000', usual]]
  : [
      ['1000000', usual],
      ['1000000-tiny', { median: Infinity, p95: 150 }],
      ['10000000', usual],
    ];
const hoverGoal = 16;
const fullLinkGoal = 5;

await forEachOpened(inputs, async (page, name, goal) => {
  for (const stacking of ['By age', 'Groups']) {
    await page.getByLabel('Colour by').selectOption('stack');
    await page.getByLabel(stacking, { exact: true }).check({ force: true });
    await page.locator('.plot[data-settled]').waitFor({ timeout: 30_000 });
    await measure(page, `${name}, ${stacking.toLowerCase()}`, goal);
  }
  await hoverWithFullLink(page, name);
});

/** With as many choices of panels as a link has at most (web/src/model/link.ts): 64 texts of 1,000 characters. */
async function hoverWithFullLink(page, name) {
  await page.evaluate(() => {
    const letter = (at) => String.fromCharCode(97 + at);
    const texts = Array.from(
      { length: 64 },
      (_, at) => `kept.${letter(at >> 3)}${letter(at & 7)}=${'x'.repeat(1000)}`,
    );
    globalThis.location.hash += `&${texts.join('&')}`;
  });
  await page.waitForTimeout(1000);
  const kept = await page.evaluate(() => (globalThis.location.hash.match(/kept\./g) ?? []).length);
  if (kept !== 64) throw new Error(`the link keeps ${kept} of 64 texts`);
  await eachMovement(page, ['hover'], ({ axis, answers }) => {
    const measured = percentile(answers, 0.95);
    say({
      work: `hover, ${name}, 64 texts of panels, ${axis} axis: to text, p95`,
      measured,
      unit: 'ms',
      goal: `${fullLinkGoal} ms`,
      met: measured <= fullLinkGoal,
    });
  });
}

async function measure(page, name, goal) {
  await eachMovement(page, ['zoom', 'pan', 'tall', 'hover'], ({ axis, kind, rest, intervals, answers }) => {
    const what = { zoom: 'zoom', pan: 'pan', tall: 'zoom of heights', hover: 'hover' }[kind];
    const on = `${what}, ${name}, ${axis} axis`;
    if (kind === 'hover') {
      const measured = percentile(answers, 0.5);
      say({
        work: `${on}: to text, median`,
        measured,
        unit: 'ms',
        goal: `${hoverGoal} ms`,
        met: measured <= hoverGoal,
      });
      return;
    }
    sayFrames(on, intervals, rest);
    for (const [part, limit] of [
      [0.5, goal.median],
      [0.95, goal.p95],
    ]) {
      if (limit === Infinity) continue;
      const measured = percentile(answers, part);
      say({
        work: `${on}: exact picture, ${part === 0.5 ? 'median' : 'p95'}`,
        measured,
        unit: 'ms',
        goal: `${limit} ms`,
        met: measured <= limit,
      });
    }
  });
}
