// <gpustrata-viewer>: the element, everything inside its own root. Holds what the views share (files, selection, filter, theme). What of a file is on
// the page is in file_area.ts, what actions do in page_actions.ts. `data-state` = empty | loading | ready | error.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import type { Stop } from '../base/listeners.ts';
import { pagePool } from '../../engine/pool.ts';
import type { Axis, ColourBy } from '../../engine/index.ts';
import { noEditor, type EditorChoice } from '../model/editor.ts';
import { RankFiles } from '../model/rank_files.ts';
import { Filtering } from '../model/filtering.ts';
import { choiceOf, fileNameOf, titleOf, type DeviceChoice } from '../model/devices.ts';
import { usualChoice, type FleetChoice } from '../model/fleet_choice.ts';
import type { Shown } from '../model/link.ts';
import { LinkWalk, type LinkTarget } from '../model/link_walk.ts';
import type { Viewport } from '../model/viewport.ts';
import { hasPlaces, OpenFiles, type Entry, type OpenFile } from '../model/open_files.ts';
import { overInLink, wholeSeries, type SeriesChoice } from '../model/series_choice.ts';
import { createWorkspace } from '../model/workspace.ts';
import { servedFile } from '../model/served_file.ts';
import type { SourceFolder } from '../model/source_folder.ts';
import { lookWith, type Look, type Stacking } from '../model/stacking.ts';
import { OwnSettings, type SettingsStore, type ThemeChoice } from '../model/settings.ts';
import { actions, type ActionId } from './actions.ts';
import type { Application, ViewerChange } from './application.ts';
import type { AboutView } from '../files/about.ts';
import { BandsSwitch } from './bands_switch.ts';
import { BesideRun } from './beside_run.ts';
import { Choices, type ChoicesTarget } from './choices.ts';
import type { DetailsView } from '../details/details.ts';
import type { ExportView } from './export_picture.ts';
import { aboveTimeline, inTopBar, workArea } from './file_area.ts';
import type { FilterBar } from './filter_bar.ts';
import { loadFleet } from './fleet_area.ts';
import type { KeysView } from './key_sheet.ts';
import '../files/loading.ts';
import type { NotesView } from '../files/notes.ts';
import { filesAt, markPicked, receiveFiles, type ChosenFiles } from '../files/choose.ts';
import { ViewerActions } from './viewer_actions.ts';
import { KeyPresses } from './key_presses.ts';
import { ViewerTheme } from './theme.ts';
import type { ViewerParts } from './parts.ts';
import type { AnswersView, DrawerView } from '../panels/drawer.ts';
import type { PanelEvents } from '../panels/panel.ts';
import { loadAll, type PanelSlot } from '../panels/panel_slot.ts';
import type { ServedSheet } from '../files/served.ts';
import '../files/start.ts';
import { base, tokens } from '../controls/styles.ts';
import { loadCounters, loadLanes, loadRegions, type TimelineView } from '../timeline/timeline.ts';
import { prepareFirst } from '../timeline/tracks/device_tracks.ts';
import { FirstLook, loadDecision } from './first_look.ts';
import { Hearing } from '../controls/hearing.ts';
import '../controls/toast.ts';
import type { ToastView } from '../controls/toast.ts';
import { OnlyThese } from './only_these.ts';
import { answerOf, firstAnswer, loadReadAgain, mainOf, OpenPanels, sideOf } from './open_panels.ts';
import { loadSheets, need, openSheet } from './sheets.ts';
import './top_bar.ts';
import { layout } from './styles.ts';

/** An element that is away for longer than this (ms) has left for good. */
const lastingMs = 1000;

/** Registered by who uses it: page/application.ts, element.ts. */
export class GpustrataViewer extends LitElement implements ViewerParts, ChoicesTarget, LinkTarget {
  /** Addresses of files to show, apart by white space; the host page's own choice. */
  @property() src: string | null = null;
  /** `light`, `dark`, or `auto`: as the system has it. */
  @property() theme: ThemeChoice | null = null;
  /** Set before the element is connected, by the page that is there for it alone. */
  application: Application | undefined;
  private readonly ownSettings = new OwnSettings();

