// Answers that come late, and what is kept when one goes away and comes back.
import { expect, test, type Page } from '@playwright/test';
import { KindsTrack } from '../../web/src/timeline/tracks/kinds_track.ts';
import type { MomentTrack } from '../../web/src/timeline/tracks/moment_track.ts';
import { Stage } from '../../web/src/timeline/tracks/stage.ts';
import { Travel } from '../../web/src/timeline/tracks/travel.ts';
import type { ViewMotion } from '../../web/src/timeline/tracks/view_motion.ts';
import type { Viewport } from '../../web/src/model/viewport.ts';
import { pointAt, settledView, viewAfter } from './page.ts';
import { MiB, pickled } from './pickle.ts';
import { openPage, waitForState } from './support.ts';

const chosen = (name: string, buffer: Buffer) => ({ name, mimeType: '', buffer });
const choose = (page: Page, ...files: ReturnType<typeof chosen>[]): Promise<void> =>
  page.locator('input[type=file]').first().setInputFiles(files);
const deviceChoice = (page: Page) => page.getByRole('combobox', { name: 'Device', exact: true });

/** Of each device, for every of `sizes`: a block that comes and goes, 60 times; the first time it stays. */
function comingAndGoing(...sizes: number[]): Buffer {
  const trace = (size: number, device: number) => {
    const at = 0x7f0000000000 + device * 0x1000000000;
    const event = (action: string, addr: number, bytes: number) => ({
      action,
      addr,
      size: bytes,
      stream: 0,
      frames: [],
    });
    const rounds = Array.from({ length: 60 }, () => [
      event('alloc', at + 10 * MiB, MiB),
      event('free_requested', at + 10 * MiB, MiB),
      event('free_completed', at + 10 * MiB, MiB),
    ]);
    return [event('segment_alloc', at, 20 * MiB), event('alloc', at, size), ...rounds.flat()];
  };
  return pickled({ segments: [], device_traces: sizes.map(trace) });
}

test('the state of another file is asked for, whatever the number of its event', async ({ page }) => {
  await openPage(page);
  await choose(page, chosen('a.pickle', comingAndGoing(4 * MiB)));
  await waitForState(page, 'ready');
  await settledView(page);
  await page.getByRole('tab', { name: /^State/ }).click();
  const active = page.locator('[data-number="allocated"]');
  await expect(active).toHaveAttribute('data-bytes', String(5 * MiB));
  await choose(page, chosen('b.pickle', comingAndGoing(5 * MiB))); // its peak is after the same event
  await waitForState(page, 'ready');
  await expect(active).toHaveAttribute('data-bytes', String(6 * MiB));
  await expect(page.locator('.picture[data-settled]')).toBeVisible();
});

test('what is kept of a device is there when one comes back to it', async ({ page }) => {
  await openPage(page);
  await choose(page, chosen('two.pickle', comingAndGoing(4 * MiB, 5 * MiB)));
  await waitForState(page, 'ready');
  const whole = await settledView(page);
  const first = await deviceChoice(page).inputValue();
  const at = await pointAt(page, 0.3, 0.1);
  await page.mouse.click(at.x, at.y);
  const pinned = page.locator('memstrata-details [data-name]');
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeVisible();
  const name = await pinned.textContent();
  await page.mouse.wheel(0, -300);
  const zoomed = await viewAfter(page, whole);
  await page.keyboard.press('g');
  await expect(deviceChoice(page)).not.toHaveValue(first);
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeHidden();
  await page.keyboard.press('g');
  await expect(deviceChoice(page)).toHaveValue(first);
  await expect(pinned).toHaveText(name!);
  await expect.poll(async () => (await settledView(page)).x0).toBeCloseTo(zoomed.x0, 6);
});

