// What page and worker say to each other about events and states of the current view.
import type {
  BlockRow,
  EventDetails,
  EventRow,
  Marks,
  Regions,
  SegmentRow,
  StateBlock,
  StateInfo,
  StatePick,
  StatePlace,
  StateSegment,
  StateTotals,
} from './state_answers.ts';
import type { Columns, Look } from './columns.ts';
import type { Bytes, Rank } from '../base/units.ts';

/** At zoom 1 the whole layout fills width x height; (left, top) is the window's corner in the zoomed one. */
export interface StateWindow {
  width: number;
  height: number;
  /** At least 1. */
  zoom: number;
  left: number;
  top: number;
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
  /** Of the block on the timeline, for its colour; -1 = none. */
  rank: Int32Array<ArrayBuffer>;
}
export const stateKinds = ['segment', 'block', 'rounding', 'pending', 'gap'] as const;

/** Everything is optional: an event must satisfy all that is set. */
export interface EventFilter {
  /** Names as in the file. */
  actions?: string[];
  leastSize?: Bytes;
  mostSize?: Bytes;
  /** Renumbered: 0, 1, 2, ... */
  stream?: number;
  /** Part of an address or of a name b'..., s'... */
  address?: string;
  /** Part of a stack line file:line:name. */
  frame?: string;
}

/** Kinds of events that one can jump to: actions, and the event of the highest level. */
export type EventKind = 'peak' | 'oom' | 'snapshot' | 'annotate' | 'segment_alloc' | 'segment_free';

/** Order of the rows of the address map. */
export const regionOrders = ['address', 'size', 'stream'] as const;
export type RegionOrder = (typeof regionOrders)[number];
/** Pixels of the address map that are no rank of the timeline. */
export const mapPixels = { nothing: -1, free: -2, unranked: -3 } as const;

/** Rows from the top. */
export interface MapPicture {
  /** Ranks in the timeline of blocks, or `mapPixels`. */
  ranks: Int32Array<ArrayBuffer>;
  /** The same as RGBA, as the timeline colours blocks. */
  pixels: Uint8ClampedArray<ArrayBuffer>;
}

export interface StateCalls {
  regions: { args: { order: RegionOrder; first: number; count: number }; answer: Regions | null };
  /** Regions [first, first + count), each `height` pixels high with a free line below. */
  addressMap: {
    args: { order: RegionOrder; columns: Columns; first: number; count: number; height: number } & Look;
    answer: MapPicture;
  };
  /** -1 = none. */
  regionOfBlock: { args: { order: RegionOrder; block: BlockRow }; answer: number };
  marks: { args: Record<string, never>; answer: Marks | null };
  /** Builds the states; later questions do so too if it was not asked. null = no view. */
  states: { args: Record<string, never>; answer: StateInfo | null };
  /** The number of rows. */
  filterEvents: { args: EventFilter; answer: number };
  eventRows: { args: { first: number; count: number }; answer: EventRow[] };
  /** Row in the list, or of the next event listed. */
  rowOfEvent: { args: { event: number }; answer: number };
  event: { args: { event: number }; answer: EventDetails | null };
  /** -1 = none. */
  findEvent: { args: { kind: EventKind; from: number; backwards: boolean }; answer: number };
  totals: { args: { event: number }; answer: StateTotals };
  layout: {
    args: { event: number; window: StateWindow };
    answer: { rects: StateRects; totals: StateTotals };
  };
  statePick: {
    args: { event: number; window: StateWindow; x: number; y: number };
    answer: StatePick | null;
  };
  stateBlock: { args: { event: number; block: BlockRow }; answer: StateBlock | null };
  stateSegment: { args: { event: number; segment: SegmentRow }; answer: StateSegment | null };
  statePlace: { args: { event: number; block: BlockRow; window: StateWindow }; answer: StatePlace | null };
  blockOfRank: { args: { rank: Rank }; answer: BlockRow };
  rankOfBlock: { args: { block: BlockRow }; answer: Rank };
}
