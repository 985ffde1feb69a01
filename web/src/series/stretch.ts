// The part of the axis that charts show, and how it moves. Pure.
import type { AxisUnits } from '../base/units.ts';

export interface Stretch {
  readonly x0: AxisUnits;
  readonly x1: AxisUnits;
}

const smallest = 8; // units

export const whole = (extent: AxisUnits): Stretch => ({ x0: 0, x1: Math.max(extent, 1) });

/** Factors below 1 zoom in; about a place. */
export function zoomed({ x0, x1 }: Stretch, extent: AxisUnits, at: AxisUnits, factor: number): Stretch {
  const span = Math.min(Math.max((x1 - x0) * factor, Math.min(smallest, extent)), Math.max(extent, 1));
  const from = at - ((at - x0) / (x1 - x0)) * span;
  return inside({ x0: from, x1: from + span }, extent);
}

export function moved({ x0, x1 }: Stretch, extent: AxisUnits, by: AxisUnits): Stretch {
  return inside({ x0: x0 + by, x1: x1 + by }, extent);
}

/** What was marked with a box. */
export function between(a: AxisUnits, b: AxisUnits, extent: AxisUnits): Stretch {
  const span = Math.max(Math.abs(b - a), Math.min(smallest, extent));
  const middle = (a + b) / 2;
  return inside({ x0: middle - span / 2, x1: middle + span / 2 }, extent);
}

function inside({ x0, x1 }: Stretch, extent: AxisUnits): Stretch {
  const by = x0 < 0 ? -x0 : Math.min(Math.max(extent, 1) - x1, 0);
  return { x0: Math.max(0, x0 + by), x1: x1 + by };
}
