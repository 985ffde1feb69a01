// Written by `gpustrata schema --types` from what the engine's answers say of themselves. Do not edit.
import type { Rank } from './arguments.ts';
import type { AxisUnits, BlockRow, Bytes, Microseconds, SegmentRow } from './quantities.ts';

/** A block that has the address, had it or will have it. */
export interface AddressLife {
  block: BlockRow;
  rank: Rank;
  name: string;
  address: string;
  size: Bytes;
  requested_size: Bytes;
  /** Of the address in the block. */
  offset: Bytes;
  /** Null: it does not exist after the event. */
  state: 'active_allocated' | 'active_pending_free' | null;
  begin: number;
  /** The event after which it is gone; -1 = never. */
  end: number;
  /** -1 = not in the trace, as of the next two. */
  alloc_event: number;
  free_requested_event: number;
  free_completed_event: number;
  stream: number;
  stream_handle: string | null;
  /** Its two numbers; null: the file does not say. */
  pool: [number, number] | null;
  allocated_by: string | null;
  allocated_frames: Frame[];
  freed_by: string | null;
  freed_frames: Frame[];
}

/** The nearest on one side. */
export interface AddressNeighbour {
  segment: boolean;
  name: string;
  address: string;
  size: Bytes;
  /** To its nearest byte. */
  distance: Bytes;
}

/** Whose an address is after the event, who had it before and who has it later. */
export interface AddressOwner {
  /** The file is damaged or ends too early: no number is whole. */
  damaged?: boolean;
  address: string;
  device: number;
  event: number;
  time_us: Microseconds | null;
  /** The device has it at some moment. */
  known: boolean;
  holder: AddressLife | null;
  segment: StateSegment | null;
  /** The free memory that it lies in. */
  free: {
    address: string;
    size: Bytes;
  } | null;
  before: AddressLife[];
  before_left_out: number;
  after: AddressLife[];
  after_left_out: number;
  below: AddressNeighbour | null;
  above: AddressNeighbour | null;
  segment_before: AddressRange | null;
  segment_after: AddressRange | null;
  /** The same in sentences. */
  lines: string[];
}

/** A segment that has the address at another moment. */
export interface AddressRange {
  name: string;
  address: string;
  size: Bytes;
  begin: number;
  end: number;
  end_action: string | null;
  /** Its two numbers; null: the file does not say. */
  pool: [number, number] | null;
}

export interface AllocationOps {
  /** Of each allocation asked for; below 0 = none (engine/session/replies_of_made_in.cpp says why). */
  node: Int32Array<ArrayBuffer>;
}

/** Of a snapshot, by event. */
export interface Allocations {
  /** The event to ask on from; the number of events = that was all. */
  next: number;
  event: Int32Array<ArrayBuffer>;
  /** Since 1970; NaN = not known. */
  time_us: Float64Array<ArrayBuffer>;
  /** -1 = none that a number tells exactly. */
  address: Float64Array<ArrayBuffer>;
}

/** A rectangle that the band of a block covers, with room for words; by group also what other bands of a kind cover. */
export interface BandLabel {
  /** -1 = of a kind. */
  rank: Rank;
  /** Of `kinds`; their number = what pools keep unused. */
  kind?: number;
  /** Of a kind 0. */
  size: Bytes;
  /** Of an envelope. */
  name?: string;
  /** The innermost function of the program's own that asked for it; empty = none is known. */
  function: string;
  /** File and line of it, `train.py:96`. */
  place: string;
  x0: AxisUnits;
  x1: AxisUnits;
  y0: number;
  y1: number;
}

/** Bytes or a number, in two recordings. */
export interface BeforeAfter {
  before: number;
  after: number;
  growth: number;
}

export interface BlockAnswer {
  details: BlockDetails | EnvelopeDetails | SegmentDetails | null;
  place: BlockPlace;
}

/** What a block is for. */
export interface BlockCategory {
  name: string;
  /** 0 to 1; null = no rule fits. */
  sure: number | null;
  /** The line of the rules that decided, from 1. */
  line: number | null;
  /** As it stands there. */
  rule: string | null;
}

export interface BlockDetails {
  rank: Rank;
  name: string;
  address: string;
  version: number;
  kind: 'traced' | 'freed_only' | 'final_only';
  requested_size: Bytes;
  block_size: Bytes | null;
  /** At the end of the recording. */
  state: 'active_allocated' | 'active_pending_free' | null;
  stream: number;
  stream_handle: string;
  /** Its two numbers; null: the file does not say. */
  pool: [number, number] | null;
  pool_from: 'event' | 'segment' | null;
  /** -1 = before the first. */
  born_event: number;
  free_requested_event: number | null;
  freed_event: number | null;
  born_time_us: Microseconds | null;
  freed_time_us: Microseconds | null;
  lifetime_events: number;
  lifetime_us: Microseconds | null;
  /** Allocated right after it came. */
  total_after: Bytes | null;
  compile_context: string | null;
  user_metadata: string | null;
  annotations: string[];
  /** What else the file says of it. */
  extras: Record<string, string>;
  /** Innermost first. */
  frames: Frame[];
  stack_of: 'alloc' | 'free' | 'block' | null;
  who: string | null;
  forward_frames: string | null;
  no_stack_reasons: string[];
  annotations_left_out: number;
  extras_left_out: number;
  frames_left_out: number;
}

export interface BlockPlace {
  from: AxisUnits;
  to: AxisUnits;
  /** Bytes below the block at its birth. */
  offset: Bytes;
  size: Bytes;
}

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
  from: 'interpreter' | 'library' | 'package' | 'own' | null;
  /** The filter that means its blocks; null = it would be too long. */
  filter: string | null;
}

export interface CategoryMoment {
  bytes: Bytes;
  time_us: Microseconds | null;
  categories: Record<string, Bytes>;
}

export interface CategoryRules {
  names: string[];
  rules: number;
  text: string;
}

export interface CategoryTimeline {
  points: number;
  first_us: Microseconds | null;
  last_us: Microseconds | null;
  peak: CategoryMoment | null;
  /** The highest moment of each piece of the time. */
  course: CategoryMoment[];
}

/** Rows, same, other and rest add up to both sides. */
export interface Compared {
  before: {
    bytes: Bytes;
    blocks: number;
  };
  after: {
    bytes: Bytes;
    blocks: number;
  };
  /** How stacks of both were found to be the same. */
  matching: {
    /** Pairs by all their lines. */
    stack: number;
    /** Pairs by functions: their lines moved. */
    functions: number;
    only_before: number;
    only_after: number;
    text: string;
  };
  /** What changed. Of what is gone nothing says who. */
  rows: ComparedRow[];
  same: ComparedSum;
  /** Changed, but beyond the rows. */
  other: ComparedSum;
  /** Not told by the stacks. */
  rest: ComparedSum;
}

export interface ComparedRow {
  change: 'new' | 'gone' | 'grew' | 'shrank' | 'same';
  /** Number of the carried. */
  before: number | null;
  before_bytes: Bytes;
  after_bytes: Bytes;
  before_blocks: number;
  after_blocks: number;
  /** Null: only one side has it. */
  matched: 'stack' | 'functions' | null;
  who: string | null;
  /** Its innermost lines. */
  stack: string[] | null;
  filter: string | null;
  rank: Rank | null;
}

