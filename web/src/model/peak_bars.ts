// Bars by peak: of the open files, of the snapshots of one file, of the devices of one snapshot.
import { formatBytes, plural } from '../base/format.ts';
import type { Bytes, Microseconds } from '../base/units.ts';
import type { Contents } from '../../engine/index.ts';
import { deviceName, snapshotName } from './devices.ts';
import type { Entry, OpenFile } from './open_files.ts';

export interface Bar {
  name: string;
  state: 'ready' | 'loading' | 'broken';
  /** Undefined = not known (yet). */
  peak: Bytes | undefined;
  /** What was read of it, 0 to 1, while the peak is not known. */
  part?: number;
  /** In place of the peak. */
  says: string;
  /** The error of what is broken. */
  problem?: string | undefined;
  current: boolean;
  /** It ran out of memory. */
  failed?: boolean;
  /** The device that did, where the peak is of another one. */
  failedOn?: string | undefined;
  /** When it first did, by its own clock; undefined = not known. */
  failedAt?: Microseconds | undefined;
}

/** Of what there are bars: the same objects, as they change. */
export interface Barred {
  entries: readonly Entry[];
  active: Entry | undefined;
  file: OpenFile | undefined;
}

type Devices = Contents['snapshots'][number]['devices'];

export const barsOf = {
  file: ({ entries, active }: Barred): Bar[] => barsOfFiles(entries, active),
  snapshot: ({ file }: Barred): Bar[] => (file ? barsOfSnapshots(file) : []),
  device: ({ file }: Barred): Bar[] => (file ? barsOfDevices(file) : []),
};

/** Of the first of them that ran out of memory. One whose time is not known may have been before all others. */
function failureOf(devices: Devices): Pick<Bar, 'failed' | 'failedAt'> {
  const failed = devices.filter(({ oom }) => oom.count > 0);
  const times = failed.map(({ oom }) => oom.first_time_us);
  const known = times.filter((time) => time !== null);
  return {
    failed: failed.length > 0,
    failedAt: known.length > 0 && known.length === times.length ? Math.min(...known) : undefined,
  };
}

/** The same of all of a file, and where, if not where its peak is of. */
function failureIn({ contents, snapshot, view }: OpenFile): Pick<Bar, 'failed' | 'failedOn' | 'failedAt'> {
  const places = contents.snapshots.flatMap(({ devices }, at) =>
    devices.filter(({ oom }) => oom.count > 0).map(({ device }) => ({ at, device })),
  );
  const isShown = places.some(({ at, device }) => at === snapshot && device === view?.info.device);
  const [first] = isShown || !view ? [] : places;
  return {
    ...failureOf(contents.snapshots.flatMap(({ devices }) => devices)),
    failedOn: first && (first.at === snapshot ? deviceName(first.device) : snapshotName(contents, first.at)),
  };
}

/** Which of several ran out of memory first, and how long before the next; undefined = not told by their clocks. */
export function firstToFail(
  bars: readonly Bar[],
): { first: Bar; next: Bar; before: Microseconds } | undefined {
  const failed = bars.filter((bar) => bar.failed);
  const order = failed
    .flatMap((bar) => (bar.failedAt === undefined ? [] : [{ bar, at: bar.failedAt }]))
    .sort((one, other) => one.at - other.at);
  const [first, next] = order;
  if (!first || !next || order.length < failed.length || first.at === next.at) return undefined;
  return { first: first.bar, next: next.bar, before: next.at - first.at };
}

export function barsOfFiles(entries: readonly Entry[], active: Entry | undefined): Bar[] {
  return entries.map((entry) => {
    const { name, loading, error, file } = entry;
    const current = entry === active;
    if (error)
      return {
        name,
        current,
        state: 'broken',
        peak: undefined,
        says: 'not readable',
        problem: error.message,
      };
    const damaged = file?.contents.damaged;
    if (!loading)
      return {
        name,
        current,
        state: 'ready',
        peak: damaged ? undefined : file?.peak,
        says: damaged ? 'damaged' : file?.view ? 'not known' : contentOf(file),
        ...(file && failureIn(file)),
      };
    const { bytes, total } = loading.progress;
    const part = total > 0 ? bytes / total : 0;
    const read = total > 0 ? `${Math.floor(part * 100)} %` : formatBytes(bytes);
    const says = loading.startedAt === 0 ? 'waits' : read;
    return { name, current, state: 'loading', peak: undefined, part, says };
  });
}

/** Each by the device that is shown first of it. Names that are there twice are as they are in the file. */
function barsOfSnapshots({ contents, snapshot, peaks }: OpenFile): Bar[] {
  return contents.snapshots.map(({ devices }, index) => ({
    name: snapshotName(contents, index),
    current: index === snapshot,
    state: 'ready',
    peak: peaks?.[index],
    says: devices.length === 0 ? 'empty' : peaks ? 'not known' : '…',
    ...failureOf(devices),
  }));
}

/** Of a file without a device. */
function contentOf(file: OpenFile | undefined): string {
  if ((file?.contents.fleets ?? 0) > 0) return 'ranks';
  return (file?.contents.series ?? 0) > 0 ? 'counters' : 'empty';
}

function barsOfDevices({ contents, snapshot, devicePeaks, view }: OpenFile): Bar[] {
  const peaks = devicePeaks?.[snapshot];
  return (contents.snapshots[snapshot]?.devices ?? []).map((one) => ({
    name: deviceName(one.device),
    current: one.device === view?.info.device,
    state: 'ready',
    peak: peaks?.find(({ device }) => device === one.device)?.bytes,
    says: peaks ? 'not known' : plural(one.events, 'event'),
    ...failureOf([one]),
  }));
}
