// Which picture is the main one, which answer is open below it, and what panels know of the page.
import { isBlock, type Axis, type ColourBy, type ViewInfo } from '../engine/answers.ts';
import type { OpenFile } from '../model/open_files.ts';
import { beginWith } from '../panels/kept.ts';
import type { PanelPage } from '../panels/panel.ts';
import { panelOf, panels, type MainId, type PanelId } from '../panels/registry.ts';
import type { Theme } from '../draw/colors.ts';
import type { Filtering } from '../model/filtering.ts';
import type { LinkWalk } from '../model/link_walk.ts';
import type { TimelineView } from '../timeline/timeline.ts';
import type { Choices } from './choices.ts';

/** Open at first: nothing is empty after opening. */
export const firstAnswer: PanelId = 'overview';

/** The viewer, as far as panels go. */
interface RoomsTarget {
  readonly file: OpenFile | undefined;
  readonly timeline: TimelineView | null;
  readonly choices: Choices;
  readonly filter: Filtering;
  readonly links: LinkWalk;
  readonly theme: Theme;
  readonly axis: Axis;
  readonly colour: ColourBy;
  requestUpdate(): void;
}

export class Rooms {
  /** The main picture that was chosen; undefined = what says most of a device. */
  chosenMain: MainId | undefined;
  answer: PanelId | undefined = firstAnswer;
  /** Counts what panels were told from outside. */
  round = 0;
  private readonly settled = new WeakSet<ViewInfo>();
  private lastPage: PanelPage | undefined;

  constructor(private readonly page: RoomsTarget) {}

  /** Without history the state is all there is. */
  get main(): MainId {
    return this.chosenMain ?? (this.page.file?.view?.events === 0 ? 'state' : 'timeline');
  }

  /** Its first picture was drawn. */
  settle(info: ViewInfo | undefined): void {
    if (info) this.settled.add(info);
    this.page.requestUpdate();
  }

  showMain(main: MainId): void {
    if (main !== this.main) this.change(() => (this.chosenMain = main));
  }
  showAnswer(answer: PanelId | undefined): void {
    if (answer !== this.answer) this.change(() => (this.answer = answer));
  }
  /** Wherever its place is. */
  show(id: string): void {
    const panel = panels.find((one) => one.id === id);
    if (panel?.place === 'main') this.showMain(panel.id);
    else if (panel) this.showAnswer(panel.id);
  }
  private change(change: () => void): void {
    this.page.links.step(change);
    this.page.requestUpdate();
  }

  /** Opens a panel as if it kept this. */
  showWith(id: PanelId, memory: object): void {
    const info = this.page.file?.view;
    if (!info) return;
    beginWith(info, id, memory);
    this.round += 1;
    this.show(id);
    this.page.requestUpdate();
  }

  /** What panels know; the same object as long as nothing of it changes. */
  panelPage({ engine }: OpenFile, info: ViewInfo): PanelPage {
    const { lastPage, page: viewer } = this;
    const { block, event, thing } = viewer.choices.shown;
    const page: PanelPage = {
      engine,
      info,
      theme: viewer.theme,
      axis: viewer.axis,
      colourBy: viewer.colour,
      highlight: viewer.filter.highlight,
      pinned: isBlock(block) ? block : undefined,
      segment: thing?.kind === 'segment' ? thing.segment.row : -1,
      event,
      view: viewer.timeline?.shownView,
      settled: this.settled.has(info),
    };
    const names = Object.keys(page) as (keyof PanelPage)[];
    if (!lastPage || names.some((name) => page[name] !== lastPage[name])) this.lastPage = page;
    return this.lastPage ?? page;
  }
}

/** Undefined = there is no such main picture. */
export function mainOf(id: string | undefined): MainId | undefined {
  if (id === 'timeline') return id;
  return id !== undefined && panelOf(id)?.place === 'main' ? (id as PanelId) : undefined;
}
/** Undefined = there is no such answer. */
export function answerOf(id: string | undefined): PanelId | undefined {
  return id !== undefined && panelOf(id)?.place === 'drawer' ? (id as PanelId) : undefined;
}
