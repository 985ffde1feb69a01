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
  /** What a file opens with: its contents, and an open view of what is shown first. */
  first: {
    args: Record<never, never>;
    answer: A.FirstLook;
  };
  /** The object of `gpustrata summary --json`, `file` being the name in it. Replays every device. */
  summary: {
    args: { file: T.Text };
    answer: A.Summary;
  };
  /** Of all devices of all snapshots but pinned host memory. Replays every one that no view shows. */
  peaks: {
    args: Record<never, never>;
    answer: A.DevicePeak[][];
  };
  /** The text that `gpustrata fleet -o` wrote, of a part that is many ranks, as the file has it. */
  fleet: {
    args: { fleet: T.Count };
    answer: A.FleetText;
  };
  /**
   * Opens a view. Views of one device share what they can. `only`: of what a filter means, stacked from
   * zero as if the rest had never been; refused as `filter`, and among pools.
   */
  open: {
    args: { snapshot: T.Count; device: T.Device; bands: T.Bands; only?: T.Text };
    answer: A.OpenedView;
  };
  /**
   * Parts of the file that are numbers over time, with what is drawn of them
   * (engine/analysis/series/series_view.h).
   */
  series: {
    args: Record<never, never>;
    answer: A.SeriesPart[];
  };
  /**
   * Levels of a part on its axis. Categories add up: they are those at the moment of the highest total,
   * their first series.
   */
  seriesLevels: {
    args: { part: T.Count; series: readonly T.Count[]; stretch: T.Stretch };
    answer: A.Levels;
  };
  /** What happened in a column. */
  seriesMoment: {
    args: { part: T.Count; column: T.Whole; width: T.Width };
    answer: A.SeriesMoment;
  };
  /** Of profiled functions, at most 1,000. */
  calls: {
    args: { part: T.Count; first: T.Count; count: T.Count };
    answer: A.FunctionCall[];
  };
  /** The object of `gpustrata tracker --json`, the `most` operators that took most in it, at most 10,000. */
  operators: {
    args: { part: T.Count; most: T.Count };
    answer: A.Operators;
  };
  /** The object of `gpustrata telemetry --json`. */
  telemetry: {
    args: Record<never, never>;
    answer: A.Telemetry;
  };
  /**
   * The rules of categories that a text has (engine/analysis/categories/category_rules.h), those of the
   * engine if it is empty; refused with the line that is wrong.
   */
  categoryRules: {
    args: { text: T.Text };
    answer: A.CategoryRules;
  };
}

