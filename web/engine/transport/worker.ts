// An engine in a worker of this page. Answers are moved, not copied.
import type { FromWorker, ToWorker } from '../host/messages.ts';
import type { EngineError } from '../protocol/answers.ts';
import type { Bytes } from '../protocol/wire.ts';
import { EngineFailure, type Progress, type Source, type Transport } from './transport.ts';

/** How workers are made: script and compiled engine are fetched once, before any file is chosen. */
export interface EngineParts {
  workerUrl: string;
  module: WebAssembly.Module;
  /** What opening a snapshot and its timeline do not need; undefined = `module` is all. */
  rest?: RestOfEngine;
}
export interface RestOfEngine {
  /** Absolute. */
  readonly address: string;
  /** Comes when it was fetched. */
  readonly module: Promise<WebAssembly.Module>;
  /** Fetches it, once. Never refused: what cannot be had now is fetched when it is needed. */
  load(): Promise<void>;
}

interface Reading {
  progress: (progress: Progress) => void;
  resolve: (answer: Bytes) => void;
  reject: (failure: EngineFailure) => void;
}

export class WorkerTransport implements Transport {
  private readonly worker: Worker;
  private reading: Reading | undefined;
  private answered: (answer: Bytes) => void = () => undefined;
  private closed: (why: EngineError) => void = () => undefined;

  constructor(private readonly parts: EngineParts) {
    // A classic script: Chromium starts no module worker from a Blob on a file:// page.
    this.worker = new Worker(parts.workerUrl, { name: 'gpustrata engine' });
    this.worker.onmessage = (event: MessageEvent<FromWorker>) => this.receive(event.data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.die(event.message || 'The engine could not be started.');
    };
    this.worker.onmessageerror = () => this.die('A message from the engine could not be read.');
    this.post({ kind: 'start', module: parts.module, rest: parts.rest?.address });
    void parts.rest?.module.then((module) => this.post({ kind: 'rest', module }));
  }

  read(
    source: Source,
    budget: number,
    question: Bytes,
    progress: (progress: Progress) => void,
  ): Promise<Bytes> {
    return new Promise((resolve, reject) => {
      this.reading = { progress, resolve, reject };
      this.post({ kind: 'read', source, budget, question });
    });
  }

  send(question: Bytes, transfer: Transferable[] = [question.buffer]): void {
    this.post(question, transfer);
  }

  async whole(): Promise<void> {
    await this.parts.rest?.load();
  }

  listen(answered: (answer: Bytes) => void, closed: (why: EngineError) => void): void {
    this.answered = answered;
    this.closed = closed;
  }

  close(): void {
    this.stop({ code: 'cancelled', message: 'Cancelled.', offset: -1 });
  }

  private post(message: ToWorker, transfer: Transferable[] = []): void {
    this.worker.postMessage(message, transfer);
  }

  private receive(message: FromWorker): void {
    if (message instanceof Uint8Array) return this.answered(message);
    switch (message.kind) {
      case 'progress':
        return this.reading?.progress(message.progress);
      case 'read':
        return this.take()?.resolve(message.answer);
      case 'refused':
        return this.take()?.reject(new EngineFailure(message.error));
      case 'died':
        this.stop(message.error);
        return this.closed(message.error);
    }
  }

  private take(): Reading | undefined {
    const { reading } = this;
    this.reading = undefined;
    return reading;
  }

  private die(message: string): void {
    const error = { code: 'internal', message, offset: -1 };
    this.stop(error);
    this.closed(error);
  }

  private stop(error: EngineError): void {
    this.worker.terminate();
    this.take()?.reject(new EngineFailure(error));
  }
}
