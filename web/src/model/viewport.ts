// What part of the recording the timeline shows, and how that moves. Pure: no DOM, no engine.
//
// x runs over the axis (events, or microseconds since the first event), y over bytes from the bottom up.
// Every result lies inside the bounds, so one cannot get lost.
import type { AxisUnits, Bytes } from '../base/units.ts';

export interface Viewport {
  readonly x0: AxisUnits;
  readonly x1: AxisUnits;
  readonly y0: Bytes;
  readonly y1: Bytes;
}

export interface Bounds {
  /** Length of the axis. */
  readonly extent: AxisUnits;
  /** Top of the picture when everything is fitted. */
  readonly fitTop: Bytes;
  /** One can scroll up to here. */
  readonly top: Bytes;
}

/** The smallest block there is: an int64 on a processor. */
const minimalBytes = 8;

/** All of it: the default view. */
export function fitAll(bounds: Bounds): Viewport {
  return { x0: 0, x1: bounds.extent, y0: 0, y1: bounds.fitTop };
}

/** Levels that the height follows. */
interface Levels {
  readonly peak: { readonly bytes: Bytes };
  readonly reserved_peak: Bytes;
  /** Of the device; null = not known. */
  readonly capacity?: Bytes | null;
}

/** Height for all levels; what lies far above the peak does not press the bands flat. */
export function boundsOf(extent: AxisUnits, { peak, reserved_peak, capacity }: Levels): Bounds {
  const levels = [Math.max(peak.bytes, minimalBytes) * 1.1, reserved_peak * 1.1, (capacity ?? 0) * 1.04];
  const near = levels.filter((level) => peak.bytes <= 0 || level <= 1.6 * 1.1 * peak.bytes);
  return { extent: Math.max(extent, 1), fitTop: Math.max(...near, minimalBytes), top: Math.max(...levels) };
}

/** Scales about a point; factors below 1 zoom in. */
export function zoom(
  view: Viewport,
  bounds: Bounds,
  at: { x: AxisUnits; y: Bytes },
  factorX: number,
  factorY: number,
): Viewport {
  const spanX = limit((view.x1 - view.x0) * factorX, minimalSpan(bounds), bounds.extent);
  const spanY = limit((view.y1 - view.y0) * factorY, minimalBytes, bounds.top);
  const x0 = at.x - ((at.x - view.x0) / (view.x1 - view.x0)) * spanX;
  const y0 = at.y - ((at.y - view.y0) / (view.y1 - view.y0)) * spanY;
  return inside({ x0, x1: x0 + spanX, y0, y1: y0 + spanY }, bounds);
}

export function pan(view: Viewport, bounds: Bounds, dx: AxisUnits, dy: Bytes): Viewport {
  return inside({ x0: view.x0 + dx, x1: view.x1 + dx, y0: view.y0 + dy, y1: view.y1 + dy }, bounds);
}

/** A rectangle of the picture, widened to the smallest view if it is smaller. */
export function show(wanted: Viewport, bounds: Bounds): Viewport {
  const spanX = limit(wanted.x1 - wanted.x0, minimalSpan(bounds), bounds.extent);
  const spanY = limit(wanted.y1 - wanted.y0, minimalBytes, bounds.top);
  const x = (wanted.x0 + wanted.x1) / 2;
  const y = (wanted.y0 + wanted.y1) / 2;
  return inside({ x0: x - spanX / 2, x1: x + spanX / 2, y0: y - spanY / 2, y1: y + spanY / 2 }, bounds);
}

/** Moves what lies outside the view to its middle; keeps the zoom, and what is visible already stays where it is. */
export function bringIntoView(
  view: Viewport,
  bounds: Bounds,
  x: { from: AxisUnits; to: AxisUnits },
  y: { from: Bytes; to: Bytes },
): Viewport {
  const dx = shift(x.from, x.to, view.x0, view.x1);
  const dy = shift(y.from, y.to, view.y0, view.y1);
  return dx === 0 && dy === 0 ? view : pan(view, bounds, dx, dy);
}

export function between(from: Viewport, to: Viewport, part: number): Viewport {
  const mix = (a: number, b: number): number => a + (b - a) * part;
  return {
    x0: mix(from.x0, to.x0),
    x1: mix(from.x1, to.x1),
    y0: mix(from.y0, to.y0),
    y1: mix(from.y1, to.y1),
  };
}

export function same(a: Viewport, b: Viewport): boolean {
  return a.x0 === b.x0 && a.x1 === b.x1 && a.y0 === b.y0 && a.y1 === b.y1;
}

/** Column widths are 1, 2, 3, 4, 6, 8, 12, 16, 24, ...: the smallest not below `unitsPerPixel`. */
export function columnWidth(unitsPerPixel: number): AxisUnits {
  for (let power = 1; ; power *= 2) {
    if (power >= unitsPerPixel) return power;
    if (power >= 2 && power * 1.5 >= unitsPerPixel) return power * 1.5;
  }
}

function minimalSpan(bounds: Bounds): AxisUnits {
  return Math.min(8, bounds.extent);
}

function inside(view: Viewport, bounds: Bounds): Viewport {
  const dx = view.x0 < 0 ? -view.x0 : Math.min(bounds.extent - view.x1, 0);
  const dy = view.y0 < 0 ? -view.y0 : Math.min(Math.max(bounds.top, view.y1 - view.y0) - view.y1, 0);
  return { x0: view.x0 + dx, x1: view.x1 + dx, y0: view.y0 + dy, y1: view.y1 + dy };
}

function limit(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, Math.min(least, most)), most);
}

function shift(from: number, to: number, low: number, high: number): number {
  const middle = (low + high) / 2;
  if (to < low) return (to - from < high - low ? (from + to) / 2 : to) - middle;
  if (from > high) return (to - from < high - low ? (from + to) / 2 : from) - middle;
  return 0;
}
