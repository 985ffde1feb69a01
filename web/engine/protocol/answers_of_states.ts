// What the engine answers about events, the allocator's state after each, and addresses over time.
import type { BlockRow, Diagnostic, Frame, SegmentRow } from './answers_in_common.ts';
import type { Rank } from './arguments.ts';
import type { Bytes, Microseconds } from './quantities.ts';

/** Pixels of the window. */
export interface StateRects {
  x: Float32Array<ArrayBuffer>;
  y: Float32Array<ArrayBuffer>;
  width: Float32Array<ArrayBuffer>;
  height: Float32Array<ArrayBuffer>;
  /** An index in `stateKinds`. */
  kind: Uint8Array<ArrayBuffer>;
  /** Of the segments for kind 0, else of the blocks; -1 = several, or a gap. */
  row: Int32Array<ArrayBuffer>;
  /** Of the block on the timeline; -1 = none. */
  rank: Int32Array<ArrayBuffer>;
  /** Of a segment: the share of it that is free, 0 to 1; else 0. */
  free: Float32Array<ArrayBuffer>;
  /** Only with a look: RGBA of the block, as the timeline colours it, or the mean of several; 0 = no block. */
  colour?: Uint8ClampedArray<ArrayBuffer>;
  /** Only with a look: 0 = the look means none of its blocks. */
  matched?: Uint8Array<ArrayBuffer>;
}
export const stateKinds = ['segment', 'block', 'rounding', 'pending', 'gap'] as const;

export interface StateLayout {
  rects: StateRects;
  totals: StateTotals;
}

/** What can be told of a state before the events are undone; `row` says nothing there. */
export interface StateSketch {
  rects: StateRects;
}

/** Pixels of the address map that are no rank of the timeline. */
export const mapPixels = { nothing: -1, free: -2, unranked: -3 } as const;

/** Rows from the top. */
export interface MapPicture {
  /** Ranks in the timeline of blocks, or `mapPixels`. */
  ranks: Int32Array<ArrayBuffer>;
  /** The same as RGBA, as the timeline colours blocks. */
  pixels: Uint8ClampedArray<ArrayBuffer>;
  /** With `shades`: the share of each region that is free in each column, region after region. */
  freeShares?: Float32Array<ArrayBuffer>;
}

export interface StateInfo {
  events: number;
  blocks: number;
  ranges: number;
  /** -1 = before the first event. */
  peak_event: number;
  oom_events: number;
  snapshot_events: number;
  annotate_events: number;
  /** What finding the states repaired; those of the view are not among them. */
  diagnostics: Diagnostic[];
}

export interface EventRow {
  row: number;
  event: number;
  action: string;
  /** b'address_version or s'address_version; empty for events of neither. */
  name: string;
  size: Bytes;
  stream: number;
  time_us: Microseconds | null;
  text: string;
  /** A completion right after its request. */
  follows_request?: true;
}

export interface EventDetails {
  event: number;
  action: string;
  name: string;
  address: string;
  size: Bytes;
  stream: number;
  stream_handle: string;
  pool: [number, number] | null;
  time_us: Microseconds | null;
  text: string;
  device_free: Bytes | null;
  compile_context: string | null;
  user_metadata: string | null;
  annotations: string[];
  extras: Record<string, string>;
  frames: Frame[];
  forward_frames: string | null;
  no_stack_reasons: string[];
  block: BlockRow;
  rank: Rank;
  segment: SegmentRow;
  /** -1 = not in the trace. */
  alloc_event: number;
  free_requested_event: number;
  free_completed_event: number;
}

export interface StateTotals {
  event: number;
  time_us: Microseconds | null;
  reserved: Bytes;
  allocated: Bytes;
  active: Bytes;
  requested: Bytes;
  rounding: Bytes;
  free: Bytes;
  largest_free: Bytes;
  free_blocks: number;
  live_blocks: number;
  pending_blocks: number;
  segments: number;
  blocks_without_segment: number;
  /** 1 - largest_free / free; null without free memory. */
  fragmentation: number | null;
  text: string;
}

