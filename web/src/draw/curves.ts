// Levels over the bands, one value per column of the grid, and the outline of a block.
import type { Bytes, DevicePx } from '../base/units.ts';
import type { Columns } from '../engine/protocol.ts';
import type { TimelineColors } from './colors.ts';
import type { Context, Projection } from './plot.ts';

export interface LineStyle {
  color: string;
  width: DevicePx;
  /** Also vertical lines where columns are narrow. */
  risers: boolean;
}

/** A staircase; NaN leaves a gap. Where columns are a few pixels wide its risers would be a wall: only treads then. */
export function drawSteps(
  ctx: Context,
  at: Projection,
  columns: Columns,
  values: ArrayLike<Bytes>,
  style: LineStyle,
): void {
  const dense = columns.width / at.unitsPerPixel < 4 * at.area.ratio;
  const [from, to] = visible(at, columns);
  ctx.beginPath();
  let y = Number.NaN;
  for (let i = from; i < to; i += 1) {
    const value = values[i] ?? Number.NaN;
    if (Number.isNaN(value)) {
      y = Number.NaN;
      continue;
    }
    const x = at.x((columns.first + i) * columns.width);
    const next = at.y(value);
    const riser = style.risers || !dense;
    if (Number.isNaN(y) || (y !== next && !riser)) ctx.moveTo(x, next);
    else if (y !== next) ctx.lineTo(x, next);
    y = next;
    ctx.lineTo(at.x((columns.first + i + 1) * columns.width), y);
  }
  ctx.strokeStyle = style.color;
  ctx.lineWidth = style.width;
  ctx.lineJoin = 'round';
  ctx.stroke();
}

/** The edge of a block over its whole life; never thinner than it can be seen. */
export function drawBlockOutline(
  ctx: Context,
  at: Projection,
  columns: Columns,
  lower: ArrayLike<Bytes>,
  size: Bytes,
  colors: TimelineColors,
  strong: boolean,
): void {
  const { ratio } = at.area;
  const least = 3 * ratio;
  const [from, to] = visible(at, columns);
  const path = new Path2D();
  for (let i = from; i < to;) {
    if (Number.isNaN(lower[i] ?? Number.NaN)) {
      i += 1;
      continue;
    }
    let end = i;
    while (end < to && !Number.isNaN(lower[end] ?? Number.NaN)) end += 1;
    const top: [number, number][] = [];
    const bottom: [number, number][] = [];
    for (let k = i; k < end; k += 1) {
      const low = at.y(lower[k] ?? 0);
      const high = at.y((lower[k] ?? 0) + size);
      const grow = Math.max(0, least - (low - high)) / 2;
      const left = at.x((columns.first + k) * columns.width);
      const right = at.x((columns.first + k + 1) * columns.width);
      top.push([left, high - grow], [right, high - grow]);
      bottom.push([left, low + grow], [right, low + grow]);
    }
    // A life shorter than a pixel is still drawn.
    const first = top[0];
    const last = top.at(-1);
    if (first && last && last[0] - first[0] < least) last[0] = first[0] + least;
    top.forEach(([x, y], k) => (k === 0 ? path.moveTo(x, y) : path.lineTo(x, y)));
    for (const [x, y] of bottom.reverse()) path.lineTo(x, y);
    path.closePath();
    i = end;
  }
  ctx.lineJoin = 'round';
  ctx.globalAlpha = strong ? 0.9 : 0.6;
  ctx.strokeStyle = colors.halo;
  ctx.lineWidth = (strong ? 4 : 2.5) * ratio;
  ctx.stroke(path);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colors.outline;
  ctx.lineWidth = (strong ? 1.75 : 1) * ratio;
  ctx.stroke(path);
}

/** Range of columns that touch the plot, one more at either side. */
function visible(at: Projection, columns: Columns): [number, number] {
  const from = Math.floor(at.view.x0 / columns.width) - columns.first - 1;
  const to = Math.ceil(at.view.x1 / columns.width) - columns.first + 1;
  return [Math.max(0, from), Math.min(columns.count, to)];
}