  readonly workspace = createWorkspace((change, name) => this.links.step(change, name));
  readonly files = new OpenFiles(pagePool, () => this.filesChanged());
  readonly rankFiles = new RankFiles();
  @state() private dragging = false;
  @state() detailsWidth = 0;
  @state() panelHeight = 0;
  @state() detailsOpen = false;
  @state() detailsInFront = false;
  @state() editor: EditorChoice = noEditor;
  @state() letterKeys = true;
  /** Beside sizes stand their bytes, which the pointer alone tells else. */
  @property({ type: Boolean, reflect: true, attribute: 'exact-bytes' }) exactBytes = false;
  @state() source: SourceFolder | undefined;

  @query('gpustrata-timeline') readonly timeline!: TimelineView | null;
  @query('gpustrata-details') readonly details!: DetailsView | null;
  @query('gpustrata-drawer') readonly drawer!: DrawerView | null;
  @query('gpustrata-answers') readonly answers!: AnswersView | null;
  @query('gpustrata-panel') readonly mainPanel!: PanelSlot | null;
  @query('gpustrata-filter') readonly filterBar!: FilterBar | null;
  @query('gpustrata-keys') readonly keys!: KeysView;
  @query('gpustrata-about') readonly about!: AboutView | null;
  @query('gpustrata-export') readonly exporter!: ExportView | null;
  @query('gpustrata-toast') readonly toast!: ToastView;
  @query('gpustrata-notes') readonly notes!: NotesView | null;
  @query('gpustrata-served-sheet') readonly served!: ServedSheet | null;

  readonly filter = new Filtering(this.workspace);
  readonly links = new LinkWalk(this, this.files);
  readonly choices: Choices = new Choices(this.workspace, this);
  readonly bands = new BandsSwitch(this.workspace, this, this.files, this.links, this.choices);
  readonly firstLook: FirstLook = new FirstLook(this);
  readonly onlyThese = new OnlyThese(this.workspace, this.bands);
  readonly beside: BesideRun = new BesideRun(this.workspace, this);
  readonly rooms: OpenPanels = new OpenPanels(this.workspace, this);
  readonly themes = new ViewerTheme(this, () => this.settings);
  readonly actions: ViewerActions = new ViewerActions(this);
  private readonly keyPresses = new KeyPresses(this.actions);
  firstView: Viewport | undefined;
  private stopReceiving: (() => void) | undefined;
  /** Choices that answers make on their way: the answer stays in front of the details. */
  private quiet = 0;
  private running = false;
  /** The files that `src` names. */
  private fromSource: Entry[] = [];
  private leaving: ReturnType<typeof setTimeout> | undefined;
  private told = '';

  get axis(): Axis {
    return this.workspace.get('axis');
  }
  set axis(axis: Axis) {
    this.workspace.change({ axis }, true);
  }
  get colour(): ColourBy {
    return this.workspace.get('look').colour;
  }
  get stacking(): Stacking {
    return this.workspace.get('look').stacking;
  }

  get settings(): SettingsStore {
    return this.application?.settings ?? this.ownSettings;
  }

  // -- Life of the element.

  protected readonly hearing = new Hearing(this, () => this.hears());
  protected hears(): Stop[] {
    return [
      this.choices.watch(),
      this.onlyThese.watch(),
      // The viewport changes with every frame of a zoom: `moved` knows who draws it.
      this.workspace.watch(
        [
          'axis',
          'moment',
          'range',
          'selection',
          'filter',
          'look',
          'capacity',
          'main',
          'side',
          'answer',
          'panels',
          'beside',
        ],
        (changed) => {
          if (changed.has('selection') && this.choices.isAny && this.quiet === 0) this.detailsInFront = true;
          this.requestUpdate();
        },
      ),
    ];
  }

