// <memstrata-viewer>: the whole page. Holds what the views share (files, selection, filter, theme) and does what actions
// ask for; each view does its own part. `data-state` = empty | loading | ready | error.
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { copyText } from '../base/clipboard.ts';
import type { Theme } from '../draw/colors.ts';
import { takeEmbeddedSnapshot } from '../embedded_snapshot.ts';
import { colourNames, colourWays } from '../draw/palettes.ts';
import {
  bandsNames,
  bandsWays,
  isBlock,
  type Axis,
  type Band,
  type Bands,
  type ColourBy,
  type Diagnostic,
} from '../engine/answers.ts';
import { Filtering } from '../state/filtering.ts';
import {
  choiceOf,
  fileNameOf,
  nextDevice,
  nextSnapshot,
  titleOf,
  type DeviceChoice,
} from '../state/devices.ts';
import type { Goal } from '../state/described.ts';
import { linkOf, type Shown } from '../state/link.ts';
import { LinkWalk, type LinkTarget } from '../state/link_walk.ts';
import { boundsOf, type Viewport } from '../state/viewport.ts';
import { OpenFiles, type Entry, type OpenFile } from '../state/open_files.ts';
import { barsOfFiles, barsOfSnapshots } from '../state/peak_bars.ts';
import { showsMoment, type PanelId } from '../state/panels.ts';
import { loadSettings, saveSettings, type ThemeChoice } from '../state/settings.ts';
import { actions, type ActionId } from './actions.ts';
import './about.ts';
import type { AboutView } from './about.ts';
import './banners.ts';
import { Choices, type Chosen, type ChoicesTarget } from './choices.ts';
import './details.ts';
import type { DetailsView } from './details.ts';
import './export_picture.ts';
import type { ExportView } from './export_picture.ts';
import './failure.ts';
import { askForFiles } from './file_button.ts';
import './filter_bar.ts';
import type { FilterBar } from './filter_bar.ts';
import './keys.ts';
import type { KeysView } from './keys.ts';
import './link_note.ts';
import './loading.ts';
import './notes.ts';
import type { NotesView } from './notes.ts';
import { filesOfAddress, markPicked, receiveFiles, type ChosenFiles } from './open_file.ts';
import { PageKeys, somethingSelected, type KeyTarget } from './page_keys.ts';
import './peak_row.ts';
import './panel_area.ts';
import type { PanelArea } from './panel_area.ts';
import type { PanelEvents, PanelPage } from './panels.ts';
import { Rehearsal } from './rehearsal.ts';
import './splitter.ts';
import './start.ts';
import './stats.ts';
import { base, tokens } from './styles.ts';
import './timeline.ts';
import type { TimelineView } from './timeline.ts';
import './toast.ts';
import type { ToastView } from './toast.ts';
import './top_bar.ts';
import { layout } from './viewer_styles.ts';

/** Least height of the timeline, in CSS pixels. */
const timelineHeight = 300;

@customElement('memstrata-viewer')
export class MemstrataViewer extends LitElement implements KeyTarget, ChoicesTarget, LinkTarget {
  /** Addresses of files to open at the start, apart by white space; the host page's own choice. */
  @property() src: string | null = null;

  private readonly files = new OpenFiles(this);
  @state() axis: Axis = 'event';
  @state() private colour: ColourBy = loadSettings().colour;
  @state() panel: PanelId | undefined;
  @state() private dragging = false;
  @state() private themeChoice: ThemeChoice = loadSettings().theme;
  @state() private systemDark = matchMedia('(prefers-color-scheme: dark)').matches;
  @state() private detailsWidth = loadSettings().detailsWidth;
  @state() private panelHeight = loadSettings().panelHeight;

  @query('memstrata-timeline') readonly timeline!: TimelineView | null;
  @query('memstrata-details') private details!: DetailsView | null;
  @query('memstrata-panels') private panels!: PanelArea | null;
  @query('memstrata-filter') private filterBar!: FilterBar | null;
  @query('memstrata-keys') private keys!: KeysView;
  @query('memstrata-about') private about!: AboutView | null;
  @query('memstrata-export') private exporter!: ExportView | null;
  @query('memstrata-toast') private toast!: ToastView;
  @query('memstrata-notes') private notes!: NotesView | null;

