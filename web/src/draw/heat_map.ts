// Ranks x time as colours: which ranks share a row of pixels, and how they are painted.
import { decimalTicks } from '../base/ticks.ts';
import { formatMomentTick } from '../base/format.ts';
import type { CssPx, DevicePx, Microseconds } from '../base/units.ts';
import type { RowGroup } from '../model/fleet_facts.ts';
import { colorsOf, packed, type Theme } from './colors.ts';
import { heatColors } from './heat_colors.ts';
import { font, type Context, type PlotArea } from './plot.ts';

const gutters = { left: 76, narrowLeft: 58, marks: 14, right: 12, top: 8, bottom: 26 } as const;
/** A rank's row is at most so high. */
const tallestRow: CssPx = 22;

/** Of the canvas, at most about `room`: what its rows take, so that nothing is empty. */
export function heightFor(rows: number, room: CssPx, ratio: number): CssPx {
  const around = gutters.top + gutters.bottom;
  const { height } = heatLayout(rows, 1, Math.round(Math.max(room, around + 1) * ratio), ratio);
  return Math.ceil(height / ratio) + around + 1;
}

/** Where rows lie: either each has some pixels, or some share one. */
export interface HeatLayout extends PlotArea {
  /** Ranks that share a row of pixels; 1 = none do. */
  share: number;
  rowHeight: DevicePx;
  /** Rows as they are painted. */
  painted: number;
  rows: number;
}

export function heatLayout(rows: number, width: DevicePx, height: DevicePx, ratio: number): HeatLayout {
  const gutter = width / ratio < 560 ? gutters.narrowLeft : gutters.left;
  const left = Math.round((gutter + gutters.marks) * ratio);
  const top = Math.round(gutters.top * ratio);
  const room = Math.max(1, height - top - Math.round(gutters.bottom * ratio));
  const share = Math.max(1, Math.ceil(rows / room));
  const painted = Math.ceil(rows / share);
  const rowHeight = Math.max(
    1,
    Math.min(Math.floor(room / Math.max(painted, 1)), Math.round(tallestRow * ratio)),
  );
  return {
    left,
    top,
    width: Math.max(1, width - left - Math.round(gutters.right * ratio)),
    height: Math.max(1, painted * rowHeight),
    ratio,
    share,
    rowHeight,
    painted,
    rows,
  };
}

/** Places [first, end) of the order that a row of pixels stands for; undefined = none is there. */
export function placesAt(at: HeatLayout, y: DevicePx): { first: number; end: number } | undefined {
  const row = Math.floor((y - at.top) / at.rowHeight);
  if (row < 0 || row >= at.painted) return undefined;
  return { first: row * at.share, end: Math.min((row + 1) * at.share, at.rows) };
}
export function bucketAt(at: HeatLayout, x: DevicePx, buckets: number): number | undefined {
  const bucket = Math.floor(((x - at.left) / at.width) * buckets);
  return bucket >= 0 && bucket < buckets ? bucket : undefined;
}
export const yOf = (at: HeatLayout, place: number): DevicePx =>
  at.top + Math.floor(place / at.share) * at.rowHeight;

/** Of each painted row the highest of its ranks, moment by moment. */
export function highestOf(
  curves: Uint8Array,
  order: Int32Array,
  { share, painted }: HeatLayout,
  buckets: number,
): Uint8Array {
  const highest = new Uint8Array(painted * buckets);
  order.forEach((row, place) => {
    const to = Math.floor(place / share) * buckets;
    const from = row * buckets;
    for (let bucket = 0; bucket < buckets; bucket += 1) {
      const value = curves[from + bucket] ?? 0;
      if (value > (highest[to + bucket] ?? 0)) highest[to + bucket] = value;
    }
  });
  return highest;
}

/** Those values as an image of `buckets` x painted rows. */
export function heatImage(values: Uint8Array, buckets: number, theme: Theme): ImageData | undefined {
  const height = values.length / buckets;
  if (height === 0) return undefined;
  const colors = Uint32Array.from(heatColors(theme), packed);
  const image = new ImageData(buckets, height);
  new Uint32Array(image.data.buffer).set(Uint32Array.from(values, (value) => colors[value] ?? 0));
  return image;
}

export interface HeatShown {
  image: CanvasImageSource | undefined;
  order: Int32Array;
  groups: readonly RowGroup[];
  /** What stands beside a row. */
  label: (row: number) => string;
  lit: Uint8Array;
  outOfMemory: Uint8Array;
  span: Microseconds;
  buckets: number;
  /** Place in the order, and moment; undefined = none. */
  place: number | undefined;
  bucket: number | undefined;
  theme: Theme;
}

export function paintHeat(ctx: Context, at: HeatLayout, shown: HeatShown): void {
  const colors = colorsOf(shown.theme);
  ctx.fillStyle = colors.background;
  ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  ctx.imageSmoothingEnabled = false;
  if (shown.image) ctx.drawImage(shown.image, at.left, at.top, at.width, at.height);
  paintGroups(ctx, at, shown);
  paintMarks(ctx, at, shown);
  paintLabels(ctx, at, shown);
  paintTimes(ctx, at, shown);
  paintCursor(ctx, at, shown);
}

