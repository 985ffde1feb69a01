// What is chosen and what is pointed at, shared by all views: a block, a moment, an event or segment to read about.
// What is chosen lives in the workspace; what is pointed at lives here, as long as the pointer is there.
import type { Stop } from '../base/listeners.ts';
import type { Rank } from '../base/units.ts';
import {
  isBlock,
  sizeOf,
  type Answer,
  type Args,
  type Band,
  type BlockDetails,
  type EngineView,
  type Kind,
  type RunningOps,
} from '../../engine/index.ts';
import { describeBand } from '../words/band_text.ts';
import type { Described, Goal } from '../words/described.ts';
import { nextOom, type DeviceChoice } from '../model/devices.ts';
import { momentOf, type PanelTexts, type Workspace } from '../model/workspace.ts';
import { describeThing } from '../words/thing_text.ts';
import { thingAt, type Thing } from '../model/detail_subject.ts';
import type { PanelEvents } from '../panels/panel.ts';
import type { TimelineView } from '../timeline/timeline.ts';

export interface Chosen {
  /** The pinned block, or whatever else is a band. */
  block: Band | undefined;
  /** The state after this event is shown, -1 = before the first; undefined = none was chosen yet. */
  event: number | undefined;
  /** What the details tell instead of the block. */
  thing: Thing | undefined;
}

/** The page, as far as choices go. */
export interface ChoicesTarget {
  requestUpdate(): void;
  readonly timeline: TimelineView | null;
  /** There is a place for details, also while nothing is chosen. */
  readonly detailsOpen: boolean;
  readonly filter: { set(text: string): void };
  /** A trace that names the op of a block. */
  readonly beside: {
    opsOf(block: BlockDetails): readonly RunningOps[] | undefined;
    withOps(described: Described, ops: readonly RunningOps[]): Described;
  };
  readonly rooms: {
    readonly main: string;
    /** Opens a panel wherever its place is, in front of the details. */
    show(id: string): void;
    /** The same, as if it kept `memory`. */
    showWith(id: 'events', texts: PanelTexts): void;
  };
  /** True = it is shown, and its timeline is there. */
  goToDevice(choice: DeviceChoice): Promise<boolean>;
  /** Shows blocks as bands, if they are not: what ranks of panels mean. */
  showBlocks(): Promise<void>;
}

export class Choices {
  /** Under the pointer on the timeline; it stays when the pointer leaves. */
  private pointedBlock: Band | undefined;
  /** Under the pointer in a panel. */
  private pointedThing: Thing | undefined;

  private told: { what: Thing | Band; ops: readonly RunningOps[] | undefined; as: Described } | undefined;

  constructor(
    private readonly workspace: Workspace,
    private readonly page: ChoicesTarget,
  ) {}

  /** What is pointed at is of one view. */
  watch(): Stop {
    return this.workspace.watch(['view'], () => {
      this.pointedBlock = undefined;
      this.pointedThing = undefined;
    });
  }

  private get view(): EngineView | undefined {
    return this.workspace.get('view');
  }

  get chosen(): Chosen {
    return { ...this.workspace.get('selection'), event: this.workspace.get('moment') };
  }
  /** What all views show: the moment, too, if none was chosen. */
  get shown(): Chosen & { event: number } {
    return { ...this.chosen, event: this.event };
  }
  get block(): Band | undefined {
    return this.chosen.block;
  }
  /** The moment that all views show. */
  get event(): number {
    return momentOf(this.workspace);
  }

  /** What the details tell; the same object as long as it is the same. */
  get described(): Described | undefined {
    const { chosen } = this;
    const info = this.view?.info;
    const what = this.pointedThing ?? chosen.thing ?? chosen.block ?? this.pointedBlock;
    if (!info || !what) return undefined;
    const ops = 'rank' in what ? this.opsOf(what) : undefined;
    if (what !== this.told?.what || ops !== this.told.ops) {
      const as = 'rank' in what ? describeBand(what, info) : describeThing(what, info);
      this.told = { what, ops, as: ops ? this.page.beside.withOps(as, ops) : as };
    }
    return this.told.as;
  }
  private opsOf(band: Band): readonly RunningOps[] | undefined {
    return isBlock(band) ? this.page.beside.opsOf(band) : undefined;
  }
  /** There is something to read about, whatever is pointed at. */
  get isAny(): boolean {
    return (this.chosen.thing ?? this.chosen.block) !== undefined;
  }
  /** It stays until it is let go. */
  get isHeld(): boolean {
    const { thing, block } = this.chosen;
    return this.pointedThing === undefined && (thing ?? block) !== undefined;
  }

