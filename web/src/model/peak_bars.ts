// Bars by peak: of the open files, of the snapshots of one file, of the devices of one snapshot.
import { formatBytes, formatCount } from '../base/format.ts';
import type { Bytes } from '../base/units.ts';
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
    if (!loading)
      return {
        name,
        current,
        state: 'ready',
        peak: file?.peak,
        says: file?.view ? 'not known' : contentOf(file),
        failed: (file?.view?.info.oom_events.length ?? 0) > 0,
      };
    const { bytes, total } = loading.progress;
    const part = total > 0 ? bytes / total : 0;
    const read = total > 0 ? `${Math.floor(part * 100)} %` : formatBytes(bytes);
    const says = loading.startedAt === 0 ? 'waits' : read;
    return { name, current, state: 'loading', peak: undefined, part, says };
  });
}

/** Each by the device that is shown first of it. Names that are there twice are as they are in the file. */
export function barsOfSnapshots({ contents, snapshot, peaks }: OpenFile): Bar[] {
  return contents.snapshots.map(({ devices }, index) => ({
    name: snapshotName(contents, index),
    current: index === snapshot,
    state: 'ready',
    peak: peaks?.[index],
    says: devices.length === 0 ? 'empty' : peaks ? 'not known' : '…',
    failed: devices.some(({ oom }) => oom.count > 0),
  }));
}

/** Of a file without a device. */
function contentOf(file: OpenFile | undefined): string {
  if ((file?.contents.fleets ?? 0) > 0) return 'ranks';
  return (file?.contents.series ?? 0) > 0 ? 'counters' : 'empty';
}

export function barsOfDevices({ contents, snapshot, devicePeaks, view }: OpenFile): Bar[] {
  const peaks = devicePeaks?.[snapshot];
  return (contents.snapshots[snapshot]?.devices ?? []).map(({ device, oom, events }) => ({
    name: deviceName(device),
    current: device === view?.info.device,
    state: 'ready',
    peak: peaks?.find((one) => one.device === device)?.bytes,
    says: peaks ? 'not known' : `${formatCount(events)} events`,
    failed: oom.count > 0,
  }));
}
