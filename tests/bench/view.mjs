// Moving about in Chromium without a GPU: frames, the time from a movement to the exact picture, hover to text.
// Prints JSON lines (README.md). `--files PATH...` measures other files.
//
// The reference is the same page's animation frames at rest: what the browser can do on this machine just then.
import { forEachOpened, percentile, say, small } from './chromium.mjs';
import { frameGoal, move } from './moving.mjs';

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

await forEachOpened(inputs, async (page, name, goal) => {
  for (const axis of ['Events', 'Time']) {
    await page.getByLabel(axis, { exact: true }).check({ force: true });
    await page.locator('.plot[data-settled]').waitFor({ timeout: 30_000 });
    const rest = percentile((await page.evaluate(move, { kind: 'rest', steps: 60 })).intervals, 0.5);
    for (const kind of ['zoom', 'pan', 'tall', 'hover']) {
      await page.keyboard.press('f');
      await page.waitForTimeout(400);
      await page.evaluate(move, { kind: 'zoom', steps: kind === 'pan' ? 8 : 0 });
      const { intervals, answers } = await page.evaluate(move, { kind, steps: 120 });
      if (answers.length < 20)
        throw new Error(`${kind}: only ${answers.length} of 120 movements were answered`);
      const what = { zoom: 'zoom', pan: 'pan', tall: 'zoom of heights', hover: 'hover' }[kind];
      const on = `${what}, ${name}, ${axis.toLowerCase()} axis`;
      if (kind === 'hover') {
        const measured = percentile(answers, 0.5);
        say({
          work: `${on}: to text, median`,
          measured,
          unit: 'ms',
          goal: `${hoverGoal} ms`,
          met: measured <= hoverGoal,
        });
        continue;
      }
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
    }
  }
});
