// Rows of the address map: what a region is called, its blocks at their offsets, x as on the timeline.
import { formatBytes } from '../base/format.ts';
import type { CssPx, DevicePx, Rank } from '../base/units.ts';
import type { Columns, Region } from '../../engine/index.ts';
import type { TimelineColors } from './colors.ts';
import { font, type Context, type Projection } from './plot.ts';

/** Of a row: a line of words, then the strip with the blocks, then a gap. */
export const wordsHeight: CssPx = 18;
const gap: CssPx = 4;
/** Between a size and the plot; of a size on two lines. */
const sizeGap: CssPx = 8;
const lineHeight: CssPx = 12;
export const stripHeight = (rowHeight: CssPx): CssPx => rowHeight - wordsHeight - gap;

/** Few rows share the room, so that more is seen in each. */
export function rowHeightFor(rows: number, room: CssPx): CssPx {
  return Math.min(Math.max(Math.floor(room / Math.max(rows, 1)), 46), 160);
}

/** What the engine drew of some rows. */
export interface MapRows {
  columns: Columns;
  /** Regions [first, first + count), `height` pixels each. */
  first: number;
  count: number;
  height: DevicePx;
  ranks: Int32Array;
  /** The share of each region that is free in each column; undefined = not coloured by it. */
  freeShares: Float32Array | undefined;
  canvas: HTMLCanvasElement;
}

/** A part of a picture, in its pixels. */
export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Where pixels of a rank are; undefined = nowhere in these rows. */
export function boxOf({ columns: { count: width }, ranks }: MapRows, rank: Rank): Box | undefined {
  let box: Box | undefined;
  for (let i = ranks.indexOf(rank); i >= 0; i = ranks.indexOf(rank, i + 1)) {
    const [x, y] = [i % width, Math.floor(i / width)];
    box ??= { left: x, top: y, right: x + 1, bottom: y + 1 };
    box.left = Math.min(box.left, x);
    box.right = Math.max(box.right, x + 1);
    box.bottom = y + 1;
  }
  return box;
}

/** `top`: of the row, on the canvas. Words are cut at the right edge, sizes nowhere. */
export function drawWords(
  ctx: Context,
  { area }: Projection,
  region: Region | undefined,
  top: DevicePx,
  rowHeight: CssPx,
  colors: TimelineColors,
  strong: boolean,
): void {
  const { ratio, left, width } = area;
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, top, left + width, rowHeight * ratio);
  ctx.clip();
  ctx.textBaseline = 'middle';
  ctx.font = font(area, 11.5, strong ? 650 : 500);
  ctx.fillStyle = colors.text;
  const middle = top + (wordsHeight / 2 + 1) * ratio;
  ctx.textAlign = 'left';
  ctx.fillText(region ? wordsOf(region) : '…', left, middle);
  if (region) {
    ctx.textAlign = 'right';
    ctx.font = font(area, 11.5, 600);
    const size = formatBytes(region.size);
    // The plot lies under the timeline's, so its margin is as wide: in one that is too narrow the unit stands below the number.
    const isNarrow = ctx.measureText(size).width > left - (sizeGap + 2) * ratio;
    const lines = isNarrow ? size.split(' ') : [size];
    const centre = top + (wordsHeight + stripHeight(rowHeight) / 2) * ratio;
    lines.forEach((line, at) => {
      const below = (at - (lines.length - 1) / 2) * lineHeight * ratio;
      ctx.fillText(line, left - sizeGap * ratio, centre + below);
    });
  }
  ctx.restore();
}

export function wordsOf({ name, stream, pool, expandable, pieces }: Region): string {
  const parts = [name, `stream ${stream}`];
  if (pool && (pool[0] !== 0 || pool[1] !== 0)) parts.push(`private pool (${pool[0]}, ${pool[1]})`);
  if (expandable) parts.push(pieces > 1 ? `expandable, ${pieces} pieces` : 'expandable');
  return parts.join('  ·  ');
}

/** The strip of a row, whose picture may be of another view: it is moved to where it belongs. */
export function drawStrip(
  ctx: Context,
  at: Projection,
  rows: MapRows | undefined,
  row: number,
  top: DevicePx,
  rowHeight: CssPx,
  colors: TimelineColors,
): void {
  const { left, width, ratio } = at.area;
  const y = Math.round(top + wordsHeight * ratio);
  const height = Math.round(stripHeight(rowHeight) * ratio);
  ctx.fillStyle = colors.grid;
  ctx.fillRect(left, y + height - Math.max(1, Math.round(ratio)), width, Math.max(1, Math.round(ratio)));
  if (!rows || row < rows.first || row >= rows.first + rows.count) return;
  const { columns } = rows;
  const from = at.x(columns.first * columns.width);
  const to = at.x((columns.first + columns.count) * columns.width);
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, y, width, height);
  ctx.clip();
  ctx.imageSmoothingEnabled = false;
  const source = (row - rows.first) * rows.height;
  ctx.drawImage(rows.canvas, 0, source, columns.count, rows.height, from, y, to - from, height);
  ctx.restore();
}

/** Around a block; `rowTop` tells where a row lies on the canvas. */
export function drawBox(
  ctx: Context,
  at: Projection,
  { columns, first, height }: MapRows,
  box: Box,
  rowTop: (row: number) => DevicePx,
  colors: TimelineColors,
): void {
  const { ratio, left, width } = at.area;
  const row = first + Math.floor(box.top / height);
  const strip = Math.round(rowTop(row) + wordsHeight * ratio);
  const x0 = Math.max(at.x((columns.first + box.left) * columns.width), left);
  const x1 = Math.min(at.x((columns.first + box.right) * columns.width), left + width);
  const y0 = strip + (box.top % height);
  const y1 = y0 + (box.bottom - box.top);
  if (x1 <= x0) return;
  ctx.lineJoin = 'round';
  for (const [color, line] of [
    [colors.halo, 3.5],
    [colors.outline, 1.5],
  ] as const) {
    ctx.strokeStyle = color;
    ctx.lineWidth = line * ratio;
    ctx.strokeRect(x0, y0, Math.max(x1 - x0, 2 * ratio), Math.max(y1 - y0, 2 * ratio));
  }
}
