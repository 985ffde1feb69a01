// What is drawn of each device: its levels and failures, on the axis that all have in common.
import type { AxisUnits, Bytes } from '../../base/units.ts';
import { commonAxis, levelIn, ownColumns, type CommonAxis } from '../../model/common_axis.ts';
import { hostDevice, type DeviceChoice } from '../../model/devices.ts';
import type { Course } from '../../series/chart.ts';
import type { Contents, EngineView } from '../../../engine/index.ts';

/** What the file says of a device before it is replayed. */
export interface Listed extends DeviceChoice {
  oom: Contents['snapshots'][number]['devices'][number]['oom'];
  events: number;
}

export interface Track extends Listed {
  view: EngineView;
  course: Course;
  /** Out of memory, on the axis. */
  failures: readonly AxisUnits[];
  /** Of the device that is nearest to a place of the axis; undefined = there is none. */
  eventAt(units: AxisUnits): Promise<number | undefined>;
}

export interface Tracks {
  axis: CommonAxis;
  all: readonly Track[];
}

/** Those of a snapshot, pinned host memory aside. */
export function listed({ snapshots }: Contents, snapshot: number): Listed[] {
  const devices = snapshots[snapshot]?.devices ?? [];
  return devices
    .filter(({ device }) => device !== hostDevice)
    .map(({ device, oom, events }) => ({ snapshot, device, oom, events }));
}

export async function tracksOf(opened: readonly (Listed & { view: EngineView })[]): Promise<Tracks> {
  const axis = commonAxis(opened.map(({ view }) => view.info));
  const failures = await Promise.all(
    opened.map(({ view, oom }) => view.ask('position', { axis: axis.axis, events: oom.events })),
  );
  const all = opened.map((one, at) => {
    const { view } = one;
    const start = axis.starts[at] ?? 0;
    const length = view.info.extent[axis.axis === 'time' ? 'time_us' : 'event'] ?? 0;
    return {
      ...one,
      course: courseOf(view, axis, start, length),
      failures: (failures[at] ?? []).map((position) => start + position),
      eventAt: (units: AxisUnits) => eventAt(view, axis, Math.min(Math.max(units - start, 0), length - 1)),
    };
  });
  return { axis, all };
}

function courseOf(
  view: EngineView,
  { axis, extent }: CommonAxis,
  start: AxisUnits,
  length: AxisUnits,
): Course {
  // By the clock a device keeps what it has until the others end; by events there is no such moment.
  const last = (bytes: Bytes): Bytes => (axis === 'time' ? bytes : Number.NaN);
  return {
    axis,
    extent,
    engine: view,
    samples: async (columns) => {
      const part = ownColumns(columns, start, length);
      const of = ['allocated', 'reserved'] as const;
      const [level, reserved] = part.own ? (await view.ask('levels', { of, columns: part.own })).levels : [];
      const { final_bytes, reserved_final } = view.info;
      return {
        values: [
          levelIn(columns.count, part, level?.highest ?? [], last(final_bytes)),
          levelIn(columns.count, part, reserved?.highest ?? [], last(reserved_final)),
        ],
      };
    },
  };
}

async function eventAt(
  view: EngineView,
  { axis }: CommonAxis,
  units: AxisUnits,
): Promise<number | undefined> {
  if (view.info.events === 0) return undefined;
  const place = { axis, column: Math.floor(units), width: 1, bytes: -1, known: -1 };
  return (await view.ask('probe', place)).pick?.event;
}
