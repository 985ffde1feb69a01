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

export const regionOrderWords = ['address', 'size', 'stream'] as const;
export type RegionOrder = (typeof regionOrderWords)[number];

/** Columns [first, first + count) of a grid in which column k covers [k * width, (k + 1) * width). */
export interface Columns {
  axis: Axis;
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

/** Pixels: at zoom 1 the whole layout fills width x height; (left, top) is its corner in the zoomed one. */
export interface StateWindow {
  width: Extent;
  height: Extent;
  zoom: Real;
  left: Real;
  top: Real;
}

/** An event must satisfy all that is set. `frame`: part of a stack line file:line:name. */
export interface EventFilter {
  actions?: readonly Text[];
  leastSize?: Size;
  mostSize?: Size;
  stream?: Count;
  address?: Text;
  frame?: Text;
}