  override connectedCallback(): void {
    super.connectedCallback();
    clearTimeout(this.leaving); // it was only moved
    if (!this.running) this.start();
    const events = this.application?.events ?? this;
    this.keyPresses.connect(events);
    this.stopReceiving = receiveFiles(events, {
      receive: (chosen) => this.receive(chosen),
      dragging: (over) => (this.dragging = over),
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopReceiving?.();
    this.keyPresses.disconnect();
    this.leaving = setTimeout(() => this.dispose(), lastingMs);
  }

  private start(): void {
    this.running = true;
    const { colour, stacking, detailsWidth, panelHeight, detailsOpen, editor, letterKeys } =
      this.settings.load();
    Object.assign(this, { detailsWidth, panelHeight, detailsOpen, editor, letterKeys });
    this.workspace.change({ look: { colour: colour ?? 'allocation', stacking }, side: firstAnswer });
    // So that a click anywhere inside gives it the keys.
    if (!this.application && !this.hasAttribute('tabindex')) this.tabIndex = -1;
    this.dataset['state'] = this.files.state;
    this.files.start();
    this.links.connect(this.application?.address);
    this.openSource();
    // Opening a panel, a sheet or a file of any kind later causes no request.
    whenIdle(() => void this.loadLater());
  }

  private async loadLater(): Promise<void> {
    this.beside.load();
    await Promise.all([
      loadAll(),
      loadLanes(),
      loadRegions(),
      loadCounters(),
      loadSheets(),
      loadFleet(),
      loadDecision().catch(() => undefined),
      loadReadAgain().catch(() => undefined),
      this.files.pool.loadRest(),
    ]);
    this.dataset['whole'] = '';
  }

  /** Closes all files and ends their workers. Called when the element has left the document for good; a host may. */
  dispose(): void {
    clearTimeout(this.leaving);
    if (!this.running) return;
    this.running = false;
    this.links.disconnect();
    this.files.dispose();
    this.rankFiles.clear();
    this.workspace.dispose();
  }

  /** What the host page names now, instead of what it named before. */
  private openSource(): void {
    for (const entry of this.fromSource.splice(0)) this.files.close(entry);
    const addresses = this.src?.split(/\s+/).filter((one) => one !== '') ?? [];
    if (addresses.length === 0) return;
    markPicked();
    const before = new Set(this.files.entries);
    this.receive(filesAt(addresses, 'src', new URL(document.baseURI)));
    this.fromSource = this.files.entries.filter((entry) => !before.has(entry));
  }

  receive(chosen: ChosenFiles): void {
    if (chosen.withFleet) this.rankFiles.add(chosen.beside ?? []);
    if ('refused' in chosen) this.files.fail(chosen.refused.name, chosen.refused.error);
    else this.files.open(chosen.files);
  }

  // -- One file, one device.

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('src') && this.hasUpdated && this.running) this.openSource();
    if (changed.has('theme') && this.theme) this.themes.choose(this.theme);
    const { file, state } = this.files;
    this.links.remember();
    if (file?.view && this.rooms.isSettled(file.view)) this.beside.tell();
    const theme = this.themes.name;
    this.dataset['theme'] = theme;
    this.themes.read();
    this.dataset['state'] = state;
    this.tell({ state, file: file?.name, theme });
  }

  private tell(detail: ViewerChange): void {
    const told = JSON.stringify(detail);
    if (told === this.told) return;
    this.told = told;
    this.dispatchEvent(new CustomEvent('viewer-change', { detail }));
  }

  protected filesChanged(): void {
    const { file } = this.files;
    const { workspace } = this;
    if (file !== workspace.get('file') || file?.view !== workspace.get('view')) this.viewChanged(file);
    this.beside.filesChanged();
    this.requestUpdate();
  }

  private viewChanged(file: OpenFile | undefined): void {
    const view = file?.view;
    this.firstLook.begin(view);
    this.workspace.change({ file, view, ...(view?.info.extent.time_us === null && { axis: 'event' }) });
    this.filter.show(view);
    if (!file) return;
    if (!file.view) {
      this.links.opened(file);
      return this.firstPicture();
    }
    this.firstView = this.links.opened(file) ?? this.bands.carryOn(file);
    if (!this.firstView) prepareFirst(file.view, this.axis, this.themes.theme, this.workspace.get('look'));
  }

  /** Ranks in panels are those of blocks. */
  async showBlocks(): Promise<void> {
    if (this.workspace.get('view')?.info.bands === 'segments') await this.bands.to('blocks');
  }

  firstPicture(): void {
    this.dispatchEvent(new CustomEvent('first-picture'));
    this.rooms.settle(this.file?.view);
    if (this.application?.served?.isFollowing) return; // the next one comes soon
    void this.firstLook.of(this.file?.view);
    this.files.prepareNext();
    void this.files.findPeaks();
    this.files.prepareStates();
    this.prepareOthers();
  }

  /** Pictures of the other files, so that going to one takes a frame: once colours are decided, which may change its height. */
  prepareOthers(): void {
    if (this.files.entries.length < 2 || this.firstLook.isOpen) return;
    for (const { file } of this.files.entries) if (file?.view?.alive) this.timeline?.prepare(file.view);
  }

  get file(): OpenFile | undefined {
    return this.files.file;
  }

  private openSample({ detail: path }: CustomEvent<string>): void {
    markPicked();
    const url = new URL(path, this.application?.site).href;
    this.files.open([{ name: path.slice(path.lastIndexOf('/') + 1), source: { url } }]);
  }

