// The page's side of one worker with one engine: the same questions as the engine's Session, answered later.
import type { EngineError } from './answers.ts';
import type { Calls, FromWorker, Kind, Progress, Request, Start } from './protocol.ts';

/** What went wrong, for a person. */
export class EngineFailure extends Error {
  constructor(readonly reason: EngineError) {
    super(reason.message);
  }
}

/** How workers are made: script and compiled engine are fetched once, before any file is chosen. */
export interface EngineParts {
  workerUrl: string;
  module: WebAssembly.Module;
}

interface Waiting {
  resolve: (answer: unknown) => void;
  reject: (failure: EngineFailure) => void;
  progress: ((progress: Progress) => void) | undefined;
}

export class EngineClient {
  /** Called once when the engine stops on its own; every open question is refused too. */
  onDeath: ((error: EngineError) => void) | undefined;
  private readonly worker: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;
  private dead: EngineError | undefined;

  constructor(parts: EngineParts) {
    // A classic script: Chromium starts no module worker from a Blob on a file:// page.
    this.worker = new Worker(parts.workerUrl, { name: 'memstrata engine' });
    this.worker.onmessage = (event: MessageEvent<FromWorker>) => this.receive(event.data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.die({
        code: 'internal',
        message: event.message || 'The engine could not be started.',
        offset: -1,
      });
    };
    this.worker.onmessageerror = () =>
      this.die({ code: 'internal', message: 'A message from the engine could not be read.', offset: -1 });
    const start: Start = { kind: 'start', module: parts.module };
    this.worker.postMessage(start);
  }

  get alive(): boolean {
    return this.dead === undefined;
  }

  call<K extends Kind>(
    kind: K,
    args: Calls[K]['args'],
    progress?: (progress: Progress) => void,
  ): Promise<Calls[K]['answer']> {
    if (this.dead) return Promise.reject(new EngineFailure(this.dead));
    this.lastId += 1;
    const id = this.lastId;
    return new Promise<Calls[K]['answer']>((resolve, reject) => {
      // The pairing of kind, arguments and answer is what `Calls` says; TypeScript cannot follow it into the union.
      this.waiting.set(id, { resolve: resolve as (answer: unknown) => void, reject, progress });
      const request = { kind, id, args } as Request;
      this.worker.postMessage(request);
    });
  }

  /** Ends the worker at once, whatever it does; open questions are refused as cancelled. */
  terminate(): void {
    this.onDeath = undefined;
    this.die({ code: 'cancelled', message: 'Cancelled.', offset: -1 });
  }

  private receive(message: FromWorker): void {
    switch (message.kind) {
      case 'started':
        return;
      case 'progress':
        this.waiting.get(message.id)?.progress?.(message.progress);
        return;
      case 'answer':
        this.take(message.id)?.resolve(message.answer);
        return;
      case 'refused':
        this.take(message.id)?.reject(new EngineFailure(message.error));
        return;
      case 'died':
        this.die(message.error);
        return;
    }
  }

  private take(id: number): Waiting | undefined {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    return waiting;
  }

  private die(error: EngineError): void {
    if (this.dead) return;
    this.dead = error;
    this.worker.terminate();
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const one of waiting) one.reject(new EngineFailure(error));
    this.onDeath?.(error);
  }
}
