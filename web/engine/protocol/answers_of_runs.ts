// What the engine answers about the recorded run under other settings.
import type { Bytes } from './quantities.ts';

/** What running the recorded requests again comes to before anything is changed. */
export interface Rehearsal {
  device: number;
  /** The recorded settings' text. */
  conf: string;
  /** The file has them. */
  settings_are_known: boolean;
  /** That the device must have had; null = nothing says. */
  capacity: Bytes | null;
  requests: number;
  /** The run repeats the recording in every event. */
  exact: boolean;
  fidelity_text: string;
  first_deviation: number | null;
  /** What the file does not say, in words. */
  guesses: string[];
  /** Settings' texts that are worth a try. */
  tries: string[];
}
export interface RunNumbers {
  peak_reserved_bytes: Bytes;
  peak_allocated_bytes: Bytes;
  device_allocs: number;
  device_frees: number;
  ooms: number;
}
/** The object of `gpustrata whatif --json`, and more. */
export interface WhatIf {
  /** False: the recording ends at a request that failed, so that what fits is a lower bound. */
  complete: boolean;
  conf: string;
  capacity: Bytes | null;
  requests: number;
  fidelity: {
    requests: number;
    same_place: number;
    reserved_error_bytes: Bytes;
    first_deviation: number | null;
  };
  recorded: RunNumbers;
  simulated: RunNumbers & {
    peak_active_bytes: Bytes;
    end_reserved_bytes: Bytes;
    alloc_retries: number;
    first_oom: { event: number; requested_bytes: Bytes } | null;
  };
  extra?: { event: number; until: number | null; requested_bytes: Bytes; refused: boolean }[];
  changed_blocks?: number;
  fidelity_text: string;
  recommendation: string;
  /** The highest in each column of the recorded events. */
  curves: {
    recordedReserved: Float64Array;
    recordedAllocated: Float64Array;
    simulatedReserved: Float64Array;
    simulatedAllocated: Float64Array;
  };
}
export interface PoolUse {
  segments: number;
  reserved: Bytes;
  used: Bytes;
  largest_free: Bytes;
}
export interface PoolDifference {
  /** null = the default one. */
  pool: string | null;
  small: boolean;
  recorded: PoolUse;
  simulated: PoolUse;
}
export interface SegmentUse {
  reserved: Bytes;
  used: Bytes;
  largest_free: Bytes;
}
/** A segment that is not the same in both states; null = it is not there. */
export interface SegmentDifference {
  address: string;
  pool: string | null;
  small: boolean;
  recorded: SegmentUse | null;
  simulated: SegmentUse | null;
}
export interface StateDifferences {
  pools: PoolDifference[];
  /** Those that differ most, at most 200. */
  segments: SegmentDifference[];
  segments_left_out: number;
  same_segments: number;
}