export interface ComparedSum {
  rows: number;
  before_bytes: Bytes;
  after_bytes: Bytes;
  before_blocks: number;
  after_blocks: number;
}

export interface Completions {
  /** Where the word at the cursor begins. */
  from: number;
  items: {
    text: string;
    says: string;
  }[];
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
      oom: {
        count: number;
        events: number[];
        /** Of the first, by the clock of the machine that recorded. */
        first_time_us: Microseconds | null;
      };
    }[];
    /** The device that is shown first; null = it has none. */
    default: number | null;
  }[];
  /** The same of all snapshots. */
  default: {
    snapshot: number;
    device: number;
  } | null;
  /** Parts that are numbers over time. */
  series: number;
  /** Parts that are many ranks, reduced (`gpustrata fleet`). */
  fleets: number;
  /** A profiler's; without snapshots it has no memory records. */
  is_trace: boolean;
  /** It ended early or was damaged: no number of it is whole. */
  damaged: boolean;
  /** What reading it found out. */
  diagnostics: Diagnostic[];
}

/** A value for each column; NaN outside of the recording. */
export interface Curves {
  /** -1 = before the first event, -2 = outside of the recording. */
  event: Int32Array<ArrayBuffer>;
  highest: Float64Array<ArrayBuffer>;
  lowest: Float64Array<ArrayBuffer>;
  /** Requested bytes in use at that event. */
  allocated: Float64Array<ArrayBuffer>;
  /** The highest in the column. */
  reserved: Float64Array<ArrayBuffer>;
}

export interface DevicePeak {
  device: number;
  bytes: Bytes;
}

export interface Diagnostic {
  name: string;
  severity: 'info' | 'warning' | 'error';
  count: number;
  /** Byte offset of the first one; null or -1 = no place in the file. */
  first_offset: number | null;
  /** What that counts in ("rank0.pickle"); absent = the file itself. */
  first_in?: string;
  /** Where in the file that begins. */
  file_offset?: number | null;
  text: string;
}

/** Of a band, a value for each column; NaN outside of its life. */
export interface Edges {
  lower: Float64Array<ArrayBuffer>;
  upper: Float64Array<ArrayBuffer>;
}

export interface EngineError {
  code: string;
  message: string;
  /** Byte offset in the input, -1 = does not apply. */
  offset: number;
  /** What the offset counts in; absent = the file itself. */
  inside?: string;
}

