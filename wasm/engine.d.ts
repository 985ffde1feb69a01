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

  /** Colours as 0xAABBGGRR. */
  setPalette(bands: Uint32Array, merged: number, nothing: number, dimmedTowards: number): void;
  /** RGBA as 0xAABBGGRR, rows from the top; empty without a view, or with lastError(). A view: copy it. */
  picture(columns: ColumnGrid, rows: RowGrid, dimOthers: boolean): Uint32Array;
  /** Why the last picture() is empty: "" or an error as JSON. */
  lastError(): string;
  /** Views: copy them. */
  curves(columns: ColumnGrid): Curves;
  highestLevel(columns: ColumnGrid): number;
  pick(axis: 0 | 1, column: number, width: number, bytes: number): string;
  /** Lower edge per column in bytes, NaN where the block is not live. A view: copy it. */
  outline(rank: number, columns: ColumnGrid): Float64Array;
  blockPlace(rank: number, axis: 0 | 1): string;
  blockDetails(rank: number): string;
  position(axis: 0 | 1, event: number): number;
  /** where: 0 anything, 1 address, 2 frame, 3 metadata. */
  search(where: 0 | 1 | 2 | 3, text: string): string;
  match(k: number): number;

  delete(): void;
}

export interface EngineModule {
  Session: new (budgetBytes: number) => Session;
  /**
   * Runs a script of allocations through the caching allocator on a simulated device of so many bytes, with
   * settings as in PYTORCH_CUDA_ALLOC_CONF. The JSON is that of `memstrata simulate --json`
   * (engine/simulate/report.h), without the line's end.
   */
  simulate(script: string, deviceBytes: number, conf: string): string;
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
