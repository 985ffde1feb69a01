// The columns of the op table: their names, what they mean, and by which the engine sorts.
import type { OpLine, OpSort, ProfilerLine } from '../../../engine/index.ts';

export interface OpColumn<Line> {
  name: string;
  /** What the number is, as a sentence. */
  says: string;
  sort?: OpSort;
  /** Null: not known. */
  of(line: Line): number | null;
}

export const opColumns: readonly OpColumn<OpLine>[] = [
  { name: 'At the peak', sort: 'at_peak', of: (line) => line.at_peak, says: 'Allocated in it and in use when the device is at its peak. An op counts what the ops inside of it allocated, too; what was there before the recording, or came outside of ops, is in none of them. Sort by it to find what to cut.' },
  { name: 'Self', sort: 'self', of: (line) => line.self, says: 'Allocated less freed by the op itself, without the ops inside of it. Negative: it frees what others allocated.' },
  { name: 'Net', sort: 'net', of: (line) => line.net, says: 'Allocated less freed, with the ops inside of it.' },
  { name: 'Allocated', sort: 'gross', of: (line) => line.gross, says: 'All that was allocated in it, whether freed or not.' },
  { name: 'Freed', sort: 'freed', of: (line) => line.freed, says: 'All that was freed in it, whoever had allocated it.' },
  { name: 'Live at return', sort: 'at_return', of: (line) => line.at_return, says: 'Allocated in it and not freed when it ends, all calls together: what it leaves behind. Not known where records have no addresses.' },
  { name: 'Peak', sort: 'peak', of: (line) => line.peak, says: 'The most that one call added at worst: so much must be free to run it.' },
  { name: 'Device level', of: (line) => line.abs_peak, says: 'How full the device was at most while it ran, whoever filled it.' },
]; // prettier-ignore

export const profilerColumns = (showsDevices: boolean): readonly OpColumn<ProfilerLine>[] => {
  const cpu: OpColumn<ProfilerLine>[] = [
    { name: 'CPU Mem', of: (line) => line.cpu, says: 'As PyTorch prints it: of all threads while the op runs.' },
    { name: 'Self CPU Mem', of: (line) => line.self_cpu, says: 'The same without the ops inside of it.' },
  ]; // prettier-ignore
  if (!showsDevices) return cpu;
  return [
    ...cpu,
    { name: 'Device Mem', sort: 'net', of: (line) => line.device, says: 'As PyTorch prints it: of all devices together, all threads while the op runs.' },
    { name: 'Self Device Mem', sort: 'self', of: (line) => line.self_device, says: 'The same without the ops inside of it.' },
  ]; // prettier-ignore
};