  private shownView: OpenFile['view'];
  private readonly filter = new Filtering(this);
  private readonly links = new LinkWalk(this, this.files);
  private readonly choices = new Choices(this, this.links);
  private readonly keyPresses = new PageKeys(this);
  private firstView: Viewport | undefined;
  private stopReceiving: (() => void) | undefined;
  private rehearsal: Rehearsal | undefined;
  private readonly dark = matchMedia('(prefers-color-scheme: dark)');

  override connectedCallback(): void {
    super.connectedCallback();
    this.dataset['state'] = this.files.state;
    this.stopReceiving = receiveFiles({
      receive: (chosen) => this.receive(chosen),
      dragging: (over) => (this.dragging = over),
    });
    this.keyPresses.connect();
    this.dark.addEventListener('change', this.systemThemeChanged);
    if (!this.hasAttribute('src')) this.links.connect(); // a host page keeps its address
    const embedded = takeEmbeddedSnapshot();
    if (embedded) {
      markPicked();
      this.files.open([{ name: embedded.name, source: { file: embedded } }]);
      return;
    }
    const wanted = filesOfAddress(new URL(location.href), this.getAttribute('src'));
    if (!wanted) {
      this.rehearsal = new Rehearsal(this.files.pool, this.renderRoot, this.theme);
      return;
    }
    markPicked();
    this.receive(wanted);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopReceiving?.();
    this.rehearsal?.stop();
    this.links.disconnect();
    this.keyPresses.disconnect();
    this.dark.removeEventListener('change', this.systemThemeChanged);
  }

  private receive(chosen: ChosenFiles): void {
    if ('refused' in chosen) this.files.fail(chosen.refused.name, chosen.refused.error);
    else this.files.open(chosen.files);
  }

  private readonly systemThemeChanged = (event: MediaQueryListEvent): void => {
    this.systemDark = event.matches;
  };

  private get theme(): Theme {
    if (this.themeChoice !== 'auto') return this.themeChoice;
    return this.systemDark ? 'dark' : 'light';
  }

  // -- One file, one device.

  protected override willUpdate(): void {
    const { file, state } = this.files;
    if (state !== 'empty') this.rehearsal?.stop();
    if (file?.view !== this.shownView) this.viewChanged(file);
    this.links.remember();
    document.title = file ? `${file.name} · memstrata` : 'memstrata';
    document.documentElement.style.colorScheme = this.theme;
    this.dataset['theme'] = this.theme;
    this.dataset['state'] = state;
  }

  private viewChanged(file: OpenFile | undefined): void {
    const other = this.otherBands;
    this.otherBands = undefined;
    this.shownView = file?.view;
    this.choices.show(file?.view);
    if (file?.view?.extent.time_us === null) this.axis = 'event';
    this.filter.show(file?.view && file.engine);
    if (!file) return;
    if (!file.view) return this.firstPicture();
    this.firstView = this.links.opened(file);
    if (other?.engine !== file.engine || this.firstView) return;
    // The same device with other bands: the same stretch of it, at its own height, and what is chosen.
    const { extent, peak, reserved_peak } = file.view;
    const length = extent[this.axis === 'time' ? 'time_us' : 'event'] ?? 1;
    const { fitTop } = boundsOf(length, peak.bytes, reserved_peak);
    this.firstView = other.view && { ...other.view, y0: 0, y1: fitTop };
    const { block, event } = other.chosen;
    this.choices.keep({
      event,
      block: isBlock(block) && file.view.bands !== 'segments' ? block : undefined,
    });
  }

  /** Ranks in panels are those of blocks. */
  async showBlocks(): Promise<void> {
    if (this.shownView?.bands === 'segments') await this.setBands('blocks');
  }

  /** What was seen of a device whose bands are about to change. */
  private otherBands: { engine: OpenFile['engine']; view: Viewport | undefined; chosen: Chosen } | undefined;

  private async setBands(bands: Bands): Promise<void> {
    const { file } = this.files;
    if (!file?.view || file.view.bands === bands || this.files.switching) return;
    const before = this.shown();
    const { view, engine } = file;
    this.otherBands = { engine, view: this.timeline?.shownView, chosen: this.choices.chosen };
    await this.files.openDevice(file.snapshot, view.device, bands);
    await this.updateComplete;
    if (file.view !== view) this.links.stepped(before);
    this.otherBands = undefined;
  }

