// What the engine answers about other profilers' files: numbers over time, ops, operators and functions.
import type { AxisUnits, Bytes, Microseconds } from './quantities.ts';

/** A part of the file that is numbers over time (engine/analysis/series/series_view.h). */
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

export interface CategoryTimeline {
  points: number;
  first_us: Microseconds | null;
  last_us: Microseconds | null;
  peak: CategoryMoment | null;
  /** The highest moment of each piece of the time. */
  course: CategoryMoment[];
}
export interface CategoryMoment {
  bytes: Bytes;
  time_us: Microseconds | null;
  categories: Record<string, Bytes>;
}

/** A value per column; NaN before the first. */
export interface SeriesPicture {
  curves: { highest: Float64Array; lowest: Float64Array }[];
}
/** Of each category but the total, which comes first among the curves. */
export interface SeriesAreas {
  levels: Float64Array[];
}

export interface SeriesMoment {
  position: AxisUnits;
  time_us: Microseconds | null;
  /** What happened then: an operator, a kind of event, a category. */
  label: string | null;
  note: string | null;
  /** Of each series. */
  values: (Bytes | null)[];
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

export interface OperatorLevel {
  allocated_bytes: Bytes;
  op: number;
}
export interface Operators {
  ops: number;
  retries: number | null;
  markers: Record<string, number>;
  peak: OperatorLevel | null;
  active_peak_bytes: Bytes | null;
  reserved_peak_bytes: Bytes | null;
  unused: { bytes: Bytes; op: number; reserved_bytes: Bytes } | null;
  top: { op: number; name: string; delta_bytes: Bytes }[];
  modules: { module: string; ops: number; delta_bytes: Bytes }[];
  phases: {
    name: string;
    first_op: number;
    last_op: number;
    ops: number;
    delta_bytes: Bytes;
    peak: OperatorLevel | null;
  }[];
}

export interface Telemetry {
  samples: number;
  devices: {
    device: number | null;
    samples: number;
    /** Null: the file has none. So it is of the numbers of a function. */
    peak_allocated_bytes: Bytes | null;
    peak_reserved_bytes: Bytes | null;
  }[];
  functions: {
    name: string;
    calls: number;
    total_time_s: number;
    net_bytes: Bytes | null;
    peak_bytes: Bytes | null;
    peak_over_entry_bytes: Bytes | null;
  }[];
  findings: {
    name: string;
    by: 'gpustrata' | 'gpumemprof';
    severity: 'info' | 'warning' | 'error';
    device: number | null;
    text: string;
  }[];
}

export interface OpLines {
  /** null = it has no memory records. */
  device: {
    device: string;
    records: number;
    allocs: number;
    frees: number;
    base_bytes: Bytes;
    peak_bytes: Bytes;
    net_bytes: Bytes;
    unowned_bytes: Bytes;
    end_bytes: Bytes;
    has_addresses: boolean;
  } | null;
  /** Lines in all. */
  count: number;
  lines: OpLine[];
}
export interface OpLine {
  /** Tells it from others, whatever the order. */
  row: number;
  depth: number;
  /** Ops right inside of it. */
  inside: number;
  name: string;
  detail: string;
  calls: number;
  net: Bytes;
  self: Bytes;
  gross: Bytes;
  peak: Bytes;
  abs_peak: Bytes;
  at_peak: Bytes;
  freed: Bytes;
  /** Allocated in it and not freed before it ends; null without addresses. */
  at_return: Bytes | null;
  /** Why `self` is negative. */
  why: string | null;
  /** What lights its blocks. */
  filter: string | null;
}

export interface ProfilerLines {
  shows_devices: boolean;
  count: number;
  lines: ProfilerLine[];
}
export interface ProfilerLine {
  name: string;
  detail: string;
  calls: number;
  cpu: Bytes;
  self_cpu: Bytes;
  device: Bytes;
  self_device: Bytes;
  filter: string | null;
}

/** Threads of a trace that have ops, those with most memory records first. */
export interface LaneThreads {
  threads: LaneThread[];
  threads_left_out: number;
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
/** An entry is one op, or several next to each other that are too narrow to be told apart. By lane, then from left to right. */
export interface Lanes {
  names: string[];
  /** Index of the lane that was asked for. */
  lane: Int32Array;
  /** The first op. */
  span: Int32Array;
  /** Ops. */
  count: Int32Array;
  /** Of `names`; -1 = too narrow for words, or several. */
  name: Int32Array;
  /** Ops that the search means. */
  lit: Int32Array;
  /** 1 = an annotation of the program. */
  kind: Uint8Array;
  /** On the axis. */
  from: Float64Array;
  to: Float64Array;
}
/** What ran on a thread at a time. */
export interface RunningOps {
  process: string | null;
  thread: string | null;
  thread_name: string | null;
  /** The innermost op. */
  span: number;
  /** Index in `LaneThreads` and row of its lane; null = it is not drawn. */
  lane: { thread: number; row: number } | null;
  /** Names, innermost first. */
  ops: string[];
  module: string | null;
}
/** Of a snapshot, by event. */
export interface Allocations {
  /** The event to ask on from; the number of events = that was all. */
  next: number;
  event: Int32Array;
  /** Since 1970; NaN = not known. */
  time_us: Float64Array;
  /** -1 = none that a number tells exactly. */
  address: Float64Array;
}
/** Of each allocation asked for; below 0 = none (engine/session/questions.cpp says why). */
export interface AllocationOps {
  node: Int32Array;
}
export interface OpPaths {
  names: string[];
  parent: Int32Array;
  /** 1 = an op, 0 = a Python function. */
  op: Uint8Array;
}
export interface SpanDetails {
  span: number;
  name: string | null;
  category: string | null;
  kind: 'op' | 'annotation';
  process: string | null;
  thread: string | null;
  thread_name: string | null;
  /** Since the first event. */
  start_us: Microseconds;
  duration_us: Microseconds;
  /** Events of the device while it ran, of whatever thread: [from, to). */
  from_event: number;
  to_event: number;
  /** Of its thread. */
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
