// What devices are called, and which one comes next.
import type { Contents } from '../../engine/index.ts';
import type { OpenFile } from './open_file.ts';

export interface DeviceChoice {
  snapshot: number;
  device: number;
}

/** Pinned host memory is device -1 (engine/session/session.h). */
export const hostDevice = -1;

/** `Device 0`, `Host (pinned)`; `Processor` where a profiler told of its memory. */
export function deviceName(device: number, isProcessor = false): string {
  if (isProcessor) return 'Processor (CPU)';
  return device === hostDevice ? 'Host (pinned)' : `Device ${device}`;
}

/** Undefined = there is nothing to show in it. */
export function choiceOf({ snapshots }: Contents, snapshot: number): DeviceChoice | undefined {
  const device = snapshots[snapshot]?.default ?? undefined;
  return device === undefined ? undefined : { snapshot, device };
}

/** Of the same snapshot, going round. Undefined = there is no other. */
export function nextDevice(
  { snapshots }: Contents,
  from: DeviceChoice,
  by: 1 | -1,
): DeviceChoice | undefined {
  const devices = snapshots[from.snapshot]?.devices ?? [];
  if (devices.length < 2) return undefined;
  const index = devices.findIndex(({ device }) => device === from.device) + by + devices.length;
  const { device } = devices[index % devices.length] ?? {};
  return device === undefined ? undefined : { snapshot: from.snapshot, device };
}

/**
 * The first out-of-memory event of the next device of the file that has any, going round: of `from` itself if no other has.
 */
export function nextOom(
  { snapshots }: Contents,
  from: DeviceChoice,
): (DeviceChoice & { event: number }) | undefined {
  const all = snapshots.flatMap(({ devices }, snapshot) =>
    devices.map(({ device, oom }) => ({ snapshot, device, event: oom.events[0] })),
  );
  const at = all.findIndex(({ snapshot, device }) => snapshot === from.snapshot && device === from.device);
  const round = [...all.slice(at + 1), ...all.slice(0, at + 1)];
  for (const { event, ...choice } of round) if (event !== undefined) return { ...choice, event };
  return undefined;
}

/** The next snapshot of the file that has a device, going round. Undefined = there is no other. */
export function nextSnapshot(contents: Contents, from: number, by: 1 | -1): DeviceChoice | undefined {
  const { length } = contents.snapshots;
  for (let step = 1; step < length; step += 1) {
    const choice = choiceOf(contents, (from + by * step + length) % length);
    if (choice) return choice;
  }
  return undefined;
}

/** As the file names it; those without a name are counted. */
export function snapshotName({ snapshots }: Contents, snapshot: number): string {
  return snapshots[snapshot]?.name || `Snapshot ${snapshot + 1}`;
}

/** What is shown, for a heading: the snapshot is named only where the file holds several. */
export function titleOf({ name, contents, snapshot }: OpenFile): string {
  return contents.snapshots.length > 1 ? `${name} · ${snapshotName(contents, snapshot)}` : name;
}

/** The same as the name of a file without an ending: `wrap.pkl-rank1-device0`. */
export function fileNameOf(file: OpenFile, device: number): string {
  const { name, contents, snapshot } = file;
  const parts = [name];
  if (contents.snapshots.length > 1) parts.push(snapshotName(contents, snapshot));
  parts.push(device === hostDevice ? 'host' : `device${device}`);
  return parts.join('-').replace(/[\\/:*?"<>|\s\p{Cc}]+/gu, '_');
}