  private firstPicture(): void {
    if (performance.getEntriesByName('memstrata:first-picture').length === 0)
      performance.mark('memstrata:first-picture');
    this.files.prepareNext();
    void this.files.findPeaks();
    this.files.prepareStates();
    this.prepareOthers();
  }

  /** Pictures of the other files, so that going to one takes a frame. */
  private prepareOthers(): void {
    for (const { file } of this.files.entries)
      if (file?.view && file.engine.alive) this.timeline?.prepare(file.engine, file.view);
  }

  get file(): OpenFile | undefined {
    return this.files.file;
  }
  private get diagnostics(): readonly Diagnostic[] {
    return this.files.file?.diagnostics ?? [];
  }

  private openSample({ detail: path }: CustomEvent<string>): void {
    markPicked();
    const url = new URL(path, document.baseURI).href;
    this.files.open([{ name: path.slice(path.lastIndexOf('/') + 1), source: { url } }]);
  }

  // -- Panels.

  private openPanel(panel: PanelId | undefined): void {
    if (panel !== this.panel) this.links.step(() => (this.panel = panel));
  }
  showState(): void {
    this.openPanel('state');
  }
  async listEvents(address: string): Promise<void> {
    await this.updateComplete;
    await this.panels?.updateComplete;
    await this.panels?.renderRoot.querySelector('memstrata-state')?.listOf(address);
  }

  private async showMatch(by: 1 | -1): Promise<void> {
    const rank = await this.filter.step(by).catch(() => undefined); // the engine died: the page says so already
    if (rank !== undefined) await this.choices.showBlock(rank);
  }

  // -- What a link tells (state/link_walk.ts).

  shown(): Shown | undefined {
    const { file } = this.files;
    if (!file?.view) return undefined;
    const view = this.timeline?.shownView;
    const { extent } = file.view;
    const whole =
      view &&
      view.x0 === 0 &&
      view.x1 >= (extent[this.axis === 'time' ? 'time_us' : 'event'] ?? 0) &&
      view.y0 === 0;
    return {
      file: file.name,
      hash: file.hash,
      snapshot: file.snapshot,
      device: file.view.device,
      bands: file.view.bands,
      axis: this.axis,
      view: whole ? undefined : view,
      colour: this.colour,
      filter: this.filter.text,
      block: this.choices.block?.rank ?? -1,
      panel: this.panel,
      event: this.choices.chosen.event,
      about: this.about?.isOpen ?? false,
    };
  }

  take({ axis, colour, filter, panel }: Shown): void {
    this.axis = axis;
    this.colour = colour;
    this.panel = panel;
    this.filter.set(filter);
  }

  async arrive(shown: Shown, file: OpenFile, isCurrent: () => boolean): Promise<void> {
    await this.timeline?.updateComplete;
    if (!isCurrent()) return;
    if (shown.view) this.timeline?.showView(shown.view);
    else this.timeline?.fit();
    if (shown.about) this.about?.open();
    else this.about?.close();
    const last = Math.max((file.view?.events ?? 0) - 1, -1);
    const { choices } = this;
    const event = shown.event === undefined ? undefined : Math.min(shown.event, last);
    choices.keep({ event, thing: undefined });
    if (shown.block < 0) return choices.keep({ block: undefined });
    if (shown.block === choices.block?.rank) return;
    const block = await choices.blockOf(shown.block);
    if (isCurrent()) choices.keep({ block });
  }

  // -- What actions do (actions.ts).

