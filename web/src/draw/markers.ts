// What the eye must find: the peak, the moments without memory, and what the program noted.
import { formatBytes } from '../base/format.ts';
import type { AxisUnits, Bytes, DevicePx } from '../base/units.ts';
import type { Marks } from '../../engine/index.ts';
import type { TimelineColors } from './colors.ts';
import { font, type Context, type Projection } from './plot.ts';

export type MarkerKind = Marks['markers'][number]['kind'];

/** Where words were drawn. */
export interface Box {
  left: DevicePx;
  top: DevicePx;
  width: DevicePx;
  height: DevicePx;
}

/** A tag at the highest point, where it covers none of the words in `taken`. */
export function drawPeak(
  ctx: Context,
  at: Projection,
  peak: { x: AxisUnits; bytes: Bytes },
  taken: readonly Box[],
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
  const right = area.left + area.width;
  const lowest = area.top + area.height - height;
  const boxAt = (wantedLeft: DevicePx, wantedTop: DevicePx, highest: DevicePx): Box => ({
    left: Math.min(Math.max(wantedLeft, area.left), right - width),
    top: Math.max(Math.min(wantedTop, lowest), highest),
    width,
    height,
  });
  // Above the peak where there is room, else in the lane above the plot, else beside the peak, else below it.
  const beside = 12 * ratio;
  const above = boxAt(x - width / 2, y - height - 10 * ratio, 2 * ratio);
  const places = [
    above,
    ...[x - width - beside, x + beside]
      .filter((one) => one >= area.left && one + width <= right)
      .map((one) => boxAt(one, y - height / 2, area.top + 2 * ratio)),
    boxAt(x - width / 2, y + beside, area.top + 2 * ratio),
    boxAt(x - width / 2, lowest, area.top + 2 * ratio),
  ];
  const { left, top } = places.find((one) => !taken.some((other) => touch(one, other, 3 * ratio))) ?? above;
  const isAbove = top + height <= y;
  const insidePlot = y >= area.top && y <= area.top + area.height;

  ctx.fillStyle = colors.peak;
  if (isAbove)
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

function touch(a: Box, b: Box, air: DevicePx): boolean {
  return (
    a.left < b.left + b.width + air &&
    b.left < a.left + a.width + air &&
    a.top < b.top + b.height + air &&
    b.top < a.top + a.height + air
  );
}

/** A cross in the lane above the plot and a line through it; labels only where they do not touch. Tells where they are. */
export function drawOoms(
  ctx: Context,
  at: Projection,
  positions: readonly AxisUnits[],
  colors: TimelineColors,
): Box[] {
  const { area } = at;
  const { ratio } = area;
  const boxes: Box[] = [];
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
    boxes.push({ left: x - r, top: y - r, width: 2 * r, height: 2 * r });
    const width = ctx.measureText('OOM').width;
    if (x - lastLabel < width + 24 * ratio) continue;
    lastLabel = x;
    const right = x + 8 * ratio + width <= area.left + area.width;
    ctx.textAlign = right ? 'left' : 'right';
    ctx.fillText('OOM', x + (right ? 8 : -8) * ratio, y + ratio / 2);
    const left = right ? x + 8 * ratio : x - 8 * ratio - width;
    boxes.push({ left, top: y - 6 * ratio, width, height: 12 * ratio });
  }
  return boxes;
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

/** What the device had in all: a line that levels stay below. */
export function drawCapacity(
  ctx: Context,
  at: Projection,
  bytes: Bytes,
  colors: TimelineColors,
): Box | undefined {
  const { area } = at;
  const { ratio } = area;
  const y = Math.round(at.y(bytes));
  if (y < area.top || y > area.top + area.height) return undefined;
  ctx.strokeStyle = colors.oom;
  ctx.lineWidth = ratio;
  ctx.setLineDash([6 * ratio, 4 * ratio]);
  ctx.beginPath();
  ctx.moveTo(area.left, y + 0.5);
  ctx.lineTo(area.left + area.width, y + 0.5);
  ctx.stroke();
  ctx.setLineDash([]);
  const text = `${formatBytes(bytes)} on the device`;
  ctx.font = font(area, 11, 500);
  const { width } = ctx.measureText(text);
  const box = { left: area.left + 8 * ratio, top: y + 3 * ratio, width, height: 12 * ratio };
  ctx.fillStyle = colors.halo;
  ctx.fillRect(box.left - 3 * ratio, box.top - ratio, width + 6 * ratio, box.height + 2 * ratio);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'top';
  ctx.fillStyle = colors.oom;
  ctx.fillText(text, box.left, box.top);
  return box;
}

/** A level that lies above the picture: a word at its upper edge, left of the peak where that is there. Tells where. */
export function drawAbove(
  ctx: Context,
  at: Projection,
  bytes: Bytes,
  peak: AxisUnits | undefined,
  colors: TimelineColors,
): Box {
  const { area } = at;
  const { ratio } = area;
  const text = `reserved ${formatBytes(bytes)} ↑`;
  ctx.font = font(area, 11, 500);
  const [air, { width }] = [8 * ratio, ctx.measureText(text)];
  const top = area.top + 4 * ratio;
  const edge = area.left + area.width - 4 * ratio;
  const dot = peak === undefined ? Infinity : at.x(peak);
  const right = dot > edge - width - air && dot < edge + air ? Math.max(area.left + width, dot - air) : edge;
  const box = { left: right - width, top, width, height: 12 * ratio };
  ctx.fillStyle = colors.halo;
  ctx.fillRect(box.left - 3 * ratio, top - ratio, width + 6 * ratio, box.height + 2 * ratio);
  ctx.textAlign = 'right';
  ctx.textBaseline = 'top';
  ctx.fillStyle = colors.reserved;
  ctx.fillText(text, right, top);
  return box;
}
