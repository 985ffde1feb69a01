// Written by generate.mjs from engine/session: what can be asked, with what, and what the answer is. Do not edit.
import type * as A from './answers.ts';
import type * as T from './arguments.ts';

/** Questions about the file. */
export interface FileQuestions {
  /** What is in the file, what reading it found out, and what tells it from others. */
  contents: {
    args: Record<never, never>;
    answer: A.Contents;
  };
  /** The object of `memstrata summary --json`, `file` being the name in it. Replays every device. */
  summary: {
    args: { file: T.Text };
    answer: A.Summary;
  };
  /** Of all devices of all snapshots but pinned host memory. Replays every one that no view shows. */
  peaks: {
    args: Record<never, never>;
    answer: A.DevicePeak[][];
  };
  /** Opens a view. Views of one device share what they can. */
  open: {
    args: { snapshot: T.Count; device: T.Device; bands: T.Bands };
    answer: A.OpenedView;
  };
}

/** Questions about a view. */
export interface ViewQuestions {
  /** The view is gone; its number is never used again. */
  release: {
    args: Record<never, never>;
    answer: null;
  };
  /** Pixels of the bands, and the curves above them. */
  picture: {
    args: { columns: T.Columns; rows: T.Rows; look: T.Look };
    answer: A.PictureAnswer;
  };
  /** Room for words in the bands of that picture, at least so many columns wide and rows high. */
  labels: {
    args: { columns: T.Columns; rows: T.Rows; leastColumns: T.Pixels; leastRows: T.Pixels };
    answer: A.BandLabel[];
  };
  /** Highest level in the columns. */
  highest: {
    args: { columns: T.Columns };
    answer: A.Bytes;
  };
  /** What a point of the picture shows, and all about it unless it is the band `known`. */
  probe: {
    args: { axis: T.Axis; column: T.Whole; width: T.Width; bytes: T.Real; known: T.RankOrNone };
    answer: A.ProbeAnswer;
  };
  /** All that is known of a band, and where it lies. */
  block: {
    args: { rank: T.Rank; axis: T.Axis };
    answer: A.BlockAnswer;
  };
  outline: {
    args: { rank: T.Rank; columns: T.Columns };
    answer: A.Edges;
  };
  /** Of events on the axis. */
  position: {
    args: { axis: T.Axis; events: readonly T.Event[] };
    answer: A.AxisUnits[];
  };
  /**
   * How many blocks a filter means (engine/analysis/filter_syntax.h); refused with the place of what is
   * wrong: offset = UTF-16 units of `text`.
   */
  filter: {
    args: { text: T.Text };
    answer: A.FilterAnswer;
  };
  /** The rank of the match `index`, -1 = there is none. */
  match: {
    args: { filter: T.Text; index: T.Count };
    answer: T.Rank;
  };
  /** What could stand at the cursor, a number of UTF-16 units as `from` in the answer. */
  complete: {
    args: { text: T.Text; cursor: T.Count };
    answer: A.Completions;
  };
  kinds: {
    args: { by: T.ColourBy };
    answer: A.Kinds;
  };
  shares: {
    args: { by: T.ColourBy; event: T.Event; filter: T.Text };
    answer: A.Shares;
  };
  /** Regions and markers of the program. */
  marks: {
    args: Record<never, never>;
    answer: A.Marks;
  };
  /** The first thing to read about the device: what is known, by what matters (engine/answers/overview.h). */
  overview: {
    args: Record<never, never>;
    answer: A.Overview;
  };
  /**
   * Why it ran out of memory, what leaks, what the peak is made of, what is fragmented
   * (engine/answers/report.h).
   */
  report: {
    args: Record<never, never>;
    answer: A.Report;
  };
  /**
   * Makes at least the first `part` parts of what the questions below need, which else make it all at
   * once; a part takes some milliseconds. How many parts there are.
   */
  prepare: {
    args: { part: T.Count };
    answer: T.Count;
  };
  states: {
    args: Record<never, never>;
    answer: A.StateInfo;
  };
  /** The number of events that a filter means. */
  filterEvents: {
    args: { filter: T.EventFilter };
    answer: T.Count;
  };
  /** At most 1,000. */
  eventRows: {
    args: { filter: T.EventFilter; first: T.Count; count: T.Count };
    answer: A.EventRow[];
  };
  /** Row in the list, or of the next event listed. */
  rowOfEvent: {
    args: { filter: T.EventFilter; event: T.Event };
    answer: T.Count;
  };
  event: {
    args: { event: T.Event };
    answer: A.EventDetails | null;
  };
  /** The next event of a kind: an action's name, or "peak". -1 = none. */
  findEvent: {
    args: { kind: T.Text; from: T.Event; backwards: T.Flag };
    answer: T.Event;
  };
  totals: {
    args: { event: T.Event };
    answer: A.StateTotals;
  };
  /** The state after an event as rectangles, and its totals; with a look the rectangles have colours. */
  layout: {
    args: { event: T.Event; window: T.StateWindow; look?: T.Look };
    answer: A.StateLayout;
  };
  statePick: {
    args: { event: T.Event; window: T.StateWindow; x: T.Real; y: T.Real };
    answer: A.StatePick | null;
  };
  stateBlock: {
    args: { event: T.Event; block: T.Row };
    answer: A.StateBlock;
  };
  /** null = the event is before it or after it. */
  stateSegment: {
    args: { event: T.Event; segment: T.Row };
    answer: A.StateSegment | null;
  };
  /** null = the block does not exist after the event. */
  statePlace: {
    args: { event: T.Event; block: T.Row; window: T.StateWindow };
    answer: A.StatePlace | null;
  };
  /** Rows of the address map, at most 1,000. */
  regions: {
    args: { order: T.RegionOrder; first: T.Count; count: T.Count };
    answer: A.Regions;
  };
  /** Regions [first, first + count), each `height` pixels high with a free line below. */
  addressMap: {
    args: { order: T.RegionOrder; columns: T.Columns; first: T.Count; count: T.Count; height: T.Pixels; look: T.Look };
    answer: A.MapPicture;
  };
  /** -1 = none. */
  regionOfBlock: {
    args: { order: T.RegionOrder; block: T.Row };
    answer: T.Row;
  };
  /** -1 = none: the rank is no block's. */
  blockOfRank: {
    args: { rank: T.RankOrNone };
    answer: T.Row;
  };
  /** -1 = none: the timeline does not show the block. */
  rankOfBlock: {
    args: { block: T.Row };
    answer: T.Rank;
  };
}

/** Those of a view that need its states: `prepare` finds them in parts. */
export const questionsOfStates: readonly string[] = [
  'states',
  'filterEvents',
  'eventRows',
  'rowOfEvent',
  'event',
  'findEvent',
  'totals',
  'layout',
  'statePick',
  'stateBlock',
  'stateSegment',
  'statePlace',
  'regions',
  'addressMap',
  'regionOfBlock',
  'blockOfRank',
  'rankOfBlock',
];
