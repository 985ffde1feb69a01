// Words that are drawn into the timeline: where they fit, and what they must not cover.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Projection } from '../../web/src/draw/plot.ts';
import { colorsOf, themes } from '../../web/src/draw/colors.ts';
import type { BandLabel, Region } from '../../web/engine/index.ts';
import { bandWords, drawLabels, inkOn } from '../../web/src/draw/labels.ts';
import { drawWords } from '../../web/src/draw/map_rows.ts';
import { drawAbove, drawOoms, drawPeak, type Box } from '../../web/src/draw/markers.ts';
import { contrast } from './colour_vision.ts';

test('words in bands fit, are never cut, and have contrast on every band', () => {
  for (let grey = 0; grey < 256; grey += 1) {
    const hex = `#${grey.toString(16).padStart(2, '0').repeat(3)}`;
    assert.ok(contrast(inkOn([grey, grey, grey]), hex) >= 4.5, hex);
  }
  for (const theme of Object.values(themes))
    for (const band of colorsOf(theme).bands) {
      const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => Number.parseInt(band.slice(at, at + 2), 16));
      assert.ok(contrast(inkOn([r, g, b]), band) >= 4.5, band);
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
  const all = '2.0 KiB  step  train.py:7';
  assert.deepEqual(words(label(200, 200 + 6 * all.length + 12, 0, 16)), [{ text: all, x: 116, y: 312 }]);
  assert.equal(words(label(200, 200 + 6 * all.length + 11, 0, 16))[0]?.text, '2.0 KiB  step');
  assert.equal(words(label(200, 200 + 6 * 7 + 12, 0, 16))[0]?.text, '2.0 KiB');
  assert.deepEqual(words(label(200, 200 + 6 * 7 + 11, 0, 16)), []); // too narrow
  assert.deepEqual(words(label(200, 400, 0, 15)), []); // too low
  // Half outside: the words stay in the part that is visible.
  assert.deepEqual(words(label(0, 400, 280, 400)), [{ text: all, x: 16, y: 30 }]);
  assert.deepEqual(words(label(459, 900, 0, 16)), []); // 41 pixels of the band are visible, 42 are needed
  assert.deepEqual(words(label(0, 90, 0, 100)), []);
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
  const colors = colorsOf(themes.light);
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
        assert.ok(above.left >= area.left);
        const dot = { left: at.x(peak) - 5, top: area.top, width: 10, height: 20 };
        if (at.x(peak) > area.left + above.width + 8) assert.equal(apart(above, dot), true);
        const taken = [...drawOoms(ctx, at, [peak, 990], colors), above];
        rounded.length = 0;
        drawPeak(ctx, at, { x: peak, bytes: 1000 * top }, taken, colors);
        const tag = rounded[0]!;
        for (const word of taken) assert.equal(apart(tag, word), true, `${width} x ${height}, ${peak}, ${top}`);
        assert.ok(tag.left >= area.left);
        assert.ok(tag.left + tag.width <= area.left + width);
      }
});

test('the size of an address range is never cut: its unit stands below it in a margin too narrow', () => {
  const said: { text: string; y: number }[] = [];
  const nothing = (): void => undefined;
  const ctx = {
    measureText: (text: string) => ({ width: 7 * text.length }),
    fillText: (text: string, _: number, y: number) => said.push({ text, y }),
    ...Object.fromEntries(['save', 'restore', 'beginPath', 'rect', 'clip'].map((name) => [name, nothing])),
  } as unknown as Parameters<typeof drawWords>[0];
  const sizes = (left: number, size: number): typeof said => {
    said.length = 0;
    const at = new Projection(
      { x0: 0, x1: 1, y0: 0, y1: 1 },
      { left, top: 0, width: 300, height: 99, ratio: 1 },
    );
    const region: Region = {
      row: 0, name: 's', address: '0x7f00', size, stream: 0, stream_handle: '0', pool: null,
      expandable: false, pieces: 1,
    }; // prettier-ignore
    drawWords(ctx, at, region, 0, 46, colorsOf(themes.light), false);
    return said.slice(1);
  };
  const MiB = 1024 ** 2;
  // The strip is 24 high, below 18 of words.
  assert.deepEqual(sizes(80, 1002 * MiB), [{ text: '1002.0 MiB', y: 30 }]);
  assert.deepEqual(sizes(79, 1002 * MiB), [
    { text: '1002.0', y: 24 },
    { text: 'MiB', y: 36 },
  ]);
  assert.deepEqual(sizes(79, 20 * MiB), [{ text: '20.0 MiB', y: 30 }]);
});