/** A line between rows that stand together and the next ones, where there is room for it. */
function paintGroups(ctx: Context, at: HeatLayout, { groups, theme }: HeatShown): void {
  ctx.fillStyle = colorsOf(theme).background;
  const line = Math.max(1, Math.round(at.ratio));
  for (const { first, count } of groups) {
    const high = yOf(at, first + count) - yOf(at, first);
    if (first > 0 && high >= 6 * line) ctx.fillRect(at.left, yOf(at, first), at.width, line);
  }
}

/** Lit rows have a triangle, those that ran out of memory a square; of rows that share pixels each is seen. */
function paintMarks(ctx: Context, at: HeatLayout, { order, lit, outOfMemory, theme }: HeatShown): void {
  const colors = colorsOf(theme);
  const size = 7 * at.ratio;
  const middle = (place: number): number => yOf(at, place) + at.rowHeight / 2;
  order.forEach((row, place) => {
    if (outOfMemory[row] === 1) {
      ctx.fillStyle = colors.oom;
      ctx.fillRect(at.left - 13 * at.ratio, middle(place) - 2.5 * at.ratio, 5 * at.ratio, 5 * at.ratio);
    }
    if (lit[row] !== 1) return;
    ctx.fillStyle = colors.snapshot;
    ctx.beginPath();
    ctx.moveTo(at.left - 1 * at.ratio, middle(place));
    ctx.lineTo(at.left - 1 * at.ratio - size, middle(place) - size / 2);
    ctx.lineTo(at.left - 1 * at.ratio - size, middle(place) + size / 2);
    ctx.fill();
  });
}

function paintLabels(ctx: Context, at: HeatLayout, shown: HeatShown): void {
  const { order, groups, label, theme } = shown;
  const right = at.left - (gutters.marks + 2) * at.ratio;
  ctx.fillStyle = colorsOf(theme).text;
  ctx.font = font(at, 11);
  ctx.textAlign = 'right';
  ctx.textBaseline = 'middle';
  const line = 14 * at.ratio;
  let free = 0;
  const write = (text: string, place: number): void => {
    const y = Math.max(yOf(at, place) + at.rowHeight / 2, line / 2);
    if (text === '' || y - line / 2 < free) return;
    ctx.fillText(fitting(ctx, text, right - 4 * at.ratio), right, y);
    free = y + line / 2;
  };
  if (groups.length > 0) {
    for (const { name, first, count } of groups) {
      const half = (yOf(at, first + count) - yOf(at, first)) / 2;
      write(name, half > line ? first : first + Math.floor((count - 1) / 2));
    }
    return;
  }
  const wanted = Math.max(2, at.height / (26 * at.ratio));
  const { values } = decimalTicks(0, Math.max(order.length - 1, 1), wanted, 1);
  for (const place of values) {
    const row = order[place];
    if (row !== undefined) write(label(row), place);
  }
}

/** With its end where it does not fit: `…0076`. */
function fitting(ctx: Context, text: string, width: DevicePx): string {
  let cut = text;
  while (cut.length > 1 && ctx.measureText(cut).width > width) cut = `…${cut.replace(/^…/, '').slice(1)}`;
  return cut;
}

function paintTimes(ctx: Context, at: HeatLayout, { span, theme }: HeatShown): void {
  if (!(span > 0)) return;
  const colors = colorsOf(theme);
  const { step, values } = decimalTicks(0, span, at.width / (110 * at.ratio), 1);
  ctx.font = font(at, 11);
  ctx.textBaseline = 'middle';
  const bottom = at.top + at.height;
  for (const value of values) {
    const x = at.left + (value / span) * at.width;
    ctx.fillStyle = colors.axis;
    ctx.fillRect(Math.round(x), bottom, Math.max(1, Math.round(at.ratio)), 4 * at.ratio);
    const text = formatMomentTick(value, step);
    const half = ctx.measureText(text).width / 2;
    const inside = Math.min(Math.max(x, half + 2), ctx.canvas.width - half - 2);
    ctx.fillStyle = colors.text;
    ctx.textAlign = 'center';
    ctx.fillText(text, inside, bottom + 14 * at.ratio);
  }
}

function paintCursor(ctx: Context, at: HeatLayout, { place, bucket, buckets, theme }: HeatShown): void {
  const colors = colorsOf(theme);
  const thin = Math.max(1, Math.round(at.ratio));
  if (bucket !== undefined) {
    ctx.fillStyle = colors.cursor;
    ctx.fillRect(Math.round(at.left + ((bucket + 0.5) / buckets) * at.width), at.top, thin, at.height);
  }
  if (place === undefined) return;
  // Around it: what it shows stays free.
  const height = at.rowHeight + 5 * at.ratio;
  const y = yOf(at, place) + at.rowHeight / 2 - height / 2;
  for (const [color, line] of [
    [colors.halo, 3.5],
    [colors.outline, 1.5],
  ] as const) {
    ctx.strokeStyle = color;
    ctx.lineWidth = line * at.ratio;
    ctx.strokeRect(at.left - 2 * at.ratio, y, at.width + 4 * at.ratio, height);
  }
}