/** A private pool as a band: what it keeps, whether blocks use it or not. */
export interface EnvelopeDetails {
  kind: 'envelope';
  rank: Rank;
  name: string;
  /** Its two numbers; null: the file does not say. */
  pool: [number, number] | null;
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

export interface EventDetails {
  event: number;
  action: string;
  name: string;
  /** Empty of a request that failed. */
  address: string;
  size: Bytes;
  stream: number;
  stream_handle: string;
  /** Its two numbers; null: the file does not say. */
  pool: [number, number] | null;
  time_us: Microseconds | null;
  text: string;
  device_free: Bytes | null;
  compile_context: string | null;
  user_metadata: string | null;
  annotations: string[];
  /** What else the file says of it. */
  extras: Record<string, string>;
  /** Innermost first. */
  frames: Frame[];
  who: string | null;
  forward_frames: string | null;
  no_stack_reasons: string[];
  /** -1 = none, as of the next two. */
  block: BlockRow;
  rank: Rank;
  segment: SegmentRow;
  /** -1 = not in the trace, as of the next two. */
  alloc_event: number;
  free_requested_event: number;
  free_completed_event: number;
  annotations_left_out: number;
  extras_left_out: number;
  frames_left_out: number;
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
  /** As the official viewer says it. */
  text: string;
  /** A completion right after its request. */
  follows_request?: boolean;
}

/** Why a request failed. What is null is not known. */
export interface ExplainedOutOfMemory {
  event: number;
  time_us: Microseconds | null;
  requested_bytes: Bytes;
  /** From the device. */
  needed_bytes: Bytes | null;
  device_free_bytes: Bytes | null;
  reserved_bytes: Bytes | null;
  allocated_bytes: Bytes;
  pending_bytes: Bytes | null;
  cached_bytes: Bytes | null;
  /** Of any stream and pool. */
  largest_free_bytes: Bytes | null;
  /** Of the request's own. */
  largest_own_bytes: Bytes | null;
  who: string | null;
  /** Lines "file:line:name", innermost first; null = no stack. */
  stack: string[] | null;
  lines_left_out?: number;
  expandable_segments: boolean | null;
  verdict: 'too_big' | 'full' | 'fragmented' | 'elsewhere' | 'too_late' | 'limit' | 'unknown';
  text: string;
  /** In use at once, as far as the file shows; null: cannot be told. */
  needed_at_least: {
    bytes: Bytes;
    /** Than what was in use and the request. */
    more_bytes: Bytes;
    device: number;
    /** -1 = none. */
    step: number;
    /** Of the reference. */
    event: number;
    same_allocations: number;
    same_sizes: boolean;
    /** Told by the gradients of that step alone; 0 = by its allocations. */
    gradients_bytes: Bytes;
    text: string;
  } | null;
  /** No backward pass had begun in the step that failed, as far as stacks tell. */
  before_backward: boolean;
  free: {
    name: string;
    stream: string;
    /** Its two numbers; null: the file does not say. */
    pool: [number, number] | null;
    /** Of blocks up to 1 MiB. */
    small: boolean;
    reserved_bytes: Bytes;
    segments: number;
    empty_segments_bytes: Bytes;
    cached_bytes: Bytes;
    largest_free_bytes: Bytes;
    /** Free pieces. */
    blocks: number;
    /** The request looks here. */
    own: boolean;
    why_text: string;
    why: 'too_small' | 'other_stream' | 'private_pool' | 'small_or_large' | 'max_split' | 'nothing';
  }[];
  remedies: {
    name: 'expandable_segments' | 'free_pins' | 'smaller_request' | 'use_less' | 'largest_holder' | 'checkpoint' | 'fused_attention' | 'chunked_loss' | 'ask_again' | 'free_pending' | 'share_streams' | 'raise_limit' | 'other_processes';
    bytes: Bytes | null;
    text: string;
    /** The recorded run was run again with it; null = it was not. */
    confirmed: boolean | null;
    code: string | null;
    filter: string | null;
  }[];
}

export interface FilterAnswer {
  count: number;
  /** Of all blocks that are meant, whenever they lived. */
  bytes: Bytes;
  /** Of those in use at the peak. */
  at_peak: Bytes;
  first: Rank;
}

export interface FirstLook {
  contents: Contents;
  /** Of `default`, by blocks; null = there is none. */
  view: OpenedView | null;
}

/** What fits: memory foretold from recordings with other parameters. */
export interface Fit {
  /** What fits, in sentences; empty without a capacity. */
  answer: string;
  /** What the answer rests on, in sentences. */
  sure: string;
  /** The one of which the largest value is looked for. */
  parameter: string;
  parameters: string[];
  conf: string;
  /** Null: none was given. */
  capacity: Bytes | null;
  /** The largest value of the parameter that fits the capacity. Null: none does, none is too large, or no capacity was given; `largest_that_fits` says which. */
  largest: number | null;
  /** Null without a capacity. */
  largest_that_fits: LargestThatFits | null;
  /** The same with expandable segments. Null: they are in the settings, or nothing is looked for. */
  largest_expandable: LargestThatFits | null;
  /** Of which all but the first are those of the largest one. */
  largest_values: {
    values: Record<string, number>;
  };
  /** Foretold, in the order they were asked for. */
  at: Foretold[];
  /** Where the terms are told. */
  terms_at: {
    values: Record<string, number>;
  };
  /** The peak requested there. */
  terms_bytes: Bytes;
  /** What that peak is made of, by line of code and growth: most bytes first. */
  terms: FitTerm[];
  /** What the program does as often as the parameters say, in its order. */
  repeats: FitRepeat[];
  /** What is told from one recording, by what blocks are for; null: it is told from several. */
  guessed: Guessed | null;
  /** False: the recording has no allocation after a request that failed, or ends in a journal that its program did not end, and peaks are lower bounds. */
  complete: boolean;
  /** Every size has fewer terms than there are recordings, and nothing else was assumed. */
  exact: boolean;
  /** By how their sizes are known. */
  requests: {
    /** A function with fewer terms than there are recordings gives all of them. */
    confirmed: number;
    /** The simplest function through the recordings: others would go through them, too. */
    assumed: number;
    unexplained: number;
    /** That some recordings do not have. */
    unmatched: number;
    /** Whose blocks are not freed between the same requests; counted to the latest. */
    freed_differently: number;
    /** Matched by their order alone, as those of autograd's threads are. */
    without_stack: number;
    /** For what was there before the first event of a recording: asked for first, in an order that is not known. */
    before: number;
    /** Of longer recordings, after the last request of the shortest. */
    left_out: number;
  };
  /** Sizes that no function gives, at most 100. */
  unexplained: {
    who: string | null;
    /** By recording; 0 = it does not ask for it. */
    recorded_bytes: Bytes[];
  }[];
  /** What was fitted. */
  recordings: {
    file: string;
    values: Record<string, number>;
    /** Of the requests that are matched. */
    requested_peak_bytes: Bytes;
    reserved_peak_bytes: Bytes;
    /** Its requests, run again, repeat it in every event. */
    exact: boolean;
    /** Peak requested, foretold from the other recordings; null of too few. */
    foretold_peak_bytes: Bytes | null;
  }[];
}

export interface FitRepeat {
  /** The line of code that asks for the first block of a turn; null without a stack. */
  who: string | null;
  /** In a turn. */
  requests: number;
  /** By recording: turns that are alike. */
  times: number[];
  /** How the number of turns does, as in `terms`. */
  grows: string;
  /** By a recording more than it takes, three at least. */
  confirmed: boolean;
}

export interface FitTerm {
  /** "batch*seq^2", "constant", "1 + batch", "batch, rounded", "not explained". */
  grows: string;
  who: string | null;
  bytes: Bytes;
  blocks: number;
  share: number;
}

export interface FlameGraph {
  unit: 'bytes' | 'blocks' | 'byte_us' | 'byte_events';
  /** Of a difference what grew and what shrank; `grew` of it grew. */
  total: number;
  grew: number;
  /** Of the blocks that the filter means. */
  lit: number;
  blocks: number;
  /** Of the file before: what its facts do not tell by stack, and is in no rectangle. */
  rest: number;
  /** What is below a frame with the text that was looked for; null = nothing was. */
  found: {
    weight: number;
    grew: number;
    frames: number;
  } | null;
  /** How many of the path exist here. */
  steps: number;
  rows: number;
  /** There were more rows, or more rectangles, than were wanted. */
  cut: boolean;
  frames: CallFrame[];
  rects: {
    /** Index of `frames`, -1 = the root. */
    frame: Int32Array<ArrayBuffer>;
    row: Int32Array<ArrayBuffer>;
    /** Index of the rectangle below which it is, -1 = none. */
    parent: Int32Array<ArrayBuffer>;
    /** Pixels. */
    left: Float32Array<ArrayBuffer>;
    right: Float32Array<ArrayBuffer>;
    weight: Float64Array<ArrayBuffer>;
    self: Float64Array<ArrayBuffer>;
    grew: Float64Array<ArrayBuffer>;
    lit: Float64Array<ArrayBuffer>;
    blocks: Float64Array<ArrayBuffer>;
    /** 1 = it has the text that was looked for. */
    hit: Int32Array<ArrayBuffer>;
  };
}

export interface FleetText {
  /** The JSON that `gpustrata fleet -o` wrote. */
  text: Uint8Array<ArrayBuffer>;
}

export interface Foretold {
  /** Of the parameter. */
  value: number;
  values: Record<string, number>;
  /** How often each of `repeats` is done. */
  times: number[];
  requested_peak_bytes: Bytes;
  reserved_peak_bytes: Bytes;
  allocated_peak_bytes: Bytes;
  /** With sizes that are not explained as small as they may be. */
  low: ForetoldPeaks;
  /** The same, as large. */
  high: ForetoldPeaks;
  /** Null: no capacity was given, or it depends on sizes that are not explained. */
  fits: boolean | null;
  /** The first request that does not fit. */
  first_failure: {
    requested_bytes: Bytes;
    /** The line of code that asks for it; null without a stack. */
    who: string | null;
  } | null;
}

export interface ForetoldPeaks {
  requested_peak_bytes: Bytes;
  reserved_peak_bytes: Bytes;
  allocated_peak_bytes: Bytes;
}

/** After an event. */
export interface Fragmentation {
  text: string;
  event: number;
  reserved_bytes: Bytes;
  allocated_bytes: Bytes;
  pending_bytes: Bytes;
  cached_bytes: Bytes;
  largest_free_bytes: Bytes;
  /** Free, and cannot go back to the device. */
  held_back_bytes: Bytes;
  /** 0 to 1, of what is reserved. */
  share: number;
  pinned_segments: number;
  pins: Pin[];
  places: FreePlace[];
  places_left_out: number;
}

/** After an event. */
export interface FragmentationNumbers {
  event: number;
  reserved_bytes: Bytes;
  allocated_bytes: Bytes;
  pending_bytes: Bytes;
  cached_bytes: Bytes;
  largest_free_bytes: Bytes;
  /** Free, and cannot go back to the device. */
  held_back_bytes: Bytes;
  /** 0 to 1, of what is reserved. */
  share: number;
  pinned_segments: number;
  pins: Pin[];
  never_full?: NeverFull;
}

/** A line of a stack. */
export interface Frame {
  text: string;
  name: string;
  file: string;
  line: number;
  repeats: number;
  /** Of the interpreter, or a wrapper: PyTorch's own viewer leaves it out. */
  hidden: boolean;
  /** The user's own code. */
  own: boolean;
  /** What torch.fx says of it. */
  fx: string[];
}

export interface FrameRow {
  /** -1 = blocks without a stack. */
  key: number;
  /** `forward model.py:96`, `forward model.py`, `nn/model.py`. */
  label: string;
  /** Empty for a file. */
  name: string;
  file: string;
  /** 0 = unknown, or a function or file. */
  line: number;
  from: 'interpreter' | 'library' | 'package' | 'own' | null;
  /** The filter that means its blocks; null = it would be too long. */
  filter: string | null;
  weight: number;
  self: number;
  grew: number;
  self_grew: number;
  blocks: number;
}

export interface FrameRows {
  unit: 'bytes' | 'blocks' | 'byte_us' | 'byte_events';
  total: number;
  grew: number;
  /** As that of `FlameGraph`. */
  rest: number;
  count: number;
  rows: FrameRow[];
}

/** Free memory of a pool and stream. */
export interface FreePlace {
  name: string;
  stream: string;
  /** Its two numbers; null: the file does not say. */
  pool: [number, number] | null;
  /** Of blocks up to 1 MiB. */
  small: boolean;
  reserved_bytes: Bytes;
  segments: number;
  empty_segments_bytes: Bytes;
  cached_bytes: Bytes;
  largest_free_bytes: Bytes;
  /** Free pieces. */
  blocks: number;
}

export interface FunctionCall {
  function: string;
  device: number | null;
  position: AxisUnits | null;
  before: Bytes | null;
  peak: Bytes | null;
  after: Bytes | null;
  net: Bytes | null;
  seconds: number | null;
}

export interface GroupAt {
  /** Of `kinds`; their number = what pools keep unused. */
  kind: number;
  bytes: Bytes;
  blocks: number;
  /** What the filter means of it. */
  matched?: Share;
}

export interface Guessed {
  /** The parameter in it. */
  recorded: number;
  /** Requests that are assumed to grow with it. */
  grow: number;
  /** That are assumed not to. */
  stay: number;
  /** Of which it is not known. */
  unknown: number;
}

/** Who holds memory: a line, function, file, module or category. */
export interface Holder {
  /** -1 = no stack, or outside of modules. */
  key: number;
  label: string;
  file: string;
  /** 0 = unknown, or no line. */
  line: number;
  /** Of its blocks in use at the moment. */
  bytes: Bytes;
  /** That are in use at the moment. */
  blocks: number;
  /** Of bytes: what the filter means. */
  lit_bytes: Bytes;
  /** Of its blocks. */
  largest: Rank;
  /** Of a category: 0 to 1, how sure its rules are; null = none decided. */
  sure: number | null;
  /** What the rules of a category say; empty = nothing. */
  says: string;
  /** The filter that means its blocks; null = there is none. */
  filter: string | null;
}

/** Its columns in a table. */
export const holderHeads = {
  bytes: { name: `Bytes`, says: `Of its blocks in use at the moment.` },
  blocks: { name: `Blocks`, says: `That are in use at the moment.` },
  sure: { name: `Sure`, says: `Of a category: 0 to 1, how sure its rules are; null = none decided.` },
};

export interface Holders {
  event: number;
  bytes: Bytes;
  blocks: number;
  count: number;
  /** Labels of the program or the profiler decided for some blocks. */
  labelled: boolean;
  /** Categories of a trace: by when blocks live, not what PyTorch calls so. */
  by_lifetime: boolean;
  rows: Holder[];
}

/** Blocks of one kind have one colour; no kinds = every block has a colour of its own. */
export interface Kinds {
  by: 'allocation' | 'stack' | 'size' | 'stream' | 'pool' | 'lifetime' | 'age' | 'category';
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

export interface LaneThread {
  process: string | null;
  id: string | null;
  name: string | null;
  /** Ops. */
  spans: number;
  /** Memory records of the device. */
  records: number;
  rows: number;
  /** Ops below the last row. */
  deeper: number;
}

/** Threads of a trace that have ops, those with most memory records first. */
export interface LaneThreads {
  threads: LaneThread[];
  threads_left_out: number;
}

/** An entry is one op, or several next to each other that are too narrow to be told apart. By lane, then from left to right. */
export interface Lanes {
  names: string[];
  /** Index of the lane that was asked for. */
  lane: Int32Array<ArrayBuffer>;
  /** The first op. */
  span: Int32Array<ArrayBuffer>;
  /** Ops. */
  count: Int32Array<ArrayBuffer>;
  /** Of `names`; -1 = too narrow for words, or several. */
  name: Int32Array<ArrayBuffer>;
  /** Ops that the search means. */
  lit: Int32Array<ArrayBuffer>;
  /** 1 = an annotation of the program. */
  kind: Uint8Array<ArrayBuffer>;
  /** On the axis. */
  from: Float64Array<ArrayBuffer>;
  to: Float64Array<ArrayBuffer>;
}

export interface LargestThatFits {
  conf: string;
  /** Null: not even 1 fits, or there is no end to it. */
  value: number | null;
  /** Nothing that grows with the parameter fills the device. */
  unbounded: boolean;
  /** `value` fits; larger ones make too many requests to be run, and may fit, too. */
  at_least: boolean;
  /** Only each so-manieth value gives whole numbers of repeats: of the others nothing is told. */
  step: number;
  /** If what is not explained is as small as it may be. Null: the same, or no end. */
  at_most: number | null;
  /** What does not fit of the next value. */
  next_failure: {
    requested_bytes: Bytes;
    /** The line of code that asks for it; null without a stack. */
    who: string | null;
  } | null;
}

/** A value for each column; NaN where there is none, or it is not known. */
export interface LevelValues {
  highest: Float64Array<ArrayBuffer>;
  lowest: Float64Array<ArrayBuffer>;
}

/** Of each that was asked for. */
export interface Levels {
  levels: LevelValues[];
}

/** Rows from the top. */
export interface MapPicture {
  /** In the timeline of blocks, or `mapPixels`. */
  ranks: Int32Array<ArrayBuffer>;
  /** With `shades`: the share of each region that is free in each column, region after region. */
  freeShares?: Float32Array<ArrayBuffer>;
  /** The same as RGBA, as the timeline colours blocks. */
  pixels: Uint8ClampedArray<ArrayBuffer>;
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
    /** It began before the first event. */
    cut_start: boolean;
    /** It lasts beyond its end. */
    cut_end: boolean;
    allocated_bytes: Bytes;
    allocations: number;
  }[];
  regions_left_out: number;
  markers: {
    kind: 'oom' | 'snapshot' | 'annotate';
    event: number;
    time_us: Microseconds | null;
    text: string;
  }[];
  markers_left_out: number;
}

/** Allocated in a stretch and never freed; rows and other add up. */
export interface NeverFreed {
  bytes: Bytes;
  blocks: number;
  /** Means all of them. */
  filter: string;
  rows: {
    who: string | null;
    bytes: Bytes;
    blocks: number;
    /** Of the largest block. */
    rank: Rank;
    filter: string | null;
  }[];
  other: {
    bytes: Bytes;
    blocks: number;
    rows: number;
  };
}

/** Over the whole recording, in each segment: bytes beyond the most that was in use at once. */
export interface NeverFull {
  text: string;
  /** False: nothing is known, and all else is 0. */
  has_history: boolean;
  all_segments: number;
  /** Those never full. */
  segments: number;
  /** Of all of them. */
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
    /** Null: it is never given back. */
    until_event: number | null;
    expandable: boolean;
    who: string | null;
    /** Lines "file:line:name", innermost first; null = no stack. */
    stack: string[] | null;
    lines_left_out?: number;
    row: SegmentRow;
  }[];
}

