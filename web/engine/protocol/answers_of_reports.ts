// What the engine answers in words: reports, leaks, fragmentation, source, comparisons, out of memory.
import type { SegmentRow } from './answers_in_common.ts';
import type { Rank } from './arguments.ts';
import type { Bytes, Microseconds } from './quantities.ts';

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
/** What of a report matters (engine/answers/report/report_findings.h). */
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

/** The answers about a device (engine/answers/report/report.h). */
export interface Report {
  device: number;
  /** False: it ends at a request that failed, and what came after is not in it. */
  complete: boolean;
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
    /** These are null of a profiler's trace. */
    rounding_bytes: Bytes | null;
    pending_bytes: Bytes | null;
    cached_bytes: Bytes | null;
  } | null;
  oom: ExplainedOutOfMemory[];
  /** Earlier ones. */
  oom_left_out: number;
  /** Null of a profiler's trace. */
  fragmentation: FragmentationNumbers | null;
  categories: { name: string; bytes_at_peak: Bytes; blocks: number; sure: number }[];
}

/** After an event (engine/answers/findings/fragmentation.h). */
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
/** What is alive, stack by stack, largest first; lists of one length (engine/answers/compare/stack_facts.h). */
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

/** Why a request failed (engine/answers/findings/out_of_memory.h). */
export interface ExplainedOutOfMemory {
  event: number;
  time_us: Microseconds | null;
  requested_bytes: Bytes;
  /** What is null is not known: of a profiler's trace all but the allocated bytes, and at times the reserved ones. */
  needed_bytes: Bytes | null;
  device_free_bytes: Bytes | null;
  reserved_bytes: Bytes | null;
  allocated_bytes: Bytes;
  pending_bytes: Bytes | null;
  cached_bytes: Bytes | null;
  largest_free_bytes: Bytes | null;
  largest_own_bytes: Bytes | null;
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
