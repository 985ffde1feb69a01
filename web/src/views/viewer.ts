// <memstrata-viewer>: the whole page. Holds what the views share (files, pinned block, filter, theme) and hands keys to
// their actions; each view does its own part. `data-state` = empty | loading | ready | error.
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { copyText } from '../base/clipboard.ts';
import { LatestOnly } from '../base/latest_only.ts';
import type { Theme } from '../draw/colors.ts';
import { takeEmbeddedSnapshot } from '../embedded_snapshot.ts';
import { colourNames, colourWays } from '../draw/palettes.ts';
import type {
  Axis,
  BlockDetails,
  ColourBy,
  Diagnostic,
  EngineError,
  FilterAnswer,
} from '../engine/answers.ts';
import { EngineFailure } from '../engine/client.ts';
import { AddressBar } from '../state/address_bar.ts';
import { linkOf, type Shown } from '../state/link.ts';
import type { Viewport } from '../state/viewport.ts';
import { OpenFiles, type Entry, type OpenFile } from '../state/open_files.ts';
import { loadSettings, saveSettings, type ThemeChoice } from '../state/settings.ts';
import { actionOf, actions, movementsOf, type ActionId, type ActionTarget } from './actions.ts';
import './about.ts';
import type { AboutView } from './about.ts';
import './banners.ts';
import './details.ts';
import type { DetailsView } from './details.ts';
import './export_picture.ts';
import type { ExportView } from './export_picture.ts';
import './failure.ts';
import './file_row.ts';
import './filter_bar.ts';
import type { FilterBar } from './filter_bar.ts';
import './keys.ts';
import type { KeysView } from './keys.ts';
import './link_note.ts';
import './loading.ts';
import './notes.ts';
import type { NotesView } from './notes.ts';
import { filesOfAddress, markPicked, receiveFiles, type ChosenFiles } from './open_file.ts';
import './splitter.ts';
import './start.ts';
import './stats.ts';
import { base, tokens } from './styles.ts';
import './timeline.ts';
import type { TimelineView } from './timeline.ts';
import './toast.ts';
import type { ToastView } from './toast.ts';
import './top_bar.ts';
import type { DeviceChoice } from './top_bar.ts';
import { layout } from './viewer_styles.ts';

@customElement('memstrata-viewer')
export class MemstrataViewer extends LitElement implements ActionTarget {
  /** Addresses of files to open at the start, apart by white space; the host page's own choice. */
  @property() src: string | null = null;

  private readonly files = new OpenFiles(this);
  @state() private axis: Axis = 'event';
  @state() private pointed: BlockDetails | undefined;
  @state() private colour: ColourBy = loadSettings().colour;
  /** What the field says, in force as soon as the engine took it. */
  @state() private filter = '';
  @state() private filterError: EngineError | undefined;
  @state() private found: FilterAnswer | undefined;
  @state() private match = -1;
  @state() private highlight = '';
  @state() private dragging = false;
  @state() private themeChoice: ThemeChoice = loadSettings().theme;
  @state() private systemDark = matchMedia('(prefers-color-scheme: dark)').matches;
  @state() private detailsWidth = loadSettings().detailsWidth;

  @query('memstrata-timeline') readonly timeline!: TimelineView | null;
  @query('memstrata-details') private details!: DetailsView | null;
  @query('memstrata-filter') private filterBar!: FilterBar | null;
  @query('memstrata-keys') private keys!: KeysView;
  @query('memstrata-about') private about!: AboutView | null;
  @query('memstrata-export') private exporter!: ExportView | null;
  @query('memstrata-toast') private toast!: ToastView;
  @query('memstrata-notes') private notes!: NotesView | null;

  private shownView: OpenFile['view'];
  /** The pinned block of each device that was shown. */
  private readonly pins = new WeakMap<object, BlockDetails>();
  private filters = 0;
  private filtering: LatestOnly<string, FilterAnswer> | undefined;
  private readonly address = new AddressBar((shown) => void this.goTo(shown));
  /** The link that was opened, until its file is there. */
  @state() private link: Shown | undefined;
  private firstView: Viewport | undefined;
  private stopReceiving: (() => void) | undefined;
  private readonly dark = matchMedia('(prefers-color-scheme: dark)');

