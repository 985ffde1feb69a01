// One engine with one open file, and views of it. Every question is answered once; nothing is asked of a dead engine.
import type { Contents, Diagnostic, EngineError, OpenedView, ViewInfo } from './protocol/answers.ts';
import type { Bands } from './protocol/arguments.ts';
import { questionsOfStates, type FileQuestions, type ViewQuestions } from './protocol/questions.ts';
import { decodeAnswer, encodeQuestion, type Bytes } from './protocol/wire.ts';
import { EngineFailure, type Progress, type Source, type Transport } from './transport/transport.ts';

export type Kind = keyof ViewQuestions;
export type Args<K extends Kind> = ViewQuestions[K]['args'];
export type Answer<K extends Kind> = ViewQuestions[K]['answer'];
type FileKind = keyof FileQuestions;

interface Waiting {
  resolve: (answer: unknown) => void;
  reject: (failure: EngineFailure) => void;
  /** It is answered or refused. */
  done: () => void;
}

/** What a view is of. */
export interface Shown {
  snapshot: number;
  device: number;
  bands: Bands;
  /** A filter: only what it means, stacked from zero; empty = all. */
  only?: string;
}

/** What opening a file and its timeline ask: the first part of the engine answers it (site/split_engine.mjs). */
const askedFirst = new Set(
  'peaks open release picture labels highest position marks probe block outline kinds shares filter match'.split(
    ' ',
  ),
);

/** Long enough to be worth a message, short enough to wait for: a part of the states (ms). */
const sliceMs = 12;

const cancelled: EngineError = { code: 'cancelled', message: 'Cancelled.', offset: -1 };
const released: EngineError = { code: 'cancelled', message: 'The view was released.', offset: -1 };

export class Engine {
  /** Called once when the engine stops on its own; every open question is refused too. */
  onDeath: ((error: EngineError) => void) | undefined;
  /** What is prepared ahead goes on when it is over: something more urgent needs the processor. */
  urgent: Promise<unknown> | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;
  private dead: EngineError | undefined;
  /** All of the engine is there. */
  private isWhole: boolean;

  constructor(private readonly transport: Transport) {
    this.isWhole = transport.whole === undefined;
    transport.listen(
      (answer) => this.receive(answer),
      (why) => this.die(why),
    );
  }

  get alive(): boolean {
    return this.dead === undefined;
  }
  /** Nothing that was asked waits for its answer. */
  get isIdle(): boolean {
    return this.waiting.size === 0;
  }

  /** Reads a file; one before is gone with its views. The view is what is shown first. */
  async open(
    source: Source,
    budget: number,
    progress?: (progress: Progress) => void,
  ): Promise<{ contents: Contents; view: EngineView | undefined }> {
    const { contents, view } = await this.read(source, budget, 'first', {}, progress);
    const shown = { ...contents.default, bands: 'blocks', only: '' } as Shown; // where there is a view
    return { contents, view: view ? new EngineView(this, shown, view) : undefined };
  }

  /** The same with another question, which the end of reading answers. */
  async read<K extends FileKind>(
    source: Source,
    budget: number,
    kind: K,
    args: FileQuestions[K]['args'],
    progress: (progress: Progress) => void = () => undefined,
  ): Promise<FileQuestions[K]['answer']> {
    if (this.dead) throw new EngineFailure(this.dead);
    const question = encodeQuestion(0, { ask: kind, args });
    const answered = decodeAnswer(await this.transport.read(source, budget, question, progress));
    if ('error' in answered) throw new EngineFailure(answered.error);
    return answered.answer as FileQuestions[K]['answer'];
  }

  /**
   * `{ snapshot, device, bands, only }` of the file; release it when it is not shown any more. `before`: the same of a file that
   * was still being written, whose place it takes.
   */
  async view({ snapshot, device, bands, only = '' }: Shown, before?: EngineView): Promise<EngineView> {
    const shown = { snapshot, device, bands, only };
    return new EngineView(this, shown, await this.ask('open', shown), before?.run);
  }

  /** One more for the same file, where that is read; undefined = any engine of this page can read it. */
  beside(): Engine | undefined {
    const transport = this.transport.beside?.();
    return transport && new Engine(transport);
  }

  /** About the file. */
  ask<K extends FileKind>(
    kind: K,
    args: FileQuestions[K]['args'],
    signal?: AbortSignal,
  ): Promise<FileQuestions[K]['answer']> {
    return this.question(kind, args, undefined, signal) as Promise<FileQuestions[K]['answer']>;
  }

