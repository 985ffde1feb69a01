// Which files are open, which of them is shown, and how each came to be.
//
// One engine per file: closing a file ends its worker, which gives all its memory back. A few are read at the same
// time, the others wait. A file that cannot be read keeps its place with its error and hides no other.
import type { Bytes } from '../base/units.ts';
import type { Diagnostic, EngineError, ViewInfo } from '../engine/answers.ts';
import { EngineFailure, type EngineClient } from '../engine/client.ts';
import type { EnginePool } from '../engine/pool.ts';
import type { Progress, Source } from '../engine/protocol.ts';
import type { OpenFile, WantedView } from './open_file.ts';

export type { OpenFile, WantedView } from './open_file.ts';

/** Bytes the engine may use for one file; the 32-bit heap ends at 4 GiB. */
const budget: Bytes = 3.5 * 1024 ** 3;
/** Files read at the same time. More would only share the same cores and disk. */
const mostReading = Math.min(4, Math.max(2, globalThis.navigator?.hardwareConcurrency || 2));

/** Events whose peaks are found out while one looks at the picture: about a second (see findPeaks). */
const mostCompared = 4_000_000;

const restBefore = 500; // ms
/** What finding the states of a view repaired; it is told with what opening the view repaired. */
const notesOfStates = new WeakMap<ViewInfo, readonly Diagnostic[]>();

export interface Loading {
  name: string;
  /** 0 = waits for its turn. */
  startedAt: number;
  progress: Progress;
}

/** A place in the row of files; exactly one of `loading`, `error` and `file` is set. */
export interface Entry {
  readonly id: number;
  /** As the file is called, with a number behind it if another open file is called so. */
  readonly name: string;
  readonly source: Source | undefined;
  /** Chosen together with others: its failure does not ask for attention. */
  readonly inGroup: boolean;
  loading: Loading | undefined;
  error: EngineError | undefined;
  file: OpenFile | undefined;
  /** While it is read. */
  engine: EngineClient | undefined;
}

export interface Chosen {
  name: string;
  source: Source;
}

export type State = 'empty' | 'loading' | 'ready' | 'error';

export class OpenFiles {
  entries: readonly Entry[] = [];
  active: Entry | undefined;
  /** Shown before; what is behind a card, and where `back` leads. */
  private behind: Entry | undefined;
  private lastId = 0;
  private readonly comparing = new WeakSet<OpenFile>();

  constructor(
    readonly pool: EnginePool,
    private readonly changed: () => void,
  ) {}

  start(): void {
    this.pool.enter();
  }

  /** Closes all; their engines give their memory back. */
  dispose(): void {
    for (const entry of this.entries) this.drop(entry);
    this.pool.leave();
    this.changed();
  }

  get state(): State {
    if (!this.active) return 'empty';
    if (this.active.loading) return 'loading';
    return this.active.error ? 'error' : 'ready';
  }

  /** What the page shows; behind a card the one before. */
  get shown(): Entry | undefined {
    return this.active?.file ? this.active : this.behind;
  }
  get file(): OpenFile | undefined {
    return this.shown?.file;
  }
  /** A device of the shown file is being opened. */
  get switching(): boolean {
    return this.file?.switching !== undefined;
  }

  /** Opens all, shows the first. */
  open(chosen: readonly Chosen[]): void {
    const stale = this.active;
    if (stale?.error && !stale.inGroup) this.drop(stale);
    const added = chosen.map(({ name, source }) => this.add(name, source, chosen.length > 1));
    if (added[0]) this.show(added[0]);
    this.readNext();
  }

  /** Shows a failure that was seen before the engine was asked. */
  fail(name: string, error: EngineError): void {
    const stale = this.active;
    if (stale?.error && !stale.inGroup) this.drop(stale);
    const entry = this.add(name, undefined, false);
    entry.loading = undefined;
    entry.error = error;
    this.show(entry);
  }

  show(entry: Entry): void {
    if (this.active?.file) this.behind = this.active;
    this.active = entry;
    this.changed();
  }

  /** The one after (or before) the shown one in the row. */
  step(by: 1 | -1): void {
    if (this.entries.length < 2 || !this.active) return;
    const index = this.entries.indexOf(this.active) + by + this.entries.length;
    const entry = this.entries[index % this.entries.length];
    if (entry) this.show(entry);
  }