  /** `step`: one can go back to what was before. */
  keep(change: Partial<Chosen>, step = false): void {
    if (!this.view) return;
    const { event, ...selection } = { ...this.chosen, ...change };
    const same = Object.entries(this.workspace.get('selection')).every(
      ([name, one]) => one === selection[name as 'block'],
    );
    this.workspace.change({ moment: event, ...(!same && { selection }) }, step);
  }
  private choose(change: Partial<Chosen>): void {
    this.keep(change, true);
  }

  // -- Pointing.

  /** Details alone tell it, unless something is chosen. */
  pointBlock(block: Band): void {
    this.pointedBlock = block;
    if (this.page.detailsOpen && !this.isAny) this.page.requestUpdate();
  }
  pointThing(thing: Thing | null | undefined): void {
    this.pointedThing = thing ?? undefined; // an event's detail is null for nothing
    if (this.page.detailsOpen || this.isAny) this.page.requestUpdate();
  }

  // -- Choosing.

  pin(block: Band | undefined): void {
    this.pointedThing = undefined; // or else it would hide what was chosen on it
    if (block?.rank !== this.block?.rank) this.choose({ block, thing: undefined });
    else if (this.chosen.thing) this.keep({ thing: undefined });
  }
  togglePin(block: Band | undefined): void {
    this.pin(block && block.rank === this.block?.rank ? undefined : block);
  }
  chooseEvent({ event, step, told }: PanelEvents['choose-event']): void {
    if (event === this.chosen.event) return;
    // A thing that was read about belongs to the moment before.
    const { thing } = this.chosen;
    const change = { event, thing: thing?.kind === 'event' && !told ? undefined : thing };
    if (step) this.keep(change);
    else this.choose(change);
    if (change.thing && change.thing.kind !== 'event') void this.follow(change.thing, event);
  }
  /** What is read about as it is at another moment; what does not exist then stays as it was. */
  private async follow(thing: Exclude<Thing, { kind: 'event' }>, event: number): Promise<void> {
    const { view } = this;
    const row =
      thing.kind === 'segment'
        ? { block: -1, segment: thing.segment.row }
        : { block: thing.block.row, segment: -1 };
    const now = view && (await thingAt(view, event, row));
    const { chosen } = this;
    if (now && chosen.thing === thing && chosen.event === event) this.keep({ thing: now });
  }
  /**
   * Shows the out-of-memory event after the chosen one, then those of the file's other devices, going round; false if there
   * is none.
   */
  nextOom(): boolean {
    const { view } = this;
    const file = this.workspace.get('file');
    if (!view || !file) return false;
    const { device, oom_events } = view.info;
    const event = oom_events.find((one) => one > (this.chosen.event ?? -1));
    const next =
      event === undefined ? nextOom(file.contents, { snapshot: file.snapshot, device }) : undefined;
    if (event !== undefined) this.showOom(event);
    else if (next) void this.goToOom(next);
    return event !== undefined || next !== undefined;
  }
  private async goToOom({ event, ...choice }: DeviceChoice & { event: number }): Promise<void> {
    if (await this.page.goToDevice(choice)) this.showOom(event);
  }
  private showOom(event: number): void {
    void this.tellEvent(event);
    this.page.timeline?.goToOom(event);
  }
  private async tellEvent(event: number): Promise<void> {
    const { view } = this;
    this.chooseEvent({ event, step: false, told: true });
    const details = await this.ask('event', { event });
    if (details && view === this.view && this.event === event)
      this.chooseThing({ kind: 'event', event: details });
  }
  chooseThing(thing: Thing | null | undefined): void {
    this.pointedThing = undefined;
    this.keep({ thing: thing ?? undefined });
  }
  async chooseBlock(chosen: Rank | null | undefined): Promise<void> {
    const rank = chosen ?? undefined;
    const isHere = this.place();
    if (rank !== undefined) await this.page.showBlocks();
    if (!isHere()) return;
    const { view } = this;
    const block = rank === undefined ? undefined : await this.blockOf(rank);
    if (view === this.view) this.pin(block);
  }
  /** Chooses a block and brings its band into view. */
  async showBlock(rank: Rank): Promise<void> {
    const { view } = this;
    const block = await this.blockOf(rank);
    if (!block || view !== this.view) return;
    this.pin(block);
    const { event } = this;
    if (isBlock(block) && this.page.rooms.main !== 'timeline') {
      const lives = block.born_event <= event && (block.freed_event === null || event < block.freed_event);
      if (!lives) this.keep({ event: Math.max(block.born_event, -1) });
    }
    await this.page.timeline?.showBlock(rank, sizeOf(block));
  }
  /** Lets go of one thing; false if nothing was chosen. */
  letGo(): boolean {
    if (this.chosen.thing) this.chooseThing(undefined);
    else if (this.block) this.pin(undefined);
    else return false;
    return true;
  }

