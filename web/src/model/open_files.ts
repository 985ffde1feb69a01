// Which files are open, which of them is shown, and how each came to be.
//
// One engine per file: closing a file ends its worker, which gives all its memory back. A few are read at the same
// time, the others wait. A file that cannot be read keeps its place with its error and hides no other.
import { reasonOf } from '../base/reason.ts';
import type { Bytes } from '../base/units.ts';
import {
  EngineFailure,
  type Diagnostic,
  type Engine,
  type EngineError,
  type EngineView,
  type Progress,
  type Shown,
  type Source,
} from '../../engine/index.ts';
import type { EnginePool } from '../../engine/pool.ts';
import type { OpenFile } from './open_file.ts';

export { hasPlaces, type OpenFile } from './open_file.ts';

/** Bytes the engine may use for one file; the 32-bit heap ends at 4 GiB. */
export const budget: Bytes = 3.5 * 1024 ** 3;
/** Files read at the same time. More would only share the same cores and disk. */
const mostReading = Math.min(4, Math.max(2, globalThis.navigator?.hardwareConcurrency || 2));

const mostAgain = 4;

/** Events whose peaks are found out while one looks at the picture: about a second (see findPeaks). */
const mostCompared = 4_000_000;

const restBefore = 500; // ms
/** What finding the states of a view repaired; it is told with what opening the view repaired. */
const notesOfStates = new WeakMap<EngineView, readonly Diagnostic[]>();

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
  /** What links name the file by; undefined = what the engine says of its bytes. */
  readonly hash: string | undefined;
  /** Chosen together with others: its failure does not ask for attention. */
  readonly inGroup: boolean;
  loading: Loading | undefined;
  error: EngineError | undefined;
  file: OpenFile | undefined;
  /** While it is read. */
  engine: Engine | undefined;
}

export interface Chosen {
  name: string;
  source: Source;
  /** What links name it by, if the source's bytes are not the file's own. */
  hash?: string;
}

export type State = 'empty' | 'loading' | 'ready' | 'error';