  // -- What a link tells (model/link_walk.ts).

  shown(): Shown | undefined {
    const { file } = this.files;
    if (!file || !hasPlaces(file)) return undefined;
    if (!file.view) return this.shownWithoutTimeline(file);
    const view = this.workspace.get('viewport');
    const range = this.workspace.get('range');
    const { extent, device, bands } = file.view.info;
    const whole =
      view &&
      view.x0 === 0 &&
      view.x1 >= (extent[this.axis === 'time' ? 'time_us' : 'event'] ?? 0) &&
      view.y0 === 0;
    return {
      file: file.name,
      hash: file.hash,
      snapshot: file.snapshot,
      device,
      bands,
      axis: this.axis,
      view: whole ? undefined : view,
      colour: this.colour,
      stacking: this.stacking,
      capacity: this.workspace.get('capacity'),
      filter: this.workspace.get('filter').text,
      only: file.view.shown.only ?? '',
      block: this.choices.block?.rank ?? -1,
      main: this.rooms.chosenMain,
      side: this.rooms.side === firstAnswer ? undefined : (this.rooms.side ?? ''),
      answer: this.rooms.answer,
      event: this.choices.chosen.event,
      about: this.about?.isOpen ?? false,
      details: this.detailsOpen,
      ruler: range?.axis === this.axis ? [range.from, range.to] : undefined,
      panels: this.workspace.get('panels'),
      beside: this.beside.inLink,
      fleet: undefined,
    };
  }
  private shownWithoutTimeline({ name, hash, contents, fleet, series = wholeSeries }: OpenFile): Shown {
    return {
      file: name,
      hash,
      snapshot: series.part,
      device: 0,
      bands: 'blocks',
      axis: this.axis,
      view: series.view,
      colour: this.colour,
      stacking: this.stacking,
      filter: '',
      only: '',
      block: -1,
      main: undefined,
      side: undefined,
      answer: undefined,
      event: undefined,
      about: this.about?.isOpen ?? false,
      details: this.detailsOpen,
      ruler: undefined,
      panels: series.over ? { [overInLink]: series.over } : {},
      beside: [],
      fleet: contents.fleets > 0 ? (fleet ?? usualChoice) : undefined,
    };
  }

  take(shown: Shown): void {
    const { axis, colour, stacking, capacity, filter, only, main, side, answer, details } = shown;
    const { panels, hash, beside } = shown;
    if (details) this.detailsOpen = this.detailsInFront = true;
    this.onlyThese.wished = only !== '';
    this.firstLook.isChosen = true;
    this.beside.restore(hash, beside);
    this.workspace.change({
      axis,
      look: { colour, stacking },
      capacity,
      main: mainOf(main),
      // Of links made when all answers were below: `answer`.
      side: side === '' ? undefined : (sideOf(side) ?? sideOf(answer) ?? firstAnswer),
      answer: answerOf(answer),
      panels,
    });
    this.filter.set(filter);
  }

  async arrive(shown: Shown, file: OpenFile, isCurrent: () => boolean): Promise<void> {
    await this.timeline?.updateComplete;
    if (!isCurrent()) return;
    if (shown.fleet && file.contents.fleets > 0) this.setFleet(file, shown.fleet);
    if (!file.view) {
      const { snapshot: part, view, panels } = shown;
      this.setSeries(file, { part, view, over: panels[overInLink] ?? '' });
    }
    if (shown.view) this.timeline?.showView(shown.view);
    else this.timeline?.fit();
    if (shown.ruler) this.timeline?.measureStretch(...shown.ruler);
    if (shown.about) void openSheet('about', this);
    else if (this.about?.isOpen) this.about.close();
    const last = Math.max((file.view?.info.events ?? 0) - 1, -1);
    const { choices } = this;
    const event = shown.event === undefined ? undefined : Math.min(shown.event, last);
    choices.keep({ event, thing: undefined });
    if (shown.block < 0) return choices.keep({ block: undefined });
    if (shown.block === choices.block?.rank) return;
    const block = await choices.blockOf(shown.block);
    if (isCurrent()) choices.keep({ block });
  }

