// What the engine answers about who asked for memory: ranges, calls, holders, categories.
import type { Rank } from './arguments.ts';
import type { Bytes } from './quantities.ts';

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
  /** What the rules of a category say; empty = nothing. */
  says: string;
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
  /** Categories of a trace: by when blocks live, not what PyTorch calls so. */
  by_lifetime: boolean;
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
