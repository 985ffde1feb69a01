// Files, views and their bands: what the engine answers about a timeline.
import type { Diagnostic, Frame } from './answers_in_common.ts';
import type { StateSegment } from './answers_of_states.ts';
import type { Bands, ColourBy, Rank } from './arguments.ts';
import type { AxisUnits, Bytes, Microseconds } from './quantities.ts';

export interface Contents {
  /** What was read: `pickle`, `json in gzip`, `pickle in zip`. */
  format: string;
  /** 16 hexadecimal digits that tell one input from another. */
  hash: string;
  snapshots: {
    name: string;
    devices: {
      device: number;
      events: number;
      segments: number;
      /** Requests that could not be served: all of them, and the first 100 as events of the device. */
      oom: { count: number; events: number[] };
    }[];
    /** The one that is shown first (engine/replay/default_device.h); null = it has none. */
    default: number | null;
  }[];
  /** The same of all snapshots. */
  default: { snapshot: number; device: number } | null;
  /** Parts that are numbers over time. */
  series: number;
  /** Parts that are many ranks, reduced (`gpustrata fleet`). */
  fleets: number;
  /** A profiler's; without snapshots it has no memory records. */
  is_trace: boolean;
  /** What reading it found out. */
  diagnostics: Diagnostic[];
}

/** The JSON that `gpustrata fleet -o` wrote. */
export interface FleetText {
  text: Uint8Array;
}

/** The object of `gpustrata summary --json` (engine/cli/README.md). */
export type Summary = Record<string, unknown>;

export interface DevicePeak {
  device: number;
  bytes: Bytes;
}

export interface OpenedView {
  id: number;
  info: ViewInfo;
  /** Of the file and of showing this device. */
  diagnostics: Diagnostic[];
}

/** One device of one snapshot, its bands being blocks, pools or segments. */
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
  /** A profiler's trace. */
  has_ops: boolean;
  /** The file tells of numbers over time besides. */
  has_series: boolean;
  /** allocator_settings of the snapshot as in the file. */
  settings: unknown;
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

/** A rectangle in the area of a kind, with room for words. */
export interface KindPlace {
  kind: number;
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
  /** Categories that nobody wrote down: rules guess them. */
  inferred: boolean;
  /** These are of a trace: by when blocks live, not what PyTorch calls so. */
  by_lifetime: boolean;
  kinds: {
    label: string;
    blocks: number;
    /** Kinds that are together in this one. */
    merged: number;
    /** What the rules of a category say; empty = nothing. */
    says: string;
  }[];
}

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

export interface Curves {
  /** -1 = before the first event, -2 = outside of the recording. */
  event: Int32Array<ArrayBuffer>;
  /** NaN outside, as all below. */
  highest: Float64Array<ArrayBuffer>;
  lowest: Float64Array<ArrayBuffer>;
  allocated: Float64Array<ArrayBuffer>;
  reserved: Float64Array<ArrayBuffer>;
}

export interface PictureAnswer {
  /** RGBA, rows from the top. */
  pixels: Uint8ClampedArray<ArrayBuffer>;
  curves: Curves;
}

export interface ProbeAnswer {
  /** null = outside the recording. */
  pick: Pick | null;
  /** undefined = no band, or the one that is known. */
  details?: Band;
}

/** A kind in the state that a point shows. */
export interface GroupAt {
  /** Of `kinds`; their number = what pools keep unused. */
  kind: number;
  bytes: Bytes;
  blocks: number;
  /** What the filter means of it; undefined = there is none. */
  matched?: Share;
}

export interface GroupProbe {
  /** null = outside the recording. */
  pick: Pick | null;
  /** null = above the stack. */
  group: GroupAt | null;
}

/** Of a band, one value per column; NaN outside its life. */
export interface Edges {
  lower: Float64Array<ArrayBuffer>;
  upper: Float64Array<ArrayBuffer>;
}

export interface BlockAnswer {
  details: Band;
  place: BlockPlace;
}

export interface Marks {
  regions: {
    name: string;
    from_event: number;
    /** The number of events = the end of the recording. */
    to_event: number;
    from_us: Microseconds | null;
    to_us: Microseconds | null;
    depth: number;
    /** It began before the recording, or lasts beyond its end. */
    cut_start: boolean;
    cut_end: boolean;
    allocated_bytes: Bytes;
    allocations: number;
  }[];
  markers: {
    kind: 'oom' | 'snapshot' | 'annotate';
    event: number;
    time_us: Microseconds | null;
    text: string;
  }[];
  regions_left_out: number;
  markers_left_out: number;
}
