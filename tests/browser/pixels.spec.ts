// What the canvas shows where the blocks are known.
import { expect, test } from '@playwright/test';
import { colorsOf, themes } from '../../web/src/draw/colors.ts';
import { pointOf, colorAt } from './page.ts';
import { knownSnapshot, MiB } from './pickle.ts';
import { waitForState, openPage, choose, openKnown } from './support.ts';

const channels = (color: string): number[] =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

/** The engine varies the lightness of a band's colour by up to 27/256 (engine/replay/paint.cpp). */
function isShade(color: string, band: string): boolean {
  const [seen, meant] = [channels(color), channels(band)];
  return [-27, -18, -9, 0, 9, 18, 27].some((share) =>
    meant.every((value, k) => {
      const shade = value + (((share < 0 ? 0 : 255) - value) * Math.abs(share)) / 256;
      return Math.abs(shade - seen[k]!) <= 2;
    }),
  );
}

/** The ground, or the hatching of what is reserved on it (`gap` and `hatch` in draw/colors.ts). */
function isGround(color: string, background: string): boolean {
  const [seen, ground] = [channels(color), channels(background)];
  return seen.every((value, k) => Math.abs(value - ground[k]!) <= 66);
}

for (const theme of ['light', 'dark'] as const) {
  test(`bands lie where the blocks are, ${theme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: theme });
    await openKnown(page);
    const { bands, background } = colorsOf(themes[theme]);

    // Middle of each band, away from curves and grid lines.
    const a = await colorAt(page, 4.3, 1.3 * MiB);
    const b = await colorAt(page, 4.3, 5.3 * MiB);
    const c = await colorAt(page, 4.3, 6.5 * MiB);
    for (const color of [a, b, c])
      expect(
        bands.some((band) => isShade(color, band)),
        color,
      ).toBe(true);
    expect(new Set([a, b, c]).size).toBe(3);
    for (const event of [1, 2, 3, 6, 9])
      expect(await colorAt(page, event + 0.3, 1.3 * MiB), `A at ${event}`).toBe(a);
    expect(await colorAt(page, 3.3, 5.3 * MiB)).toBe(b);
    // B is gone after event 6: C has slid down on A, nothing is left above.
    for (const event of [6, 7]) {
      expect(await colorAt(page, event + 0.3, 4.3 * MiB), `C at ${event}`).toBe(c);
      const above = await colorAt(page, event + 0.3, 6.5 * MiB);
      expect(isGround(above, background), `above at ${event}: ${above}`).toBe(true);
    }
    expect(isGround(await colorAt(page, 0.3, 1.3 * MiB), background), 'before A').toBe(true);
    expect(isGround(await colorAt(page, 9.3, 4.7 * MiB), background), 'after C').toBe(true);
  });
}

for (const theme of ['light', 'dark'] as const) {
  test(`a band with room says its size and where it came from, ${theme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: theme });
    await openPage(page);
    await choose(page, { name: 'known.pickle', buffer: knownSnapshot() });
    await waitForState(page, 'ready');
    // Event 4 of A: from its left edge the words run to the right, half way up.
    const at = await pointOf(page, 1.02, 2 * MiB);
    const end = await pointOf(page, 9.9, 2 * MiB);
    const inks = (x: number, width: number): Promise<number> =>
      page.locator('canvas.base').evaluate(
        (canvas, box) => {
          const rect = canvas.getBoundingClientRect();
          const data = (canvas as HTMLCanvasElement)
            .getContext('2d')!
            .getImageData(box.x - rect.left, box.y - rect.top - 6, box.width, 12).data;
          const colors = new Set<string>();
          for (let i = 0; i < data.length; i += 4) colors.add(data.subarray(i, i + 3).join());
          return colors.size;
        },
        { x, y: at.y, width },
      );
    const words = await page.evaluate(() => {
      const ctx = document.createElement('canvas').getContext('2d')!;
      ctx.font = '500 11.5px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
      return ctx.measureText('4.0 MiB  attention  train.py:42').width;
    });
    expect(await inks(at.x + 6, words), 'the words').toBeGreaterThan(8);
    expect(await inks(at.x + words - 20, 24), 'the end of the words').toBeGreaterThan(4);
    expect(await inks(at.x + words + 16, end.x - at.x - words - 40), 'beyond them').toBe(1);
  });
}