  setFleet(file: OpenFile, change: Partial<FleetChoice>): void {
    file.fleet = { ...(file.fleet ?? usualChoice), ...change };
    this.requestUpdate();
  }
  setSeries(file: OpenFile, series: SeriesChoice): void {
    this.links.step(() => (file.series = series), 'view');
    this.requestUpdate();
  }
  setLook(change: Partial<Look>): void {
    const look = lookWith(this.workspace.get('look'), change);
    this.workspace.change({ look }, 'look');
    this.settings.save(look);
  }
  choosePanelTexts({ panel, texts }: PanelEvents['choose-texts']): void {
    const others = Object.entries(this.workspace.get('panels')).filter(
      ([name]) => !name.startsWith(`${panel}.`),
    );
    this.workspace.change({ panels: { ...Object.fromEntries(others), ...texts } }, panel);
  }
  openPanel(id: string): boolean {
    const lacks = this.rooms.lacking(id);
    if (lacks !== undefined) this.toast.say(lacks);
    else this.rooms.show(id);
    return lacks === undefined;
  }
  toggleAnswer(id: string): boolean {
    const { rooms } = this;
    const isBehind = this.detailsInFront && (this.choices.isAny || this.detailsOpen);
    if (id === rooms.answer) rooms.showAnswer(undefined);
    else if (id === rooms.side && !isBehind) rooms.showSide(undefined);
    else return this.openPanel(id);
    return false;
  }
  async choose({ target }: Event, act: () => unknown): Promise<void> {
    const quiet = target === this.answers ? 1 : 0;
    this.quiet += quiet;
    await act();
    this.quiet -= quiet;
  }
  showDetails(shown: boolean): void {
    this.detailsInFront = shown;
    if (shown) return;
    this.detailsOpen = false;
    this.settings.save({ detailsOpen: false });
    while (this.choices.letGo());
  }
  /** False = there is no such device. */
  showDevice(choice: DeviceChoice | undefined): boolean {
    const { file } = this;
    if (!choice || !file) return false;
    void this.goToDevice(choice);
    return true;
  }
  async goToDevice(choice: DeviceChoice): Promise<boolean> {
    const { file } = this;
    const bands = file?.view?.info.bands ?? 'blocks';
    if (!file || !(await this.files.openDevice(file, { ...choice, bands })) || file !== this.file)
      return false;
    await this.updateComplete;
    await this.timeline?.updateComplete;
    return true;
  }

  /** The timeline shows another part. */
  moved(): void {
    const before = this.workspace.get('viewport');
    this.workspace.change({ viewport: this.timeline?.shownView }, before !== undefined && 'view');
    this.links.remember();
    if (this.rooms.main !== 'timeline') this.requestUpdate(); // some draw what the timeline shows
  }

  chooseStat(what: 'peak' | 'oom' | 'notes'): void {
    if (what === 'peak') this.timeline?.goToPeak();
    else if (what === 'oom') this.choices.nextOom();
    else this.notes?.open();
  }

  private act(id: ActionId): void {
    actions.find((action) => action.id === id)?.run?.(this.actions, undefined);
  }

  protected override updated(): void {
    if (this.files.state === 'ready') this.prepareOthers();
  }

  // -- The page.

