// Colours that mean something, for all eyes.
import assert from 'node:assert/strict';
import test from 'node:test';
import { colorsOf, themes, themeOf } from '../../web/src/draw/colors.ts';
import { heatColors } from '../../web/src/draw/heat_colors.ts';
import { colorsOfKinds } from '../../web/src/draw/palettes.ts';
import type { Kinds } from '../../web/engine/index.ts';
import { tokens } from '../../web/src/controls/styles.ts';
import { contrast, distance, seen, visions } from './colour_vision.ts';

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
  for (const theme of Object.values(themes)) {
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
    const falling = theme.name === 'light' ? -1 : 1;
    lightness.slice(1).forEach((value, i) => assert.ok((value - lightness[i]!) * falling > 4));
  }
});

test('a category has one colour in every file, and what is not known is grey', () => {
  const named = (...labels: string[]): Kinds => ({
    ...kinds,
    by: 'category',
    kinds: labels.map((label) => ({ label, blocks: 1, merged: 0, says: '' })),
  });
  for (const theme of Object.values(themes)) {
    const one = colorsOfKinds(named('parameter', 'kv cache', 'activation', 'unknown'), theme);
    const other = colorsOfKinds(named('activation', 'gradient', 'parameter'), theme);
    assert.equal(one[0], other[2]);
    assert.equal(one[2], other[0]);
    assert.equal(new Set(one).size, 4);
    assert.equal(one[3], colorsOfKinds(kinds, theme)[11]); // as what is merged
  }
});

test('bands that follow each other differ for all eyes', () => {
  for (const theme of Object.values(themes)) {
    const { bands } = colorsOf(theme);
    for (const vision of visions)
      bands.forEach((band, i) => {
        const next = bands[(i + 1) % bands.length]!;
        assert.ok(distance(band, next, vision) > 10, `${theme.name} ${vision} ${band} ${next}`);
      });
  }
});

test('what ran out of memory is told from every other sign; lines and words stand out', () => {
  for (const theme of Object.values(themes)) {
    const colors = colorsOf(theme);
    for (const vision of visions) {
      for (const other of [colors.snapshot, colors.annotate, colors.peak])
        assert.ok(distance(colors.oom, other, vision) > 30, `${theme.name} ${vision}`);
      assert.ok(distance(colors.reserved, colors.peak, vision) > 30, `${theme.name} ${vision}`);
    }
    for (const line of [colors.reserved, colors.oom, colors.snapshot, colors.annotate, colors.peak])
      assert.ok(contrast(line, colors.background) > 3, `${theme.name} ${line}`);
    assert.ok(contrast(colors.text, colors.background) > 4.5);
    assert.ok(contrast(colors.peakText, colors.peak) > 4.5);
  }
});

test('a heat map keeps its order for all eyes, and nothing at all is none of it', () => {
  for (const theme of Object.values(themes)) {
    const [nothing = '', ...heat] = heatColors(theme);
    assert.equal(heat.length, 255);
    const falling = theme.name === 'light' ? -1 : 1;
    for (const vision of visions) {
      // An eighth more memory is always a clear step of lightness.
      const steps = heat.filter((_, at) => at % 32 === 0).map((color) => seen(color, vision)[0]);
      steps
        .slice(1)
        .forEach((value, at) => assert.ok((value - steps[at]!) * falling > 3, `${theme.name} ${vision}`));
      const nearest = Math.min(...heat.map((color) => distance(color, nothing, vision)));
      assert.ok(nearest > 7, `${theme.name} ${vision}`);
    }
  }
});

test('words of regions stand out from their colours', () => {
  for (const theme of Object.values(themes)) {
    const { regions, steps, regionText, background, snapshot, annotate } = colorsOf(theme);
    for (const under of [...regions, ...steps]) assert.ok(contrast(regionText, under) > 4.5);
    for (const mark of [snapshot, annotate]) assert.ok(contrast(mark, background) > 4.5);
  }
});

test('canvases know the colours that the element has by itself, and follow those of a page', () => {
  const [light = '', dark = ''] = tokens.cssText.split("[data-theme='dark']");
  for (const [theme, text] of [
    [themes.light, light],
    [themes.dark, dark.split('@media')[0] ?? ''],
  ] as const) {
    // What a page leaves as it is is none of its own.
    const valueOf = (token: string): string => new RegExp(`--${token}: ([^;]*);`).exec(text)?.[1] ?? '';
    assert.deepEqual(themeOf(theme.name, valueOf), theme);
    assert.notEqual(valueOf('surface'), '');
  }
  const own = themeOf('light', (token) => (token === 'surface' ? '#fff8e7' : ''));
  assert.equal(colorsOf(own).background, '#fff8e7');
  assert.equal(colorsOf(own).oom, colorsOf(themes.light).oom);
  assert.notEqual(own.key, themes.light.key);
});
