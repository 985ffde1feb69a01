// The engine's JSON answers about events and states as types; engine/session/state_view.h and the headers it names
// define them.
import type { Frame } from './frame.ts';
import type { Bytes, Microseconds, Rank } from '../base/units.ts';

/** Row of the state history: a block's life, or a piece of a segment. -1 = none. */
export type BlockRow = number;
export type SegmentRow = number;

export interface StateInfo {
  events: number;
  blocks: number;
  ranges: number;
  /** -1 = before the first event. */
  peak_event: number;
  oom_events: number;
  snapshot_events: number;
  annotate_events: number;
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

export type StatePart = 'segment' | 'block' | 'rounding' | 'pending' | 'gap';

export interface StatePick {
  segment: SegmentRow;
  block: BlockRow;
  part: StatePart;
  text: string;
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
