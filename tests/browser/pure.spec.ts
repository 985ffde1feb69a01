// The page's arithmetic and words, without a page.
import { expect, test } from '@playwright/test';
import {
  formatBytes,
  formatBytesAt,
  formatBytesTick,
  formatCount,
  formatDuration,
  formatMoment,
  formatMomentTick,
  formatOffset,
} from '../../web/src/base/format.ts';
import { LatestOnly } from '../../web/src/base/latest_only.ts';
import { byteTicks, decimalTicks } from '../../web/src/base/ticks.ts';
import { Projection } from '../../web/src/draw/plot.ts';
import { colorsOf } from '../../web/src/draw/colors.ts';
import type { BandLabel, EngineView, Frame, ViewInfo } from '../../web/engine/index.ts';
import { originOf, ownFrame, runsOf } from '../../web/src/words/stack_lines.ts';
import { bandWords, drawLabels, inkOn } from '../../web/src/draw/labels.ts';
import { drawAbove, drawOoms, drawPeak, type Box } from '../../web/src/draw/markers.ts';
import { actionOf, actions, keyText } from '../../web/src/viewer/actions.ts';
import { prepareFirst, rememberArea, tracksOf } from '../../web/src/timeline/tracks/device_tracks.ts';
import { PictureTrack } from '../../web/src/timeline/tracks/picture_track.ts';
import type { Look } from '../../web/src/model/stacking.ts';
import {
  boundsOf,
  bringIntoView,
  columnWidth,
  fitAll,
  pan,
  show,
  zoom,
} from '../../web/src/model/viewport.ts';

const GiB = 1024 ** 3;
const MiB = 1024 ** 2;

test('sizes have three or four figures and never reach 1024 of a unit', () => {
  expect([0, 1, 1023, 1024, 1536, 1024 ** 2 - 1, 71.2 * GiB, 512 * MiB, 9.999 * GiB].map(formatBytes)).toEqual([
    '0 B', '1 B', '1023 B', '1 KiB', '1.5 KiB', '1 MiB', '71.2 GiB', '512 MiB', '10 GiB',
  ]); // prettier-ignore
});

test('ticks of a ruler share unit and places', () => {
  expect([0.5, 1, 1.5].map((value) => formatBytesTick(value * GiB, 512 * MiB))).toEqual([
    '0.5 GiB',
    '1.0 GiB',
    '1.5 GiB',
  ]);
  expect(formatBytesTick(7376 * MiB, 8 * MiB)).toBe('7,376 MiB');
  expect(formatBytesTick(0, GiB)).toBe('0');
  expect(formatBytesTick(1.25 * GiB, 256 * MiB)).toBe('1.25 GiB');
});

test('a pixel of 1 MiB deserves four places of a GiB', () => {
  expect(formatBytesAt(7.19342 * GiB, MiB)).toBe('7.1934 GiB');
});

test('what rounds up to the next unit is told in that unit', () => {
  expect(formatBytes(1024 * 1024 - 50)).toBe('1 MiB');
  expect(formatBytes(1023.94 * 1024)).toBe('1023.9 KiB');
  // 1 MiB - 1 B at 100 B a pixel has two places of a KiB: 1024.00 KiB.
  expect(formatBytesAt(MiB - 1, 100)).toBe('1.00000 MiB');
  const durations: [number, string][] = [
    [9.97, '10 µs'],
    [999.4, '999 µs'],
    [999.6, '1 ms'],
    [999_940, '999.9 ms'],
    [999_960, '1.000 s'],
    [59_999_400, '59.999 s'],
    [59_999_600, '1 min 00.0 s'],
    [299_960_000, '5 min 00.0 s'],
    [299_940_000, '4 min 59.9 s'],
    [3_599_960_000, '1 h 00 min'],
    [7_199_000_000, '2 h 00 min'],
    [-999_960, '−1.000 s'],
  ];
  expect(durations.map(([us]) => formatDuration(us))).toEqual(durations.map(([, text]) => text));
});

test('counts, times and offsets', () => {
  expect(formatCount(1234567)).toBe('1,234,567');
  expect(formatDuration(412)).toBe('412 µs');
  expect(formatDuration(12_345_000)).toBe('12.345 s');
  expect(formatDuration(245_200_000)).toBe('4 min 05.2 s');
  expect(formatMoment(12_345_678)).toBe('+12.345678 s');
  expect(formatMomentTick(10_000_000, 5_000_000)).toBe('+10 s');
  expect(formatMomentTick(1_500_000, 500_000)).toBe('+1.5 s');
  expect(formatOffset(500)).toBe('byte 0x1f4 (500)');
});

