// Written by generate.mjs from engine/session: what questions take. Do not edit.

export type Flag = boolean;

export type Text = string;

/** Any finite number. */
export type Real = number;

export type Positive = number;

export type Extent = number;

/** A whole number. */
export type Whole = number;

export type Size = number;

export type Width = number;

export type Count = number;

export type Pixels = number;

/** 0xAABBGGRR. */
export type Colour = number;

/** -1 = pinned host memory. */
export type Device = number;

/** Of the view: -1 = before the first one, their number = the end. */
export type Event = number;

/** Of the view's bands. */
export type Rank = number;

export type RankOrNone = number;

export type Row = number;

/** -1 = the filter decides. */
export type KindOrNone = number;

export const axisWords = ['event', 'time'] as const;
export type Axis = (typeof axisWords)[number];

/** What the bands are: blocks, blocks in the envelopes of their private pools, or segments. */
export const bandsWords = ['blocks', 'pools', 'segments'] as const;
export type Bands = (typeof bandsWords)[number];

export const colourByWords = ['allocation', 'stack', 'size', 'stream', 'pool', 'lifetime', 'age', 'category'] as const;
export type ColourBy = (typeof colourByWords)[number];

/** Of which blocks (engine/analysis/live/stack_weights.h). */
export const blocksOfWords = ['moment', 'allocated', 'kept', 'passed', 'difference'] as const;
export type BlocksOf = (typeof blocksOfWords)[number];

export const weightByWords = ['bytes', 'blocks', 'time'] as const;
export type WeightBy = (typeof weightByWords)[number];

export const frameKeyWords = ['line', 'function', 'file'] as const;
export type FrameKey = (typeof frameKeyWords)[number];

export const framesOfWords = ['own', 'shown', 'all'] as const;
export type FramesOf = (typeof framesOfWords)[number];

export const holderByWords = ['line', 'function', 'file', 'module', 'category'] as const;
export type HolderBy = (typeof holderByWords)[number];

export const frameOrderWords = ['name', 'total', 'self', 'blocks', 'change'] as const;
export type FrameOrder = (typeof frameOrderWords)[number];

/** -1 = blocks without a stack. */
export type FrameOrNone = number;

/** What lines of an op table stand for. */
export const opByWords = ['op', 'path', 'shape', 'module', 'stack'] as const;
export type OpBy = (typeof opByWords)[number];

/** Whose memory an op holds: that of its own thread, or of all threads of its process meanwhile. */
export const opScopeWords = ['thread', 'process'] as const;
export type OpScope = (typeof opScopeWords)[number];

export const opSortWords = ['net', 'self', 'gross', 'peak', 'at_peak', 'freed', 'at_return'] as const;
export type OpSort = (typeof opSortWords)[number];

export const regionOrderWords = ['address', 'size', 'stream'] as const;
export type RegionOrder = (typeof regionOrderWords)[number];

/** Columns [first, first + count) of a grid in which column k covers [k * width, (k + 1) * width). */
export interface Columns {
  axis: Axis;
  first: Whole;
  width: Width;
  count: Pixels;
}

/**
 * Allocated: as the bands are. Free memory (cached; held back by what is in use) is that after the last
 * event of a column.
 */
export const levelOfWords = ['allocated', 'reserved', 'cached', 'held_back'] as const;
export type LevelOf = (typeof levelOfWords)[number];

export const levelAxisWords = ['event', 'time', 'step', 'region'] as const;
export type LevelAxis = (typeof levelAxisWords)[number];

/**
 * The same, also of an axis that runs through the steps, or the regions of a name, one after the other:
 * each is 65,536 wide.
 */
export interface LevelColumns {
  axis: LevelAxis;
  first: Whole;
  width: Width;
  count: Pixels;
  region?: Text;
}

/** The same of an axis that the question knows. */
export interface Stretch {
  first: Whole;
  width: Width;
  count: Pixels;
}

export interface Rows {
  bottom: Real;
  bytesPerRow: Positive;
  count: Pixels;
}

export interface Palette {
  bands: readonly Colour[];
  nothing: Colour;
  dimmedTowards: Colour;
  envelope: Colour;
}

/** How blocks are coloured. Those that the filter does not mean fade; with `kind` all that are not of it. */
export interface Look {
  palette: Palette;
  colourBy: ColourBy;
  filter: Text;
  kind: KindOrNone;
}

/**
 * Calls of a moment or range. `from`: the event after which a range begins, or with which `to` is
 * compared. Blocks that the filter does not mean count as not lit, or with `onlyFiltered` not at all.
 */
export interface CallTree {
  of: BlocksOf;
  from: Event;
  to: Event;
  weight: WeightBy;
  by: FrameKey;
  frames: FramesOf;
  inverted: Flag;
  filter: Text;
  onlyFiltered: Flag;
}

/** Pixels: at zoom 1 the whole layout fills width x height; (left, top) is its corner in the zoomed one. */
export interface StateWindow {
  width: Extent;
  height: Extent;
  zoom: Real;
  left: Real;
  top: Real;
}

/** The blocks that a filter means get a size so many times as large; 0 = they are left out. */
export interface SizeChange {
  filter: Text;
  factor: Real;
}

/** After an event, kept or freed after another one. */
export interface ExtraRequest {
  after: Event;
  bytes: Size;
  until?: Event;
}

/** What is left out is as it was recorded; capacity 0 = a device with room for all. */
export interface Scenario {
  conf?: Text;
  capacity?: Size;
  changes?: readonly SizeChange[];
  extra?: readonly ExtraRequest[];
  emptyCacheAfter?: readonly Event[];
  caching?: Flag;
}

/** What the answer `facts` says of the stacks of another moment or file: lists of one length. */
export interface Facts {
  keys: readonly Text[];
  places: readonly Text[];
  sizes: readonly Size[];
  counts: readonly Size[];
  rest_bytes: Size;
  rest_blocks: Size;
}

/**
 * What the answer `callFacts` says of another file: of each frame the numbers of its texts and its
 * line; of each node its frame, its caller (a lower number, -1 = none) and what the stacks hold that
 * end there.
 */
export type NodeOrNone = number;

export interface CallFacts {
  texts: readonly Text[];
  names: readonly Count[];
  files: readonly Count[];
  lines: readonly Count[];
  frames: readonly Count[];
  callers: readonly NodeOrNone[];
  weights: readonly Real[];
  blocks: readonly Size[];
  without: Real;
  withoutBlocks: Size;
  rest: Real;
  restBlocks: Size;
}

/** A part of what the answer `requests` says of another recording. */
export interface AboutRequests {
  rows: Count;
  present: Count;
  peakReserved: Size;
  ooms: Count;
  firstOomEvent: RankOrNone;
  exact: Flag;
  atFailure: Flag;
  isOpen: Flag;
  isCut: Flag;
}

export interface CarriedRequests {
  about: AboutRequests;
  texts: readonly Text[];
  names: readonly Count[];
  files: readonly Count[];
  lines: readonly Count[];
  frames: readonly Count[];
  callers: readonly NodeOrNone[];
  poolGraphs: readonly Whole[];
  poolUsers: readonly Whole[];
  requests: readonly Count[];
  sizes: readonly Size[];
  streams: readonly Count[];
  subjects: readonly RankOrNone[];
  stacks: readonly Whole[];
}

/** Values of the parameters of a fit, in their order. */
export interface FitPoint {
  values: readonly Count[];
}

export interface FitRecording {
  file: Text;
  values: readonly Count[];
}