  override connectedCallback(): void {
    super.connectedCallback();
    this.dataset['state'] = this.files.state;
    this.stopReceiving = receiveFiles({
      receive: (chosen) => this.receive(chosen),
      dragging: (over) => (this.dragging = over),
    });
    document.addEventListener('keydown', this.keyDown);
    document.addEventListener('keyup', this.keyUp);
    this.dark.addEventListener('change', this.systemThemeChanged);
    if (this.usesAddress) {
      this.address.connect();
      this.link = this.address.shown;
      if (this.link) this.take(this.link);
    }
    const embedded = takeEmbeddedSnapshot();
    if (embedded) {
      markPicked();
      this.files.open([{ name: embedded.name, source: { file: embedded } }]);
      return;
    }
    const wanted = filesOfAddress(new URL(location.href), this.getAttribute('src'));
    if (!wanted) return;
    markPicked();
    this.receive(wanted);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopReceiving?.();
    this.address.disconnect();
    document.removeEventListener('keydown', this.keyDown);
    document.removeEventListener('keyup', this.keyUp);
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
    if (file?.view !== this.shownView) this.viewChanged(file);
    this.rememberShown();
    document.title = file ? `${file.name} · memstrata` : 'memstrata';
    document.documentElement.style.colorScheme = this.theme;
    this.dataset['theme'] = this.theme;
    this.dataset['state'] = state;
  }

  private rememberShown(): void {
    if (this.usesAddress && !this.link) this.address.replace(() => this.shown());
  }

  private viewChanged(file: OpenFile | undefined): void {
    this.shownView = file?.view;
    this.pointed = undefined;
    this.found = undefined;
    this.match = -1;
    this.highlight = '';
    this.filterError = undefined;
    if (file?.view?.extent.time_us === null) this.axis = 'event';
    this.filtering?.forget();
    this.filtering = undefined;
    if (!file?.view) this.filter = ''; // the field goes, and its text with it
    if (!file) return;
    this.filtering = new LatestOnly(
      (text) => file.engine.call('filter', { text }),
      (answer, text) => this.filtered(answer, text),
      (error) => {
        if (error instanceof EngineFailure && file.engine.alive) this.filterError = error.reason;
      },
    );
    if (file.view && this.filter !== '') this.filtering.request(this.filter);
    if (!file.view) return this.firstPicture();
    const { link } = this;
    this.firstView = undefined;
    if (!link || link.hash !== file.hash) return;
    this.link = undefined;
    this.firstView = link.view;
    void this.goTo(link);
  }

  private firstPicture(): void {
    if (performance.getEntriesByName('memstrata:first-picture').length === 0)
      performance.mark('memstrata:first-picture');
    this.files.prepareNext();
    this.prepareOthers();
  }

  /** Pictures of the other files, so that going to one takes a frame. */
  private prepareOthers(): void {
    for (const { file } of this.files.entries)
      if (file?.view && file.engine.alive) this.timeline?.prepare(file.engine, file.view);
  }

  private get diagnostics(): readonly Diagnostic[] {
    return this.files.file?.diagnostics ?? [];
  }

  private openSample({ detail: path }: CustomEvent<string>): void {
    markPicked();
    const url = new URL(path, document.baseURI).href;
    this.files.open([{ name: path.slice(path.lastIndexOf('/') + 1), source: { url } }]);
  }

  // -- Pin and search.

  private get pinned(): BlockDetails | undefined {
    return this.shownView && this.pins.get(this.shownView);
  }
  private set pinned(block: BlockDetails | undefined) {
    if (!this.shownView || block?.rank === this.pinned?.rank) return;
    const before = this.shown();
    this.keepPin(block);
    const shown = this.shown();
    if (shown && this.usesAddress) this.address.push(before, shown);
  }
  private keepPin(block: BlockDetails | undefined): void {
    if (!this.shownView) return;
    if (block) this.pins.set(this.shownView, block);
    else this.pins.delete(this.shownView);
    this.requestUpdate();
  }

  private togglePin(block: BlockDetails | undefined): void {
    this.pinned = block && block.rank === this.pinned?.rank ? undefined : block;
  }

  private filtered(answer: FilterAnswer, text: string): void {
    this.filters += 1;
    this.match = -1;
    this.filterError = undefined;
    this.found = text === '' ? undefined : answer;
    this.highlight = text !== '' && answer.count > 0 ? String(this.filters) : '';
  }

