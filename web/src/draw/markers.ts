// What the eye must find: the peak, the moments without memory, and what the program noted.
import { formatBytes } from '../base/format.ts';
import type { AxisUnits, Bytes, DevicePx } from '../base/units.ts';
import type { Marks } from '../engine/state_answers.ts';
import type { TimelineColors } from './colors.ts';
import { font, type Context, type Projection } from './plot.ts';

export type MarkerKind = Marks['markers'][number]['kind'];

export function drawPeak(
  ctx: Context,
  at: Projection,
  peak: { x: AxisUnits; bytes: Bytes },
  colors: TimelineColors,
): void {
  const { area } = at;
  const { ratio } = area;
  const x = at.x(peak.x);
  if (x < area.left - 1 || x > area.left + area.width + 1) return;
  const y = at.y(peak.bytes);
  const text = `Peak ${formatBytes(peak.bytes)}`;
  ctx.font = font(area, 12, 600);
  const height = 20 * ratio;
  const width = ctx.measureText(text).width + 16 * ratio;
  const left = Math.min(Math.max(x - width / 2, area.left), area.left + area.width - width);
  // Above the peak where there is room, else in the lane above the plot.
  const top = Math.max(Math.min(y - height - 10 * ratio, area.top + area.height - height), 2 * ratio);
  const insidePlot = y >= area.top && y <= area.top + area.height;

  ctx.fillStyle = colors.peak;
  ctx.fillRect(Math.round(x - ratio / 2), top + height, Math.max(1, ratio), Math.max(0, y - top - height));
  ctx.beginPath();
  ctx.roundRect(left, top, width, height, 4 * ratio);
  ctx.fill();
  if (insidePlot) {
    ctx.beginPath();
    ctx.arc(x, y, 3.5 * ratio, 0, 2 * Math.PI);
    ctx.fillStyle = colors.halo;
    ctx.fill();
    ctx.lineWidth = 2 * ratio;
    ctx.strokeStyle = colors.peak;
    ctx.stroke();
  }
  ctx.fillStyle = colors.peakText;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  ctx.fillText(text, left + width / 2, top + height / 2 + ratio / 2);
}

/** A cross in the lane above the plot and a line through it; labels only where they do not touch. */
export function drawOoms(
  ctx: Context,
  at: Projection,
  positions: readonly AxisUnits[],
  colors: TimelineColors,
): void {
  const { area } = at;
  const { ratio } = area;
  let lastX = -Infinity;
  let lastLabel = -Infinity;
  ctx.font = font(area, 11, 600);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  ctx.lineWidth = 2 * ratio;
  ctx.strokeStyle = colors.oom;
  for (const position of positions) {
    const x = at.x(position);
    if (x < area.left - 1 || x > area.left + area.width + 1 || x - lastX < 3 * ratio) continue;
    lastX = x;
    ctx.fillStyle = colors.oom;
    ctx.fillRect(
      Math.round(x - ratio / 2),
      area.top - 6 * ratio,
      Math.max(1, ratio),
      area.height + 6 * ratio,
    );
    const r = 3.5 * ratio;
    const y = area.top - 12 * ratio;
    ctx.beginPath();
    ctx.moveTo(x - r, y - r);
    ctx.lineTo(x + r, y + r);
    ctx.moveTo(x + r, y - r);
    ctx.lineTo(x - r, y + r);
    ctx.stroke();
    const width = ctx.measureText('OOM').width;
    if (x - lastLabel < width + 24 * ratio) continue;
    lastLabel = x;
    const right = x + 8 * ratio + width <= area.left + area.width;
    ctx.textAlign = right ? 'left' : 'right';
    ctx.fillText('OOM', x + (right ? 8 : -8) * ratio, y + ratio / 2);
  }
}

/** Where a marker lies on the canvas: an OOM's cross above the plot, the others on the ruler below. */
export function markerY({ area }: Projection, kind: MarkerKind): DevicePx {
  return kind === 'oom' ? area.top - 12 * area.ratio : area.top + area.height;
}

/** A diamond for a snapshot, a triangle for a note; one where several would touch. OOMs: drawOoms. */
export function drawMarkers(
  ctx: Context,
  at: Projection,
  markers: readonly { kind: MarkerKind; at: AxisUnits }[],
  colors: TimelineColors,
): void {
  const { area } = at;
  const { ratio } = area;
  const last = { snapshot: -Infinity, annotate: -Infinity };
  ctx.lineWidth = 1.5 * ratio;
  ctx.strokeStyle = colors.halo;
  for (const marker of markers) {
    const { kind } = marker;
    if (kind === 'oom') continue;
    const x = at.x(marker.at);
    if (x < area.left - 1 || x > area.left + area.width + 1 || x - last[kind] < 5 * ratio) continue;
    last[kind] = x;
    const y = markerY(at, kind);
    const r = 5 * ratio;
    ctx.beginPath();
    ctx.moveTo(x - r, kind === 'snapshot' ? y : y - r);
    if (kind === 'snapshot') ctx.lineTo(x, y - r);
    ctx.lineTo(x + r, kind === 'snapshot' ? y : y - r);
    ctx.lineTo(x, y + r);
    ctx.closePath();
    ctx.fillStyle = kind === 'snapshot' ? colors.snapshot : colors.annotate;
    ctx.fill();
    ctx.stroke();
  }
}

/** A level that lies above the picture: a word at its upper edge. */
export function drawAbove(ctx: Context, at: Projection, bytes: Bytes, colors: TimelineColors): void {
  const { area } = at;
  ctx.font = font(area, 11, 500);
  ctx.textAlign = 'right';
  ctx.textBaseline = 'top';
  ctx.fillStyle = colors.reserved;
  ctx.fillText(
    `reserved ${formatBytes(bytes)} ↑`,
    area.left + area.width - 4 * area.ratio,
    area.top + 4 * area.ratio,
  );
}
