// Colours that mean something, for all eyes.
import assert from 'node:assert/strict';
import test from 'node:test';
import { colorsOf } from '../../web/src/draw/colors.ts';
import { heatColors } from '../../web/src/draw/heat_colors.ts';
import { colorsOfKinds } from '../../web/src/draw/palettes.ts';
import { contrast, distance, seen, visions } from './colour_vision.ts';

const themes = ['light', 'dark'] as const;
const kinds = {
  by: 'stack' as const,
  ordered: false,
  inferred: false,
  by_lifetime: false,
  kinds: Array.from({ length: 12 }, (_, i) => ({
    label: String(i),
    blocks: 1,
    merged: i === 11 ? 3 : 0,
    says: '',
  })),
};

test('palettes keep kinds apart, also for colour-blind eyes and in both themes', () => {
  for (const theme of themes) {
    const colors = colorsOfKinds(kinds, theme);
    assert.equal(new Set(colors).size, 12);
    const largest = colors.slice(0, 6);
    for (const vision of visions)
      largest.forEach((a, i) =>
        largest.slice(0, i).forEach((b) => assert.ok(distance(a, b, vision) > 7, `${a} ${b} ${vision}`)),
      );
    const ramp = colorsOfKinds(
      { ...kinds, by: 'size', ordered: true, kinds: kinds.kinds.slice(0, 8) },
      theme,
    );
    const lightness = ramp.map((color) => seen(color)[0]);
    const falling = theme === 'light' ? -1 : 1;
    lightness.slice(1).forEach((value, i) => assert.ok((value - lightness[i]!) * falling > 4));
  }
});

test('bands that follow each other differ for all eyes', () => {
  for (const theme of themes) {
    const { bands } = colorsOf(theme);
    for (const vision of visions)
      bands.forEach((band, i) => {
        const next = bands[(i + 1) % bands.length]!;
        assert.ok(distance(band, next, vision) > 10, `${theme} ${vision} ${band} ${next}`);
      });
  }
});

test('what ran out of memory is told from every other sign; lines and words stand out', () => {
  for (const theme of themes) {
    const colors = colorsOf(theme);
    for (const vision of visions) {
      for (const other of [colors.snapshot, colors.annotate, colors.peak])
        assert.ok(distance(colors.oom, other, vision) > 30, `${theme} ${vision}`);
      assert.ok(distance(colors.reserved, colors.peak, vision) > 30, `${theme} ${vision}`);
    }
    for (const line of [colors.reserved, colors.oom, colors.snapshot, colors.annotate, colors.peak])
      assert.ok(contrast(line, colors.background) > 3, `${theme} ${line}`);
    assert.ok(contrast(colors.text, colors.background) > 4.5);
    assert.ok(contrast(colors.peakText, colors.peak) > 4.5);
  }
});

test('a heat map keeps its order for all eyes, and nothing at all is none of it', () => {
  for (const theme of themes) {
    const [nothing = '', ...heat] = heatColors(theme);
    assert.equal(heat.length, 255);
    const falling = theme === 'light' ? -1 : 1;
    for (const vision of visions) {
      // An eighth more memory is always a clear step of lightness.
      const steps = heat.filter((_, at) => at % 32 === 0).map((color) => seen(color, vision)[0]);
      steps
        .slice(1)
        .forEach((value, at) => assert.ok((value - steps[at]!) * falling > 3, `${theme} ${vision}`));
      const nearest = Math.min(...heat.map((color) => distance(color, nothing, vision)));
      assert.ok(nearest > 7, `${theme} ${vision}`);
    }
  }
});

test('words of regions stand out from their colours', () => {
  for (const theme of ['light', 'dark'] as const) {
    const { regions, steps, regionText, background, snapshot, annotate } = colorsOf(theme);
    for (const under of [...regions, ...steps]) assert.ok(contrast(regionText, under) > 4.5);
    for (const mark of [snapshot, annotate]) assert.ok(contrast(mark, background) > 4.5);
  }
});
