// What is reserved and in no block: hatched, from the top of the stack to the line of what is reserved.
import type { Bytes } from '../base/units.ts';
import type { Columns, Curves } from '../../engine/index.ts';
import type { TimelineColors } from './colors.ts';
import type { Context, Projection } from './plot.ts';

/** Between two lines of the hatching, in CSS pixels. */
export const hatchStep = 6;

/** Runs of columns in which more is reserved than in use: their numbers, `end` exclusive. */
export function gapsIn(
  { highest, reserved }: Pick<Curves, 'highest' | 'reserved'>,
  from: number,
  to: number,
): { from: number; end: number }[] {
  const runs: { from: number; end: number }[] = [];
  for (let i = from; i < to; i += 1) {
    // False where one of them is NaN.
    if (!((reserved[i] ?? 0) > (highest[i] ?? 0))) continue;
    const last = runs.at(-1);
    if (last?.end === i) last.end = i + 1;
    else runs.push({ from: i, end: i + 1 });
  }
  return runs;
}

export function drawGap(
  ctx: Context,
  at: Projection,
  columns: Columns,
  curves: Curves,
  colors: TimelineColors,
): void {
  const from = Math.max(0, Math.floor(at.view.x0 / columns.width) - columns.first);
  const to = Math.min(columns.count, Math.ceil(at.view.x1 / columns.width) - columns.first);
  const runs = gapsIn(curves, from, to);
  if (runs.length === 0) return;
  const x = (i: number): number => at.x((columns.first + i) * columns.width);
  const y = (values: ArrayLike<Bytes>, i: number): number => at.y(values[i] ?? 0);
  const path = new Path2D();
  for (const { from: first, end } of runs) {
    path.moveTo(x(first), y(curves.highest, first));
    for (let i = first; i < end; i += 1) {
      path.lineTo(x(i), y(curves.reserved, i));
      path.lineTo(x(i + 1), y(curves.reserved, i));
    }
    for (let i = end - 1; i >= first; i -= 1) {
      path.lineTo(x(i + 1), y(curves.highest, i));
      path.lineTo(x(i), y(curves.highest, i));
    }
    path.closePath();
  }
  const { left, top, width, height, ratio } = at.area;
  ctx.save();
  ctx.clip(path);
  ctx.fillStyle = colors.gap;
  ctx.fillRect(left, top, width, height);
  ctx.beginPath();
  for (let begin = left - height; begin < left + width; begin += hatchStep * ratio) {
    ctx.moveTo(begin, top + height);
    ctx.lineTo(begin + height, top);
  }
  ctx.strokeStyle = colors.hatch;
  ctx.lineWidth = ratio;
  ctx.stroke();
  ctx.restore();
}
