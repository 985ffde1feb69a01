// The allocator's state as rectangles: segments, blocks in the colours that the engine gives them, what is lost to
// rounding, what waits to be freed.
import type { DevicePx } from '../base/units.ts';
import { stateKinds, type Kinds, type StateRects, type StateWindow } from '../../engine/index.ts';
import type { Theme, ThemeName } from './colors.ts';
import { colorsOfKinds, shadesOfFree } from './palettes.ts';
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
const looks: Record<ThemeName, Look> = {
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

function lookOf({ name, own }: Theme): Look {
  const { bg, surface } = own;
  return { ...looks[name], ...(bg && { background: bg }), ...(surface && { segment: surface }) };
}

const mostKinds = 6;

/** What the colours mean, for the legend. */
export function legendOf(
  theme: Theme,
  kinds: Kinds | undefined,
  by: 'blocks' | 'free',
): { name: string; color: string; line: string }[] {
  const look = lookOf(theme);
  if (by === 'free') {
    return [
      { name: 'block', color: look.several, line: look.several },
      { name: 'waits to be freed', color: look.pending, line: look.pending },
    ];
  }
  const colors = colorsOfKinds(kinds, theme);
  const names = kinds?.kinds.length ? kinds.kinds.slice(0, mostKinds).map(({ label }) => label) : ['block'];
  return [
    ...names.map((name, index) => {
      const color = colors[index] ?? look.several;
      return { name, color, line: color };
    }),
    { name: 'waits to be freed', color: look.pending, line: look.pending },
    { name: 'lost to rounding', color: look.rounding, line: look.rounding },
    { name: 'free in its segment', color: look.segment, line: look.segmentLine },
  ];
}

/** What a filter does not mean keeps this share of its colour. */
const dimmed = 0.25;

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

/** By free share each segment has the shade of what is free in it, and blocks are all alike. */
export function drawState(
  ctx: Context,
  rects: StateRects | undefined,
  shift: Shift,
  theme: Theme,
  ratio: number,
  by: 'blocks' | 'free' = 'blocks',
): void {
  const look = lookOf(theme);
  const shades = by === 'free' ? shadesOfFree(theme) : undefined;
  ctx.fillStyle = look.background;
  ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  if (!rects) return;
  const { x, y, width, height, kind, free, colour, matched } = rects;
  const words = !shades && colour && new Uint32Array(colour.buffer, colour.byteOffset, colour.byteLength / 4);
  const styles = new Map<number, string>();
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
        ctx.fillStyle = shades?.[Math.round((free[i] ?? 0) * (shades.length - 1))] ?? look.segment;
        break;
      case 'block':
        ctx.fillStyle = words ? styleOf(words[i] ?? 0, styles) : look.several;
        break;
      case 'pending':
        ctx.fillStyle = look.pending;
        break;
      case 'rounding':
        ctx.fillStyle = shades ? look.several : look.rounding;
        break;
    }
    // Blocks are dimmed by the engine, as on the timeline; the segment shows through what else is.
    const fades =
      matched?.[i] === 0 &&
      (shades ? kind[i] !== 0 : ['pending', 'rounding'].includes(stateKinds[kind[i] ?? 0] ?? ''));
    if (fades) ctx.globalAlpha = dimmed;
    ctx.fillRect(x0, y0, x1 - x0, y1 - y0);
    if (fades) ctx.globalAlpha = 1;
  }
}

/** 0xAABBGGRR, opaque. */
function styleOf(rgba: number, known: Map<number, string>): string {
  let style = known.get(rgba);
  if (style === undefined) {
    style = `rgb(${rgba & 255} ${(rgba >> 8) & 255} ${(rgba >> 16) & 255})`;
    known.set(rgba, style);
  }
  return style;
}

/** Around a rectangle. */
export function drawFrame(
  ctx: Context,
  [x, y, width, height]: readonly [DevicePx, DevicePx, DevicePx, DevicePx],
  theme: Theme,
  ratio: number,
): void {
  const look = lookOf(theme);
  for (const [style, line] of [
    [look.halo, 4 * ratio],
    [look.outline, 2 * ratio],
  ] as const) {
    ctx.strokeStyle = style;
    ctx.lineWidth = line;
    ctx.strokeRect(Math.round(x), Math.round(y), Math.max(Math.round(width), 2 * ratio), Math.round(height));
  }
}