  protected override render(): TemplateResult {
    const { file, active, entries, state } = this.files;
    const several = file?.contents.snapshots.some(({ devices }) => devices.length > 1);
    if (entries.length > 1 || (file && file.contents.snapshots.length > 1) || several) need('peaks');
    if (this.links.wanted || this.beside.missing.length > 0) need('link');
    return html`<div class="frame">
      <gpustrata-top-bar
        part="top-bar"
        .file=${file}
        .view=${file?.view}
        .theme=${this.themes.name}
        ?linkable=${this.application !== undefined}
        ?hasServer=${this.application?.server !== undefined}
        @served=${() => void openSheet('served', this)}
        ?switching=${this.files.switching}
        @files=${this.chosen}
        @act=${(event: CustomEvent<ActionId>) => this.act(event.detail)}
        @device=${(event: CustomEvent<DeviceChoice>) => this.showDevice(event.detail)}
        >${this.application?.served?.badge()}${file?.view ? inTopBar(this, file, file.view) : nothing}</gpustrata-top-bar
      >
      ${
        entries.length > 1
          ? html`<gpustrata-peak-row
              role="navigation"
              aria-label="Files"
              what="file"
              closable
              .of=${{ entries, active, file }}
              @show=${(event: CustomEvent<number>) => this.files.show(entries[event.detail]!)}
              @close=${(event: CustomEvent<number>) => this.files.close(entries[event.detail]!)}></gpustrata-peak-row>`
          : nothing
      }
      ${
        file && file.contents.snapshots.length > 1
          ? html`<gpustrata-peak-row
              role="navigation"
              aria-label="Snapshots"
              what="snapshot"
              .of=${{ entries, active, file }}
              @show=${(event: CustomEvent<number>) => this.showDevice(choiceOf(file.contents, event.detail))}></gpustrata-peak-row>`
          : nothing
      }
      ${
        file && file.contents.snapshots.length === 1 && (file.contents.snapshots[0]?.devices.length ?? 0) > 1
          ? html`<gpustrata-peak-row
              role="navigation"
              aria-label="Devices"
              what="device"
              .of=${{ entries, active, file }}
              @show=${({ detail }: CustomEvent<number>) => this.showDevice({ snapshot: 0, device: file.contents.snapshots[0]!.devices[detail]!.device })}></gpustrata-peak-row>`
          : nothing
      }
      <gpustrata-link-note
        .wanted=${state === 'loading' ? undefined : this.links.wanted}
        .name=${file?.name ?? ''}
        .missing=${state === 'loading' ? [] : this.beside.missing}
        @files=${this.chosen}
        @forget=${() => {
          this.links.forget();
          this.beside.forgetMissing();
        }}></gpustrata-link-note>
      ${file ? aboveTimeline(this, file) : nothing}
      <main part="main">
        ${file ? workArea(this, file) : nothing} ${state === 'empty' ? this.firstScreen() : nothing}
        ${active && !active.file ? this.card(active, file) : nothing}
      </main>
      <gpustrata-keys
        .site=${this.application?.site}
        ?linkable=${this.application !== undefined}
        .letters=${this.letterKeys}
        .exact=${this.exactBytes}
        @exact=${({ detail }: CustomEvent<boolean>) => (this.exactBytes = detail)}
        @letters=${({ detail: letterKeys }: CustomEvent<boolean>) => {
          this.letterKeys = letterKeys;
          this.settings.save({ letterKeys });
        }}></gpustrata-keys>
      ${file ? html`<gpustrata-about .file=${file} .view=${file.view} @closed=${() => this.links.remember()}></gpustrata-about>` : nothing}
      ${file?.view ? html`<gpustrata-export .name=${fileNameOf(file, file.view.info.device)} .caption=${titleOf(file)} .onScreen=${() => this.timeline?.onScreen}></gpustrata-export>` : nothing}
      ${this.application?.server === undefined ? nothing : html`<gpustrata-served-sheet .address=${this.application.server} @choose=${this.chosenServed} @files=${this.chosen}></gpustrata-served-sheet>`}
      <gpustrata-toast></gpustrata-toast>
      ${this.dragging ? html`<div class="drop" aria-hidden="true"><p>Drop to open</p></div>` : nothing}
    </div>`;
  }

  private firstScreen(): TemplateResult {
    const server = this.application?.server;
    if (server === undefined)
      return html`<gpustrata-start
        .site=${this.application?.site}
        @files=${this.chosen}
        @sample=${(event: CustomEvent<string>) => this.openSample(event)}></gpustrata-start>`;
    void loadSheets();
    return html`<gpustrata-served-start
      .address=${server}
      @files=${this.chosen}
      @choose=${this.chosenServed}></gpustrata-served-start>`;
  }

  private readonly chosenServed = ({ detail: name }: CustomEvent<string>): void => {
    markPicked();
    this.receive({ files: [servedFile(this.application?.server ?? '', name)] });
  };

  private readonly chosen = (event: CustomEvent<ChosenFiles>): void => {
    event.stopPropagation();
    this.receive(event.detail);
  };

  private card({ loading, error, name }: Entry, behind: OpenFile | undefined): TemplateResult {
    if (!loading) need('failure');
    return html`<div class="cover ${behind ? 'over' : ''}">
      ${
        loading
          ? html`<gpustrata-loading
              .loading=${loading}
              @cancel=${() => this.files.back()}></gpustrata-loading>`
          : html`<gpustrata-failure
              .name=${name}
              .error=${error}
              .behind=${behind?.name ?? ''}
              @files=${this.chosen}
              @back=${() => this.files.back()}></gpustrata-failure>`
      }
    </div>`;
  }

  static override styles = [tokens, base, layout];
}

/** When nothing more urgent is to do, but within a second. */
function whenIdle(act: () => void): void {
  if (typeof requestIdleCallback === 'function') requestIdleCallback(act, { timeout: 1000 });
  else setTimeout(act, 200);
}

declare global {
  interface HTMLElementEventMap {
    'viewer-change': CustomEvent<ViewerChange>;
  }
}
