// The engine as JavaScript sees it; written by hand, a test compares it with the module (tests/wasm).
//
// Ownership: a typed array returned by a method is a VIEW of the engine's memory. It dies with the next call of
// any method (the heap may grow or be reused). Copy first, then do anything else. A Session is freed by
// delete(), nothing else frees it.
// JSON answers: an object as engine/session/session.h states it, or {"error":{"code","message","offset"}}.

/** Position on an axis, column width and count: see engine/replay/timeline.h. */
export interface ColumnGrid {
  axis: 0 | 1; // 0 = event, 1 = time (microseconds since the first event)
  first: number; // grid index k of the leftmost column
  width: number; // events or microseconds per column
  count: number;
}

export interface RowGrid {
  bottom: number; // bytes at the lower edge
  bytesPerRow: number;
  count: number;
}

export interface Curves {
  event: Int32Array; // -1 = before the first event, -2 = outside the recording
  highest: Float64Array; // NaN outside
  lowest: Float64Array;
  allocated: Float64Array;
  reserved: Float64Array;
}

/** Pixels: at zoom 1 the whole layout fills width x height; (left, top) is the window's corner in the zoomed one. */
export interface StateWindow {
  width: number;
  height: number;
  zoom: number; // >= 1
  left: number;
  top: number;
}

/** Rectangles in pixels of the window, see engine/replay/state_layout.h. Views: copy them. */
export interface StateRects {
  x: Float32Array;
  y: Float32Array;
  width: Float32Array;
  height: Float32Array;
  kind: Uint8Array; // 0 segment, 1 block, 2 rounding, 3 pending, 4 gap
  row: Int32Array; // of the segments for kind 0, else of the blocks; -1 = several, or a gap
}

export interface Session {
  /** Total input size if known (bytes). */
  expectBytes(total: number): void;
  /** Write input here, then commit(). */
  writable(): Uint8Array;
  /** "" or an error as JSON. */
  commit(bytes: number): string;
  finish(): string;
  /** The rest of the input does not matter. */
  done(): boolean;
  progress(): string;

  summary(file: string): string;
  contents(): string;
  /** Findings of reading the file and of the current view, as in summary(); replays nothing. */
  diagnostics(): string;
  openView(snapshot: number, device: number): string;
  /** The same with segments as bands; blockDetails() then describes a segment. */
  openSegments(snapshot: number, device: number): string;
  /** The blocks' timeline with private pools as envelopes, whose ranks follow those of the blocks. */
  openPools(snapshot: number, device: number): string;

  /** Colours as 0xAABBGGRR. */
  setPalette(bands: Uint32Array, nothing: number, dimmedTowards: number, envelope: number): void;
  /** RGBA as 0xAABBGGRR, rows from the top; empty without a view, or with lastError(). A view: copy it. */
  picture(columns: ColumnGrid, rows: RowGrid, dimOthers: boolean): Uint32Array;
  /** Why the last picture(), stateLayout() or addressMap() is empty: "" or an error as JSON. */
  lastError(): string;
  /** JSON: room for words in the bands of the last picture that has these columns. */
  labels(columns: ColumnGrid, leastColumns: number, leastRows: number): string;
  /** JSON: the innermost frames of a block's stack. */
  labelFrames(rank: number): string;
  /** Views: copy them. */
  curves(columns: ColumnGrid): Curves;
  highestLevel(columns: ColumnGrid): number;
  pick(axis: 0 | 1, column: number, width: number, bytes: number): string;
  /**
   * Lower edges in bytes, one per column, then as many upper ones; NaN where its life does not touch the column.
   * A view: copy it.
   */
  outline(rank: number, columns: ColumnGrid): Float64Array;
  blockPlace(rank: number, axis: 0 | 1): string;
  blockDetails(rank: number): string;
  position(axis: 0 | 1, event: number): number;
  /** The language is told in engine/analysis/filter_syntax.h; offsets are bytes of UTF-8. */
  filter(text: string): string;
  completeFilter(text: string, cursor: number): string;
  colourBy(by: string): string;
  shares(event: number): string;
  lightKind(kind: number): void;
  contentHash(): string;
  match(k: number): number;

  // The allocator's states of the current view's device: engine/session/state_view.h has every answer's shape.
  /** Builds them if that was not done yet. */
  openState(): string;
  /** The number of rows as JSON. `actions` separated by commas; "" and -1 mean any; mostSize Infinity = any. */
  filterEvents(
    actions: string,
    leastSize: number,
    mostSize: number,
    stream: number,
    address: string,
    frame: string,
  ): string;
  eventRows(first: number, count: number): string;
  rowOfEvent(event: number): number;
  eventDetails(event: number): string;
  /** kind: an action's name, or "peak"; -1 = none. */
  findEvent(kind: string, from: number, backwards: boolean): number;
  stateTotals(event: number): string;
  /** Empty without a view, or with lastError(). Views: copy them. */
  stateLayout(event: number, window: StateWindow): StateRects;
  statePick(event: number, window: StateWindow, x: number, y: number): string;
  stateBlock(event: number, block: number): string;
  stateSegment(event: number, segment: number): string;
  statePlace(event: number, block: number, window: StateWindow): string;
  /** order: 0 address, 1 size (largest first), 2 stream. */
  regions(order: 0 | 1 | 2, first: number, count: number): string;
  /**
   * Per pixel, rows from the top: rank in the timeline, or -1 nothing, -2 free device memory, -3 a block that the
   * timeline does not show. Empty without a view, or with lastError(). A view: copy it.
   */
  addressMap(order: 0 | 1 | 2, columns: ColumnGrid, first: number, count: number, height: number): Int32Array;
  /** RGBA of the last addressMap(), as picture() colours blocks. Empty without a view, or with lastError(). A view. */
  addressMapColours(dimOthers: boolean): Uint32Array;
  regionOfBlock(order: 0 | 1 | 2, block: number): number;
  /** Regions and markers of the current view (engine/analysis/marks.h); `null` without one. */
  marks(): string;
  blockOfRank(rank: number): number;
  rankOfBlock(block: number): number;

  delete(): void;
}

export interface EngineModule {
  Session: new (budgetBytes: number) => Session;
  HEAPU8: Uint8Array;
}

declare const createEngine: (options: {
  wasmBinary?: ArrayBuffer | Uint8Array;
  instantiateWasm?: unknown;
  onAbort?: (what: unknown) => void;
  print?: (line: string) => void;
  printErr?: (line: string) => void;
}) => Promise<EngineModule>;
export default createEngine;