test('rulers step in powers of two for bytes and 1-2-5 for events', () => {
  expect(byteTicks(0, 10 * GiB, 6)).toEqual({
    step: 2 * GiB,
    values: [0, 2, 4, 6, 8, 10].map((n) => n * GiB),
  });
  expect(decimalTicks(0, 1000, 5, 1)).toEqual({ step: 200, values: [0, 200, 400, 600, 800, 1000] });
  expect(decimalTicks(3.2, 7.8, 10, 1).values).toEqual([4, 5, 6, 7]);
});

test('column widths are 1, 2, 3, 4, 6, 8, 12, ... and not below the pixel', () => {
  const wanted = [0.01, 1, 1.1, 2, 2.5, 3.5, 5, 6.1, 9, 100];
  expect(wanted.map(columnWidth)).toEqual([1, 1, 2, 2, 3, 4, 6, 8, 12, 128]);
});

test('zooming keeps the point under the pointer and stays inside', () => {
  const bounds = boundsOf(1000, 100 * MiB, 120 * MiB);
  const all = fitAll(bounds);
  const near = zoom(all, bounds, { x: 250, y: 0 }, 0.5, 1);
  expect([near.x0, near.x1]).toEqual([125, 625]);
  expect(zoom(near, bounds, { x: 250, y: 0 }, 100, 100)).toEqual({ ...all, y1: bounds.top });
  expect(pan(near, bounds, -1e9, -1e9)).toEqual({ ...near, x0: 0, x1: 500 });
  expect(pan(near, bounds, 1e9, 0).x1).toBe(1000);
  const tiny = zoom(all, bounds, { x: 999.9, y: 0 }, 1e-9, 1e-12);
  expect(tiny.x1 - tiny.x0).toBeCloseTo(8);
  expect(tiny.x1).toBeLessThanOrEqual(1000);
});

test('a reserved level far above the peak does not press the bands flat', () => {
  expect(boundsOf(10, 10 * GiB, 12 * GiB).fitTop).toBeCloseTo(13.2 * GiB);
  const far = boundsOf(10, 10 * GiB, 40 * GiB);
  expect(far.fitTop).toBeCloseTo(11 * GiB);
  expect(far.top).toBeCloseTo(44 * GiB);
});

test('what is visible stays, what is outside comes to the middle', () => {
  const bounds = boundsOf(1000, GiB, GiB);
  const view = show({ x0: 0, x1: 100, y0: 0, y1: GiB }, bounds);
  const y = { from: 0, to: GiB };
  expect(bringIntoView(view, bounds, { from: 90, to: 500 }, y)).toEqual(view);
  const there = bringIntoView(view, bounds, { from: 500, to: 510 }, y);
  expect([there.x0, there.x1]).toEqual([455, 555]);
});

test('of questions asked meanwhile only the latest is asked on', async () => {
  const asked: number[] = [];
  const delivered: number[] = [];
  const answers: (() => void)[] = [];
  const questions = new LatestOnly<number, number>(
    (question) => {
      asked.push(question);
      return new Promise((resolve) => answers.push(() => resolve(question)));
    },
    (answer) => delivered.push(answer),
    () => undefined,
  );
  for (const question of [1, 2, 3]) questions.request(question);
  expect(asked).toEqual([1]);
  answers[0]!();
  await expect.poll(() => delivered).toEqual([1]);
  expect(asked).toEqual([1, 3]);
  questions.forget();
  answers[1]!();
  questions.request(4);
  answers[2]!();
  await expect.poll(() => delivered).toEqual([1, 4]);
  expect(questions.busy).toBe(false);
});

test('a picture that is refused is asked for once more, then the reason is told', async () => {
  let asked = 0;
  let redraws = 0;
  const device = {
    alive: true,
    ask: () => {
      asked += 1;
      return Promise.reject(new Error('no room'));
    },
  };
  const track = new PictureTrack(device as unknown as EngineView, () => (redraws += 1));
  const bounds = boundsOf(1000, GiB, GiB);
  const area = { left: 0, top: 0, width: 500, height: 300, ratio: 1 };
  const palette = { bands: [0], nothing: 0, dimmedTowards: 0, envelope: 0 };
  const want = (view = fitAll(bounds)): boolean =>
    track.want(new Projection(view, area), 'event', bounds, {
      key: 'a',
      look: { palette, colourBy: 'allocation', filter: '', kind: -1 },
      groups: false,
    });
  expect(want()).toBe(false);
  await expect.poll(() => redraws).toBe(1);
  expect([want(), track.problem]).toEqual([false, undefined]);
  await expect.poll(() => track.problem).toBe('no room');
  expect([want(), want(), asked]).toEqual([false, false, 2]);
  want(show({ x0: 0, x1: 10, y0: 0, y1: GiB }, bounds)); // another picture may be possible
  expect(asked).toBe(3);
  // A device that was left meanwhile: asked when it is shown again.
  device.alive = false;
  await expect.poll(() => want() || asked).toBe(4);
  await new Promise((done) => setTimeout(done));
  device.alive = true;
  expect([want(), asked]).toEqual([false, 5]);
});