  openKeys(): void {
    this.keys.open();
  }
  openAbout(): void {
    this.about?.open();
    this.links.remember();
  }
  openExport(): void {
    this.exporter?.open();
  }
  toggleTheme(): void {
    this.themeChoice = this.theme === 'dark' ? 'light' : 'dark';
    saveSettings({ theme: this.themeChoice });
  }
  changeAxis(): void {
    void this.timeline?.changeAxis(this.axis === 'event' ? 'time' : 'event');
  }
  changeColour(): void {
    const next = colourWays[(colourWays.indexOf(this.colour) + 1) % colourWays.length] ?? 'allocation';
    this.setColour(next);
    this.toast.say(`Colour: ${colourNames[next].toLowerCase()}`);
  }
  changeBands(): boolean {
    const bands = this.shownView?.bands;
    const next = bands && bandsWays[(bandsWays.indexOf(bands) + 1) % bandsWays.length];
    if (!next) return false;
    void this.setBands(next).then(() => this.toast.say(`View: ${bandsNames[next]}`));
    return true;
  }
  private setColour(colour: ColourBy): void {
    this.colour = colour;
    saveSettings({ colour });
  }
  focusFilter(): boolean {
    this.filterBar?.focus();
    return this.filterBar !== null;
  }
  stepMatch(by: 1 | -1): void {
    void this.showMatch(by);
  }
  stepEvent(by: 1 | -1): boolean {
    if (!this.timeline) return false;
    this.timeline.stepEvent(by);
    return true;
  }
  togglePanel(panel: PanelId): boolean {
    if (!this.panels) return false;
    this.openPanel(panel === this.panel ? undefined : panel);
    void this.updateComplete.then(() => this.panels?.focusPanel());
    return true;
  }
  stepFile(by: 1 | -1): boolean {
    this.files.step(by);
    return this.files.entries.length > 1;
  }
  stepDevice(by: 1 | -1): boolean {
    const { file } = this;
    if (!file?.view) return false;
    return this.showDevice(nextDevice(file.contents, { ...file.view, snapshot: file.snapshot }, by));
  }
  stepSnapshot(by: 1 | -1): boolean {
    const { file } = this;
    return this.showDevice(file && nextSnapshot(file.contents, file.snapshot, by));
  }
  private showDevice(choice: DeviceChoice | undefined): boolean {
    if (choice) void this.files.openDevice(choice.snapshot, choice.device, this.file?.view?.bands);
    return choice !== undefined;
  }
  openFiles(): void {
    askForFiles((chosen) => this.receive(chosen));
  }
  closeFile(): boolean {
    const { shown } = this.files;
    if (shown) this.files.close(shown);
    return shown !== undefined;
  }
  copyLink(): void {
    const shown = this.shown();
    if (!shown) return;
    const url = new URL(location.href);
    url.hash = linkOf(shown);
    void copyText(url.href).then((done) =>
      this.toast.say(
        done
          ? 'Link copied. It holds the view, not the data: whoever opens it needs the file.'
          : 'The browser does not let this page copy. The link is in the address bar.',
      ),
    );
  }
  copyDetails(): boolean {
    const { details } = this;
    if (!details?.of) return false;
    if (somethingSelected([this.shadowRoot, details.shadowRoot])) return false;
    details.copy();
    return true;
  }
  pinAtCursor(from: EventTarget | undefined): boolean {
    if (!(from instanceof HTMLElement) || !from.classList.contains('plot')) return false;
    this.timeline?.pinAtCursor();
    return true;
  }
  /** `Esc`: one level. */
  stepBack(): boolean {
    if (this.files.state === 'error') {
      this.files.back();
      return true;
    }
    if (this.timeline?.giveUp()) return true;
    if (this.choices.letGo()) return true;
    if (this.filter.found || this.filter.text !== '') {
      this.filterBar?.clear();
      return true;
    }
    return false;
  }

  // -- Keys (page_keys.ts).

  get takesKeys(): boolean {
    return this.files.state !== 'loading';
  }
  get scrolling(): (EventTarget | null)[] {
    return [this.details, this.panels];
  }

  private act(id: ActionId): void {
    actions.find((action) => action.id === id)?.run?.(this, undefined);
  }

  protected override updated(): void {
    if (this.files.entries.length > 1 && this.files.state === 'ready') this.prepareOthers();
  }

  // -- The page.

