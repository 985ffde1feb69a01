// A thousand ranks, reduced: the object that `gpustrata fleet -o` writes ("The reduced file" in engine/fleet/README.md). A
// row is a rank's snapshot of a device: an index into `values` of each column and into both curves.
import type { Bytes, Microseconds } from './quantities.ts';

export type FleetUnit = 'bytes' | 'count' | 'us' | 'share' | 'text';
export type FleetFindingKind =
  'oom' | 'outlier' | 'leak' | 'fragmentation' | 'drift' | 'run' | 'group' | 'coverage' | 'unknown';

/** A fact of all rows: texts or numbers, as `unit` says; null = not known. */
export interface FleetColumn {
  name: string | null;
  title: string | null;
  unit: FleetUnit;
  values: (number | string | null)[];
}

export interface FleetCoverage {
  run: string | null;
  rows: number;
  ranks: number;
  lowest_rank: number | null;
  highest_rank: number | null;
  world_size: number | null;
  duplicates: number;
  without_rank: number;
  damaged: number;
  without_times: number;
  first_us: Microseconds | null;
  last_us: Microseconds | null;
  /** "3, 7 to 9" */
  missing: string | null;
}

export interface FleetGroup {
  run: string | null;
  kind: string | null;
  name: string | null;
  rows: number;
  median_peak: Bytes | null;
  least_peak: Bytes | null;
  most_peak: Bytes | null;
  most_row: number | null;
  ooms: number;
  rows_of: number[];
}

export interface FleetFinding {
  kind: FleetFindingKind;
  title: string | null;
  text: string | null;
  rows: number[];
  stacks: { stack: string | null; who: string | null; value: Bytes | null; median: Bytes | null }[];
  /** Something that should not be. */
  bad: boolean;
}

export interface FleetStack {
  run: string | null;
  stack: string | null;
  who: string | null;
  rows: number;
  total: Bytes;
  /** Of all peaks of the run. */
  share: number | null;
  median: Bytes | null;
  most: Bytes | null;
  most_row: number | null;
}

export interface FleetAnswer {
  gpustrata_fleet: 1;
  title: string | null;
  coverage: FleetCoverage[];
  /** What is not as it should be, in sentences. */
  says: string[];
  unreadable: { file: string | null; message: string | null }[];
  unreadable_count: number;
  columns: FleetColumn[];
  groups: FleetGroup[];
  curves: {
    /** each: the clocks do not overlap, so each row runs from its own beginning, 0, to its end. */
    clock: 'common' | 'each';
    from_us: Microseconds | null;
    to_us: Microseconds | null;
    buckets: number;
    /** What a byte of 255 stands for. */
    scale: Bytes;
    /** Rows x buckets, row after row: the most of its time, rounded up; empty = not known. */
    allocated: Uint8Array;
    reserved: Uint8Array;
  };
  /** The most important first. */
  findings: FleetFinding[];
  stacks: FleetStack[];
}
