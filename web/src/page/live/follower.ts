// Follows journals while programs write them (`gpustrata live`): asks the server how far each is written, and has what is shown
// read again when there is more. At most half of the time is spent on that.
//
// While the end of a recording is seen and nothing of it is chosen, its next contents take the place of the last. Whoever looks
// back, chooses something or stops it looks at what was read, for as long as it takes; how much came since is told.
import { html, type TemplateResult } from 'lit';
import { reasonOf } from '../../base/reason.ts';
import { markPicked } from '../../files/choose.ts';
import type { Engine, EngineView } from '../../../engine/index.ts';
import type { Entry } from '../../model/open_files.ts';
import { servedFile } from '../../model/served_file.ts';
import type { ServedPage } from '../../viewer/application.ts';
import type { GpustrataViewer } from '../../viewer/viewer.ts';
import { readerBadge } from '../reader_badge.ts';
import './badge.ts';
import type { LiveState } from './badge.ts';
import { hashOf, hasGrown, journalsOf, newerEvents, type Journal, type Place } from './journals.ts';
import { readAnew, replace, replaceShown } from './renewal.ts';

const askMs = 100;
/** When all programs have ended. */
const askSeldomMs = 1000;
/** Between two readings of what is shown; of each of the others. */
const leastMs = 350;
const othersMs = 2000;
/** Nothing is replaced under a hand that moves it. */
const restMs = 400;
/** Panels that ask for longer are not waited for. */
const mostMs = 10_000;
/** A look is decided anew when there is so much more to tell it by. */
const muchMore = 2;

/** What they show is made once, of what was read. */
const steadyPanels: ReadonlySet<string | undefined> = new Set(['whatif', 'fit', 'compare']);