  protected override render(): TemplateResult {
    const { file, active, entries, state } = this.files;
    return html`
      <memstrata-top-bar
        .file=${file}
        .view=${file?.view}
        .theme=${this.theme}
        .switching=${this.files.switching}
        @files=${this.chosen}
        @act=${(event: CustomEvent<ActionId>) => this.act(event.detail)}
        @device=${(event: CustomEvent<DeviceChoice>) => this.showDevice(event.detail)}
        @bands=${(event: CustomEvent<Bands>) => void this.setBands(event.detail)}></memstrata-top-bar>
      ${
        entries.length > 1
          ? html`<memstrata-peak-row
              role="navigation"
              aria-label="Files"
              what="file"
              closable
              .bars=${barsOfFiles(entries, active)}
              @show=${(event: CustomEvent<number>) => this.files.show(entries[event.detail]!)}
              @close=${(event: CustomEvent<number>) => this.files.close(entries[event.detail]!)}></memstrata-peak-row>`
          : nothing
      }
      ${
        file && file.contents.snapshots.length > 1
          ? html`<memstrata-peak-row
              role="navigation"
              aria-label="Snapshots"
              what="snapshot"
              .bars=${barsOfSnapshots(file)}
              @show=${(event: CustomEvent<number>) => this.showDevice(choiceOf(file.contents, event.detail))}></memstrata-peak-row>`
          : nothing
      }
      <memstrata-link-note
        .wanted=${state === 'loading' ? undefined : this.links.wanted}
        .name=${file?.name ?? ''}
        @files=${this.chosen}
        @forget=${() => this.links.forget()}></memstrata-link-note>
      ${file ? this.fileParts(file) : nothing}
      <main>
        ${file ? this.body(file) : nothing}
        ${state === 'empty' ? html`<memstrata-start @files=${this.chosen} @sample=${(event: CustomEvent<string>) => this.openSample(event)}></memstrata-start>` : nothing}
        ${active && !active.file ? this.card(active, file) : nothing}
      </main>
      <memstrata-keys></memstrata-keys>
      ${file ? html`<memstrata-about .file=${file} .view=${file.view} @closed=${() => this.links.remember()}></memstrata-about>` : nothing}
      ${file?.view ? html`<memstrata-export .name=${fileNameOf(file, file.view.device)} .sheet=${() => this.timeline?.sheet(titleOf(file))}></memstrata-export>` : nothing}
      <memstrata-toast></memstrata-toast>
      ${this.dragging ? html`<div class="drop" aria-hidden="true"><p>Drop to open</p></div>` : nothing}
    `;
  }

  private readonly chosen = (event: CustomEvent<ChosenFiles>): void => {
    event.stopPropagation();
    this.receive(event.detail);
  };

  private card({ loading, error, name }: Entry, behind: OpenFile | undefined): TemplateResult {
    return html`<div class="cover ${behind ? 'over' : ''}">
      ${
        loading
          ? html`<memstrata-loading
              .loading=${loading}
              @cancel=${() => this.files.back()}></memstrata-loading>`
          : html`<memstrata-failure
              .name=${name}
              .error=${error}
              .behind=${behind?.name ?? ''}
              @files=${this.chosen}
              @back=${() => this.files.back()}></memstrata-failure>`
      }
    </div>`;
  }

  private fileParts(file: OpenFile): TemplateResult {
    return html`
      ${
        file.view
          ? html`<section class="second" aria-label="Numbers of the device, and the filter">
              <memstrata-stats
                .info=${file.view}
                .diagnostics=${this.diagnostics}
                @choose=${(event: CustomEvent<'peak' | 'oom' | 'notes'>) => this.chooseStat(event.detail)}></memstrata-stats>
              <memstrata-filter
                .text=${this.filter.text}
                .found=${this.filter.found}
                .error=${this.filter.error}
                .current=${this.filter.match}
                .complete=${(asked: { text: string; cursor: number }) => file.engine.call('complete', asked)}
                @filter=${(event: CustomEvent<string>) => this.filter.set(event.detail)}
                @step=${(event: CustomEvent<1 | -1>) => this.stepMatch(event.detail)}></memstrata-filter>
            </section>`
          : nothing
      }
      <memstrata-banners
        role="region"
        aria-label="Warnings"
        .died=${file.died}
        .diagnostics=${this.diagnostics}
        @reopen=${() => this.files.reopen()}
        @notes=${() => this.notes?.open()}></memstrata-banners>
      ${this.diagnostics.length > 0 ? html`<memstrata-notes .diagnostics=${this.diagnostics}></memstrata-notes>` : nothing}
    `;
  }

  private chooseStat(what: 'peak' | 'oom' | 'notes'): void {
    if (what === 'peak') this.timeline?.goToPeak();
    else if (what === 'oom') this.timeline?.nextOom();
    else this.notes?.open();
  }

