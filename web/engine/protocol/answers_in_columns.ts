// What the engine answers in columns, or as one of several things; all else describes itself (answers_described.ts).
import type {
  BlockDetails,
  BlockPlace,
  EnvelopeDetails,
  FlameGraphHead,
  Pick,
  SegmentDetails,
  StateLayoutHead,
  WhatIfHead,
} from './answers_described.ts';
import type { Bytes } from './quantities.ts';

/** The JSON that `gpustrata fleet -o` wrote. */
export interface FleetText {
  text: Uint8Array;
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

/** Of a band, one value per column; NaN outside its life. */
export interface Edges {
  lower: Float64Array<ArrayBuffer>;
  upper: Float64Array<ArrayBuffer>;
}

export interface BlockAnswer {
  details: Band;
  place: BlockPlace;
}

export interface FlameGraph extends FlameGraphHead {
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

/** A value per column; NaN before the first. */
export interface SeriesPicture {
  curves: { highest: Float64Array; lowest: Float64Array }[];
}
/** Of each category but the total, which comes first among the curves. */
export interface SeriesAreas {
  levels: Float64Array[];
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

/** One value an event. */
export interface FragmentationOver {
  reserved: Float64Array<ArrayBuffer>;
  cached: Float64Array<ArrayBuffer>;
  largest: Float64Array<ArrayBuffer>;
  heldBack: Float64Array<ArrayBuffer>;
}

/** A value a column: of the highest level in it; NaN outside of the recording, where `event` is -2. */
export interface LevelCurve {
  event: Int32Array<ArrayBuffer>;
  level: Float64Array<ArrayBuffer>;
  reserved: Float64Array<ArrayBuffer>;
}

export interface WhatIf extends WhatIfHead {
  curves: {
    recordedReserved: Float64Array;
    recordedAllocated: Float64Array;
    simulatedReserved: Float64Array;
    simulatedAllocated: Float64Array;
  };
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

export interface StateLayout extends StateLayoutHead {
  rects: StateRects;
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

export type StatePart = (typeof stateKinds)[number];
