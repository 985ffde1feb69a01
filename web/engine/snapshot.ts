// A snapshot opened by a program: what `openSnapshot` of gpustrata/engine gives, in Node and in browsers.
import { Engine, type EngineView, type Shown } from './engine.ts';
import type { Contents, Summary } from './protocol/answers.ts';
import type { FileQuestions } from './protocol/questions.ts';
import { EngineFailure, type Progress, type Source, type Transport } from './transport/transport.ts';

/** A text is an address; in Node a text that is no address is a path, and `file:` addresses are read. */
export type SnapshotSource = Blob | ArrayBuffer | Uint8Array | ReadableStream<Uint8Array> | URL | string;

export interface OpenSnapshotOptions {
  /** Bytes that the engine may use, at most 4 GiB; 3.5 GiB. */
  budget?: number;
  progress?: (progress: Progress) => void;
  /** Ends the engine, whatever it does. */
  signal?: AbortSignal;
}

/** Rejected with an `EngineFailure`, whose `reason` says what is wrong and where. */
export type OpenSnapshot = (source: SnapshotSource, options?: OpenSnapshotOptions) => Promise<Snapshot>;

const usualBudget = 3.5 * 1024 ** 3;

export class Snapshot {
  private constructor(
    readonly engine: Engine,
    /** What is in the file: snapshots, their devices, what reading noticed. */
    readonly contents: Contents,
  ) {}

  static async open(
    transport: Transport,
    source: Source,
    { budget = usualBudget, progress, signal }: OpenSnapshotOptions = {},
  ): Promise<Snapshot> {
    const engine = new Engine(transport);
    const stop = (): void => engine.close();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      if (signal?.aborted) stop();
      return new Snapshot(engine, await engine.read(source, budget, 'contents', {}, progress));
    } catch (error) {
      engine.close();
      throw error;
    }
  }

  /** A question about the file. */
  ask<K extends keyof FileQuestions>(
    kind: K,
    args: FileQuestions[K]['args'],
    signal?: AbortSignal,
  ): Promise<FileQuestions[K]['answer']> {
    return this.engine.ask(kind, args, signal);
  }

  /** The object of `gpustrata summary --json`; `file` is the name in it. */
  summary(file = 'snapshot'): Promise<Summary> {
    return this.ask('summary', { file });
  }

  /** One device, for questions about it: the telling one unless another is named. Release it when it is not needed. */
  view(shown: Partial<Shown> = {}): Promise<EngineView> {
    const { default: first } = this.contents;
    if (!first && shown.device === undefined)
      return Promise.reject(
        new EngineFailure({ code: 'no_device', message: 'This file names no device.', offset: -1 }),
      );
    return this.engine.view({ snapshot: 0, device: 0, bands: 'blocks', ...first, ...shown });
  }

  /** Gives all memory back. */
  close(): void {
    this.engine.close();
  }
}

/** Whatever holds bytes, as the engine takes it. A stream is gathered first. */
export async function blobOf(source: Exclude<SnapshotSource, URL | string>): Promise<Blob> {
  if (source instanceof Blob) return source;
  if (source instanceof ReadableStream) return new Response(source).blob();
  return new Blob([source as BlobPart]);
}
