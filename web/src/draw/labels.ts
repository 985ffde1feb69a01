// Words in bands: the size of the block and where it came from, only where they fit.
import { formatBytes } from '../base/format.ts';
import type { DevicePx } from '../base/units.ts';
import type { BandLabel } from '../../engine/index.ts';
import { font, type Context, type Projection } from './plot.ts';

/** Least room for a word, in CSS pixels. */
export const labelRoom = { width: 44, height: 16 } as const;

const inset = 6; // CSS pixels between a band's edge and its words
const ink = { dark: '#000000', light: '#ffffff' } as const;

/** A place for words, and those from all of them to the least. */
export interface Label extends Pick<BandLabel, 'x0' | 'x1' | 'y0' | 'y1'> {
  words: readonly string[];
}

/** Colour of a band, 0..255 a channel. */
export type Rgb = readonly [number, number, number];

/**
 * Each in the visible part of its place, at its left; left out where the words do not fit. `colorAt`: what the
 * canvas shows there.
 */
export function drawLabels(
  ctx: Context,
  at: Projection,
  labels: readonly Label[],
  colorAt: (x: DevicePx, y: DevicePx) => Rgb | undefined,
): void {
  const { area } = at;
  const { ratio } = area;
  ctx.font = font(area, 11.5, 500);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  for (const label of labels) {
    const left = Math.max(at.x(label.x0), area.left);
    const right = Math.min(at.x(label.x1), area.left + area.width);
    const top = Math.max(at.y(label.y1), area.top);
    const bottom = Math.min(at.y(label.y0), area.top + area.height);
    if (bottom - top < labelRoom.height * ratio) continue;
    const room = right - left - 2 * inset * ratio;
    const words = label.words.find((text) => ctx.measureText(text).width <= room);
    if (words === undefined) continue;
    const x = Math.round(left + inset * ratio);
    const y = Math.round((top + bottom) / 2);
    const color = colorAt(x, y);
    if (!color) continue;
    ctx.fillStyle = inkOn(color);
    ctx.fillText(words, x, y);
  }
}

/** Of a band. */
export function bandWords({ size, name: envelope, function: name, place }: BandLabel): string[] {
  const bytes = formatBytes(size);
  if (envelope !== undefined) return [`${bytes}  ${envelope}`, bytes];
  if (name === '') return [bytes];
  const named = `${bytes}  ${name}`;
  return place === '' ? [named, bytes] : [`${named}  ${place}`, named, bytes];
}

/** The ink with the greater contrast (WCAG 2 relative luminance); at least 4.5:1 on any colour. */
export function inkOn(color: Rgb): string {
  const luminance = luminanceOf(color);
  return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? ink.dark : ink.light;
}

function luminanceOf([r, g, b]: Rgb): number {
  const light = (value: number): number =>
    value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
  return 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
}