  private body(file: OpenFile): TemplateResult {
    const { view } = file;
    if (!view) {
      return html`<div class="nothing">
        <h2>Nothing to draw</h2>
        <p>
          This snapshot names no segment and no event on any device: no GPU memory was in use and nothing was
          recorded when it was saved.
        </p>
      </div>`;
    }
    return html`<div
      class="work"
      .style=${`--details: ${this.detailsWidth}px; --panel: ${this.panelHeight}px`}>
      <div class="left ${this.panel ? 'with-panel' : ''}">
        <memstrata-timeline
          .engine=${file.engine}
          .info=${view}
          .theme=${this.theme}
          .axis=${this.axis}
          .pinned=${this.choices.block}
          .colourBy=${this.colour}
          .chosen=${showsMoment(this.panel) ? this.choices.event : undefined}
          .highlight=${this.filter.highlight}
          .firstView=${this.firstView}
          @colour-change=${(event: CustomEvent<ColourBy>) => this.setColour(event.detail)}
          @choose-event=${(event: CustomEvent<PanelEvents['choose-event']>) => this.choices.chooseEvent(event.detail)}
          @moved=${() => this.moved()}
          @point=${(event: CustomEvent<Band>) => this.choices.pointBlock(event.detail)}
          @pin=${(event: CustomEvent<Band>) => this.choices.pin(event.detail)}
          @toggle-pin=${(event: CustomEvent<Band | undefined>) => this.choices.togglePin(event.detail)}
          @axis-change=${(event: CustomEvent<Axis>) => (this.axis = event.detail)}
          @first-picture=${() => this.firstPicture()}></memstrata-timeline>
        ${
          this.panel
            ? html`<memstrata-splitter
                direction="height"
                label="Height of the panel"
                .size=${this.panelHeight}
                .least=${140}
                .most=${2000}
                .rest=${timelineHeight}
                @resize=${(event: CustomEvent<number>) => (this.panelHeight = event.detail)}
                @resized=${() => saveSettings({ panelHeight: this.panelHeight })}></memstrata-splitter>`
            : nothing
        }
        <memstrata-panels
          .open=${this.panel}
          .page=${this.panelPage(file, view)}
          @open-panel=${(event: CustomEvent<PanelId | undefined>) => this.openPanel(event.detail ?? undefined)}
          @choose-event=${(event: CustomEvent<PanelEvents['choose-event']>) => {
            this.choices.chooseEvent(event.detail);
            void this.timeline?.showEvent(event.detail.event);
          }}
          @choose-block=${(event: CustomEvent<PanelEvents['choose-block']>) => void this.choices.chooseBlock(event.detail ?? undefined)}
          @point-thing=${(event: CustomEvent<PanelEvents['point-thing']>) => this.choices.pointThing(event.detail ?? undefined)}
          @choose-thing=${(event: CustomEvent<PanelEvents['choose-thing']>) => this.choices.chooseThing(event.detail ?? undefined)}></memstrata-panels>
      </div>
      <memstrata-splitter
        label="Width of the details"
        .size=${this.detailsWidth}
        .least=${260}
        @resize=${(event: CustomEvent<number>) => (this.detailsWidth = event.detail)}
        @resized=${() => saveSettings({ detailsWidth: this.detailsWidth })}></memstrata-splitter>
      <memstrata-details
        role="region"
        aria-label="Details"
        tabindex="0"
        .of=${this.choices.described}
        .info=${view}
        .pinned=${this.choices.isHeld}
        @go=${(event: CustomEvent<Goal>) => void this.choices.go(event.detail)}
        @unpin=${() => this.choices.letGo()}></memstrata-details>
    </div>`;
  }

  private lastPage: PanelPage | undefined;
  private panelPage(file: OpenFile, info: PanelPage['info']): PanelPage {
    const { theme, axis, lastPage } = this;
    const { block, event } = this.choices;
    const pinned = isBlock(block) ? block : undefined;
    const view = this.timeline?.shownView;
    const { engine } = file;
    const { highlight } = this.filter;
    const page: PanelPage = {
      engine,
      info,
      theme,
      axis,
      colourBy: this.colour,
      highlight,
      pinned,
      event,
      view,
    };
    const names = Object.keys(page) as (keyof PanelPage)[];
    if (!lastPage || names.some((name) => page[name] !== lastPage[name])) this.lastPage = page;
    return this.lastPage ?? page;
  }

  private moved(): void {
    this.links.remember();
    if (this.panel) this.requestUpdate(); // some draw what the timeline shows
  }

  static override styles = [tokens, base, layout];
}

declare global {
  interface HTMLElementTagNameMap {
    'memstrata-viewer': MemstrataViewer;
  }
}
