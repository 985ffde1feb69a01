// Which file is open and how it came to be: one engine per file, the next one only replaces it when it has
// something to show.
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Bytes } from '../base/units.ts';
import type { Contents, Diagnostic, EngineError, ViewInfo } from '../engine/answers.ts';
import { EngineClient, EngineFailure, type EngineParts } from '../engine/client.ts';
import { loadEngineParts } from '../engine/parts.ts';
import type { Progress, Source } from '../engine/protocol.ts';

/** Bytes the engine may use for one file; the 32-bit heap ends at 4 GiB. */
const budget: Bytes = 3.5 * 1024 ** 3;

export interface OpenFile {
  name: string;
  bytes: Bytes;
  source: Source;
  engine: EngineClient;
  contents: Contents;
  snapshot: number;
  /** Undefined if the file names no device. */
  view: ViewInfo | undefined;
  /** What the reader noticed, and what the view shown repaired. */
  diagnostics: readonly Diagnostic[];
  /** Why the engine stopped after the file was shown. */
  died: EngineError | undefined;
}

export interface Loading {
  name: string;
  startedAt: number;
  progress: Progress;
}

export interface Failure {
  name: string;
  error: EngineError;
}

export type State = 'empty' | 'loading' | 'ready' | 'error';

export class OpenController implements ReactiveController {
  file: OpenFile | undefined;
  loading: Loading | undefined;
  failure: Failure | undefined;
  /** A device is being opened. */
  switching = false;

  private parts: Promise<EngineParts> | undefined;
  private readonly warm: Promise<EngineClient>[] = [];
  private attempt = 0;
  private opening: EngineClient | undefined;

  constructor(private readonly host: ReactiveControllerHost) {
    host.addController(this);
  }

  hostConnected(): void {
    this.warmUp(2);
  }

  get state(): State {
    if (this.loading) return 'loading';
    if (this.failure) return 'error';
    return this.file ? 'ready' : 'empty';
  }

  async open(name: string, source: Source): Promise<void> {
    this.abandon();
    const attempt = this.attempt;
    const bytes = 'file' in source ? source.file.size : 0;
    this.failure = undefined;
    this.loading = {
      name,
      startedAt: performance.now(),
      progress: { phase: 'reading', bytes: 0, total: bytes, events: 0 },
    };
    this.host.requestUpdate();
    let engine: EngineClient | undefined;
    try {
      engine = await this.takeEngine();
      if (attempt !== this.attempt) return engine.terminate();
      this.opening = engine;
      const { contents, view, diagnostics } = await engine.call('open', { source, budget }, (progress) => {
        if (attempt !== this.attempt || !this.loading) return;
        this.loading = { ...this.loading, progress };
        this.host.requestUpdate();
      });
      if (attempt !== this.attempt) return;
      const read = this.loading.progress.bytes;
      this.opening = undefined;
      this.loading = undefined;
      this.file?.engine.terminate();
      const snapshot = contents.default?.snapshot ?? 0;
      const file: OpenFile = {
        name,
        bytes: bytes || read,
        source,
        engine,
        contents,
        snapshot,
        view,
        diagnostics,
        died: undefined,
      };
      engine.onDeath = (error) => {
        file.died = error;
        this.host.requestUpdate();
      };
      this.file = file;
      this.host.requestUpdate();
    } catch (error) {
      engine?.terminate();
      if (attempt !== this.attempt) return;
      this.opening = undefined;
      this.fail(name, reasonOf(error));
    }
  }

  /** Shows a failure that was seen before the engine was asked. */
  fail(name: string, error: EngineError): void {
    this.abandon();
    this.failure = { name, error };
    this.warmUp();
    this.host.requestUpdate();
  }

  /** Back to the file that was open before, or to the start. */
  cancel(): void {
    this.abandon();
    this.failure = undefined;
    this.warmUp();
    this.host.requestUpdate();
  }

  async openDevice(snapshot: number, device: number): Promise<void> {
    const file = this.file;
    if (!file || this.switching) return;
    this.switching = true;
    this.host.requestUpdate();
    try {
      const { view, diagnostics } = await file.engine.call('view', { snapshot, device });
      file.snapshot = snapshot;
      file.view = view;
      file.diagnostics = diagnostics;
    } catch (error) {
      if (!file.engine.alive || file !== this.file) return;
      // A file being loaded meanwhile goes on.
      if (!this.loading) this.fail(file.name, reasonOf(error));
      // The one before is still what the page shows.
      if (file.view)
        await file.engine
          .call('view', { snapshot: file.snapshot, device: file.view.device })
          .catch(() => undefined);
    } finally {
      this.switching = false;
      this.host.requestUpdate();
    }
  }

  /** Has an engine ready for the next file; called when there is nothing more urgent to do. */
  prepareNext(): void {
    this.warmUp();
  }

  /** Opens the same file again after its engine stopped. */
  reopen(): void {
    if (this.file) void this.open(this.file.name, this.file.source);
  }

  /**
   * Has engines ready, so that the next file need not wait. The first time causes the page's own requests, later ones
   * only make workers of what is there; two from the beginning, so that opening two files does not even do that.
   */
  private warmUp(count = 1): void {
    this.parts ??= loadEngineParts();
    while (this.warm.length < count) {
      const engine = this.parts.then((parts) => new EngineClient(parts));
      engine.catch(() => undefined); // told when a file is opened
      this.warm.push(engine);
    }
  }

  private async takeEngine(): Promise<EngineClient> {
    this.warmUp();
    try {
      const engine = await this.warm.shift();
      if (engine?.alive) return engine;
      return new EngineClient(await (this.parts ??= loadEngineParts()));
    } catch (error) {
      // Perhaps the connection was gone for a moment: the next file tries again.
      this.parts = undefined;
      this.warm.length = 0;
      throw error;
    }
  }

  private abandon(): void {
    this.attempt += 1;
    this.opening?.terminate();
    this.opening = undefined;
    this.loading = undefined;
  }
}

function reasonOf(error: unknown): EngineError {
  if (error instanceof EngineFailure) return error.reason;
  return { code: 'internal', message: error instanceof Error ? error.message : String(error), offset: -1 };
}
