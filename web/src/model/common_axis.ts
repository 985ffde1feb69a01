// Devices of one recording on one axis and one scale of bytes, so that moments and heights can be compared. Pure: no DOM, no engine.
import type { AxisUnits, Bytes } from '../base/units.ts';
import type { Axis, Columns, ViewInfo } from '../../engine/index.ts';

type Recorded = Pick<ViewInfo, 'events' | 'extent' | 'first_time_us' | 'peak' | 'reserved_peak' | 'capacity'>;

export interface CommonAxis {
  axis: Axis;
  extent: AxisUnits;
  /** Where each begins, in the order they were given. */
  starts: readonly AxisUnits[];
  /** The highest level of any, and what the devices have if that is near. */
  top: Bytes;
}

/** By the clock if all that have events have one; else each by its own events. */
export function commonAxis(all: readonly Recorded[]): CommonAxis {
  const recorded = all.filter(({ events }) => events > 0);
  const clocks = recorded.flatMap(({ first_time_us: first, extent: { time_us: lasts } }) =>
    first === null || lasts === null ? [] : [{ first, last: first + lasts }],
  );
  const top = Math.max(0, ...all.map(({ peak, reserved_peak }) => Math.max(peak.bytes, reserved_peak)));
  const near = all.flatMap(({ capacity }) => (capacity !== null && capacity <= 1.5 * top ? [capacity] : []));
  const scale = { top: Math.max(top, ...near) };
  if (recorded.length === 0 || clocks.length < recorded.length)
    return {
      ...scale,
      axis: 'event',
      extent: Math.max(1, ...all.map(({ extent }) => extent.event)),
      starts: all.map(() => 0),
    };
  const first = Math.min(...clocks.map((clock) => clock.first));
  return {
    ...scale,
    axis: 'time',
    extent: Math.max(1, ...clocks.map(({ last }) => last - first)),
    starts: all.map((one) => (one.events > 0 ? (one.first_time_us ?? first) - first : 0)),
  };
}

export interface OwnColumns {
  /** On the axis of the recording itself; undefined = none of it was wanted. */
  own: Columns | undefined;
  /** How many of the wanted columns lie before it, and where it has ended. */
  before: number;
  after: number;
}

/** Of columns of the common axis those of a recording that begins at `start`, to the nearest column. */
export function ownColumns(
  { axis, first, width, count }: Columns,
  start: AxisUnits,
  length: AxisUnits,
): OwnColumns {
  const shift = Math.round(start / width);
  const within = (column: number): number => Math.min(Math.max(column - first, 0), count);
  const before = within(shift);
  const after = within(shift + Math.ceil(length / width));
  const own = { axis, first: first + before - shift, width, count: after - before };
  return { own: own.count > 0 ? own : undefined, before, after };
}

/** Its level in the wanted columns: nothing before it begins, `last` when it has ended, NaN = not known then. */
export function levelIn(
  count: number,
  { before, after }: OwnColumns,
  own: ArrayLike<Bytes>,
  last: Bytes,
): Float64Array {
  const all = new Float64Array(count).fill(Number.NaN, 0, after).fill(last, after);
  all.set(own, before);
  return all;
}