export class OpenFiles {
  entries: readonly Entry[] = [];
  active: Entry | undefined;
  /** Shown before; what is behind a card, and where `back` leads. */
  private behind: Entry | undefined;
  private lastId = 0;
  /** The file that one waited for is there, or one waits no more. */
  private attended: (() => void) | undefined;
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
    const added = chosen.map((one) => this.add(one, chosen.length > 1));
    if (added[0]) this.show(added[0]);
    this.readNext();
  }

  /** Shows a failure that was seen before the engine was asked. */
  fail(name: string, error: EngineError): void {
    const stale = this.active;
    if (stale?.error && !stale.inGroup) this.drop(stale);
    const entry = this.add({ name }, false);
    entry.loading = undefined;
    entry.error = error;
    this.show(entry);
  }

  show(entry: Entry): void {
    if (this.active?.file) this.behind = this.active;
    this.active = entry;
    this.attend();
    this.changed();
  }

  /** While one waits for a file, the others prepare nothing ahead: the processor is for that file. */
  private attend(): void {
    this.attended?.();
    this.attended = undefined;
    if (!this.active?.loading) return;
    const urgent = new Promise<void>((done) => (this.attended = done));
    for (const { file } of this.entries) if (file) file.engine.urgent = urgent;
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
  async openDevice(file: OpenFile, wanted: Shown): Promise<boolean> {
    file.wanted = wanted;
    file.switching ??= this.followWishes(file).finally(() => (file.switching = undefined));
    this.changed();
    await file.switching;
    this.changed();
    return isShown(file, wanted);
  }

  private async followWishes(file: OpenFile): Promise<void> {
    for (let { wanted } = file; wanted; wanted = file.wanted) {
      try {
        const view = await viewOf(file, wanted);
        if (file.wanted === wanted) {
          file.wanted = undefined;
          showView(file, wanted.snapshot, view);
        } else if (view !== file.view) view.release();
      } catch (error) {
        if (!file.engine.alive) file.wanted = undefined; // the page says so already
        if (file.wanted !== wanted) continue;
        file.wanted = undefined;
        // A file being loaded meanwhile goes on.
        if (file === this.file && this.state !== 'loading') this.fail(file.name, errorOf(error));
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
      events > mostCompared ? undefined : await file.engine.ask('peaks', {}).catch(() => undefined);
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
      if (file !== this.file || view !== file.view) return;
      view.ask('states', {}).then(
        ({ diagnostics }) => {
          if (notesOfStates.has(view)) return;
          notesOfStates.set(view, diagnostics);
          if (view === file.view) file.diagnostics = [...file.diagnostics, ...diagnostics];
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

  /**
   * Engines for `readAgain` (read_again.ts) that are worth it at the same time: each holds the file's tables, a server's are for
   * others, too.
   */
  mostAgain(view: EngineView): number {
    const source = this.entries.find(({ file }) => file?.engine === view.engine)?.source;
    if (source && 'served' in source) return 1;
    return Math.min(mostAgain, Math.max(1, globalThis.navigator?.hardwareConcurrency || 2));
  }

  /** Shows what an engine holds as one more file; the engine is that file's then. */
  async adopt(view: EngineView, name: string): Promise<void> {
    const { engine } = view;
    const contents = await engine.ask('contents', {});
    const entry = this.add({ name }, false);
    const source = { file: new Blob() }; // there are no bytes of it
    const { snapshot } = view.shown;
    const file = fileOf(entry, { source, bytes: 0, engine, contents, snapshot, view });
    this.watch(file);
    entry.loading = undefined;
    entry.file = file;
    this.show(entry);
  }

  /** Reads the shown file again after its engine stopped. */
  reopen(): void {
    const entry = this.shown;
    if (!entry?.source) return;
    entry.file?.engine.close();
    entry.file = undefined;
    entry.loading = waiting(entry.name, entry.source);
    this.show(entry);
    this.readNext();
  }

  /** What is being written has grown: what was read of it now takes the place of what the file held. */
  renew(file: OpenFile, next: Pick<OpenFile, 'engine' | 'contents' | 'view' | 'bytes'>): void {
    const { engine: before, peaks, devicePeaks, snapshot, source } = file;
    Object.assign(file, fileOf(file, { snapshot, source, ...next }), { peaks, devicePeaks });
    this.watch(file);
    this.comparing.delete(file);
    this.changed();
    before.close();
  }

  private watch(file: OpenFile): void {
    file.engine.onDeath = (error) => {
      file.died = error;
      this.changed();
    };
  }

  private add({ name, source, hash }: Partial<Chosen> & { name: string }, inGroup: boolean): Entry {
    this.lastId += 1;
    const entry: Entry = {
      id: this.lastId,
      name: this.freeName(name),
      source,
      hash,
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
    entry.engine?.close();
    entry.file?.engine.close();
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
    let engine: Engine | undefined;
    try {
      engine = await this.pool.take(source);
      if (gone()) return engine.close();
      entry.engine = engine;
      const { contents, view } = await engine.open(source, budget, (progress) => {
        if (!entry.loading) return;
        entry.loading = { ...entry.loading, progress };
        this.changed();
      });
      if (gone()) return engine.close();
      const bytes = sizeOf(source, entry.loading?.progress);
      const snapshot = view?.shown.snapshot ?? 0;
      const file = fileOf(entry, { source, bytes, engine, contents, snapshot, view });
      this.watch(file);
      entry.file = file;
    } catch (error) {
      engine?.close();
      if (gone()) return;
      entry.error = errorOf(error);
      this.pool.warmUp();
      this.leaveBroken(entry);
    } finally {
      entry.loading = undefined;
      entry.engine = undefined;
      this.attend();
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

function sizeOf(source: Source, progress: Progress | undefined): Bytes {
  if ('file' in source) return source.file.size;
  // A server knows the size of its files; of an address not always, and not what a host unpacks on the way.
  return ('served' in source ? progress?.total : progress?.bytes) ?? 0;
}

/** As it is when it opens. */
function fileOf(
  { name, hash }: Pick<Entry, 'name' | 'hash'>,
  opened: Pick<OpenFile, 'source' | 'bytes' | 'engine' | 'contents' | 'snapshot' | 'view'>,
): OpenFile {
  const { contents, view } = opened;
  return {
    ...opened,
    name,
    views: new Map(view && [[viewKey(view.shown), view]]),
    diagnostics: view?.diagnostics ?? contents.diagnostics,
    hash: hash ?? contents.hash,
    peak: view?.info.peak.bytes,
    peaks: undefined,
    devicePeaks: undefined,
    wanted: undefined,
    fleet: undefined,
    series: undefined,
    switching: undefined,
    died: undefined,
  };
}

/** The same object whenever one comes back to it. */
async function viewOf(file: OpenFile, wanted: Shown): Promise<EngineView> {
  const known = file.views.get(viewKey(wanted));
  if (!known) return file.engine.view(wanted);
  await known.reopen();
  return known;
}

function showView(file: OpenFile, snapshot: number, view: EngineView): void {
  const { view: before } = file;
  const { device, bands, peak } = view.info;
  const { only } = view.shown;
  // Of other bands the peak is another one; that of the same device stays.
  if (bands === 'blocks' && !only) file.peak = peak.bytes;
  else if (file.snapshot !== snapshot || before?.info.device !== device) file.peak = undefined;
  file.snapshot = snapshot;
  file.view = view;
  if (!only) file.views.set(viewKey({ snapshot, device, bands }), view); // there may be many filters
  file.diagnostics = [...view.diagnostics, ...(notesOfStates.get(view) ?? [])];
  if (before !== view) before?.release();
}

export function isShown({ snapshot, view }: OpenFile, wanted: Shown): boolean {
  const { device, bands } = view?.info ?? {};
  return (
    snapshot === wanted.snapshot &&
    device === wanted.device &&
    bands === wanted.bands &&
    (view?.shown.only ?? '') === (wanted.only ?? '')
  );
}

function viewKey({ snapshot, device, bands, only = '' }: Shown): string {
  return [snapshot, device, bands, only].join();
}

function waiting(name: string, source: Source | undefined): Loading {
  const total = source && 'file' in source ? source.file.size : 0;
  return { name, startedAt: 0, progress: { phase: 'reading', bytes: 0, total, events: 0 } };
}

function errorOf(error: unknown): EngineError {
  if (error instanceof EngineFailure) return error.reason;
  return { code: 'internal', message: reasonOf(error), offset: -1 };
}