  private setFilter(text: string): void {
    this.filter = text;
    this.filterError = undefined;
    this.filtering?.request(text);
  }

  private async showMatch(by: 1 | -1): Promise<void> {
    const engine = this.files.file?.engine;
    const { found } = this;
    const count = found?.count ?? 0;
    if (!engine || count === 0) return;
    const from = this.match < 0 && by < 0 ? 0 : this.match;
    const match = (from + by + count) % count;
    this.match = match;
    try {
      const rank = await engine.call('match', { index: match });
      if (rank < 0) return;
      const { details } = await engine.call('block', { rank, axis: this.axis });
      if (!details || found !== this.found || match !== this.match) return; // another was asked for meanwhile
      this.pinned = details;
      await this.timeline?.showBlock(rank, details.requested_size);
    } catch {
      // The engine died: the page says so already.
    }
  }

  // -- The address.

  /** A host page that embeds the viewer keeps its address. */
  private get usesAddress(): boolean {
    return !this.hasAttribute('src');
  }

  private shown(): Shown | undefined {
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
      axis: this.axis,
      view: whole ? undefined : view,
      colour: this.colour,
      filter: this.filter,
      block: this.pinned?.rank ?? -1,
      panel: this.about?.isOpen ? 'about' : '',
    };
  }

  /** What a link says that makes sense for any file. */
  private take({ axis, colour, filter }: Shown): void {
    this.axis = axis;
    this.colour = colour;
    this.filter = filter;
  }

  private going = 0;
  /** Shows what a link or the history says, if its file is open; the newest wins. */
  private async goTo(shown: Shown): Promise<void> {
    this.going += 1;
    const { going } = this;
    const entry = this.files.entries.find(({ file }) => file?.hash === shown.hash);
    if (!entry?.file) {
      this.link = shown;
      return;
    }
    this.files.show(entry);
    const { file } = entry;
    if (file.snapshot !== shown.snapshot || (file.view && file.view.device !== shown.device)) {
      this.link = shown; // taken up again when the device is there
      const known = file.contents.snapshots[shown.snapshot]?.devices.some(
        ({ device }) => device === shown.device,
      );
      if (known) return this.files.openDevice(shown.snapshot, shown.device);
      this.link = undefined;
    }
    const { view } = file;
    this.take({ ...shown, axis: view?.extent.time_us === null ? 'event' : shown.axis });
    this.filtering?.request(shown.filter);
    await this.updateComplete;
    await this.timeline?.updateComplete;
    if (going !== this.going) return;
    if (shown.view) this.timeline?.showView(shown.view);
    else this.timeline?.fit();
    if (shown.panel === 'about') this.about?.open();
    else this.about?.close();
    if (shown.block < 0) return this.keepPin(undefined);
    if (shown.block === this.pinned?.rank) return;
    try {
      const { details } = await file.engine.call('block', { rank: shown.block, axis: this.axis });
      if (going === this.going && view === this.shownView) this.keepPin(details ?? undefined);
    } catch {
      // The engine died: the page says so already.
    }
  }

  // -- What actions do (actions.ts).

  openKeys(): void {
    this.keys.open();
  }
  openAbout(): void {
    this.about?.open();
    this.rememberShown();
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
  stepFile(by: 1 | -1): boolean {
    this.files.step(by);
    return this.files.entries.length > 1;
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
    if (!details || !(this.pinned ?? this.pointed)) return false;
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
    if (this.pinned) {
      this.pinned = undefined;
      return true;
    }
    if (this.found || this.filter !== '') {
      this.filterBar?.clear();
      return true;
    }
    return false;
  }

  // -- Keys.

  private readonly keyDown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || this.files.state === 'loading') return;
    const path = event.composedPath();
    if (path.some((node) => node instanceof HTMLDialogElement)) return;
    const target = path[0];
    const typing =
      target instanceof HTMLSelectElement ||
      target instanceof HTMLTextAreaElement ||
      (target instanceof HTMLInputElement && target.type !== 'radio' && target.type !== 'file');
    if (typing) return;
    const action = actionOf(event);
    if (!action) return;
    if (action.movement) {
      const ownArrows =
        event.code.startsWith('Arrow') &&
        (target instanceof HTMLInputElement || path.includes(this.details as EventTarget));
      if (!this.timeline || ownArrows) return;
      this.timeline.press(action.movement);
      event.preventDefault();
    } else if (action.run?.(this, target) !== false) event.preventDefault();
  };

  private readonly keyUp = (event: KeyboardEvent): void => {
    for (const one of movementsOf(event.code)) this.timeline?.release(one);
  };

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
        @device=${(event: CustomEvent<DeviceChoice>) =>
          void this.files.openDevice(event.detail.snapshot, event.detail.device)}></memstrata-top-bar>
      ${
        entries.length > 1
          ? html`<memstrata-file-row
              role="navigation"
              aria-label="Files"
              .entries=${entries}
              .active=${active}
              .version=${{}}
              @show=${(event: CustomEvent<Entry>) => this.files.show(event.detail)}
              @close=${(event: CustomEvent<Entry>) => this.files.close(event.detail)}></memstrata-file-row>`
          : nothing
      }
      <memstrata-link-note
        .wanted=${state === 'loading' ? undefined : this.link}
        .name=${file?.name ?? ''}
        @files=${this.chosen}
        @forget=${() => (this.link = undefined)}></memstrata-link-note>
      ${file ? this.fileParts(file) : nothing}
      <main>
        ${file ? this.body(file) : nothing}
        ${state === 'empty' ? html`<memstrata-start @files=${this.chosen} @sample=${(event: CustomEvent<string>) => this.openSample(event)}></memstrata-start>` : nothing}
        ${active && !active.file ? this.card(active, file) : nothing}
      </main>
      <memstrata-keys></memstrata-keys>
      ${file ? html`<memstrata-about .file=${file} .view=${file.view} @closed=${() => this.rememberShown()}></memstrata-about>` : nothing}
      ${file?.view ? html`<memstrata-export .name=${`${file.name}-device${file.view.device}`} .sheet=${() => this.timeline?.sheet(file.name)}></memstrata-export>` : nothing}
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
                .text=${this.filter}
                .found=${this.found}
                .error=${this.filterError}
                .current=${this.match}
                .complete=${(asked: { text: string; cursor: number }) => file.engine.call('complete', asked)}
                @filter=${(event: CustomEvent<string>) => this.setFilter(event.detail)}
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
    return html`<div class="work" .style=${`--details: ${this.detailsWidth}px`}>
      <memstrata-timeline
        .engine=${file.engine}
        .info=${view}
        .theme=${this.theme}
        .axis=${this.axis}
        .pinned=${this.pinned}
        .colourBy=${this.colour}
        .highlight=${this.highlight}
        .firstView=${this.firstView}
        @colour-change=${(event: CustomEvent<ColourBy>) => this.setColour(event.detail)}
        @moved=${() => this.rememberShown()}
        @point=${(event: CustomEvent<BlockDetails>) => (this.pointed = event.detail)}
        @pin=${(event: CustomEvent<BlockDetails>) => (this.pinned = event.detail)}
        @toggle-pin=${(event: CustomEvent<BlockDetails | undefined>) => this.togglePin(event.detail)}
        @axis-change=${(event: CustomEvent<Axis>) => (this.axis = event.detail)}
        @first-picture=${() => this.firstPicture()}></memstrata-timeline>
      <memstrata-splitter
        .width=${this.detailsWidth}
        @resize=${(event: CustomEvent<number>) => (this.detailsWidth = event.detail)}
        @resized=${() => saveSettings({ detailsWidth: this.detailsWidth })}></memstrata-splitter>
      <memstrata-details
        role="region"
        aria-label="Details of a block"
        tabindex="0"
        .block=${this.pinned ?? this.pointed}
        .info=${view}
        .pinned=${this.pinned !== undefined}
        @unpin=${() => (this.pinned = undefined)}></memstrata-details>
    </div>`;
  }

  static override styles = [tokens, base, layout];
}

/** Chromium tells the selection of a shadow root only through that root. */
function somethingSelected(roots: readonly (ShadowRoot | null)[]): boolean {
  if (document.getSelection()?.type === 'Range') return true;
  return roots.some((root) => {
    const asking: (ShadowRoot & { getSelection?: () => Selection | null }) | null = root;
    return asking?.getSelection?.()?.type === 'Range';
  });
}

declare global {
  interface HTMLElementTagNameMap {
    'memstrata-viewer': MemstrataViewer;
  }
}