export interface OpLine {
  /** Tells it from others, whatever the order. */
  row: number;
  depth: number;
  /** Ops right inside of it. */
  inside: number;
  name: string;
  detail: string;
  /** All of the operator, whether memory was recorded in them or not. */
  calls: number;
  /** Allocated less freed, with the ops inside of it. */
  net: Bytes;
  /** Allocated less freed by the op itself, without the ops inside of it. Negative: it frees what others allocated. */
  self: Bytes;
  /** All that was allocated in it, whether freed or not. */
  gross: Bytes;
  /** The most that one call added at worst: so much must be free to run it. */
  peak: Bytes;
  /** The most the device held while it ran, whoever filled it. */
  abs_peak: Bytes;
  /** Allocated in it and in use when the device is at its peak: what to cut. An op counts what the ops inside of it allocated, too; what was there before the first event, or came outside of ops, is in none of them. Not known where records have no addresses. */
  at_peak: Bytes | null;
  /** All that was freed in it, whoever had allocated it. */
  freed: Bytes;
  /** Allocated in it and not freed when it ends, all calls together: what it leaves behind. Not known where records have no addresses. */
  at_return: Bytes | null;
  /** Why `self` is negative. */
  why: string | null;
  /** What lights its blocks. */
  filter: string | null;
}