test('the first picture of a file is asked for before there is a plot, and once', () => {
  const asked: string[] = [];
  const ask = (kind: string): Promise<never> => {
    asked.push(kind);
    return new Promise(() => undefined);
  };
  const area = { left: 60, top: 20, width: 500, height: 300, ratio: 1 };
  const made = (): EngineView => {
    const extent = { event: 1000, time_us: 5000 };
    const info = { extent, peak: { bytes: GiB, event: 7 }, reserved_peak: GiB } as unknown as ViewInfo;
    return { alive: true, info, ask } as unknown as EngineView;
  };
  const look: Look = { colour: 'allocation', stacking: 'blocks' };
  prepareFirst(made(), 'event', 'light', look);
  expect(asked).toEqual([]); // nobody knows how large it will be
  rememberArea(area);
  const device = made();
  prepareFirst(device, 'event', 'light', look);
  expect(asked).toEqual(['picture']);
  // What the element does once it has its size.
  const tracks = tracksOf(device);
  expect(tracksOf(device)).toBe(tracks);
  const bounds = boundsOf(1000, GiB, GiB);
  const want = ({ width }: { width: number }): boolean =>
    tracks.picture.want(
      new Projection(fitAll(bounds), { ...area, width }),
      'event',
      bounds,
      tracks.style('light', look.stacking, '', -1),
    );
  expect(want(area)).toBe(false);
  expect(asked).toEqual(['picture']);
  want({ width: 700 }); // it lies elsewhere: the latest question waits for the answer to the first
  expect(asked).toEqual(['picture']);
});