export type StatePart = (typeof stateKinds)[number];

export interface StatePick {
  segment: SegmentRow;
  block: BlockRow;
  part: StatePart;
  text: string;
}

/** A block that has the address at some time. Events: -1 = not in the trace. */
export interface AddressLife {
  block: BlockRow;
  rank: Rank;
  name: string;
  address: string;
  size: Bytes;
  requested_size: Bytes;
  /** Of the address from the block's start. */
  offset: Bytes;
  /** After the event; null = it does not exist then. */
  state: string | null;
  begin: number;
  end: number;
  alloc_event: number;
  free_requested_event: number;
  free_completed_event: number;
  stream: number;
  stream_handle: string | null;
  pool: [number, number] | null;
  /** null = not recorded. */
  allocated_by: string | null;
  allocated_frames: Frame[];
  freed_by: string | null;
  freed_frames: Frame[];
}

export interface AddressNeighbour {
  segment: boolean;
  name: string;
  address: string;
  size: Bytes;
  /** To its nearest byte; 1 = right beside it. */
  distance: Bytes;
}

/** A piece of device memory that has the address at another time. */
export interface AddressRange {
  name: string;
  address: string;
  size: Bytes;
  begin: number;
  end: number;
  end_action: string | null;
  pool: [number, number] | null;
}

export interface AddressOwner {
  address: string;
  device: number;
  event: number;
  time_us: Microseconds | null;
  /** The device has the address at some moment of the recording. */
  known: boolean;
  holder: AddressLife | null;
  segment: StateSegment | null;
  /** Free memory of the segment around it. */
  free: { address: string; size: Bytes } | null;
  /** The nearest in time first. */
  before: AddressLife[];
  before_left_out: number;
  after: AddressLife[];
  after_left_out: number;
  below: AddressNeighbour | null;
  above: AddressNeighbour | null;
  segment_before: AddressRange | null;
  segment_after: AddressRange | null;
  /** All of it in sentences. */
  lines: string[];
}

export interface StateBlock {
  row: BlockRow;
  name: string;
  address: string;
  size: Bytes;
  requested_size: Bytes;
  rounding: Bytes;
  /** null = it does not exist after the event. */
  state: 'active_allocated' | 'active_pending_free' | null;
  begin: number;
  end: number;
  alloc_event: number;
  free_requested_event: number;
  free_completed_event: number;
  rank: Rank;
  segment: SegmentRow;
  stream: number;
  stream_handle: string;
  pool: [number, number] | null;
  compile_context: string | null;
  user_metadata: string | null;
  annotations: string[];
  frames: Frame[];
  stack_of: 'alloc' | 'block' | 'free' | null;
  in_dump: boolean;
}

export interface StateSegment {
  row: SegmentRow;
  name: string;
  address: string;
  size: Bytes;
  free: Bytes;
  rounding: Bytes;
  allocated: Bytes;
  active: Bytes;
  requested: Bytes;
  blocks: number;
  free_blocks: number;
  expandable: boolean;
  stream: number;
  stream_handle: string;
  pool: [number, number] | null;
  begin: number;
  end: number;
  begin_action: string | null;
  end_action: string | null;
  frames: Frame[];
  in_dump: boolean;
}

/** Pixels of the zoomed layout. */
export interface StatePlace {
  x: number;
  y: number;
  width: number;
  height: number;
  block_x: number;
  block_width: number;
}

/** A run of addresses that segments of one stream had at some time: a row of the address map. */
export interface Region {
  row: number;
  name: string;
  address: string;
  size: Bytes;
  stream: number;
  stream_handle: string;
  pool: [number, number] | null;
  expandable: boolean;
  pieces: number;
}
export interface Regions {
  count: number;
  rows: Region[];
}
