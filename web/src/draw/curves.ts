// Levels over the bands, one value per column of the grid, and the outline of a block.
import type { Bytes, DevicePx } from '../base/units.ts';
import type { Columns } from '../../engine/index.ts';
import type { TimelineColors } from './colors.ts';
import type { Context, Projection } from './plot.ts';

export interface LineStyle {
  color: string;
  width: DevicePx;
  /** 1 if it is left out. */
  opacity?: number;
}

const unrest = 6; // CSS pixels between highest and lowest from which a narrow column is drawn faintly

/**
 * A staircase; NaN leaves a gap. Where columns are narrow many risers would be a wall, and a level that swings in every
 * column (`lowest` far below) a comb over the bands: both are faint then.
 */
export function drawSteps(
  ctx: Context,
  at: Projection,
  columns: Columns,
  values: ArrayLike<Bytes>,
  style: LineStyle,
  lowest?: ArrayLike<Bytes>,
): void {
  const { ratio } = at.area;
  const dense = columns.width / at.unitsPerPixel < 4 * ratio;
  const [from, to] = visible(at, columns);
  const calm = { treads: new Path2D(), risers: new Path2D() };
  const restless = { treads: new Path2D(), risers: new Path2D() };
  let last = calm;
  let y = Number.NaN;
  let rises = 0;
  for (let i = from; i < to; i += 1) {
    const value = values[i] ?? Number.NaN;
    if (Number.isNaN(value)) {
      y = Number.NaN;
      continue;
    }
    const x = at.x((columns.first + i) * columns.width);
    const next = at.y(value);
    const swings = dense && at.y(lowest?.[i] ?? value) - next > unrest * ratio;
    const path = swings ? restless : calm;
    const rising = !Number.isNaN(y) && y !== next;
    if (rising && dense) {
      if (!swings) rises += 1;
      path.risers.moveTo(x, y);
      path.risers.lineTo(x, next);
    }
    if (Number.isNaN(y) || path !== last || (rising && dense)) path.treads.moveTo(x, next);
    else if (rising) path.treads.lineTo(x, next);
    path.treads.lineTo(at.x((columns.first + i + 1) * columns.width), next);
    y = next;
    last = path;
  }
  const stroke = (path: Path2D, width: number, alpha: number): void => {
    ctx.lineWidth = width;
    ctx.globalAlpha = alpha * (style.opacity ?? 1);
    ctx.stroke(path);
  };
  ctx.strokeStyle = style.color;
  ctx.lineJoin = 'round';
  stroke(restless.treads, ratio, 0.5);
  stroke(restless.risers, ratio, 0.12);
  stroke(calm.treads, style.width, 1);
  stroke(calm.risers, style.width, rises * 4 > to - from ? 0.35 : 1);
  ctx.globalAlpha = 1;
}

/** The edge of a band over its whole life; never thinner than it can be seen. */
export function drawBlockOutline(
  ctx: Context,
  at: Projection,
  columns: Columns,
  lower: ArrayLike<Bytes>,
  upper: ArrayLike<Bytes>,
  colors: TimelineColors,
  strong: boolean,
): void {
  const { ratio } = at.area;
  const least = 3 * ratio;
  const [from, to] = visible(at, columns);
  const path = new Path2D();
  let left = Infinity;
  let right = -Infinity;
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
      const high = at.y(upper[k] ?? 0);
      const grow = Math.max(0, least - (low - high)) / 2;
      const x0 = at.x((columns.first + k) * columns.width);
      const x1 = at.x((columns.first + k + 1) * columns.width);
      tread(top, x0, x1, high - grow);
      tread(bottom, x0, x1, low + grow);
      left = Math.min(left, x0);
      right = Math.max(right, x1);
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
  ctx.lineJoin = 'miter'; // of steps; round ones take twice as long
  ctx.globalAlpha = strong ? 0.9 : 0.6;
  ctx.strokeStyle = colors.halo;
  ctx.lineWidth = (strong ? 4 : 2.5) * ratio;
  ctx.stroke(path);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colors.outline;
  ctx.lineWidth = (strong ? 1.75 : 1) * ratio;
  ctx.stroke(path);
  if (strong && right - left < 16 * ratio) drawPointer(ctx, at, (left + right) / 2, colors);
}

/** The next of a staircase; as high as the last it is the same. */
function tread(steps: [number, number][], x0: DevicePx, x1: DevicePx, y: DevicePx): void {
  const last = steps.at(-1);
  if (last && last[1] === y) last[0] = x1;
  else steps.push([x0, y], [x1, y]);
}

/** A block too short to be seen: a mark above the plot says where it is. */
function drawPointer(ctx: Context, { area }: Projection, x: DevicePx, colors: TimelineColors): void {
  const size = 5 * area.ratio;
  const y = area.top + 3 * area.ratio;
  ctx.beginPath();
  ctx.moveTo(x - size, y);
  ctx.lineTo(x + size, y);
  ctx.lineTo(x, y + 1.5 * size);
  ctx.closePath();
  ctx.fillStyle = colors.outline;
  ctx.fill();
  ctx.globalAlpha = 0.4;
  ctx.fillRect(x - area.ratio / 2, y, area.ratio, area.height);
  ctx.globalAlpha = 1;
}

/** Range of columns that touch the plot, one more at either side. */
function visible(at: Projection, columns: Columns): [number, number] {
  const from = Math.floor(at.view.x0 / columns.width) - columns.first - 1;
  const to = Math.ceil(at.view.x1 / columns.width) - columns.first + 1;
  return [Math.max(0, from), Math.min(columns.count, to)];
}
