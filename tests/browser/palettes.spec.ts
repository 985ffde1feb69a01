// Colours that mean something, for all eyes: computed, without a page.
import { expect, test } from '@playwright/test';
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
    expect(new Set(colors).size).toBe(12);
    const largest = colors.slice(0, 6);
    for (const vision of visions)
      largest.forEach((a, i) =>
        largest
          .slice(0, i)
          .forEach((b) => expect(distance(a, b, vision), `${a} ${b} ${vision}`).toBeGreaterThan(7)),
      );
    const ramp = colorsOfKinds(
      { ...kinds, by: 'size', ordered: true, kinds: kinds.kinds.slice(0, 8) },
      theme,
    );
    const lightness = ramp.map((color) => seen(color)[0]);
    const falling = theme === 'light' ? -1 : 1;
    lightness.slice(1).forEach((value, i) => expect((value - lightness[i]!) * falling).toBeGreaterThan(4));
  }
});

test('bands that follow each other differ for all eyes', () => {
  for (const theme of themes) {
    const { bands } = colorsOf(theme);
    for (const vision of visions)
      bands.forEach((band, i) => {
        const next = bands[(i + 1) % bands.length]!;
        expect(distance(band, next, vision), `${theme} ${vision} ${band} ${next}`).toBeGreaterThan(10);
      });
  }
});

test('what ran out of memory is told from every other sign; lines and words stand out', () => {
  for (const theme of themes) {
    const colors = colorsOf(theme);
    for (const vision of visions) {
      for (const other of [colors.snapshot, colors.annotate, colors.peak])
        expect(distance(colors.oom, other, vision), `${theme} ${vision}`).toBeGreaterThan(30);
      expect(distance(colors.reserved, colors.peak, vision), `${theme} ${vision}`).toBeGreaterThan(30);
    }
    for (const line of [colors.reserved, colors.oom, colors.snapshot, colors.annotate, colors.peak])
      expect(contrast(line, colors.background), `${theme} ${line}`).toBeGreaterThan(3);
    expect(contrast(colors.text, colors.background)).toBeGreaterThan(4.5);
    expect(contrast(colors.peakText, colors.peak)).toBeGreaterThan(4.5);
  }
});

test('a heat map keeps its order for all eyes, and nothing at all is none of it', () => {
  for (const theme of themes) {
    const [nothing = '', ...heat] = heatColors(theme);
    expect(heat).toHaveLength(255);
    const falling = theme === 'light' ? -1 : 1;
    for (const vision of visions) {
      // An eighth more memory is always a clear step of lightness.
      const steps = heat.filter((_, at) => at % 32 === 0).map((color) => seen(color, vision)[0]);
      steps
        .slice(1)
        .forEach((value, at) =>
          expect((value - steps[at]!) * falling, `${theme} ${vision}`).toBeGreaterThan(3),
        );
      const nearest = Math.min(...heat.map((color) => distance(color, nothing, vision)));
      expect(nearest, `${theme} ${vision}`).toBeGreaterThan(7);
    }
  }
});
