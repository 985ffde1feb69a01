// A measured stretch on the timeline: two points, the legs between them, and what lies between in words.
import type { AxisUnits, Bytes } from '../base/units.ts';
import type { TimelineColors } from './colors.ts';
import { font, type Context, type Projection } from './plot.ts';

export interface Ruler {
  from: { x: AxisUnits; y: Bytes };
  to: { x: AxisUnits; y: Bytes };
  text: string;
}

export function drawRuler(
  ctx: Context,
  at: Projection,
  { from, to, text }: Ruler,
  colors: TimelineColors,
): void {
  const { area } = at;
  const { ratio } = area;
  const [x0, y0, x1, y1] = [at.x(from.x), at.y(from.y), at.x(to.x), at.y(to.y)];
  ctx.fillStyle = colors.boxFill;
  ctx.fillRect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
  ctx.strokeStyle = colors.boxLine;
  ctx.lineWidth = 1.5 * ratio;
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y0);
  ctx.lineTo(x1, y1);
  for (const [x, y] of [
    [x0, y0],
    [x1, y1],
  ] as const) {
    ctx.moveTo(x + 3 * ratio, y);
    ctx.arc(x, y, 3 * ratio, 0, 2 * Math.PI);
  }
  ctx.stroke();
  ctx.font = font(area, 12, 600);
  const width = ctx.measureText(text).width + 16 * ratio;
  const height = 22 * ratio;
  const left = Math.min(Math.max((x0 + x1) / 2 - width / 2, area.left), area.left + area.width - width);
  const above = Math.min(y0, y1) - height - 6 * ratio;
  const top =
    above >= area.top ? above : Math.min(Math.max(y0, y1) + 6 * ratio, area.top + area.height - height);
  ctx.fillStyle = colors.cursorChip;
  ctx.beginPath();
  ctx.roundRect(left, top, width, height, 4 * ratio);
  ctx.fill();
  ctx.fillStyle = colors.cursorChipText;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  ctx.fillText(text, left + width / 2, top + height / 2 + ratio / 2);
}
