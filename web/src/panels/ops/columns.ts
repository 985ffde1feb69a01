// The columns of the op table: their names, what they mean, and by which the engine sorts.
import type { OpLine, OpSort, ProfilerLine } from '../../../engine/index.ts';

export interface OpColumn<Line> {
  name: string;
  /** What the number is, as a sentence. */
  says: string;
  sort?: OpSort;
  of(line: Line): number;
}

export const opColumns: readonly OpColumn<OpLine>[] = [
  { name: 'At the peak', sort: 'at_peak', of: (line) => line.at_peak, says: 'Allocated in it and in use when the device is at its peak. These add up to the peak: sort by it to find what to cut.' },
  { name: 'Self', sort: 'self', of: (line) => line.self, says: 'Allocated less freed by the op itself, without the ops inside of it. Negative: it frees what others allocated.' },
  { name: 'Net', sort: 'net', of: (line) => line.net, says: 'Allocated less freed, with the ops inside of it.' },
  { name: 'Allocated', sort: 'gross', of: (line) => line.gross, says: 'All that was allocated in it, whether freed or not.' },
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