/** Its columns in a table. */
export const opLineHeads = {
  calls: { name: `Calls`, says: `All of the operator, whether memory was recorded in them or not.` },
  net: { name: `Net`, says: `Allocated less freed, with the ops inside of it.` },
  self: { name: `Self`, says: `Allocated less freed by the op itself, without the ops inside of it. Negative: it frees what others allocated.` },
  gross: { name: `Allocated`, says: `All that was allocated in it, whether freed or not.` },
  peak: { name: `Peak`, says: `The most that one call added at worst: so much must be free to run it.` },
  abs_peak: { name: `How full`, says: `The most the device held while it ran, whoever filled it.` },
  at_peak: { name: `At peak`, says: `Allocated in it and in use when the device is at its peak: what to cut. An op counts what the ops inside of it allocated, too; what was there before the first event, or came outside of ops, is in none of them. Not known where records have no addresses.` },
  freed: { name: `Freed`, says: `All that was freed in it, whoever had allocated it.` },
  at_return: { name: `At return`, says: `Allocated in it and not freed when it ends, all calls together: what it leaves behind. Not known where records have no addresses.` },
};

export interface OpLines {
  /** Null: it has no memory records. */
  device: {
    device: string;
    records: number;
    allocs: number;
    frees: number;
    /** Before the trace. */
    base_bytes: Bytes;
    peak_bytes: Bytes;
    /** Allocated less freed. */
    net_bytes: Bytes;
    /** Net of records in no op. */
    unowned_bytes: Bytes;
    end_bytes: Bytes;
    has_addresses: boolean;
  } | null;
  /** Lines in all. */
  count: number;
  lines: OpLine[];
}

export interface OpPaths {
  names: string[];
  parent: Int32Array<ArrayBuffer>;
  /** 1 = an op, 0 = a Python function. */
  op: Uint8Array<ArrayBuffer>;
}

export interface OpenedView {
  id: number;
  info: ViewInfo;
  /** Of the file and of showing this device. */
  diagnostics: Diagnostic[];
}

export interface OperatorLevel {
  allocated_bytes: Bytes;
  op: number;
}