test('a refused question for the kinds of blocks is asked again', async () => {
  let asked = 0;
  const ask = (): Promise<unknown> => {
    asked += 1;
    return asked === 1
      ? Promise.reject(new Error('refused'))
      : Promise.resolve({ by: 'size', ordered: true, kinds: [{ label: '1 KiB', blocks: 1, merged: 0 }] });
  };
  const track = new KindsTrack(
    { ask, alive: true } as unknown as ConstructorParameters<typeof KindsTrack>[0],
    () => undefined,
  );
  track.want('size');
  await Promise.resolve().then(() => undefined);
  await new Promise((done) => setTimeout(done));
  expect(track.by).toBe('allocation');
  track.want('size');
  await new Promise((done) => setTimeout(done));
  expect(track.by).toBe('size');
  track.want('size');
  expect(asked).toBe(2);
});

test('a journey ends where another file is shown meanwhile', async () => {
  const stage = new Stage();
  const info = (peak: number) =>
    ({
      events: 100,
      peak: { bytes: peak, event: 50 },
      reserved_peak: peak,
      extent: { event: 100, time_us: 100 },
      oom_events: [],
    }) as unknown as Stage['info'];
  const answers: ((answer: unknown) => void)[] = [];
  const device = (peak: number) =>
    ({
      info: info(peak),
      ask: () => new Promise((answer) => answers.push(answer)),
    }) as unknown as Stage['device'];
  stage.device = device(1000);
  stage.axis = 'time';
  stage.area = { ...stage.area, width: 100, height: 100 };
  stage.bounds = stage.boundsFor('time');
  stage.view = { x0: 0, x1: 10, y0: 0, y1: 100 };
  const went: Viewport[] = [];
  const motion = { to: (view: Viewport) => went.push(view) } as unknown as ViewMotion;
  const travel = new Travel(stage, motion, {} as MomentTrack);
  const journeys: [string, () => Promise<unknown>, unknown][] = [
    ['height', () => travel.fitHeight(), 500],
    [
      'block',
      () => travel.showBlock(7, 10),
      { details: null, place: { from: 50, to: 60, offset: 1, size: 10 } },
    ],
    ['fit', () => travel.fitBlock(7), { details: null, place: { from: 50, to: 60, offset: 1, size: 10 } }],
    ['event', () => travel.showEvent(70), [70]],
  ];
  for (const [name, start, answer] of journeys) {
    const ends = start();
    stage.device = device(2000); // another file
    while (answers.length > 0) {
      answers.shift()?.(answer);
      await Promise.race([ends, new Promise((done) => setTimeout(done))]);
    }
    await ends;
    expect(went, name).toEqual([]);
  }
});

test('text is copied out of a dialog where the page is not secure', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.addInitScript(() => {
    Object.assign(window, { real: navigator.clipboard });
    Object.defineProperty(navigator, 'clipboard', { value: undefined }); // as on plain http
  });
  await openPage(page, '?open=samples/out_of_memory.pickle.gz');
  await waitForState(page, 'ready');
  await settledView(page);
  await page.keyboard.press('b');
  const copy = page.locator('memstrata-about memstrata-copy button');
  await copy.click();
  await expect
    .poll(() => page.evaluate(() => (window as unknown as { real: Clipboard }).real.readText()))
    .toContain('out_of_memory.pickle');
  await expect(copy).toBeFocused();
});

test('a panel that was closed opens as it was left', async ({ page }) => {
  await openPage(page);
  await choose(page, chosen('a.pickle', comingAndGoing(4 * MiB)));
  await waitForState(page, 'ready');
  await settledView(page);
  await page.getByRole('tab', { name: /^State/ }).click();
  const picture = page.locator('.picture[data-settled]');
  await expect(picture).toBeVisible();
  const whole = (await picture.getAttribute('data-window'))!;
  await page.getByRole('button', { name: 'Zoom into the state' }).click();
  await expect(picture).not.toHaveAttribute('data-window', whole);
  const zoomed = (await picture.getAttribute('data-window'))!;
  await page.getByRole('tab', { name: /^Address map/ }).click();
  await page.getByLabel('Order of the address ranges').selectOption('size');
  await page.getByRole('tab', { name: /^State/ }).click();
  await expect(picture).toHaveAttribute('data-window', zoomed);
  await page.getByRole('tab', { name: /^Address map/ }).click();
  await expect(page.getByLabel('Order of the address ranges')).toHaveValue('size');
});
