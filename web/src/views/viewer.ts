// <memstrata-viewer>: the whole page. Holds what the views share (files, pinned block, filter, theme) and hands keys to
// their actions; each view does its own part. `data-state` = empty | loading | ready | error.
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { LatestOnly } from '../base/latest_only.ts';
import type { Theme } from '../draw/colors.ts';
import type { Axis, BlockDetails, Diagnostic, SearchAnswer } from '../engine/answers.ts';
import { OpenFiles, type Entry, type OpenFile } from '../state/open_files.ts';
import { loadSettings, saveSettings, type ThemeChoice } from '../state/settings.ts';
import { actionOf, actions, movementsOf, type ActionId, type ActionTarget } from './actions.ts';
import './banners.ts';
import './details.ts';
import type { DetailsView } from './details.ts';
import './failure.ts';
import './file_row.ts';
import './keys.ts';
import type { KeysView } from './keys.ts';
import './loading.ts';
import './notes.ts';
import type { NotesView } from './notes.ts';
import { filesOfAddress, markPicked, receiveFiles, sampleUrl, type ChosenFiles } from './open_file.ts';
import './search.ts';
import type { SearchView, SearchWish } from './search.ts';
import './splitter.ts';
import './start.ts';
import './stats.ts';
import { base, tokens } from './styles.ts';
import './timeline.ts';
import type { TimelineView } from './timeline.ts';
import './top_bar.ts';
import type { DeviceChoice } from './top_bar.ts';
import { layout } from './viewer_styles.ts';

const nothingWanted: SearchWish = { scope: 'anything', text: '' };

@customElement('memstrata-viewer')
export class MemstrataViewer extends LitElement implements ActionTarget {
  /** Addresses of files to open at the start, apart by white space; the host page's own choice. */
  @property() src: string | null = null;

  private readonly files = new OpenFiles(this);
  @state() private axis: Axis = 'event';
  @state() private pointed: BlockDetails | undefined;
  @state() private found: SearchAnswer | undefined;
  @state() private match = -1;
  @state() private highlight = '';
  @state() private dragging = false;
  @state() private themeChoice: ThemeChoice = loadSettings().theme;
  @state() private systemDark = matchMedia('(prefers-color-scheme: dark)').matches;
  @state() private detailsWidth = loadSettings().detailsWidth;

  @query('memstrata-timeline') readonly timeline!: TimelineView | null;
  @query('memstrata-details') private details!: DetailsView | null;
  @query('memstrata-search') private search!: SearchView | null;
  @query('memstrata-keys') private keys!: KeysView;
  @query('memstrata-notes') private notes!: NotesView | null;

  private shownView: OpenFile['view'];
  /** The pinned block of each device that was shown. */
  private readonly pins = new WeakMap<object, BlockDetails>();
  private wish = nothingWanted;
  private searches = 0;
  private searching: LatestOnly<SearchWish, SearchAnswer> | undefined;
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
    const wanted = filesOfAddress(new URL(location.href), this.getAttribute('src'));
    if (!wanted) return;
    markPicked();
    this.receive(wanted);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopReceiving?.();
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
    document.title = file ? `${file.name} · memstrata` : 'memstrata';
    document.documentElement.style.colorScheme = this.theme;
    this.dataset['theme'] = this.theme;
    this.dataset['state'] = state;
  }

  private viewChanged(file: OpenFile | undefined): void {
    this.shownView = file?.view;
    this.pointed = undefined;
    this.found = undefined;
    this.match = -1;
    this.highlight = '';
    if (file?.view?.extent.time_us === null) this.axis = 'event';
    this.searching?.forget();
    this.searching = undefined;
    if (!file?.view) this.wish = nothingWanted; // the field goes, and its text with it
    if (!file) return;
    this.searching = new LatestOnly(
      ({ scope, text }) => file.engine.call('search', { scope, text }),
      (answer, wish) => this.showFound(answer, wish),
      () => undefined, // a search that is refused leaves the old one
    );
    if (file.view && this.wish.text !== '') this.searching.request(this.wish);
    if (!file.view) this.firstPicture();
  }

  private firstPicture(): void {
    if (performance.getEntriesByName('memstrata:first-picture').length === 0)
      performance.mark('memstrata:first-picture');
    this.files.prepareNext();
  }

  private get diagnostics(): readonly Diagnostic[] {
    return this.files.file?.diagnostics ?? [];
  }

  private openSample(): void {
    markPicked();
    const url = new URL(sampleUrl, document.baseURI).href;
    this.files.open([{ name: sampleUrl.slice(sampleUrl.lastIndexOf('/') + 1), source: { url } }]);
  }

  // -- Pin and search.

  private get pinned(): BlockDetails | undefined {
    return this.shownView && this.pins.get(this.shownView);
  }
  private set pinned(block: BlockDetails | undefined) {
    if (!this.shownView) return;
    if (block) this.pins.set(this.shownView, block);
    else this.pins.delete(this.shownView);
    this.requestUpdate();
  }

  private togglePin(block: BlockDetails | undefined): void {
    this.pinned = block && block.rank === this.pinned?.rank ? undefined : block;
  }

  private showFound(answer: SearchAnswer, wish: SearchWish): void {
    this.searches += 1;
    this.match = -1;
    this.found = wish.text === '' ? undefined : answer;
    this.highlight = wish.text !== '' && answer.count > 0 ? String(this.searches) : '';
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

  // -- What actions do (actions.ts).

  openKeys(): void {
    this.keys.open();
  }
  openAbout(): void {}
  openExport(): void {}
  toggleTheme(): void {
    this.themeChoice = this.theme === 'dark' ? 'light' : 'dark';
    saveSettings({ theme: this.themeChoice });
  }
  changeAxis(): void {
    void this.timeline?.changeAxis(this.axis === 'event' ? 'time' : 'event');
  }
  changeColour(): void {}
  focusFilter(): boolean {
    this.search?.focus();
    return this.search !== null;
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
  copyLink(): void {}
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
    if (this.found) {
      this.search?.clear();
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
              .entries=${entries}
              .active=${active}
              .version=${{}}
              @show=${(event: CustomEvent<Entry>) => this.files.show(event.detail)}
              @close=${(event: CustomEvent<Entry>) => this.files.close(event.detail)}></memstrata-file-row>`
          : nothing
      }
      ${file ? this.fileParts(file) : nothing}
      <main>
        ${file ? this.body(file) : nothing}
        ${state === 'empty' ? html`<memstrata-start @files=${this.chosen} @sample=${() => this.openSample()}></memstrata-start>` : nothing}
        ${active && !active.file ? this.card(active, file) : nothing}
      </main>
      <memstrata-keys></memstrata-keys>
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
          ? html`<div class="second">
              <memstrata-stats
                .info=${file.view}
                .diagnostics=${this.diagnostics}
                @choose=${(event: CustomEvent<'peak' | 'oom' | 'notes'>) => this.chooseStat(event.detail)}></memstrata-stats>
              <memstrata-search
                .found=${this.found}
                .current=${this.match}
                @search=${(event: CustomEvent<SearchWish>) => {
                  this.wish = event.detail;
                  this.searching?.request(event.detail);
                }}
                @step=${(event: CustomEvent<1 | -1>) => this.stepMatch(event.detail)}></memstrata-search>
            </div>`
          : nothing
      }
      <memstrata-banners
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
        .highlight=${this.highlight}
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
