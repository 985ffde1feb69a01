// Rulers: bytes at the left, events or time below, and the faint lines across the plot.
import { formatBytesTick, formatCount, formatMomentTick } from '../base/format.ts';
import { byteTicks, decimalTicks } from '../base/ticks.ts';
import type { Axis } from '../../engine/index.ts';
import type { TimelineColors } from './colors.ts';
import { font, type Context, type Projection } from './plot.ts';

export function drawGrid(ctx: Context, at: Projection, colors: TimelineColors): void {
  const { area } = at;
  ctx.fillStyle = colors.grid;
  const line = Math.max(1, Math.round(area.ratio));
  for (const value of bytesOf(at).values) ctx.fillRect(area.left, Math.round(at.y(value)), area.width, line);
}

export function drawRulers(ctx: Context, at: Projection, axis: Axis, colors: TimelineColors): void {
  const { area } = at;
  const { ratio } = area;
  const bottom = area.top + area.height;
  const line = Math.max(1, Math.round(ratio));
  ctx.font = font(area, 11.5);
  ctx.fillStyle = colors.text;
  ctx.textAlign = 'right';
  ctx.textBaseline = 'middle';
  const bytes = bytesOf(at);
  for (const value of bytes.values)
    ctx.fillText(
      formatBytesTick(value, bytes.step),
      area.left - 8 * ratio,
      clampInto(at.y(value), area.top, bottom),
    );

  ctx.fillStyle = colors.axis;
  ctx.fillRect(area.left, bottom, area.width, line);
  const { view } = at;
  if (view.x1 - view.x0 <= 1) return; // one state, no axis
  ctx.textBaseline = 'top';
  const widest = (axis === 'event' ? 84 : 104) * ratio;
  const ticks = decimalTicks(view.x0, view.x1, area.width / widest, 1);
  let free = 0; // behind the last text
  for (const value of ticks.values) {
    const x = at.x(value + (axis === 'event' && at.unitsPerPixel < 1 ? 0.5 : 0));
    if (x > area.left + area.width) continue;
    const text = axis === 'event' ? formatCount(value) : formatMomentTick(value, ticks.step);
    const half = ctx.measureText(text).width / 2;
    ctx.fillStyle = colors.axis;
    ctx.fillRect(Math.round(x), bottom, line, 4 * ratio);
    const centre = clampInto(x, area.left + half, area.left + area.width - half);
    if (centre - half < free) continue; // pushed back from the edge into its neighbour
    free = centre + half + 12 * ratio;
    ctx.fillStyle = colors.text;
    ctx.textAlign = 'center';
    ctx.fillText(text, centre, bottom + 8 * ratio);
  }
}

function bytesOf(at: Projection): { step: number; values: number[] } {
  const height = at.area.height / at.area.ratio;
  return byteTicks(at.view.y0, at.view.y1, height / (height < 110 ? 40 : 72));
}

function clampInto(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
