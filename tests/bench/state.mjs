// The state panel in Chromium: from the key to the first state, a step to the next event, a jump to the other end.
// Prints JSON lines (README.md). `--files PATH...` measures other files.
import { forEachOpened, percentile, say, small } from './chromium.mjs';

const inputs = small ? [['30000']] : [['1000000'], ['1000000-tiny'], ['10000000']];
const openGoal = 150;
const stepGoal = 16;

/** Runs in the page: presses keys, and waits each time until list and picture show the event that is meant. */
async function drive({ kind, steps }) {
  const { within } = globalThis; // chromium.mjs
  const inEvents = (selector) => {
    const events = within(document, 'gpustrata-event-list');
    return events && within(events.shadowRoot, selector);
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
    if (!picture) return false;
    const row = inEvents('[role=row][aria-selected=true]');
    if (kind !== 'open' && row?.dataset.event !== picture.dataset.event) return false;
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
    const start = performance.now();
    let sketched;
    press('2');
    while (!shows()) {
      if (sketched === undefined && within(document, '[data-sketched]')) sketched = performance.now() - start;
      if (performance.now() - start > 60_000) throw new Error('the state is not shown');
      await soon();
    }
    return [performance.now() - start, sketched];
  }
  const last = Number(within(document, '[data-stat=events]').dataset.count) - 1;
  const list = inEvents('.scroller[role=grid]');
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

const tell = (work, measured, goal) =>
  say({
    work,
    measured,
    unit: 'ms',
    goal: goal ? `${goal} ms` : '',
    met: !goal || measured <= goal,
  });

await forEachOpened(inputs, async (page, label) => {
  await page.waitForTimeout(1000);
  const [first, sketched] = await page.evaluate(drive, { kind: 'open', steps: 1 });
  tell(`state, ${label}: opened by key, a second after the picture`, sketched ?? first, openGoal);
  if (sketched) tell(`state, ${label}: the same, exact instead of a sketch`, first);
  await page.keyboard.press('1');
  await page.waitForTimeout(300);
  const [again] = await page.evaluate(drive, { kind: 'open', steps: 1 });
  tell(`state, ${label}: opened again`, again, openGoal);
  await page.getByRole('tab', { name: 'Events' }).click();
  await page.locator('gpustrata-event-list .scroller[role=grid]').waitFor();
  const steps = await page.evaluate(drive, { kind: 'step', steps: 100 });
  tell(`state, ${label}: step, median`, percentile(steps, 0.5), stepGoal);
  tell(`state, ${label}: step, p95`, percentile(steps, 0.95));
  const jumps = await page.evaluate(drive, { kind: 'jump', steps: 20 });
  tell(`state, ${label}: to the other end, median`, percentile(jumps, 0.5));
});
