// The moment under the pointer: lines across the plot and chips on both rulers.
import type { AxisUnits, Bytes, DevicePx } from '../base/units.ts';
import type { TimelineColors } from './colors.ts';
import { font, type Context, type PlotArea, type Projection } from './plot.ts';

export interface Cursor {
  /** The column: [from, to) on the axis. */
  from: AxisUnits;
  to: AxisUnits;
  bytes: Bytes | undefined;
  label: string;
  bytesLabel: string;
}

/** The moment that all views show: [from, to) on the axis. */
export interface ChosenMoment {
  from: AxisUnits;
  to: AxisUnits;
  label: string;
  /** The line ends here: what lies above must be read. */
  below: Bytes | undefined;
}

/** A line through the plot; the chip below it is its grip. */
export function drawChosenMoment(
  ctx: Context,
  at: Projection,
  { from, to, label, below }: ChosenMoment,
  colors: TimelineColors,
): void {
  const { area } = at;
  const { ratio } = area;
  const x = (at.x(from) + at.x(to)) / 2;
  if (x < area.left - 1 || x > area.left + area.width + 1) return;
  const width = Math.max(2, Math.round(1.5 * ratio));
  const left = Math.round(x - width / 2);
  const bottom = area.top + area.height;
  const top = below === undefined ? area.top : Math.min(Math.max(at.y(below) + 6 * ratio, area.top), bottom);
  ctx.fillStyle = colors.halo;
  ctx.globalAlpha = 0.7;
  ctx.fillRect(left - ratio, top, width + 2 * ratio, bottom - top);
  ctx.globalAlpha = 1;
  ctx.fillStyle = colors.boxLine;
  ctx.fillRect(left, top, width, bottom - top + 6 * ratio);
  chip(ctx, area, label, x, 'below', {
    ...colors,
    cursorChip: colors.boxLine,
    cursorChipText: colors.background,
  });
}

export function drawCursor(ctx: Context, at: Projection, cursor: Cursor, colors: TimelineColors): void {
  const { area } = at;
  const line = Math.max(1, Math.round(area.ratio));
  const x0 = at.x(cursor.from);
  const x1 = at.x(cursor.to);
  const x = (x0 + x1) / 2;
  if (x < area.left - 1 || x > area.left + area.width + 1) return;
  ctx.fillStyle = colors.cursor;
  if (x1 - x0 > 6 * area.ratio && x1 - x0 < area.width / 2) {
    ctx.globalAlpha = 0.18;
    ctx.fillRect(x0, area.top, x1 - x0, area.height);
    ctx.globalAlpha = 1;
  }
  ctx.fillRect(Math.round(x - line / 2), area.top, line, area.height);
  chip(ctx, area, cursor.label, x, 'below', colors);
  if (cursor.bytes === undefined) return;
  const y = at.y(cursor.bytes);
  if (y < area.top || y > area.top + area.height) return;
  ctx.fillStyle = colors.cursor;
  ctx.globalAlpha = 0.5;
  ctx.fillRect(area.left, Math.round(y), area.width, line);
  ctx.globalAlpha = 1;
  chip(ctx, area, cursor.bytesLabel, y, 'left', colors);
}

function chip(
  ctx: Context,
  area: PlotArea,
  text: string,
  centre: DevicePx,
  side: 'below' | 'left',
  colors: TimelineColors,
): void {
  const { ratio } = area;
  ctx.font = font(area, 11.5, 500);
  const width = ctx.measureText(text).width + 12 * ratio;
  const height = 19 * ratio;
  const left =
    side === 'left'
      ? area.left - width - 2 * ratio
      : Math.min(Math.max(centre - width / 2, area.left), area.left + area.width - width);
  const top =
    side === 'left'
      ? Math.min(Math.max(centre - height / 2, area.top), area.top + area.height - height)
      : area.top + area.height + 5 * ratio;
  ctx.fillStyle = colors.cursorChip;
  ctx.beginPath();
  ctx.roundRect(Math.max(left, 0), top, width, height, 3 * ratio);
  ctx.fill();
  ctx.fillStyle = colors.cursorChipText;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  ctx.fillText(text, Math.max(left, 0) + width / 2, top + height / 2 + ratio / 2);
}
