// What the engine answers, as types; names are those of the table in engine/session/questions.cpp. Numbers of blocks,
// segments and events are explained where the engine writes them (engine/session, engine/answers).
import type { Bands, ColourBy, Rank, Row } from './arguments.ts';
import type { AxisUnits, Bytes, Microseconds } from './quantities.ts';

export type * from './answers_of_profilers.ts';
export type * from './quantities.ts';

/** Rows of the state history: a block's life, a piece of a segment. -1 = none. */
export type BlockRow = Row;
export type SegmentRow = Row;

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
  /** A profiler's; without snapshots it has no memory records. */
  is_trace: boolean;
  /** What reading it found out. */
  diagnostics: Diagnostic[];
}

/** The object of `memstrata summary --json` (engine/cli/README.md). */
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

export interface Frame {
  text: string;
  name: string;
  file: string;
  line: number;
  repeats: number;
  /** Of the interpreter, or a wrapper: PyTorch's own viewer leaves it out. */
  hidden: boolean;
  /** The user's own code (engine/analysis/own_frame.h). */
  own: boolean;
  fx: string[];
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
  kinds: { label: string; blocks: number; /** Kinds that are together in this one. */ merged: number }[];
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

/** Lines "file:line:name", innermost first; null = no stack. */
export type StackLines = string[] | null;

/** What proves a sentence; null = nothing of the kind. */
export interface Proof {
  event: number | null;
  rank: Rank | null;
  /** Means the blocks it is about, or more. */
  filter: string | null;
  /** The answer that tells more. */
  more: 'oom' | 'leaks' | 'fragmentation' | null;
}
/** What of a report matters (engine/answers/report_findings.h). */
export interface ReportFinding {
  kind: string;
  title: string;
  value: string;
  bytes: Bytes | null;
  bad: boolean;
  says: (Proof & { text: string })[];
  /** They and the rest add up to `bytes`. `share` is from 0 to 1. */
  parts: (Proof & { who: string; bytes: Bytes; blocks: number; share: number })[];
  rest: string | null;
  code: string | null;
}

/** The answers about a device (engine/answers/report.h). */
export interface Report {
  device: number;
  /** The most important first. */
  findings: ReportFinding[];
  /** Parts and rest add up to `requested_bytes`. */
  peak: {
    event: number;
    requested_bytes: Bytes;
    blocks: number;
    parts: { stack: StackLines; bytes: Bytes; blocks: number; who: string | null; rank: Rank }[];
    rest_bytes: Bytes;
    rest_blocks: number;
    rest_parts: number;
  };
  steps: {
    count: number;
    from: 'annotations' | 'regions' | 'period' | null;
    /** Of the region, or of the call that begins a step. */
    name: string | null;
    /** 0 to 1. */
    sure: number;
  };
  leaks: {
    stack: StackLines;
    bytes_per_step: Bytes;
    blocks_per_step: number;
    steps: number;
    /** From 0. */
    first_step: number;
    live_bytes: Bytes;
    live_blocks: number;
    /** 0 to 1. */
    confidence: number;
    who: string | null;
    /** Of the largest block. */
    rank: Rank;
    filter: string | null;
  }[];
  leaks_left_out: number;
  cache_flushes: { retries: number; retry_bytes: Bytes; flushes: number; flush_bytes: Bytes };
  /** Where most was reserved; requested (of which pending ones are a part), rounding and cached add up to it. */
  reserved_peak: {
    event: number;
    reserved_bytes: Bytes;
    requested_bytes: Bytes;
    rounding_bytes: Bytes;
    pending_bytes: Bytes;
    cached_bytes: Bytes;
  };
  oom: ExplainedOutOfMemory[];
  /** Earlier ones. */
  oom_left_out: number;
  fragmentation: FragmentationNumbers;
  categories: { name: string; bytes_at_peak: Bytes; blocks: number; sure: number }[];
}

/** After an event (engine/answers/fragmentation.h). */
export interface FragmentationNumbers {
  event: number;
  reserved_bytes: Bytes;
  allocated_bytes: Bytes;
  pending_bytes: Bytes;
  cached_bytes: Bytes;
  largest_free_bytes: Bytes;
  held_back_bytes: Bytes;
  /** 0 to 1, of what is reserved. */
  share: number;
  pinned_segments: number;
  pins: {
    segment: string;
    segment_bytes: Bytes;
    free_bytes: Bytes;
    held_back_bytes: Bytes;
    blocks: number;
    pinned_bytes: Bytes;
    expandable: boolean;
    /** Of the largest block. */
    who: string | null;
    stack: StackLines;
    /** When the oldest block came; -1 = before the first event. */
    since_event: number;
    row: SegmentRow;
    /** Of the largest block; -1 = the timeline does not show it. */
    rank: Rank;
  }[];
}
/** Free memory of a pool and stream. */
export interface FreePlace {
  name: string;
  stream: string;
  pool: [number, number] | null;
  small: boolean;
  reserved_bytes: Bytes;
  segments: number;
  empty_segments_bytes: Bytes;
  cached_bytes: Bytes;
  largest_free_bytes: Bytes;
  blocks: number;
}
export interface Fragmentation extends FragmentationNumbers {
  text: string;
  places: FreePlace[];
  places_left_out: number;
}
/** One value an event. */
export interface FragmentationOver {
  reserved: Float64Array<ArrayBuffer>;
  cached: Float64Array<ArrayBuffer>;
  largest: Float64Array<ArrayBuffer>;
  heldBack: Float64Array<ArrayBuffer>;
}

/** Over the whole recording, in each segment: bytes beyond the most that was in use at once. */
export interface NeverFull {
  text: string;
  all_segments: number;
  segments: number;
  never_used_bytes: Bytes;
  /** Most bytes never used first. */
  worst: {
    segment: string;
    segment_bytes: Bytes;
    most_in_use_bytes: Bytes;
    /** First event after which it was so much; -1 = from the start. */
    most_event: number;
    never_used_bytes: Bytes;
    /** -1 = from the start. */
    from_event: number;
    /** null = it is never given back. */
    until_event: number | null;
    expandable: boolean;
    who: string | null;
    stack: StackLines;
    row: SegmentRow;
  }[];
}

/** Allocated in a stretch and never freed; rows and other add up. */
export interface NeverFreed {
  bytes: Bytes;
  blocks: number;
  /** Means all of them. */
  filter: string;
  rows: { who: string | null; bytes: Bytes; blocks: number; rank: Rank; filter: string | null }[];
  other: { bytes: Bytes; blocks: number; rows: number };
}

/** By what its own lines asked for. */
export interface SourceFile {
  file: string;
  bytes: Bytes;
  blocks: number;
}
/** Ascending. Own = the line asked for it; else it is somewhere in the stack. */
export interface SourceLines {
  lines: { line: number; own_bytes: Bytes; own_blocks: number; bytes: Bytes; blocks: number }[];
  lines_left_out: number;
}

/** Who asked, of a stack. */
export interface WhoOfStack {
  who: string | null;
  /** Its innermost lines. */
  stack: StackLines;
  filter: string | null;
  rank: Rank;
}
/** What is alive, stack by stack, largest first; lists of one length (engine/answers/stack_facts.h). */
export interface StackFacts {
  bytes: Bytes;
  blocks: number;
  keys: string[];
  places: string[];
  sizes: Bytes[];
  counts: number[];
  rest_bytes: Bytes;
  rest_blocks: number;
  parts: WhoOfStack[];
}
export interface ComparedBytes {
  before_bytes: Bytes;
  after_bytes: Bytes;
  before_blocks: number;
  after_blocks: number;
}
export type ComparedSum = ComparedBytes & { rows: number };
export type ComparedRow = ComparedBytes & {
  change: 'grew' | 'shrank' | 'new' | 'gone' | 'same';
  /** Number of the fact. */
  before: number | null;
  /** null = only one side has it. */
  matched: 'stack' | 'functions' | null;
} & (WhoOfStack | { [K in keyof WhoOfStack]: null });
/** Rows, same, other and rest add up to both sides. */
export interface Compared {
  before: { bytes: Bytes; blocks: number };
  after: { bytes: Bytes; blocks: number };
  /** How stacks of both were found to be the same: pairs by all their lines, pairs by functions; in words. */
  matching: { stack: number; functions: number; only_before: number; only_after: number; text: string };
  rows: ComparedRow[];
  same: ComparedSum;
  other: ComparedSum;
  rest: ComparedSum;
}

/** A value a column: of the highest level in it; NaN outside of the recording, where `event` is -2. */
export interface LevelCurve {
  event: Int32Array<ArrayBuffer>;
  level: Float64Array<ArrayBuffer>;
  reserved: Float64Array<ArrayBuffer>;
}

/** Why a request failed (engine/answers/out_of_memory.h). */
export interface ExplainedOutOfMemory {
  event: number;
  time_us: Microseconds | null;
  requested_bytes: Bytes;
  needed_bytes: Bytes;
  device_free_bytes: Bytes | null;
  reserved_bytes: Bytes;
  allocated_bytes: Bytes;
  pending_bytes: Bytes;
  cached_bytes: Bytes;
  largest_free_bytes: Bytes;
  largest_own_bytes: Bytes;
  who: string | null;
  stack: StackLines;
  expandable_segments: boolean | null;
  verdict: 'too_big' | 'full' | 'fragmented' | 'elsewhere' | 'limit' | 'unknown';
  text: string;
  free: (FreePlace & {
    /** The request looks here. */
    own: boolean;
    why: 'too_small' | 'other_stream' | 'private_pool' | 'small_or_large' | 'max_split' | 'nothing';
    why_text: string;
  })[];
  remedies: {
    name: string;
    bytes: Bytes | null;
    text: string;
    /** The recorded run was run again with it; null = it was not. */
    confirmed: boolean | null;
    code: string | null;
    filter: string | null;
  }[];
}

/** What the events of a range did: it begins in the state after `from` and ends in the state after `to`. */
export interface RangeTotals {
  from: number;
  to: number;
  level_before: Bytes;
  level_after: Bytes;
  /** The highest state within it, the one that it begins in included. */
  peak: { event: number; bytes: Bytes };
  allocated: RangeSum;
  /** Of what was allocated: still there at the end; freed within the range. */
  kept: RangeSum;
  passed: RangeSum;
  /** Whenever it was allocated. */
  freed: RangeSum;
}
export interface RangeSum {
  bytes: Bytes;
  blocks: number;
}

/** What weights of calls are: `byte_us` = bytes times microseconds, `byte_events` = bytes times events. */
export type CallUnit = 'bytes' | 'blocks' | 'byte_us' | 'byte_events';

/** A line, a function or a file of the program. */
export interface CallFrame {
  /** -1 = blocks without a stack. */
  key: number;
  /** `forward model.py:96`, `forward model.py`, `nn/model.py`. */
  label: string;
  /** Empty for a file. */
  name: string;
  file: string;
  /** 0 = unknown, or a function or file. */
  line: number;
  from: 'own' | 'package' | 'library' | 'interpreter' | null;
  /** The filter that means its blocks; null = it would be too long. */
  filter: string | null;
}

export interface FlameGraph {
  unit: CallUnit;
  /** Of a difference what grew and what shrank; `grew` of it grew. */
  total: number;
  grew: number;
  /** Of the blocks that the filter means. */
  lit: number;
  blocks: number;
  /** Of the file before: what its facts do not tell by stack, and is in no rectangle. */
  rest: number;
  /** What is below a frame with the text that was looked for; null = nothing was. */
  found: { weight: number; grew: number; frames: number } | null;
  /** How many of the path exist here. */
  steps: number;
  rows: number;
  /** There were more rows, or more rectangles, than were wanted. */
  cut: boolean;
  frames: CallFrame[];
  rects: {
    /** Index of `frames`, -1 = the root. */
    frame: Int32Array;
    row: Int32Array;
    /** Index of the rectangle below which it is, -1 = none. */
    parent: Int32Array;
    /** Pixels. */
    left: Float32Array;
    right: Float32Array;
    weight: Float64Array;
    self: Float64Array;
    grew: Float64Array;
    lit: Float64Array;
    blocks: Float64Array;
    /** 1 = it has the text that was looked for. */
    hit: Int32Array;
  };
}

export interface FrameRow extends CallFrame {
  weight: number;
  self: number;
  grew: number;
  self_grew: number;
  blocks: number;
}

export interface FrameRows {
  unit: CallUnit;
  total: number;
  grew: number;
  /** As that of `FlameGraph`. */
  rest: number;
  count: number;
  rows: FrameRow[];
}

/** Who holds memory: a line, function, file, module or category. */
export interface Holder {
  /** -1 = no stack, or outside of modules. */
  key: number;
  label: string;
  file: string;
  /** 0 = unknown, or no line. */
  line: number;
  bytes: Bytes;
  blocks: number;
  /** Of bytes: what the filter means. */
  lit_bytes: Bytes;
  /** Of its blocks. */
  largest: Rank;
  /** Of a category: 0 to 1, how sure its rules are; null = none decided. */
  sure: number | null;
  /** The filter that means its blocks; null = there is none. */
  filter: string | null;
}

export interface Holders {
  event: number;
  bytes: Bytes;
  blocks: number;
  count: number;
  /** Labels of the program or the profiler decided for some blocks. */
  labelled: boolean;
  rows: Holder[];
}

export interface CategoryRules {
  names: string[];
  rules: number;
  text: string;
}

/** What a block is for. */
export interface BlockCategory {
  name: string;
  /** 0 to 1; null = no rule fits. */
  sure: number | null;
  /** The line of the rules that decided, from 1, and as it stands there. */
  line: number | null;
  rule: string | null;
}

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
/** The object of `memstrata whatif --json`, and more. */
export interface WhatIf {
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