  /** Undefined if there is no such block, or no engine any more. */
  async blockOf(rank: Rank): Promise<Band | undefined> {
    return (await this.ask('block', { rank, axis: this.workspace.get('axis') }))?.details ?? undefined;
  }

  // -- Going to what a button of the details means.

  async go(goal: Goal): Promise<void> {
    const { view } = this;
    if (!view) return;
    switch (goal.to) {
      case 'event': {
        void this.page.timeline?.showEvent(goal.event);
        return this.tellEvent(goal.event);
      }
      case 'rank': {
        const isHere = this.place();
        await this.page.showBlocks();
        return isHere() ? this.showBlock(goal.rank) : undefined;
      }
      case 'events':
        return this.page.rooms.showWith('events', { 'events.filter': `address:${goal.address}` });
      case 'block':
      case 'segment': {
        this.page.rooms.show('state');
        const row =
          goal.to === 'block' ? { block: goal.block, segment: -1 } : { block: -1, segment: goal.segment };
        const thing = await thingAt(view, goal.at, row);
        if (thing && view === this.view) this.chooseThing(thing);
        return;
      }
      case 'op':
        this.page.rooms.show('timeline');
        return this.page.timeline?.showOp(goal.op);
      case 'peak':
        return this.page.timeline?.goToPeak();
      case 'filter':
        return this.page.filter.set(goal.text);
      case 'panel':
        if (goal.event !== undefined) this.chooseEvent({ event: goal.event, step: false });
        return this.page.rooms.show(goal.panel);
      case 'proof': {
        const { filter, rank, event, more } = goal;
        if (filter !== null) this.page.filter.set(filter);
        if (more !== null) await this.go({ to: 'panel', panel: more, ...(event !== null && { event }) });
        if (rank !== null && rank >= 0) await this.go({ to: 'rank', rank });
        else if (event === view.info.peak.event) await this.go({ to: 'peak' });
        else if (event !== null && event >= 0) await this.go({ to: 'event', event });
        // What is chosen would lie over the answer that explains it.
        if (more !== null && view === this.view) this.page.rooms.show(more);
        return;
      }
      case 'segment-of': {
        const block = await this.ask('blockOfRank', { rank: goal.rank });
        // Now, or else when the block was there.
        for (const at of [this.event, goal.at]) {
          const found = block === undefined ? null : await this.ask('stateBlock', { event: at, block });
          if (view !== this.view) return;
          if (found && found.segment >= 0) return this.go({ to: 'segment', segment: found.segment, at });
        }
        return;
      }
    }
  }

  /** Tells whether the same device is still shown, in whatever bands. */
  private place(): () => boolean {
    const file = this.workspace.get('file');
    const [snapshot, device] = [file?.snapshot, file?.view?.info.device];
    return () =>
      file === this.workspace.get('file') &&
      snapshot === file?.snapshot &&
      device === file?.view?.info.device;
  }

  private async ask<K extends Kind>(kind: K, args: Args<K>): Promise<Answer<K> | undefined> {
    try {
      return await this.view?.ask(kind, args);
    } catch {
      return undefined; // the engine died: the page says so already
    }
  }
}
