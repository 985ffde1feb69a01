// Which picture is the main one, which answers are open beside and below it, and what panels know of the page.
import type { BesideFiles } from '../model/beside/files.ts';
import { isBlock, type EngineView } from '../../engine/index.ts';
import { around, type Elsewhere, type PanelEvents, type PanelFile, type PanelPage } from '../panels/panel.ts';
import { lacking, panelOf, type MainId, type PanelId } from '../panels/registry.ts';
import type { Theme } from '../draw/colors.ts';
import type { EditorChoice } from '../model/editor.ts';
import { hostDevice } from '../model/devices.ts';
import type { OpenFiles } from '../model/open_files.ts';
import type * as ReadAgain from '../model/read_again.ts';
import type { SourceFolder } from '../model/source_folder.ts';
import type { PanelTexts, Workspace } from '../model/workspace.ts';
import type { Choices } from './choices.ts';

export const loadReadAgain = (): Promise<typeof ReadAgain> => import('../model/read_again.ts');

/** Open at first: nothing is empty after opening. */
export const firstAnswer: PanelId = 'overview';

/** The viewer, as far as panels go. */
interface PanelsTarget {
  readonly choices: Choices;
  readonly beside: { readonly files: BesideFiles };
  readonly files: OpenFiles;
  readonly themes: { readonly theme: Theme };
  readonly editor: EditorChoice;
  readonly source: SourceFolder | undefined;
  choosePanelTexts(chosen: PanelEvents['choose-texts']): void;
  /** What is chosen is read instead of the answer beside the picture. */
  detailsInFront: boolean;
  requestUpdate(): void;
}

export class OpenPanels {
  private readonly settled = new WeakSet<EngineView>();
  private readonly elsewhere = new WeakMap<EngineView, Elsewhere>();
  private lastPage: PanelPage | undefined;
  private lastFiles: readonly PanelFile[] = [];

  constructor(
    private readonly workspace: Workspace,
    private readonly page: PanelsTarget,
  ) {}

  /** Undefined = none was chosen. */
  get chosenMain(): MainId | undefined {
    return mainOf(this.workspace.get('main'));
  }
  get side(): PanelId | undefined {
    return sideOf(this.workspace.get('side'));
  }
  get answer(): PanelId | undefined {
    return answerOf(this.workspace.get('answer'));
  }

  /** Without history the state is all there is. */
  get main(): MainId {
    return this.chosenMain ?? (this.workspace.get('view')?.info.events === 0 ? 'state' : 'timeline');
  }

  /** Its first picture was drawn. */
  settle(view: EngineView | undefined): void {
    if (view) this.settled.add(view);
    this.page.requestUpdate();
  }

  isSettled(view: EngineView): boolean {
    return this.settled.has(view);
  }

  showMain(main: MainId): void {
    if (main !== this.main) this.workspace.change({ main }, true);
  }
  showSide(side: PanelId | undefined): void {
    this.page.detailsInFront = false;
    if (side !== this.side) this.workspace.change({ side }, true);
  }
  showAnswer(answer: PanelId | undefined): void {
    if (answer !== this.answer) this.workspace.change({ answer }, true);
  }
  /** Wherever its place is. */
  show(id: string): void {
    const main = mainOf(id);
    const side = sideOf(id);
    if (main) this.showMain(main);
    else if (side) this.showSide(side);
    else if (panelOf(id)) this.showAnswer(answerOf(id));
  }
  /** Opens a panel with choices as links tell them (panel_memory.ts). */
  showWith(id: PanelId, texts: PanelTexts): void {
    this.page.choosePanelTexts({ panel: id, texts });
    this.show(id);
  }

  private elsewhereOf(view: EngineView): Elsewhere {
    const { files } = this.page;
    const known = this.elsewhere.get(view) ?? {
      most: files.mostAgain(view),
      open: async (signal, of = view) => (await loadReadAgain()).readAgain(files, of, signal),
      show: (run, name) => files.adopt(run, name),
    };
    this.elsewhere.set(view, known);
    return known;
  }

  /** The same object as long as they are the same. */
  private openFiles(): readonly PanelFile[] {
    const files = this.page.files.entries.flatMap(({ name, file }) =>
      file?.view?.alive ? [{ name, view: file.view, damaged: file.contents.damaged }] : [],
    );
    const { lastFiles } = this;
    const same =
      files.length === lastFiles.length &&
      files.every(({ name, view }, at) => name === lastFiles[at]?.name && view === lastFiles[at].view);
    if (!same) this.lastFiles = files;
    return this.lastFiles;
  }

  private get devices(): number {
    const file = this.workspace.get('file');
    const devices = file?.contents.snapshots[file.snapshot]?.devices ?? [];
    return devices.filter(({ device }) => device !== hostDevice).length;
  }

  /** Why a panel has nothing to show; undefined = it has. */
  lacking(id: string): string | undefined {
    const view = this.workspace.get('view');
    return view && lacking(id, view.info, around(this.panelPage(view)));
  }

  /** What panels know; the same object as long as nothing of it changes. */
  panelPage(view: EngineView): PanelPage {
    const { lastPage, page: viewer, workspace } = this;
    const { block, event, thing } = viewer.choices.shown;
    const page: PanelPage = {
      view,
      info: view.info,
      theme: viewer.themes.theme,
      axis: workspace.get('axis'),
      colourBy: workspace.get('look').colour,
      highlight: workspace.get('filter').highlight,
      pinned: isBlock(block) ? block : undefined,
      segment: thing?.kind === 'segment' ? thing.segment.row : -1,
      event,
      range: workspace.get('range'),
      viewport: workspace.get('viewport'),
      settled: this.settled.has(view),
      elsewhere: this.elsewhereOf(view),
      devices: this.devices,
      files: this.openFiles(),
      trace: viewer.beside.files.trace,
      editor: viewer.editor,
      source: viewer.source,
      texts: workspace.get('panels'),
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
/** Undefined = there is no such answer beside the picture. */
export function sideOf(id: string | undefined): PanelId | undefined {
  return id !== undefined && panelOf(id)?.place === 'side' ? (id as PanelId) : undefined;
}
/** Undefined = there is no such panel below it. */
export function answerOf(id: string | undefined): PanelId | undefined {
  return id !== undefined && panelOf(id)?.place === 'drawer' ? (id as PanelId) : undefined;
}