  /** Gives the memory of a file back. */
  close(entry: Entry): void {
    const index = this.entries.indexOf(entry);
    const back = this.behind;
    this.drop(entry);
    if (this.active === undefined) {
      const next =
        back && back !== entry && this.entries.includes(back)
          ? back
          : (this.entries[index] ?? this.entries.at(-1));
      if (next) this.show(next);
    }
    this.pool.warmUp();
    this.readNext();
    this.changed();
  }

  /** Back from a card to the file that was shown before, or to the start. */
  back(): void {
    if (this.active && !this.active.file) this.close(this.active);
  }

  /**
   * Shows a device of a file: one after the other, and of several that are wanted meanwhile only the last. True = it is
   * what the file shows now; false = it could not be opened, or another one was wanted.
   */
  async openDevice(file: OpenFile, wanted: WantedView): Promise<boolean> {
    file.wanted = wanted;
    file.switching ??= this.followWishes(file).finally(() => (file.switching = undefined));
    this.changed();
    await file.switching;
    this.changed();
    const { view } = file;
    return file.snapshot === wanted.snapshot && view?.device === wanted.device && view.bands === wanted.bands;
  }

  private async followWishes(file: OpenFile): Promise<void> {
    for (let { wanted } = file; wanted; wanted = file.wanted) {
      try {
        const { view, diagnostics } = await file.engine.call('view', wanted);
        if (file.wanted !== wanted) continue;
        file.wanted = undefined;
        showView(file, wanted.snapshot, view, diagnostics);
      } catch (error) {
        if (!file.engine.alive) file.wanted = undefined; // the page says so already
        if (file.wanted !== wanted) continue;
        file.wanted = undefined;
        // The one before is still what the file shows, on the page or not.
        const { snapshot, view } = file;
        if (view)
          await file.engine
            .call('view', { snapshot, device: view.device, bands: view.bands })
            .catch(() => undefined);
        // A file being loaded meanwhile goes on.
        if (file === this.file && this.state !== 'loading') this.fail(file.name, reasonOf(error));
      }
    }
  }

  /**
   * Finds out the peaks of the other snapshots and devices of the shown file; called when there is nothing more urgent to do. The
   * engine replays all of them meanwhile: beyond `mostCompared` events the page would stand still, and they stay unknown.
   */
  async findPeaks(): Promise<void> {
    const { file } = this;
    if (!file || this.comparing.has(file)) return;
    const { snapshots } = file.contents;
    if (snapshots.length < 2 && snapshots.every(({ devices }) => devices.length < 2)) return;
    this.comparing.add(file); // asked once
    const events = snapshots.flatMap(({ devices }) => devices).reduce((sum, one) => sum + one.events, 0);
    const found =
      events > mostCompared ? undefined : await file.engine.call('peaks', {}).catch(() => undefined);
    file.devicePeaks = found;
    if (snapshots.length < 2) return this.changed();
    file.peaks = snapshots.map((listed, index) => {
      const shown = listed.default;
      return found?.[index]?.find(({ device }) => device === shown)?.bytes;
    });
    this.changed();
  }

  /**
   * Finds the states of the device shown, a part at a time between other questions, so that the panels open at once;
   * called when its picture is there.
   */
  prepareStates(): void {
    const { file } = this;
    const view = file?.view;
    if (!file || !view) return;
    setTimeout(() => {
      if (file !== this.file || view !== file.view || !file.engine.alive) return;
      file.engine.call('states', {}).then(
        (states) => {
          if (!states || notesOfStates.has(view)) return;
          notesOfStates.set(view, states.diagnostics);
          if (view === file.view) file.diagnostics = [...file.diagnostics, ...states.diagnostics];
          this.changed();
        },
        () => undefined, // a panel asks again, and tells
      );
    }, restBefore);
  }

  /** Has an engine ready for the next file; called when there is nothing more urgent to do. */
  prepareNext(): void {
    this.pool.warmUp();
  }

  /** Reads the shown file again after its engine stopped. */
  reopen(): void {
    const entry = this.shown;
    if (!entry?.source) return;
    entry.file?.engine.terminate();
    entry.file = undefined;
    entry.loading = waiting(entry.name, entry.source);
    this.show(entry);
    this.readNext();
  }

