// The allocator's state as rectangles: segments, blocks in the colours of their bands, what is lost to rounding, what
// waits to be freed.
import type { DevicePx, Rank } from '../base/units.ts';
import { stateKinds, type StateRects, type StateWindow } from '../../engine/index.ts';
import { colorsOf, type Theme } from './colors.ts';
import type { Context } from './plot.ts';

interface Look {
  background: string;
  segment: string;
  segmentLine: string;
  pending: string;
  rounding: string;
  several: string;
  outline: string;
  halo: string;
}
const looks: Record<Theme, Look> = {
  light: {
    background: '#f5f6f8',
    segment: '#ffffff',
    segmentLine: '#8b97a5',
    pending: '#c8322a',
    rounding: '#e58a84',
    several: '#8696aa',
    outline: '#0b1118',
    halo: '#ffffff',
  },
  dark: {
    background: '#0c0f13',
    segment: '#1b2129',
    segmentLine: '#566373',
    pending: '#ff6b60',
    rounding: '#a8524d',
    several: '#62738a',
    outline: '#ffffff',
    halo: '#0b0e12',
  },
};

/** What the colours mean, for the legend. */
export function legendOf(theme: Theme): { name: string; color: string; line: string }[] {
  const look = looks[theme];
  const block = colorsOf(theme).bands[0] ?? look.several;
  return [
    { name: 'block', color: block, line: block },
    { name: 'waits to be freed', color: look.pending, line: look.pending },
    { name: 'lost to rounding', color: look.rounding, line: look.rounding },
    { name: 'free in its segment', color: look.segment, line: look.segmentLine },
  ];
}

const lightnesses = 7;
const step = 9; // of 256
/** By theme: every band in `lightnesses` shades. */
const shades: Partial<Record<Theme, string[]>> = {};

function shadesOf(theme: Theme): string[] {
  return (shades[theme] ??= colorsOf(theme).bands.flatMap((hex) => {
    const channels = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
    return Array.from({ length: lightnesses }, (_, lightness) => {
      const by = lightness - (lightnesses - 1) / 2;
      const towards = by < 0 ? 0 : 255;
      const share = Math.abs(by) * step;
      return `rgb(${channels.map((channel) => (channel * (256 - share) + towards * share) >> 8).join(' ')})`;
    });
  }));
}

/** The colour of its band on the timeline (engine/replay/band_colours.h), as long as every block has one of its own. */
function colourOf(rank: Rank, all: readonly string[]): string {
  const bands = all.length / lightnesses;
  const band = Math.floor(((Math.imul(rank, 0x9e3779b1) >>> 0) * bands) / 2 ** 32);
  return all[band * lightnesses + ((rank * 3) % lightnesses)] ?? '';
}

/** `scale` and `shift` put rectangles of an older window in their place: x * scale + shift. */
export interface Shift {
  scale: number;
  x: DevicePx;
  y: DevicePx;
}

export function shiftBetween(from: StateWindow, to: StateWindow): Shift {
  const scale = to.zoom / from.zoom;
  return { scale, x: from.left * scale - to.left, y: from.top * scale - to.top };
}

export function drawState(
  ctx: Context,
  rects: StateRects | undefined,
  shift: Shift,
  theme: Theme,
  ratio: number,
): void {
  const look = looks[theme];
  ctx.fillStyle = look.background;
  ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  if (!rects) return;
  const all = shadesOf(theme);
  const { x, y, width, height, kind, row, rank } = rects;
  const line = Math.max(1, Math.round(ratio));
  for (let i = 0; i < x.length; i += 1) {
    const left = (x[i] ?? 0) * shift.scale + shift.x;
    const top = (y[i] ?? 0) * shift.scale + shift.y;
    const w = (width[i] ?? 0) * shift.scale;
    const h = (height[i] ?? 0) * shift.scale;
    // Edges on whole pixels: neighbours meet without a seam, and lines are sharp.
    const [x0, y0] = [Math.round(left), Math.round(top)];
    const [x1, y1] = [Math.max(Math.round(left + w), x0 + 1), Math.max(Math.round(top + h), y0 + 1)];
    switch (stateKinds[kind[i] ?? 0]) {
      case undefined:
      case 'gap':
        continue; // the segment shows through
      case 'segment':
        // A frame around it, so that blocks at its ends do not hide it; tiny ones would be nothing else.
        if (h >= 4 * line && w >= 2 * line) {
          ctx.fillStyle = look.segmentLine;
          ctx.fillRect(x0 - line, y0 - line, x1 - x0 + 2 * line, y1 - y0 + 2 * line);
        }
        ctx.fillStyle = look.segment;
        break;
      case 'block':
        ctx.fillStyle =
          (row[i] ?? -1) < 0 || (rank[i] ?? -1) < 0 ? look.several : colourOf(rank[i] ?? 0, all);
        break;
      case 'pending':
        ctx.fillStyle = look.pending;
        break;
      case 'rounding':
        ctx.fillStyle = look.rounding;
        break;
    }
    ctx.fillRect(x0, y0, x1 - x0, y1 - y0);
  }
}

/** Around a rectangle. */
export function drawFrame(
  ctx: Context,
  [x, y, width, height]: readonly [DevicePx, DevicePx, DevicePx, DevicePx],
  theme: Theme,
  ratio: number,
): void {
  const look = looks[theme];
  for (const [style, line] of [
    [look.halo, 4 * ratio],
    [look.outline, 2 * ratio],
  ] as const) {
    ctx.strokeStyle = style;
    ctx.lineWidth = line;
    ctx.strokeRect(Math.round(x), Math.round(y), Math.max(Math.round(width), 2 * ratio), Math.round(height));
  }
}
