// The columns of the op table, in their order; what they are called and mean is the engine's (its heads).
import { opLineHeads, profilerLineHeads } from '../../../engine/heads.ts';
import { opSortWords, type OpLine, type OpSort, type ProfilerLine } from '../../../engine/index.ts';

export interface OpColumn<Line> {
  name: string;
  /** What the number is, as a sentence. */
  says: string;
  sort?: OpSort | undefined;
  /** Null: not known. */
  of(line: Line): number | null;
}

const order = ['at_peak', 'self', 'net', 'gross', 'freed', 'at_return', 'peak', 'abs_peak'] as const;
export const opColumns: readonly OpColumn<OpLine>[] = order.map((key) => ({
  ...opLineHeads[key],
  sort: opSortWords.find((word) => word === key),
  of: (line) => line[key],
}));

const profilerSorts = { device: 'net', self_device: 'self' } as const;
export const profilerColumns = (showsDevices: boolean): readonly OpColumn<ProfilerLine>[] => [
  ...(['cpu', 'self_cpu'] as const).map((key) => ({
    ...profilerLineHeads[key],
    of: (line: ProfilerLine) => line[key],
  })),
  ...(showsDevices ? (['device', 'self_device'] as const) : []).map((key) => ({
    ...profilerLineHeads[key],
    sort: profilerSorts[key],
    of: (line: ProfilerLine) => line[key],
  })),
];
