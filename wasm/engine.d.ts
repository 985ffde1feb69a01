// The engine as JavaScript sees it; written by hand, a test compares it with the module (tests/wasm).
//
// Ownership: a typed array returned by a method is a VIEW of the engine's memory. It dies with the next call of
// any method (the heap may grow or be reused). Copy first, then do anything else. A Session is freed by
// delete(), nothing else frees it.

export interface Progress {
  bytes: number;
  events: number;
  /** Bytes of the budget in use. */
  heap: number;
}

export interface Session {
  /** Total input size if known (bytes). */
  expect(bytes: number): void;
  /** Write input here, then commit(). Empty: no memory. */
  writable(): Uint8Array;
  /** "" or an error as JSON: {"code","message","offset","inside"?}. */
  commit(bytes: number): string;
  finish(): string;
  /** The rest of the input does not matter. */
  done(): boolean;
  progress(): Progress;

  /** Room for a question of so many bytes (engine/session/frame.h). Write it here, then ask(). */
  question(bytes: number): Uint8Array;
  /** The answer's frame. A view: copy it. */
  ask(): Uint8Array;

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