test('words in bands fit, are never cut, and have contrast on every band', () => {
  const luminance = (color: string): number => {
    const [r, g, b] = [1, 3, 5]
      .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const contrast = (a: string, b: string): number => {
    const [dark = 0, bright = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (bright + 0.05) / (dark + 0.05);
  };
  for (let grey = 0; grey < 256; grey += 1) {
    const hex = `#${grey.toString(16).padStart(2, '0').repeat(3)}`;
    expect(contrast(inkOn([grey, grey, grey]), hex), hex).toBeGreaterThanOrEqual(4.5);
  }
  for (const theme of ['light', 'dark'] as const)
    for (const band of colorsOf(theme).bands) {
      const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => Number.parseInt(band.slice(at, at + 2), 16));
      expect(contrast(inkOn([r, g, b]), band), band).toBeGreaterThanOrEqual(4.5);
    }

  // A letter is 6 wide. The plot is 400 x 300 at 10, 20; a unit is a pixel, a byte, too.
  const said: { text: string; x: number; y: number }[] = [];
  const ctx = {
    measureText: (text: string) => ({ width: 6 * text.length }),
    fillText: (text: string, x: number, y: number) => said.push({ text, x, y }),
  } as unknown as Parameters<typeof drawLabels>[0];
  const at = new Projection(
    { x0: 100, x1: 500, y0: 0, y1: 300 },
    { left: 10, top: 20, width: 400, height: 300, ratio: 1 },
  );
  const label = (x0: number, x1: number, y0: number, y1: number): BandLabel => ({
    rank: 0, size: 2048, function: 'step', place: 'train.py:7', x0, x1, y0, y1,
  }); // prettier-ignore
  const words = (one: BandLabel): typeof said => {
    said.length = 0;
    drawLabels(ctx, at, [{ ...one, words: bandWords(one) }], () => [0, 0, 0]);
    return [...said];
  };
  const all = '2 KiB  step  train.py:7';
  expect(words(label(200, 200 + 6 * all.length + 12, 0, 16))).toEqual([{ text: all, x: 116, y: 312 }]);
  expect(words(label(200, 200 + 6 * all.length + 11, 0, 16))[0]?.text).toBe('2 KiB  step');
  expect(words(label(200, 200 + 6 * 5 + 12, 0, 16))[0]?.text).toBe('2 KiB');
  expect(words(label(200, 200 + 6 * 5 + 11, 0, 16))).toEqual([]); // too narrow
  expect(words(label(200, 400, 0, 15))).toEqual([]); // too low
  // Half outside: the words stay in the part that is visible.
  expect(words(label(0, 400, 280, 400))).toEqual([{ text: all, x: 16, y: 30 }]);
  expect(words(label(459, 900, 0, 16))).toEqual([]); // 41 pixels of the band are visible, 42 are needed
  expect(words(label(0, 90, 0, 100))).toEqual([]);
});

test('the tag of the peak covers no OOM and no word about what is reserved', () => {
  const rounded: Box[] = [];
  const nothing = (): void => undefined;
  const ctx = {
    measureText: (text: string) => ({ width: 6 * text.length }),
    roundRect: (left: number, top: number, width: number, height: number) =>
      rounded.push({ left, top, width, height }),
    ...Object.fromEntries(
      ['fillText', 'fillRect', 'beginPath', 'moveTo', 'lineTo', 'stroke', 'fill', 'arc'].map((name) => [
        name,
        nothing,
      ]),
    ),
  } as unknown as Parameters<typeof drawPeak>[0];
  const colors = colorsOf('light');
  const apart = (a: Box, b: Box): boolean =>
    a.left + a.width <= b.left ||
    b.left + b.width <= a.left ||
    a.top + a.height <= b.top ||
    b.top + b.height <= a.top;
  // Plots of many shapes, an OOM at the peak and others beside it, the peak anywhere.
  for (const [width, height] of [
    [900, 400],
    [400, 85],
    [260, 60],
  ] as const)
    // prettier-ignore
    for (let peak = 0; peak <= 1000; peak += 50)
      for (const top of [0.4, 0.95, 1]) {
        const area = { left: 60, top: 24, width, height, ratio: 1 };
        const at = new Projection({ x0: 0, x1: 1000, y0: 0, y1: 1000 }, area);
        const above = drawAbove(ctx, at, 2000, peak, colors);
        expect(above.left).toBeGreaterThanOrEqual(area.left);
        const dot = { left: at.x(peak) - 5, top: area.top, width: 10, height: 20 };
        if (at.x(peak) > area.left + above.width + 8) expect(apart(above, dot)).toBe(true);
        const taken = [...drawOoms(ctx, at, [peak, 990], colors), above];
        rounded.length = 0;
        drawPeak(ctx, at, { x: peak, bytes: 1000 * top }, taken, colors);
        const tag = rounded[0]!;
        for (const word of taken) expect(apart(tag, word), `${width} x ${height}, ${peak}, ${top}`).toBe(true);
        expect(tag.left).toBeGreaterThanOrEqual(area.left);
        expect(tag.left + tag.width).toBeLessThanOrEqual(area.left + width);
      }
});

test('own frames stand out from libraries and the interpreter', () => {
  // Whose code it is the engine says: analysis/own_frame.h, OwnFrames.
  const frame = (name: string, own = false, hidden = false): Frame => ({
    text: name, name, file: 'train.py', line: 1, repeats: 1, hidden, own, fx: [],
  }); // prettier-ignore
  const frames = [
    frame('at::native::empty'),
    frame('_PyEval_EvalFrameDefault', false, true),
    frame('forward'),
    frame('attention', true),
    frame('step', true),
  ];
  expect(frames.map(originOf)).toEqual(['library', 'interpreter', 'library', 'own', 'own']);
  expect(ownFrame(frames)?.name).toBe('attention');
  expect(ownFrame(frames.slice(0, 3))).toBeUndefined();
  const runs = (all: boolean): unknown[] =>
    runsOf(frames, all).map(({ origin, frames: run }) => [origin, run.length]);
  expect(runs(false)).toEqual([['library', 2], ['own', 2]]); // prettier-ignore
  expect(runs(true)).toEqual([['library', 1], ['interpreter', 1], ['library', 1], ['own', 2]]); // prettier-ignore
});

test('every key of the table means its action, and no two mean the same', () => {
  const press = (key: string): KeyboardEvent => {
    const parts = key.split(' ');
    const last = parts.at(-1)!;
    const shiftKey = parts.includes('Shift');
    const code = /^(Key|Arrow)/.test(last)
      ? last
      : last.length === 1 && /[a-z]/.test(last)
        ? `Key${last.toUpperCase()}`
        : '';
    const typed = /^Key/.test(last) ? last.slice(3).toLowerCase() : last === 'Space' ? ' ' : last;
    return {
      code,
      key: shiftKey ? typed.toUpperCase() : typed,
      shiftKey,
      ctrlKey: parts.includes('Ctrl'),
      metaKey: false,
      altKey: false,
    } as KeyboardEvent;
  };
  const seen = new Set<string>();
  for (const action of actions) {
    expect(action.movement ?? action.run, action.id).toBeTruthy();
    for (const key of action.keys) {
      expect(actionOf(press(key))?.id, key).toBe(action.id);
      expect(seen.has(key), key).toBe(false);
      seen.add(key);
    }
  }
  expect(actionOf({ ...press('f'), altKey: true })).toBeUndefined();
  expect(actionOf(press('Ctrl f'))).toBeUndefined();
  expect(keyText('Shift KeyW')).toBe('Shift W');
});
