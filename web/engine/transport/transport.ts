// How bytes come to an engine and back. A transport knows nothing of what is asked.
import type { EngineError, ServedReading } from '../protocol/answers.ts';
import type { Bytes } from '../protocol/wire.ts';

/** Where a file's bytes come from. A URL is absolute, http or https. `served`: a server reads it and answers about it. */
export type Source = { file: Blob } | { url: string } | { served: Served } | DirectFile;
/** A file that a program reads for the engine beside it. */
export interface DirectFile {
  /** Bytes. */
  total: number;
  /** Fills the beginning of `room`; tells how many bytes, 0 = the end. Throws what cannot be read. */
  read(room: Uint8Array): number;
  /** Asked before each read: others' turn, now and then. */
  turn(): Promise<void>;
}
export interface Served {
  /** Of the server, with its token; ends with a slash. */
  address: string;
  /** As its list of files says it. */
  name: string;
}

export type Phase = 'reading' | 'finishing';
export interface Progress {
  phase: Phase;
  bytes: number;
  /** 0 = not known. */
  total: number;
  events: number;
  /** Of a journal that a server reads: how far it was written. */
  journal?: ServedReading['journal'];
}

export interface Transport {
  /**
   * Reads a file into the engine, in place of the one before; its views are gone. Tells the frame that answers `question`, which is
   * asked once the file is read. Rejected with an EngineFailure.
   */
  read(
    source: Source,
    budget: number,
    question: Bytes,
    progress: (progress: Progress) => void,
  ): Promise<Bytes>;
  /** A question's frame. What is in `transfer` is not the caller's any more. */
  send(question: Bytes, transfer?: Transferable[]): void;
  /**
   * When all of the engine is there, for transports whose engine comes in two parts. Questions of the timeline need not
   * wait for it; others would hold up the engine until it is.
   */
  whole?(): Promise<void>;
  /** To another engine for the file that was read here, for transports of which each file has its own place. */
  beside?(): Transport | undefined;
  /** Once, before anything is sent. `closed`: the engine stopped on its own, nothing will be answered. */
  listen(answered: (answer: Bytes) => void, closed: (why: EngineError) => void): void;
  /** At once, whatever it does; nothing is said any more. */
  close(): void;
}

/** What went wrong, for a person. */
export class EngineFailure extends Error {
  constructor(readonly reason: EngineError) {
    super(reason.message);
  }
}
