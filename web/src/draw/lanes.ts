// Rows of ops: boxes with words where they fit. What is narrower than a pixel is drawn together, so that a row costs
// what its pixels cost.
import type { AxisUnits, CssPx, DevicePx } from '../base/units.ts';
import type { Lanes } from '../../engine/index.ts';
import type { TimelineColors } from './colors.ts';
import { font, type Context, type Projection } from './plot.ts';

export const opHeight: CssPx = 16;
const gap: CssPx = 1; // between rows
const inset: CssPx = 4; // between a border and the words

/** A row: entries [first, end) of an answer. */
export interface OpRow {
  lanes: Lanes;
  first: number;
  end: number;
  /** From the upper edge of the canvas. */
  top: CssPx;
}

/** `shift`: to the axis of the plot. `searched`: only what is lit has its colour. */
export function drawOps(
  ctx: Context,
  at: Projection,
  rows: readonly OpRow[],
  shift: AxisUnits,
  searched: boolean,
  lit: ReadonlySet<number>,
  colors: TimelineColors,
): void {
  const { area } = at;
  const { ratio } = area;
  ctx.fillStyle = colors.background;
  ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  ctx.textBaseline = 'middle';
  ctx.textAlign = 'left';
  ctx.font = font(area, 11);
  if (widthsFont !== font(area, 11)) widths.clear();
  widthsFont = font(area, 11);
  for (const row of rows) drawRow(ctx, at, row, shift, searched, lit, colors, ratio);
}

function drawRow(
  ctx: Context,
  at: Projection,
  { lanes, first, end, top }: OpRow,
  shift: AxisUnits,
  searched: boolean,
  outlined: ReadonlySet<number>,
  colors: TimelineColors,
  ratio: number,
): void {
  const { left, width } = at.area;
  const right = left + width;
  const y = Math.round(top * ratio);
  const height = Math.round((top + opHeight - gap) * ratio) - y;
  const pixel = Math.max(1, Math.round(ratio));
  let drawnTo = -Infinity;
  let lastIsLit = false;
  let turn = 0;
  // Boxes that are too narrow to be told apart, drawn as one: a picture of a long trace is made of thousands.
  const narrow = { color: '', from: 0, to: 0 };
  const drawNarrow = (): void => {
    if (narrow.to <= narrow.from) return;
    ctx.fillStyle = narrow.color;
    ctx.fillRect(narrow.from, y, narrow.to - narrow.from, height);
    narrow.to = narrow.from;
  };
  for (let i = firstFrom(lanes, first, end, at.units(left) - shift); i < end; i += 1) {
    const x0 = Math.max(at.x((lanes.from[i] ?? 0) + shift), left);
    if (x0 >= right) break;
    const x1 = Math.min(at.x((lanes.to[i] ?? 0) + shift), right);
    const from = Math.round(x0);
    const to = Math.max(Math.round(x1), from + pixel);
    const one = lanes.span[i] ?? -1;
    turn = 1 - turn;
    const isLit = searched && (lanes.lit[i] ?? 0) > 0;
    if (to <= drawnTo && !outlined.has(one) && !(isLit && !lastIsLit)) continue; // nothing of it would be seen
    drawnTo = to;
    lastIsLit = isLit;
    const plain = lanes.kind[i] === 1 ? colors.steps : colors.regions;
    const isNarrow = to - from <= 2 * pixel && !outlined.has(one);
    const color = isLit ? colors.boxLine : (plain[searched || isNarrow ? 0 : turn] ?? '');
    if (isNarrow) {
      if (color !== narrow.color || from > narrow.to) {
        drawNarrow();
        narrow.color = color;
        narrow.from = from;
      }
      narrow.to = to;
      continue;
    }
    drawNarrow();
    ctx.fillStyle = color;
    ctx.fillRect(from, y, to - from, height);
    if (to - from > 3 * pixel) {
      ctx.fillStyle = colors.axis;
      ctx.fillRect(from, y, pixel, height); // where it begins
    }
    const name = lanes.names[lanes.name[i] ?? -1];
    const room = to - from - 2 * inset * ratio;
    if (name !== undefined && room > 6 * ratio) {
      const words = wordsFor(ctx, name, room);
      ctx.fillStyle = isLit ? colors.background : colors.regionText;
      if (words !== undefined) ctx.fillText(words, from + inset * ratio, y + height / 2 + ratio / 2);
    }
    if (!outlined.has(one)) continue;
    ctx.strokeStyle = colors.outline;
    ctx.lineWidth = 2 * ratio;
    ctx.strokeRect(from + ratio, y + ratio, Math.max(to - from - 2 * ratio, ratio), height - 2 * ratio);
  }
  drawNarrow();
}

/** The first entry that does not end before. */
function firstFrom({ to }: Lanes, first: number, end: number, position: AxisUnits): number {
  while (first < end) {
    const middle = (first + end) >> 1;
    if ((to[middle] ?? 0) < position) first = middle + 1;
    else end = middle;
  }
  return first;
}

/** The entry at a point, `slack` device pixels about it; -1 = none. */
export function opAt(
  at: Projection,
  { lanes, first, end }: OpRow,
  shift: AxisUnits,
  x: DevicePx,
  slack: DevicePx,
): number {
  let best = -1;
  let nearest = slack;
  for (let i = firstFrom(lanes, first, end, at.units(x - slack) - shift); i < end; i += 1) {
    const x0 = at.x((lanes.from[i] ?? 0) + shift);
    if (x0 > x + slack) break;
    const distance = Math.max(x0 - x, x - at.x((lanes.to[i] ?? 0) + shift), 0);
    if (distance > nearest || (distance === nearest && best >= 0 && distance > 0)) continue;
    nearest = distance;
    best = i;
  }
  return best;
}

const widths = new Map<string, number>(); // of texts in widthsFont
let widthsFont = '';

/** The name, or what is behind its last "::"; undefined = neither fits: words are left out rather than cut. */
function wordsFor(ctx: Context, name: string, room: DevicePx): string | undefined {
  const short = name.slice(name.lastIndexOf('::') + 2);
  return [name, short].find((text) => widthOf(ctx, text) <= room);
}

function widthOf(ctx: Context, text: string): DevicePx {
  const known = widths.get(text);
  if (known !== undefined) return known;
  if (widths.size > 5000) widths.clear();
  const { width } = ctx.measureText(text);
  widths.set(text, width);
  return width;
}
