// What the page's thread and the worker say to each other beside frames, which are sent as they are.
import type { EngineError } from '../protocol/answers.ts';
import type { Bytes } from '../protocol/wire.ts';
import type { Progress, Source } from '../transport/transport.ts';

export type ToWorker =
  | { kind: 'start'; module: WebAssembly.Module; rest: string | undefined }
  /** What `module` lacks, once it is there; a worker that needs it before fetches it from the address `rest`. */
  | { kind: 'rest'; module: WebAssembly.Module }
  /** `question`: asked once it is read. */
  | { kind: 'read'; source: Source; budget: number; question: Bytes }
  | Bytes;

export type FromWorker =
  | { kind: 'progress'; progress: Progress }
  | { kind: 'read'; answer: Bytes }
  | { kind: 'refused'; error: EngineError }
  /** The engine cannot be used any more. */
  | { kind: 'died'; error: EngineError }
  | Bytes;