export interface Operators {
  ops: number;
  retries: number | null;
  /** Numbers of operators. */
  markers: Record<string, number>;
  peak: OperatorLevel | null;
  active_peak_bytes: Bytes | null;
  reserved_peak_bytes: Bytes | null;
  /** The most that was reserved and not allocated. */
  unused: {
    bytes: Bytes;
    op: number;
    reserved_bytes: Bytes;
  } | null;
  /** Operators that took most. */
  top: {
    op: number;
    name: string;
    delta_bytes: Bytes;
  }[];
  modules: {
    module: string;
    ops: number;
    delta_bytes: Bytes;
  }[];
  phases: {
    name: string;
    first_op: number;
    last_op: number;
    ops: number;
    delta_bytes: Bytes;
    peak: OperatorLevel | null;
  }[];
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

export interface PictureAnswer {
  /** RGBA, rows from the top. */
  pixels: Uint8ClampedArray<ArrayBuffer>;
  curves: Curves;
}

/** A segment whose free memory something live holds back. */
export interface Pin {
  segment: string;
  segment_bytes: Bytes;
  free_bytes: Bytes;
  held_back_bytes: Bytes;
  blocks: number;
  pinned_bytes: Bytes;
  expandable: boolean;
  who: string | null;
  /** Lines "file:line:name", innermost first; null = no stack. */
  stack: string[] | null;
  lines_left_out?: number;
  /** When the oldest block came; -1 = before the first event. */
  since_event: number;
  row: SegmentRow;
  /** Of the largest block; -1 = the timeline does not show it. */
  rank: Rank;
}

export interface PoolDifference {
  /** Null = the default one. */
  pool: string | null;
  small: boolean;
  recorded: PoolUse;
  simulated: PoolUse;
}

export interface PoolUse {
  segments: number;
  reserved: Bytes;
  used: Bytes;
  largest_free: Bytes;
}

export interface ProbeAnswer {
  /** Null: outside of the recording. */
  pick: Pick | null;
  details?: BlockDetails | EnvelopeDetails | SegmentDetails | null;
  /** Of the stack by group: the kind there, in the state that the column shows. */
  group?: GroupAt;
}

export interface ProfilerLine {
  name: string;
  detail: string;
  /** As PyTorch counts them. */
  calls: number;
  /** As PyTorch prints it: of all threads while the op runs. */
  cpu: Bytes;
  /** The same without the ops inside of it. */
  self_cpu: Bytes;
  /** As PyTorch prints it: of all devices together, all threads while the op runs. */
  device: Bytes;
  /** The same without the ops inside of it. */
  self_device: Bytes;
  filter: string | null;
}

/** Its columns in a table. */
export const profilerLineHeads = {
  calls: { name: `Calls`, says: `As PyTorch counts them.` },
  cpu: { name: `CPU Mem`, says: `As PyTorch prints it: of all threads while the op runs.` },
  self_cpu: { name: `Self CPU Mem`, says: `The same without the ops inside of it.` },
  device: { name: `Device Mem`, says: `As PyTorch prints it: of all devices together, all threads while the op runs.` },
  self_device: { name: `Self Device Mem`, says: `The same without the ops inside of it.` },
};

export interface ProfilerLines {
  shows_devices: boolean;
  count: number;
  lines: ProfilerLine[];
}

export interface RangeSum {
  bytes: Bytes;
  blocks: number;
}

/** What the events of a range did: it begins in the state after `from` and ends in the state after `to`. */
export interface RangeTotals {
  from: number;
  to: number;
  level_before: Bytes;
  level_after: Bytes;
  /** The highest state within it, the one that it begins in included. */
  peak: {
    event: number;
    bytes: Bytes;
  };
  allocated: RangeSum;
  /** Of what was allocated: still there at the end. */
  kept: RangeSum;
  /** Of what was allocated: freed within the range. */
  passed: RangeSum;
  /** Whenever it was allocated. */
  freed: RangeSum;
}

/** A run of addresses that segments of one stream had at some time: a row of the address map. */
export interface Region {
  row: number;
  name: string;
  address: string;
  size: Bytes;
  stream: number;
  stream_handle: string;
  /** Its two numbers; null: the file does not say. */
  pool: [number, number] | null;
  expandable: boolean;
  pieces: number;
}

export interface Regions {
  count: number;
  rows: Region[];
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

/** The same blocks several times over, as layers leave them. */
export interface Repeat {
  /** Index of the repeat that it is within; -1 = none. */
  outer: number;
  /** Whole ones, in each of the outer one. */
  count: number;
  /** Of one. */
  bytes: Bytes;
  /** Of one. */
  blocks: number;
  /** The lines below which all of it lies. */
  place: string;
  /** That has most of one; null = the place says it. */
  line: string | null;
  /** Of one. */
  line_bytes: Bytes;
  /** Of its first block. */
  rank: Rank;
}

/** The answers about a device. */
export interface Report {
  snapshot?: string;
  device: number;
  /** False: it ends at a request that failed, in a journal that its program did not end, or where its file is damaged or cut off, and what came after is not in it. */
  complete: boolean;
  /** The most important first. */
  findings: ReportFinding[];
  /** Parts and rest add up to `requested_bytes`. */
  peak: {
    event: number;
    requested_bytes: Bytes;
    blocks: number;
    parts: {
      /** Lines "file:line:name", innermost first; null = no stack. */
      stack: string[] | null;
      lines_left_out?: number;
      bytes: Bytes;
      blocks: number;
      who: string | null;
      /** Of the largest block. */
      rank: Rank;
    }[];
    rest_bytes: Bytes;
    rest_blocks: number;
    rest_parts: number;
  };
  /** What the peak has several times over; outer levels before inner ones. */
  repeats: Repeat[];
  steps: {
    count: number;
    from: 'annotations' | 'regions' | 'loop' | null;
    /** Of the region, or the loop in words. */
    name: string | null;
    /** 0 to 1. */
    sure: number;
    /** None were found. */
    why_not: string | null;
  };
  leaks: {
    /** Lines "file:line:name", innermost first; null = no stack. */
    stack: string[] | null;
    lines_left_out?: number;
    bytes_per_step: Bytes;
    blocks_per_step: number;
    steps: number;
    /** From 0. */
    first_step: number;
    /** Steps from one to the next. */
    gap: number;
    /** A loop within the step, which repeats what stays. */
    inner: {
      line: string;
      repeats: number;
    } | null;
    /** All are freed there, after the steps; null = they are not. */
    freed_event: number | null;
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
  cache_flushes: {
    /** Requests that were served after the cache was emptied for them. */
    retries: number;
    retry_bytes: Bytes;
    /** Requests that were out of memory all the same. */
    failed: number;
    failed_bytes: Bytes;
    /** By empty_cache(), a collection of garbage, the end of a pool. */
    flushes: number;
    flush_bytes: Bytes;
    /** One or the other, before more was asked of the device. */
    unclear: number;
    unclear_bytes: Bytes;
  };
  /** Where most was reserved: requested, rounding and cached add up to it. */
  reserved_peak: {
    event: number;
    reserved_bytes: Bytes;
    requested_bytes: Bytes;
    /** Null of a profiler's trace, as the next two. */
    rounding_bytes: Bytes | null;
    /** A part of the requested ones. */
    pending_bytes: Bytes | null;
    cached_bytes: Bytes | null;
  } | null;
  oom: ExplainedOutOfMemory[];
  /** Earlier ones. */
  oom_left_out: number;
  /** Null of a profiler's trace. */
  fragmentation: FragmentationNumbers | null;
  /** They add up to the peak. */
  categories: {
    name: string;
    bytes_at_peak: Bytes;
    blocks: number;
    /** 0 to 1. */
    sure: number;
  }[];
}

/** What of a report matters. */
export interface ReportFinding {
  kind: string;
  title: string;
  value: string;
  bytes: Bytes | null;
  bad: boolean;
  says: {
    text: string;
    /** What proves it; null = nothing of the kind, as of the next three. */
    event: number | null;
    rank: Rank | null;
    /** Means the blocks it is about, or more. */
    filter: string | null;
    /** The answer that tells more. */
    more: 'oom' | 'leaks' | 'fragmentation' | null;
  }[];
  /** They and the rest add up to `bytes`. */
  parts: {
    who: string;
    bytes: Bytes;
    blocks: number;
    /** 0 to 1. */
    share: number;
    /** What proves it; null = nothing of the kind, as of the next three. */
    event: number | null;
    rank: Rank | null;
    /** Means the blocks it is about, or more. */
    filter: string | null;
    /** The answer that tells more. */
    more: 'oom' | 'leaks' | 'fragmentation' | null;
  }[];
  rest: string | null;
  code: string | null;
}

/** What a fit needs of a recording, for the session of another one. */
export interface RequestsOfRecording {
  about: {
    rows: number;
    /** Of them, those that set up what was there before. */
    present: number;
    peakReserved: Bytes;
    ooms: number;
    /** -1 = none. */
    firstOomEvent: number;
    /** Run again they repeat the recording in every event. */
    exact: boolean;
    /** The recording has no allocation after a request that failed. */
    atFailure: boolean;
    /** The recording is a journal that its program did not end. */
    isOpen: boolean;
    /** Its file is damaged or ends too early. */
    isCut: boolean;
  };
  texts: string[];
  /** Of each frame, as the next two: numbers of texts, and a line. */
  names: Int32Array<ArrayBuffer>;
  files: Int32Array<ArrayBuffer>;
  lines: Int32Array<ArrayBuffer>;
  /** Of each node of the stacks, as `callers`; -1 = outermost. */
  frames: Int32Array<ArrayBuffer>;
  callers: Int32Array<ArrayBuffer>;
  /** Of each private pool, as `poolUsers`. */
  poolGraphs: Float64Array<ArrayBuffer>;
  poolUsers: Float64Array<ArrayBuffer>;
  /** Of each row: what is asked for (engine/simulate/request_log.h). */
  requests: Uint8Array<ArrayBuffer>;
  sizes: Float64Array<ArrayBuffer>;
  streams: Int32Array<ArrayBuffer>;
  /** The row of a block, or a pool; -1 = none. */
  subjects: Int32Array<ArrayBuffer>;
  /** The node of the innermost frame; -1 = no stack, -2 = an empty one. */
  stacks: Int32Array<ArrayBuffer>;
}

export interface RunNumbers {
  peak_reserved_bytes: Bytes;
  peak_allocated_bytes: Bytes;
  device_allocs: number;
  device_frees: number;
  ooms: number;
}

export interface RunningOps {
  process: string | null;
  thread: string | null;
  thread_name: string | null;
  /** The innermost op. */
  span: number;
  /** Where it is drawn; null: deeper than the last row. */
  lane: {
    thread: number;
    row: number;
  } | null;
  /** Innermost first. */
  ops: string[];
  module: string | null;
}

/** Device memory as a band: a segment, or a piece of one that was mapped as a whole. */
export interface SegmentDetails {
  kind: 'segment';
  rank: Rank;
  /** Of this band: less than the segment where that was mapped piece by piece. */
  piece: Bytes;
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
  /** 0, 1, 2 by first appearance in the file, as the official viewer has it. */
  stream: number;
  stream_handle: string;
  /** Its two numbers; null: the file does not say. */
  pool: [number, number] | null;
  begin: number;
  end: number;
  begin_action: string | null;
  end_action: string | null;
  /** Innermost first. */
  frames: Frame[];
  who: string | null;
  in_dump: boolean;
  frames_left_out: number;
}

/** A segment that is not the same in both states; null = it is not there. */
export interface SegmentDifference {
  address: string;
  /** Null = the default one. */
  pool: string | null;
  small: boolean;
  recorded: SegmentUse | null;
  simulated: SegmentUse | null;
}

export interface SegmentUse {
  reserved: Bytes;
  used: Bytes;
  largest_free: Bytes;
}

export interface SeriesCurve {
  series: number;
  name: string;
  device: number | null;
  points: number;
  highest: Bytes | null;
  lowest: Bytes | null;
  /** Curves that are drawn in one chart have one number; -1 = in none. */
  chart: number;
}

export interface SeriesMark {
  position: AxisUnits;
  device: number | null;
  name: string;
  note: string;
}

export interface SeriesMoment {
  position: AxisUnits;
  time_us: Microseconds | null;
  /** What happened then: an operator, a kind of event, a category. */
  label: string | null;
  note: string | null;
}

/** A part of the file that is numbers over time. */
export interface SeriesPart {
  part: number;
  name: string;
  of: 'counters' | 'categories' | 'operators';
  /** Its axis runs in microseconds, else in steps. */
  has_clock: boolean;
  extent: AxisUnits;
  /** The number of the step at 0. */
  first_step: number;
  first_us: Microseconds | null;
  last_us: Microseconds | null;
  curves: SeriesCurve[];
  curves_left_out: number;
  marks: SeriesMark[];
  marks_left_out: number;
  /** Of profiled functions. */
  calls: number;
  /** Of categories. */
  timeline: CategoryTimeline | null;
}

/** What a server (`gpustrata serve`) says that it serves. */
export interface ServedFiles {
  version: string;
  /** Folder or file, as the server names it. */
  served: string;
  /** There are more files. */
  left_out: boolean;
  /** Files whose peaks are still being found out. */
  to_examine: number;
  /** The highest peak first. */
  files: {
    name: string;
    bytes: Bytes;
    modified_us: Microseconds;
    /** Null: not known (yet). */
    peak_bytes: Bytes | null;
    /** Why it cannot be shown. */
    error?: string;
  }[];
}

/** The journals that a server has, and how far each is written. */
export interface ServedJournals {
  /** By name. */
  journals: {
    name: string;
    /** `left`: never closed, and no process of the server's machine writes it. */
    state: 'written' | 'closed' | 'left';
    /** Its number. */
    process: number;
    /** Tells one run from another that writes a file of the same name. */
    started_us: Microseconds;
    /** Byte behind the last record. */
    position: number;
    /** Told so far; null: not counted. */
    events: number | null;
  }[];
}

/** How far a server has read a file. */
export interface ServedReading {
  ready: boolean;
  bytes: Bytes;
  total: Bytes;
  events: number;
  /** How far it was written when it was read; null: it is no journal, or not known yet. */
  journal: {
    /** By its program: nothing follows. */
    closed: boolean;
    /** Tells one run from another that writes a file of the same name. */
    started_us: Microseconds;
    /** Byte behind the last record. */
    position: number;
    /** Told so far; null: not counted. */
    events: number | null;
  } | null;
  error?: EngineError;
}

/** Why a server has not opened a file. */
export interface ServedRefusal {
  error: EngineError;
}

/** A file that a server has opened. */
export interface ServedSession {
  session: string;
  name: string;
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

/** By what its own lines asked for. */
export interface SourceFile {
  file: string;
  bytes: Bytes;
  blocks: number;
}

/** Ascending. Own = the line asked for it; else it is somewhere in the stack. */
export interface SourceLines {
  lines: {
    line: number;
    own_bytes: Bytes;
    own_blocks: number;
    bytes: Bytes;
    blocks: number;
  }[];
  lines_left_out: number;
}

export interface SpanDetails {
  span: number;
  name: string | null;
  category: string | null;
  kind: 'op' | 'annotation';
  process: string | null;
  thread: string | null;
  thread_name: string | null;
  /** Microseconds since the first event. */
  start_us: number;
  duration_us: number;
  /** Events of the device while it ran, of whatever thread: [from, to). */
  from_event: number;
  to_event: number;
  /** Of its thread, as the next four. */
  allocs: number;
  frees: number;
  net: Bytes;
  gross: Bytes;
  peak: Bytes;
  /** Ops around it, innermost first. */
  around: string[];
  shapes: string | null;
  module: string | null;
  step: number | null;
  /** What lights its blocks; null = it allocated nothing. */
  filter: string | null;
}

/** What is alive, stack by stack, largest first; lists of one length. */
export interface StackFacts {
  bytes: Bytes;
  blocks: number;
  keys: string[];
  places: string[];
  sizes: Bytes[];
  counts: number[];
  rest_bytes: Bytes;
  rest_blocks: number;
  parts: {
    who: string | null;
    /** Its innermost lines. */
    stack: string[] | null;
    filter: string | null;
    rank: Rank;
  }[];
}

export interface StateBlock {
  row: BlockRow;
  name: string;
  address: string;
  size: Bytes;
  requested_size: Bytes;
  rounding: Bytes;
  /** Null: it does not exist after the event. */
  state: 'active_allocated' | 'active_pending_free' | null;
  begin: number;
  /** The event after which it is gone; -1 = never. */
  end: number;
  /** -1 = not in the trace, as of the next two. */
  alloc_event: number;
  free_requested_event: number;
  free_completed_event: number;
  rank: Rank;
  /** After the event; -1 = none. */
  segment: SegmentRow;
  /** 0, 1, 2 by first appearance in the file, as the official viewer has it. */
  stream: number;
  stream_handle: string;
  /** Its two numbers; null: the file does not say. */
  pool: [number, number] | null;
  compile_context: string | null;
  user_metadata: string | null;
  annotations: string[];
  /** Innermost first. */
  frames: Frame[];
  stack_of: 'alloc' | 'free' | 'block' | null;
  who: string | null;
  in_dump: boolean;
  annotations_left_out: number;
  frames_left_out: number;
}

export interface StateDifferences {
  pools: PoolDifference[];
  /** Those that differ most, at most 200. */
  segments: SegmentDifference[];
  segments_left_out: number;
  same_segments: number;
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

export interface StateLayout {
  rects: StateRects;
  totals: StateTotals;
}

export interface StatePick {
  segment: SegmentRow;
  /** -1 = none. */
  block: BlockRow;
  part: 'segment' | 'block' | 'rounding' | 'pending' | 'gap';
  /** As the official viewer says it: what it is, sizes, stream, private pool. */
  text: string;
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
  /** RGBA of the block, as the timeline colours it, or the mean of several; 0 = no block. */
  colour?: Uint8ClampedArray<ArrayBuffer>;
  /** 0 = the look means none of its blocks. */
  matched?: Uint8Array<ArrayBuffer>;
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
  /** 0, 1, 2 by first appearance in the file, as the official viewer has it. */
  stream: number;
  stream_handle: string;
  /** Its two numbers; null: the file does not say. */
  pool: [number, number] | null;
  begin: number;
  end: number;
  begin_action: string | null;
  end_action: string | null;
  /** Innermost first. */
  frames: Frame[];
  who: string | null;
  in_dump: boolean;
  frames_left_out: number;
}

/** What can be told of a state before the events are undone; `row` says nothing there. */
export interface StateSketch {
  rects: StateRects;
}

/** The memory after an event. */
export interface StateTotals {
  event: number;
  time_us: Microseconds | null;
  reserved: Bytes;
  allocated: Bytes;
  active: Bytes;
  requested: Bytes;
  rounding: Bytes;
  /** Of blocks in segments. */
  free: Bytes;
  largest_free: Bytes;
  free_blocks: number;
  live_blocks: number;
  pending_blocks: number;
  segments: number;
  blocks_without_segment: number;
  /** 1 - largest_free / free; null without free memory. */
  fragmentation: number | null;
  /** What fragmentation means. */
  text: string;
}

/** What is in a file. */
export interface Summary {
  file: string;
  format: string;
  bytes: Bytes;
  snapshots: {
    name?: string;
    devices: {
      /** -1 = the host. */
      device: number;
      events: number;
      /** By first appearance. */
      actions: Record<string, number>;
      /** Of the final state, as the next four; null: a profiler's trace does not say. */
      segments: number | null;
      blocks: number | null;
      reserved_bytes: Bytes | null;
      allocated_bytes: Bytes | null;
      /** Allocated, or waiting for a stream. */
      active_bytes: Bytes | null;
      initial_requested_bytes: Bytes;
      final_requested_bytes: Bytes;
      peak: {
        requested_bytes: Bytes;
        /** -1 = the initial state. */
        event: number;
      };
      /** Requests that the device could not serve: the last of them. */
      oom?: {
        /** Of all. */
        count: number;
        event: number;
        requested_bytes: Bytes;
        /** As the driver said. */
        device_free_bytes: Bytes | null;
      };
      /** Of events. */
      distinct_stacks: number;
      first_time_us: Microseconds | null;
      last_time_us: Microseconds | null;
    }[];
    /** Pinned memory of the host. */
    host: {
      segments: number;
      events: number;
    } | null;
    /** allocator_settings as in the file. */
    settings: unknown;
    annotations: number;
  }[];
  series?: {
    name?: string;
    of: 'counters' | 'categories' | 'operators';
    series: {
      name: string;
      device: number | null;
      unit: 'bytes' | 'ns';
      points: number;
      highest: number | null;
    }[];
    series_left_out?: number;
  }[];
  /** Of the first part that is categories. */
  timeline?: CategoryTimeline;
  fleets?: number;
  diagnostics: Diagnostic[];
}

export interface Telemetry {
  samples: number;
  devices: {
    /** -1 = the CPU; null: not known. */
    device: number | null;
    samples: number;
    /** Null: the file has none. So it is of the numbers of a function. */
    peak_allocated_bytes: Bytes | null;
    peak_reserved_bytes: Bytes | null;
  }[];
  functions: {
    name: string;
    calls: number;
    /** Seconds. */
    total_time_s: number;
    net_bytes: Bytes | null;
    peak_bytes: Bytes | null;
    peak_over_entry_bytes: Bytes | null;
  }[];
  findings: {
    /** Of a flag gpumemprof's own word. */
    name: 'out_of_memory' | 'leak' | 'growth' | 'gap' | 'gap_unknown' | 'fragmentation' | 'alerts' | 'oom_occurred' | 'high_utilization' | 'fragmentation_warning' | 'risk_detected';
    by: 'gpustrata' | 'gpumemprof';
    severity: 'info' | 'warning' | 'error';
    /** -1 = the CPU; null: not known. */
    device: number | null;
    text: string;
  }[];
}

/** One device of one snapshot, its bands being blocks, pools or segments. */
export interface ViewInfo {
  bands: 'blocks' | 'pools' | 'segments';
  device: number;
  events: number;
  /** Events besides those that mark a snapshot. */
  has_history: boolean;
  blocks: number;
  from_start: number;
  /** Envelopes, which have the ranks from `blocks` on; only of `pools`. */
  pools?: number;
  peak: {
    bytes: Bytes;
    event: number;
  };
  initial_bytes: Bytes;
  final_bytes: Bytes;
  reserved_peak: Bytes;
  reserved_final: Bytes;
  extent: {
    event: AxisUnits;
    time_us: AxisUnits | null;
  };
  first_time_us: Microseconds | null;
  last_time_us: Microseconds | null;
  oom_events: number[];
  /** What the device had for this process: reserved and free together at the last out of memory; null = not known. */
  capacity: Bytes | null;
  has_stacks: boolean;
  segments: number;
  /** A profiler's trace of the processor's memory, which it calls device 0. */
  is_processor: boolean;
  /** A profiler's trace. */
  has_ops: boolean;
  /** The file tells of numbers over time besides. */
  has_series: boolean;
  /** allocator_settings of the snapshot as in the file. */
  settings: unknown;
}

export interface WhatIf {
  device: number;
  /** False: the recording has no allocation after a request that failed, ends in a journal that its program did not end, or where its file is damaged or cut off, and what fits may not be enough for the whole run. */
  complete: boolean;
  conf: string;
  /** Null: the device has room for all. */
  capacity: Bytes | null;
  /** The simulated requests, on a device of that capacity. Null: not known, because more than that was reserved before the first event, because the request that failed is known only rounded up, or because there was a limit of which only a range is known. */
  fits: boolean | null;
  /** Equal free blocks are taken by address, as up to PyTorch 2.11: another run may place blocks in another way. */
  addresses_decide: boolean;
  /** Before the first event: left as it was, whatever the settings. */
  reserved_before_bytes: Bytes;
  /** Rows that were run. */
  requests: number;
  /** What the file does not say. */
  guesses: {
    name: string;
    count: number;
    text: string;
  }[];
  /** In which order free blocks of one size are taken. */
  free_order: {
    name: string;
    from: 'file' | 'repetition' | 'assumption';
    /** What was made before the first event, so that its age is not in it. */
    unknown: number;
    text: string;
  };
  /** How well the recorded run is repeated without changes. */
  fidelity: {
    /** Allocations. */
    requests: number;
    same_place: number;
    reserved_error_bytes: Bytes;
    first_deviation: number | null;
  };
  recorded: RunNumbers;
  simulated: {
    peak_reserved_bytes: Bytes;
    peak_allocated_bytes: Bytes;
    peak_active_bytes: Bytes;
    end_reserved_bytes: Bytes;
    device_allocs: number;
    device_frees: number;
    alloc_retries: number;
    ooms: number;
    first_oom: {
      event: number;
      requested_bytes: Bytes;
    } | null;
  };
  /** The first event that is not repeated. */
  deviation?: {
    recorded: {
      action: string;
      bytes: Bytes;
      address?: string;
    } | null;
    simulated: {
      action: string;
      bytes: Bytes;
      address?: string;
    } | null;
    text: string;
  };
  caching?: boolean;
  extra?: {
    event: number;
    until: number | null;
    requested_bytes: Bytes;
    refused: boolean;
  }[];
  empty_cache_after?: number[];
  changed_blocks?: number;
  smallest_capacity_bytes?: Bytes;
  search?: {
    conf: string;
    peak_reserved_bytes: Bytes;
    peak_allocated_bytes: Bytes;
    peak_active_bytes: Bytes;
    end_reserved_bytes: Bytes;
    device_allocs: number;
    device_frees: number;
    alloc_retries: number;
    ooms: number;
    first_oom: {
      event: number;
      requested_bytes: Bytes;
    } | null;
  }[];
  fidelity_text: string;
  recommendation: string;
  /** The highest in each column of the recorded events. */
  curves: {
    recordedReserved: Float64Array<ArrayBuffer>;
    recordedAllocated: Float64Array<ArrayBuffer>;
    simulatedReserved: Float64Array<ArrayBuffer>;
    simulatedAllocated: Float64Array<ArrayBuffer>;
  };
}