  private add(name: string, source: Source | undefined, inGroup: boolean): Entry {
    this.lastId += 1;
    const entry: Entry = {
      id: this.lastId,
      name: this.freeName(name),
      source,
      inGroup,
      loading: waiting(name, source),
      error: undefined,
      file: undefined,
      engine: undefined,
    };
    this.entries = [...this.entries, entry];
    return entry;
  }

  /** Two files of one name stay apart. */
  private freeName(name: string): string {
    const taken = new Set(this.entries.map((entry) => entry.name));
    let free = name;
    for (let number = 2; taken.has(free); number += 1) free = `${name} (${number})`;
    return free;
  }

  private drop(entry: Entry): void {
    entry.engine?.terminate();
    entry.file?.engine.terminate();
    this.entries = this.entries.filter((one) => one !== entry);
    if (this.behind === entry) this.behind = undefined;
    if (this.active === entry) this.active = undefined;
  }

  private readNext(): void {
    const reading = this.entries.filter(({ loading }) => loading && loading.startedAt > 0).length;
    const queue = this.entries.filter(({ loading }) => loading?.startedAt === 0);
    // What one looks at comes first.
    queue.sort((a, b) => Number(b === this.active) - Number(a === this.active));
    for (const entry of queue.slice(0, Math.max(0, mostReading - reading))) void this.read(entry);
  }

  private async read(entry: Entry): Promise<void> {
    const { source, loading } = entry;
    if (!source || !loading) return;
    entry.loading = { ...loading, startedAt: performance.now() };
    this.changed();
    const gone = (): boolean => !this.entries.includes(entry);
    let engine: EngineClient | undefined;
    try {
      engine = await this.pool.take();
      if (gone()) return engine.terminate();
      entry.engine = engine;
      const { contents, view, diagnostics, hash } = await engine.call(
        'open',
        { source, budget },
        (progress) => {
          if (!entry.loading) return;
          entry.loading = { ...entry.loading, progress };
          this.changed();
        },
      );
      if (gone()) return engine.terminate();
      const file: OpenFile = {
        name: entry.name,
        bytes: 'file' in source ? source.file.size : (entry.loading?.progress.bytes ?? 0),
        source,
        engine,
        contents,
        snapshot: contents.default?.snapshot ?? 0,
        view,
        views: new Map(view && [[viewKey(contents.default?.snapshot ?? 0, view), view]]),
        diagnostics,
        hash,
        peak: view?.peak.bytes,
        peaks: undefined,
        devicePeaks: undefined,
        wanted: undefined,
        switching: undefined,
        died: undefined,
      };
      engine.onDeath = (error) => {
        file.died = error;
        this.changed();
      };
      entry.file = file;
    } catch (error) {
      engine?.terminate();
      if (gone()) return;
      entry.error = reasonOf(error);
      this.pool.warmUp();
      this.leaveBroken(entry);
    } finally {
      entry.loading = undefined;
      entry.engine = undefined;
      this.readNext();
      this.changed();
    }
  }

  /** One of many that is broken gives way to the next one. */
  private leaveBroken(entry: Entry): void {
    if (entry !== this.active || !entry.inGroup) return;
    const other =
      this.entries.find(({ file }) => file) ??
      this.entries.find(({ loading, id }) => loading && id !== entry.id);
    if (other) this.show(other);
  }
}

function showView(
  file: OpenFile,
  snapshot: number,
  view: ViewInfo,
  diagnostics: readonly Diagnostic[],
): void {
  // Of other bands the peak is another one; that of the same device stays.
  if (view.bands === 'blocks') file.peak = view.peak.bytes;
  else if (file.snapshot !== snapshot || file.view?.device !== view.device) file.peak = undefined;
  file.snapshot = snapshot;
  const key = viewKey(snapshot, view);
  file.view = file.views.get(key) ?? view;
  file.views.set(key, file.view);
  file.diagnostics = [...diagnostics, ...(notesOfStates.get(file.view) ?? [])];
}

function viewKey(snapshot: number, { device, bands }: ViewInfo): string {
  return [snapshot, device, bands].join();
}

function waiting(name: string, source: Source | undefined): Loading {
  const total = source && 'file' in source ? source.file.size : 0;
  return { name, startedAt: 0, progress: { phase: 'reading', bytes: 0, total, events: 0 } };
}

function reasonOf(error: unknown): EngineError {
  if (error instanceof EngineFailure) return error.reason;
  return { code: 'internal', message: error instanceof Error ? error.message : String(error), offset: -1 };
}