/** Of what is seen of an axis. */
const rounding = 1e-6;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class Follower implements ServedPage {
  private journals = new Map<string, Journal>();
  private readonly read = new WeakMap<Engine, Place>();
  /** Files that were opened once: closing one does not bring it back. */
  private readonly opened = new Set<string>();
  private problem: string | undefined;
  private isPaused = false;
  /** The end is wanted, whatever is chosen. */
  private isCalled = false;
  private movedAt = 0;
  private readAt = 0;
  private wasShowns = false;
  private isDeciding = false;
  /** Something of them was looked at when another one was shown: they stay so. */
  private readonly held = new WeakSet<Entry>();
  /** What reading and showing took (ms), the last two times. */
  private took: readonly [number, number] = [0, 0];
  /** By run: how many events there were when its look was decided. */
  private readonly looked = new WeakMap<object, number>();
  private readonly othersAt = new Map<string, number>();
  private prepared: EngineView | undefined;
  private told = '';

  constructor(
    private readonly viewer: GpustrataViewer,
    private readonly server: string,
  ) {}

  begin(): void {
    const { application, workspace } = this.viewer;
    if (application) application.served = this;
    let before = workspace.get('viewport');
    workspace.watch(['viewport', 'view'], () => {
      const viewport = workspace.get('viewport'); // none until the next view is drawn: that was no hand
      if (before && viewport) this.movedAt = performance.now();
      before = viewport;
    });
    workspace.watch(['viewport', 'view', 'moment', 'selection', 'range', 'main', 'side', 'answer'], () =>
      this.tell(),
    );
    void this.follow();
  }

  private async follow(): Promise<void> {
    for (;;) {
      try {
        this.take(await journalsOf(this.server));
        this.problem = undefined;
        this.openNew();
        this.decideLook();
        if (document.visibilityState === 'visible') await this.readInTurn();
      } catch (error) {
        this.problem = reasonOf(error);
        this.readAt = performance.now() + askSeldomMs;
      }
      this.tell();
      const isWritten = [...this.journals.values()].some(({ state }) => state === 'written');
      await pause(isWritten ? askMs : askSeldomMs);
    }
  }

  private take(journals: readonly Journal[]): void {
    this.journals = new Map(journals.map((one) => [one.name, one]));
  }

  /** Beside those that are open; the first one is shown. */
  private openNew(): void {
    const { files } = this.viewer;
    const added = [...this.journals.values()].filter(({ name }) => !this.opened.has(name));
    if (added.length === 0) return;
    markPicked();
    for (const { name } of added) this.opened.add(name);
    const { active } = files;
    files.open(added.map((one) => ({ ...servedFile(this.server, one.name), hash: hashOf(one) })));
    if (active) files.show(active);
  }

  private journalOf(entry: Entry | undefined): Journal | undefined {
    const source = entry?.source;
    return source && 'served' in source ? this.journals.get(source.served.name) : undefined;
  }
  private readOf(entry: Entry | undefined): Place | undefined {
    return entry?.file && this.read.get(entry.file.engine);
  }
  private isBehind(entry: Entry): boolean {
    const journal = this.journalOf(entry);
    return (
      entry.file !== undefined &&
      entry.file.died === undefined &&
      !entry.file.switching &&
      journal !== undefined &&
      hasGrown(journal, this.readOf(entry))
    );
  }

  /** No sooner than half of the time is spent on it. */
  private async readInTurn(): Promise<void> {
    const began = performance.now();
    if (began < this.readAt && !this.isCalled) return;
    if (await this.readNext()) this.readAt = began + Math.max(leastMs, 2 * (performance.now() - began));
  }

  /** What is shown, and in between one of the others. False = there is nothing to read. */
  private async readNext(): Promise<boolean> {
    const { shown, entries } = this.viewer.files;
    const now = performance.now();
    const other = entries.find(
      (entry) =>
        entry !== shown &&
        this.isBehind(entry) &&
        !this.held.has(entry) &&
        now - (this.othersAt.get(entry.name) ?? 0) > othersMs,
    );
    const isShownsTurn = !other || !this.wasShowns;
    this.wasShowns = isShownsTurn;
    if (shown && isShownsTurn && this.isBehind(shown) && this.mayReplace) {
      await this.readShown(shown);
      return true;
    }
    if (!other?.file) return false;
    this.othersAt.set(other.name, now);
    const next = await readAnew(this.viewer, other.file);
    if (next.place) this.read.set(next.engine, next.place);
    const { files } = this.viewer;
    if (other !== files.shown && files.entries.includes(other)) replace(this.viewer, other, next);
    else next.engine.close();
    return true;
  }

  private async readShown(entry: Entry): Promise<void> {
    const { viewer } = this;
    if (!entry.file) return;
    const began = performance.now();
    const next = await readAnew(viewer, entry.file);
    if (next.place) this.read.set(next.engine, next.place);
    const isReplaced = await replaceShown(viewer, entry, next, {
      isWhole: () => this.isCalled,
      isWanted: () => this.mayReplace,
    });
    if (!isReplaced) return;
    this.isCalled = false;
    viewer.dataset['followed'] = String(next.place?.events ?? '');
    // What panels ask of it is a part of what following costs.
    while (!next.engine.isIdle && performance.now() - began < mostMs) await pause(askMs / 4);
    this.took = [performance.now() - began, this.took[0]];
    void viewer.files.findPeaks(); // of other devices
  }

  /** The first blocks of a program tell little about how it is best seen. */
  private decideLook(): void {
    const { firstLook, file, rooms } = this.viewer;
    const view = file?.view;
    if (!view || !this.journalOf(this.viewer.files.shown) || !rooms.isSettled(view)) return;
    const { events } = view.info;
    const before = this.looked.get(view.run);
    if (before !== undefined && events < Math.max(before * muchMore, 1)) return;
    this.looked.set(view.run, events);
    this.isDeciding = true; // by this view: it stays until then
    void firstLook.of(view).finally(() => (this.isDeciding = false));
  }

  /** New contents may take the place of what is shown. */
  private get mayReplace(): boolean {
    const isResting = performance.now() - this.movedAt > restMs;
    return this.isCalled || (this.isFollowing && isResting && !this.isDeciding);
  }

  get isFollowing(): boolean {
    const { shown } = this.viewer.files;
    const journal = this.journalOf(shown);
    return journal !== undefined && !this.isPaused && this.isAtEnd;
  }

  /** Nothing of the past is looked at. */
  private get isAtEnd(): boolean {
    const { workspace, rooms, timeline, choices } = this.viewer;
    const { block, thing, event } = choices.chosen;
    if (event !== undefined || block || thing || workspace.get('range')) return false;
    if ([rooms.main, rooms.side, rooms.answer].some((panel) => steadyPanels.has(panel))) return false;
    const stage = timeline?.onScreen?.stage;
    if (!stage) return true;
    const { x0, x1 } = stage.view;
    return x1 >= stage.bounds.extent - (x1 - x0) * rounding;
  }

  goOn(): boolean {
    const { viewer } = this;
    const journal = this.journalOf(viewer.files.shown);
    if (!journal || this.isFollowing) return false;
    this.isPaused = false;
    this.isCalled = hasGrown(journal, this.readOf(viewer.files.shown));
    viewer.choices.keep({ event: undefined, block: undefined, thing: undefined });
    for (let given = 0; given < 2 && viewer.workspace.get('range'); given += 1) viewer.timeline?.giveUp();
    viewer.timeline?.fit();
    this.tell();
    return true;
  }

  private readonly toggle = (): void => {
    if (this.isFollowing) this.isPaused = true;
    else this.goOn();
    this.tell();
  };

  private get state(): LiveState | undefined {
    const { shown } = this.viewer.files;
    const journal = this.journalOf(shown);
    if (!journal || !shown?.file || shown !== this.viewer.files.active) return undefined;
    const read = this.readOf(shown);
    const grown = hasGrown(journal, read);
    const { process } = journal;
    const period = Math.max(leastMs, 2 * Math.min(...this.took)); // the first one has the page's own work in it
    if (this.problem !== undefined) return { is: 'away', why: this.problem };
    if (!grown && journal.state !== 'written') return { is: journal.state, process };
    if (this.isFollowing || this.isCalled) return { is: 'following', process, period };
    return { is: this.isPaused ? 'paused' : 'holding', process, newer: newerEvents(journal, read), grown };
  }

  /** The page shows it anew if it changed. */
  private tell(): void {
    const { state } = this;
    const { shown } = this.viewer.files;
    if (shown && this.isAtEnd) this.held.delete(shown);
    else if (shown) this.held.add(shown);
    const told = JSON.stringify(state);
    if (told === this.told) return;
    this.prepare(state);
    this.told = told;
    this.viewer.requestUpdate();
  }

  /** What panels ask for soon, of a view that stays. */
  private prepare(state: LiveState | undefined): void {
    const { view } = this.viewer.file ?? {};
    if (!view || view === this.prepared || state?.is === 'following') return;
    this.prepared = view;
    this.viewer.files.prepareStates();
  }

  badge(): TemplateResult {
    const { state } = this;
    return state
      ? html`<gpustrata-live slot="served" .state=${state} @toggle=${this.toggle}></gpustrata-live>`
      : readerBadge(this.viewer.file);
  }
}
