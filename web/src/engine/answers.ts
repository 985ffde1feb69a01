// The engine's JSON answers as types; engine/session/session.h and engine/analysis/block_details.h define them.
import type { AxisUnits, Bytes, Microseconds, Rank } from '../base/units.ts';
import type { Frame } from './frame.ts';
import type { StateSegment } from './state_answers.ts';

export type { Frame } from './frame.ts';

export type Axis = 'event' | 'time';

export interface EngineError {
  code: string;
  message: string;
  /** Byte offset in the input, -1 = does not apply. */
  offset: number;
  /** What the offset counts in; absent = the file itself. */
  inside?: string;
}

export interface Contents {
  /** What was read: `pickle`, `json in gzip`, `pickle in zip`. */
  format: string;
  snapshots: {
    name: string;
    devices: { device: number; events: number; segments: number }[];
    /** The one that is shown first (engine/replay/default_device.h); null = it has none. */
    default: number | null;
  }[];
  /** The same of all snapshots. */
  default: { snapshot: number; device: number } | null;
}

/** What the bands of the timeline are: blocks, blocks in the envelopes of their private pools, or segments. */
export const bandsNames = {
  blocks: 'Active memory',
  pools: 'Allocated memory (incl. private pools)',
  segments: 'Segments',
} as const;
export type Bands = keyof typeof bandsNames;
export const bandsWays = Object.keys(bandsNames) as readonly Bands[];

/** One device of one snapshot, opened as the current view. */
export interface ViewInfo {
  bands: Bands;
  device: number;
  events: number;
  blocks: number;
  from_start: number;
  /** Envelopes, which have the ranks from `blocks` on; only of `pools`. */
  pools?: number;
  peak: { bytes: Bytes; event: number };
  initial_bytes: Bytes;
  final_bytes: Bytes;
  reserved_peak: Bytes;
  reserved_final: Bytes;
  extent: { event: AxisUnits; time_us: AxisUnits | null };
  first_time_us: Microseconds | null;
  last_time_us: Microseconds | null;
  oom_events: number[];
  has_stacks: boolean;
  segments: number;
  /** allocator_settings of the snapshot as in the file. */
  settings: unknown;
}

export type Severity = 'info' | 'warning' | 'error';

export interface Diagnostic {
  severity: Severity;
  name: string;
  count: number;
  /** Byte offset of the first one, null or -1 = no place in the file. */
  first_offset: number | null;
  /** What it counts in ("rank0.pickle"); absent = the file itself. */
  first_in?: string;
  /** Where in the file that begins, if `first_in` is there. */
  file_offset?: number | null;
  text: string;
}

/** What lies under a point of the picture. */
export interface Pick {
  event: number;
  time_us: Microseconds | null;
  level: Bytes;
  allocated: Bytes;
  reserved: Bytes;
  /** -1 = no block at that height. */
  rank: Rank;
  name?: string;
  size?: Bytes;
  /** Of an envelope: bytes in its blocks. */
  active?: Bytes;
}

/** A rectangle that the band of a block covers, with room for words. */
export interface BandLabel {
  rank: Rank;
  size: Bytes;
  /** Of an envelope. */
  name?: string;
  /** The innermost function of the program's own that asked for it; empty = none is known. */
  function: string;
  /** File and line of it, `train.py:96`. */
  place: string;
  x0: AxisUnits;
  x1: AxisUnits;
  y0: Bytes;
  y1: Bytes;
}

export interface BlockPlace {
  from: AxisUnits;
  to: AxisUnits;
  /** Bytes below the block at its birth. */
  offset: Bytes;
  size: Bytes;
}

export interface BlockDetails {
  rank: Rank;
  name: string;
  address: string;
  version: number;
  kind: 'traced' | 'freed_only' | 'final_only';
  requested_size: Bytes;
  block_size: Bytes | null;
  state: string | null;
  stream: number;
  stream_handle: string;
  pool: [number, number] | null;
  pool_from: 'event' | 'segment' | null;
  born_event: number;
  free_requested_event: number | null;
  freed_event: number | null;
  born_time_us: Microseconds | null;
  freed_time_us: Microseconds | null;
  lifetime_events: number;
  lifetime_us: Microseconds | null;
  total_after: Bytes | null;
  compile_context: string | null;
  user_metadata: string | null;
  annotations: string[];
  extras: Record<string, string>;
  frames: Frame[];
  stack_of: 'alloc' | 'free' | 'block' | null;
  forward_frames: string | null;
  no_stack_reasons: string[];
}

/** A private pool as a band: what it keeps, whether blocks use it or not. */
export interface EnvelopeDetails {
  kind: 'envelope';
  rank: Rank;
  name: string;
  pool: [number, number];
  stream: number;
  stream_handle: string;
  /** Height at the end; it never shrinks. */
  capacity: Bytes;
  reserved_final: Bytes;
  active_final: Bytes;
  peak_active: Bytes;
  /** That were ever in it. */
  blocks: number;
  /** -1 = before the first. */
  born_event: number;
  text: string;
}

/** Device memory as a band: a segment, or a piece of one that was mapped as a whole. */
export interface SegmentDetails extends Omit<StateSegment, 'row'> {
  kind: 'segment';
  rank: Rank;
  row: number;
  /** Of this band: less than the segment where that was mapped piece by piece. */
  piece: Bytes;
}

/** What a rank of the timeline can be. */
export type Band = BlockDetails | EnvelopeDetails | SegmentDetails;

export function isBlock(band: Band | undefined): band is BlockDetails {
  return band !== undefined && band.kind !== 'envelope' && band.kind !== 'segment';
}
export function sizeOf(band: Band): Bytes {
  if (band.kind === 'envelope') return band.capacity;
  return band.kind === 'segment' ? band.piece : band.requested_size;
}

export interface FilterAnswer {
  count: number;
  /** Of all blocks that are meant, whenever they lived. */
  bytes: Bytes;
  /** Of those in use at the peak. */
  at_peak: Bytes;
  first: Rank;
}

export interface Completions {
  /** Where the word at the cursor begins. */
  from: number;
  items: { text: string; says: string }[];
}

/** Blocks of one kind have one colour; no kinds = every block has a colour of its own. */
export interface Kinds {
  by: ColourBy;
  /** Classes of a quantity, least first. */
  ordered: boolean;
  kinds: { label: string; blocks: number; /** Kinds that are together in this one. */ merged: number }[];
}

export type ColourBy = 'allocation' | 'stack' | 'size' | 'stream' | 'pool' | 'lifetime' | 'age' | 'category';

export interface Share {
  bytes: Bytes;
  blocks: number;
}

/** In use after an event. */
export interface Shares {
  event: number;
  level: Bytes;
  kinds: Share[];
  /** Bytes of envelopes that no block uses; only of `pools`. */
  unused?: Bytes;
  /** Of the filter; null = there is none. */
  matched: Share | null;
}