  /** For EngineView. An aborted question is refused at once; the engine may answer it all the same. */
  question(kind: string, args: object, view?: number, signal?: AbortSignal): Promise<unknown> {
    if (this.dead) return Promise.reject(new EngineFailure(this.dead));
    if (signal?.aborted) return Promise.reject(new EngineFailure(cancelled));
    this.lastId = (this.lastId + 1) >>> 0;
    const id = this.lastId;
    return new Promise((resolve, reject) => {
      const abort = (): void => this.take(id)?.reject(new EngineFailure(cancelled));
      signal?.addEventListener('abort', abort);
      const done = (): void => signal?.removeEventListener('abort', abort);
      this.waiting.set(id, { resolve, reject, done });
      const send = (): void => {
        if (this.waiting.has(id))
          this.transport.send(encodeQuestion(id, { ask: kind, ...(view !== undefined && { view }), args }));
      };
      if (this.isWhole || askedFirst.has(kind)) return send();
      void this.transport.whole?.().then(() => {
        this.isWhole = true;
        send();
      });
    });
  }

  /** Ends the engine at once, whatever it does; open questions are refused as cancelled. */
  close(): void {
    this.onDeath = undefined;
    this.die(cancelled);
  }

  private receive(frame: Bytes): void {
    try {
      const answered = decodeAnswer(frame);
      const waiting = this.take(answered.id);
      if ('error' in answered) waiting?.reject(new EngineFailure(answered.error));
      else waiting?.resolve(answered.answer);
    } catch (error) {
      this.die({ code: 'internal', message: String(error), offset: -1 });
    }
  }

  private take(id: number): Waiting | undefined {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    waiting?.done();
    return waiting;
  }

  private die(error: EngineError): void {
    if (this.dead) return;
    this.dead = error;
    this.transport.close();
    for (const id of [...this.waiting.keys()]) this.take(id)?.reject(new EngineFailure(error));
    this.onDeath?.(error);
  }
}

/** Waits for it, or until the signal comes. */
async function unlessAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return promise;
  const over = new AbortController();
  const aborted = new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { signal: over.signal }),
  );
  await Promise.race([promise, aborted]);
  over.abort();
}

/** One device of one snapshot as a timeline of bands. */
export class EngineView {
  readonly info: ViewInfo;
  /** Of the file and of showing this device. */
  readonly diagnostics: Diagnostic[];
  /** Undefined = it is released. */
  private id: number | undefined;
  private preparation: Promise<void> | undefined;
  /** Of the states that are found, from 0 to 1; and who hears of it. */
  private share = 0;
  private readonly listeners = new Set<(share: number) => void>();

  constructor(
    readonly engine: Engine,
    readonly shown: Shown,
    opened: OpenedView,
    /** The same for views of a file that is being written, as it grows. */
    readonly run: object = {},
  ) {
    this.id = opened.id;
    this.info = opened.info;
    this.diagnostics = opened.diagnostics;
  }

  /** It answers: the engine is there, and it is not released. */
  get alive(): boolean {
    return this.id !== undefined && this.engine.alive;
  }

  /** What needs the states waits until they are found (see `prepare`); other questions come in between. */
  async ask<K extends Kind>(kind: K, args: Args<K>, signal?: AbortSignal): Promise<Answer<K>> {
    if (this.id !== undefined && questionsOfStates.includes(kind))
      await unlessAborted(this.prepare(), signal);
    if (this.id === undefined) throw new EngineFailure(released);
    return this.engine.question(kind, args, this.id, signal) as Promise<Answer<K>>;
  }

  /**
   * Finds the states, a part at a time: whatever is asked meanwhile waits no longer than for a part. Never refused: what
   * went wrong is told by the questions that need them.
   */
  prepare(): Promise<void> {
    return (this.preparation ??= this.findStates().catch(() => undefined));
  }

  /** `told` hears at once and from then on which share of the states is found, 1 = all; until the answer is called. */
  watchPreparation(told: (share: number) => void): () => void {
    this.listeners.add(told);
    told(this.share);
    return () => this.listeners.delete(told);
  }

  private async findStates(): Promise<void> {
    let parts = 1;
    let stride = 1; // parts at a time: short ones cost more to ask for than to find
    for (let part = 1; part <= parts; part = part < parts ? Math.min(part + stride, parts) : part + 1) {
      await this.engine.urgent;
      const start = performance.now();
      parts = await this.ask('prepare', { part });
      const took = performance.now() - start;
      if (took > sliceMs) stride = Math.max(1, stride >> 1);
      else if (took < sliceMs / 2) stride = Math.min(16, stride * 2);
      this.share = part / parts;
      for (const told of this.listeners) told(this.share);
    }
  }

  /** Gives its memory back. Questions after it are refused, until it is opened again. */
  release(): void {
    this.ask('release', {}).catch(() => undefined); // then the engine is gone, or it is released
    this.id = undefined;
  }

  /** What was released answers as before. */
  async reopen(): Promise<void> {
    if (this.id !== undefined) return;
    const { id } = await this.engine.ask('open', this.shown);
    this.id = id;
    this.preparation = undefined;
    this.share = 0;
  }
}