/** Questions about a view. */
export interface ViewQuestions {
  /** At least so many parts of the report are then found; how many there are. For long recordings. */
  prepareReport: {
    args: { part: T.Count };
    answer: T.Count;
  };
  /**
   * Why it ran out of memory, what leaks, what the peak is made of, what is fragmented
   * (engine/answers/report/report.h).
   */
  report: {
    args: Record<never, never>;
    answer: A.Report;
  };
  /**
   * What was allocated by the events of a stretch and is never freed, by line, at most 200; from -1 =
   * also what was there before.
   */
  neverFreed: {
    args: { from: T.Event; until: T.Event };
    answer: A.NeverFreed;
  };
  /**
   * Of what is alive after the event: files by what their own lines asked for; and the lines of one, its
   * name as it is there.
   */
  sourceFiles: {
    args: { event: T.Event };
    answer: A.SourceFile[];
  };
  sourceLines: {
    args: { event: T.Event; file: T.Text };
    answer: A.SourceLines;
  };
  /** What is alive after the event, stack by stack, at most 4,000, for `compare`, of whatever file. */
  facts: {
    args: { event: T.Event };
    answer: A.StackFacts;
  };
  /** What is alive after the event against what `before` had: by stack, whose parts add up to both. */
  compare: {
    args: { event: T.Event; before: T.Facts };
    answer: A.Compared;
  };
  /**
   * Levels in columns of an axis: columns of both files of a comparison mean the same. Free memory in at
   * most 256 columns, and best after `prepare`.
   */
  levels: {
    args: { of: readonly T.LevelOf[]; columns: T.LevelColumns };
    answer: A.Levels;
  };
  /** What holds free memory back after the event, and what each pool and stream has of it. */
  fragmentation: {
    args: { event: T.Event };
    answer: A.Fragmentation;
  };
  /** Segments that were never full, over the whole recording (engine/analysis/findings/never_full.h). */
  neverFull: {
    args: Record<never, never>;
    answer: A.NeverFull;
  };
  /** The view is gone; its number is never used again. */
  release: {
    args: Record<never, never>;
    answer: null;
  };
  /**
   * What fits at other sizes (engine/analysis/fit/fit.h), told from recordings that have a session each.
   * Of each recording but the one with the largest parameters: its requests.
   */
  requests: {
    args: Record<never, never>;
    answer: A.RequestsOfRecording;
  };
  /**
   * To that one: the requests of another recording, by a number from 0, in parts of at most 20,000 items
   * a list: a part has what comes behind the parts before. `anew`: what was told of this number before is
   * forgotten. How many rows it has now.
   */
  tellRequests: {
    args: { other: T.Count; anew: T.Flag; part: T.CarriedRequests };
    answer: T.Count;
  };
  /**
   * Then what fits. `recordings`: those that were told, by their numbers, then the view's own; in the
   * order of their values. `largest`: with a capacity, the largest value of the first parameter is looked
   * for. `leaveOut`: what cannot be told of `at` is left out; else it is an error.
   */
  fit: {
    args: { parameters: readonly T.Text[]; recordings: readonly T.FitRecording[]; at: readonly T.FitPoint[]; largest: T.Flag; leaveOut?: T.Flag; capacity?: T.Size; conf?: T.Text };
    answer: A.Fit;
  };
  /**
   * Lanes of ops above the timeline (engine/replay/span_lanes.h): threads of a profiler's trace; what
   * columns of `step` units of the axis show of rows of threads, names where one op is so many columns
   * wide, lit those that a filter means; one op in full.
   */
  laneThreads: {
    args: Record<never, never>;
    answer: A.LaneThreads;
  };
  lanes: {
    args: { axis: T.Axis; from: T.Real; step: T.Positive; columns: T.Pixels; threads: readonly T.Count[]; rows: readonly T.Count[]; search: T.Text; leastForName: T.Real };
    answer: A.Lanes;
  };
  span: {
    args: { span: T.Row };
    answer: A.SpanDetails;
  };
  /**
   * What ran at a microsecond of the axis of times, thread by thread: the ops that a block of a snapshot
   * of the same run was made in. Of its device and address: that of the trace's own record of it alone,
   * if there is one.
   */
  opsAt: {
    args: { time: T.Real; device?: T.Device; address?: T.Real };
    answer: A.RunningOps[];
  };
  /**
   * A snapshot and a trace of one run, each in a session of its own. Of a snapshot: allocations from an
   * event on, at most 16,384, and the event to go on from.
   */
  allocations: {
    args: { from: T.Event };
    answer: A.Allocations;
  };
  /**
   * Of a trace: the nodes of its paths of ops that allocations of a device were made in
   * (engine/replay/op_finder.h): -1 = in no op, -2 = in one of several threads, -3 = outside of the
   * trace. `times`: microseconds since 1970; `addresses`: -1 = not known.
   */
  opsOf: {
    args: { device: T.Device; times: readonly T.Real[]; addresses: readonly T.Real[] };
    answer: A.AllocationOps;
  };
  /** Such nodes: their parents (-1 = none), names, whether they are ops or Python functions. */
  opPaths: {
    args: { nodes: readonly T.Count[] };
    answer: A.OpPaths;
  };
  /**
   * To a snapshot: more nodes, behind those it was told, and those of allocations. Filters of all views
   * of the device that this client has mean them from then on, as the one thing that a question changes.
   * `anew`: what was told before is forgotten. How many allocations have an op now; the device forgets
   * them when its last view is released.
   */
  tellMadeIn: {
    args: { anew: T.Flag; parents: readonly T.NodeOrNone[]; names: readonly T.Text[]; ops: readonly T.Count[]; events: readonly T.Event[]; nodes: readonly T.NodeOrNone[] };
    answer: T.Count;
  };
  /**
   * Lines of the op table of a profiler's trace, at most 1,000; as a tree (by path) with what is inside
   * of the `open` rows.
   */
  ops: {
    args: { by: T.OpBy; scope: T.OpScope; sort: T.OpSort; tree: T.Flag; open: readonly T.Count[]; first: T.Count; count: T.Count };
    answer: A.OpLines;
  };
  /** Lines of PyTorch's own table of the whole trace, at most 1,000. */
  profilerTable: {
    args: { shapes: T.Flag; sort: T.OpSort; first: T.Count; count: T.Count };
    answer: A.ProfilerLines;
  };
  /**
   * What if (engine/analysis/what_if/what_if.h): how exactly the recorded requests repeat, and settings
   * worth a try.
   */
  rehearsal: {
    args: Record<never, never>;
    answer: A.Rehearsal;
  };
  /** What a run of them comes to; curves over so many columns of the recorded events. */
  whatIf: {
    args: { scenario: T.Scenario; columns: T.Pixels };
    answer: A.WhatIf;
  };
  /** The smallest device on which nothing is out of memory; about 15 runs. */
  smallestCapacity: {
    args: { scenario: T.Scenario };
    answer: A.Bytes;
  };
  /**
   * The run as one more snapshot of the file: its number. It takes the place of the run before; other
   * views stay open.
   */
  addRun: {
    args: { scenario: T.Scenario };
    answer: T.Count;
  };
  /** The event of such a run that stands where an event of the view does; -1 = before its first. */
  eventOfRun: {
    args: { snapshot: T.Count; event: T.Event };
    answer: T.Event;
  };
  /** Pools and segments of the view after an event beside those of such a run there. */
  stateDifferences: {
    args: { snapshot: T.Count; event: T.Event };
    answer: A.StateDifferences;
  };
  /** `oom` of the report, with the settings among the remedies tried by a run. */
  triedRemedies: {
    args: Record<never, never>;
    answer: A.ExplainedOutOfMemory[];
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
    args: { filter: T.Text };
    answer: T.Count;
  };
  /** At most 1,000. */
  eventRows: {
    args: { filter: T.Text; first: T.Count; count: T.Count };
    answer: A.EventRow[];
  };
  /** Row in the list, or of the next event listed. */
  rowOfEvent: {
    args: { filter: T.Text; event: T.Event };
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
  stateSketch: {
    args: { event: T.Event; window: T.StateWindow; look: T.Look };
    answer: A.StateSketch;
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
  /**
   * Who holds an address after the event, had it before and has it later
   * (engine/analysis/address_owner.h); refused if it is neither 0x... nor decimal.
   */
  owner: {
    args: { event: T.Event; address: T.Text };
    answer: A.AddressOwner;
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
  /**
   * Regions [first, first + count), each `height` pixels high with a free line below. With `shades` free
   * memory has the one of the share of its region that is free then, from none to all, and all blocks
   * look alike.
   */
  addressMap: {
    args: { order: T.RegionOrder; columns: T.Columns; first: T.Count; count: T.Count; height: T.Pixels; look: T.Look; shades?: readonly T.Colour[] };
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
  /**
   * What happened from one position of the axis to another: from the state that is shown at `from` to
   * that at `to` (engine/analysis/live/stack_weights.h).
   */
  range: {
    args: { axis: T.Axis; from: T.Whole; to: T.Whole };
    answer: A.RangeTotals;
  };
  /**
   * Who holds the memory of a moment (engine/analysis/live/holders.h), most bytes first, at most 1,000.
   * `rules`: those of categories; without them the engine's own.
   */
  holders: {
    args: { by: T.HolderBy; event: T.Event; filter: T.Text; rules?: T.Text; first: T.Count; count: T.Count };
    answer: A.Holders;
  };
  /** What one block is for, and the rule that says so; null = it is no block. */
  category: {
    args: { rank: T.Rank; rules?: T.Text };
    answer: A.BlockCategory | null;
  };
  /**
   * Who asked for memory, as a flame graph: rectangles at least a pixel wide, in rows from the root on.
   * `path`: keys of frames from the root's child to the one that fills the width
   * (engine/analysis/calls/call_tree.h). `before`: calls of another file, less which these are.
   */
  flame: {
    args: { tree: T.CallTree; before?: T.CallFacts; path: readonly T.FrameOrNone[]; width: T.Pixels; rows: T.Pixels; search: T.Text };
    answer: A.FlameGraph;
  };
  /**
   * What calls hold, for `before` of another file's `flame` and `flameRows`
   * (engine/analysis/calls/carried_calls.h); by whole stacks, those with the most.
   */
  callFacts: {
    args: { tree: T.CallTree };
    answer: T.CallFacts;
  };
  /** The same as a table, a row for each frame; at most 1,000. `search`: only those with this text. */
  flameRows: {
    args: { tree: T.CallTree; before?: T.CallFacts; search: T.Text; order: T.FrameOrder; descending: T.Flag; first: T.Count; count: T.Count };
    answer: A.FrameRows;
  };
  /**
   * Pixels of the bands, and the curves above them. `by`, here and below: stacked by group, those of each
   * kind together; else in the order of allocation.
   */
  picture: {
    args: { columns: T.Columns; rows: T.Rows; look: T.Look; by?: T.ColourBy };
    answer: A.PictureAnswer;
  };
  /** Room for words in the bands of that picture, at least so many columns wide and rows high. */
  labels: {
    args: { columns: T.Columns; rows: T.Rows; by?: T.ColourBy; leastColumns: T.Pixels; leastRows: T.Pixels };
    answer: A.BandLabel[];
  };
  /** Highest level in the columns. */
  highest: {
    args: { columns: T.Columns };
    answer: A.Bytes;
  };
  /**
   * What a point of the picture shows, and all about it unless it is the band `known`. By group its kind,
   * too, and what the filter means of that.
   */
  probe: {
    args: { axis: T.Axis; column: T.Whole; width: T.Width; bytes: T.Real; known: T.RankOrNone; by?: T.ColourBy; filter?: T.Text };
    answer: A.ProbeAnswer;
  };
  /**
   * Of all of a kind, stacked by group. `kind`: a number of `kinds`, or their number for what pools keep
   * unused.
   */
  groupOutline: {
    args: { by: T.ColourBy; kind: T.Count; columns: T.Columns };
    answer: A.Edges;
  };
  /** All that is known of a band, and where it lies. */
  block: {
    args: { rank: T.Rank; axis: T.Axis; by?: T.ColourBy };
    answer: A.BlockAnswer;
  };
  outline: {
    args: { rank: T.Rank; by?: T.ColourBy; columns: T.Columns };
    answer: A.Edges;
  };
  /** Of events on the axis. */
  position: {
    args: { axis: T.Axis; events: readonly T.Event[] };
    answer: A.AxisUnits[];
  };
  /**
   * How many blocks a filter means (engine/analysis/filters/filter_syntax.h); refused with the place of
   * what is wrong: offset = UTF-16 units of `text`.
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
}

/** Those of a view that need its states: `prepare` finds them in parts. */
export const questionsOfStates: readonly string[] = [
  'prepareReport',
  'report',
  'fragmentation',
  'neverFull',
  'requests',
  'fit',
  'rehearsal',
  'whatIf',
  'smallestCapacity',
  'addRun',
  'eventOfRun',
  'stateDifferences',
  'triedRemedies',
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
  'owner',
  'statePlace',
  'regions',
  'addressMap',
  'regionOfBlock',
  'blockOfRank',
  'rankOfBlock',
];
