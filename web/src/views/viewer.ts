// <memstrata-viewer>: the whole page. Holds what the views share (file, pinned block, search, theme) and the
// keys; each view does its own part. `data-state` = empty | loading | ready | error.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { customElement, query, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { formatBytes, formatCount, formatExactBytes } from '../base/format.ts';
import { LatestOnly } from '../base/latest_only.ts';
import type { Theme } from '../draw/colors.ts';
import { takeEmbeddedSnapshot } from '../embedded_snapshot.ts';
import type { Axis, BlockDetails, Diagnostic, EngineError, SearchAnswer } from '../engine/answers.ts';
import { OpenController, type OpenFile } from '../state/open_controller.ts';
import { loadSettings, saveSettings, type ThemeChoice } from '../state/settings.ts';
import type { Movement } from '../tracks/motion.ts';
import './details.ts';
import type { DetailsView } from './details.ts';
import './failure.ts';
import './file_button.ts';
import './keys.ts';
import type { KeysView } from './keys.ts';
import './loading.ts';
import './notes.ts';
import type { NotesView } from './notes.ts';
import { fileOfAddress, markPicked, receiveFiles } from './open_file.ts';
import './search.ts';
import type { SearchView, SearchWish } from './search.ts';
import './start.ts';
import './stats.ts';
import { base, tokens } from './styles.ts';
import { symbols } from './symbols.ts';
import './timeline.ts';
import type { TimelineView } from './timeline.ts';

const movements: Record<string, [plain: Movement, shifted: Movement]> = {
  KeyW: ['zoom-in', 'taller'],
  KeyS: ['zoom-out', 'shorter'],
  KeyA: ['left', 'left'],
  KeyD: ['right', 'right'],
  ArrowLeft: ['left', 'left'],
  ArrowRight: ['right', 'right'],
  ArrowUp: ['up', 'up'],
  ArrowDown: ['down', 'down'],
};
const nothingWanted: SearchWish = { scope: 'anything', text: '' };
const narrowest = 260; // of the details pane
const widest = 900;

@customElement('memstrata-viewer')
export class MemstrataViewer extends LitElement {
  private readonly opener = new OpenController(this);
  @state() private axis: Axis = 'event';
  @state() private pinned: BlockDetails | undefined;
  @state() private pointed: BlockDetails | undefined;
  @state() private found: SearchAnswer | undefined;
  @state() private match = -1;
  @state() private highlight = '';
  @state() private dragging = false;
  @state() private themeChoice: ThemeChoice = loadSettings().theme;
  @state() private systemDark = matchMedia('(prefers-color-scheme: dark)').matches;
  @state() private detailsWidth = loadSettings().detailsWidth;

  @query('memstrata-timeline') private timeline!: TimelineView | null;
  @query('memstrata-details') private details!: DetailsView | null;
  @query('memstrata-search') private search!: SearchView | null;
  @query('memstrata-keys') private keys!: KeysView;
  @query('memstrata-notes') private notes!: NotesView | null;

  private shownView: OpenFile['view'];
  private wish = nothingWanted;
  private searches = 0;
  private searching: LatestOnly<SearchWish, SearchAnswer> | undefined;
  private stopReceiving: (() => void) | undefined;
  private readonly dark = matchMedia('(prefers-color-scheme: dark)');

  override connectedCallback(): void {
    super.connectedCallback();
    this.dataset['state'] = this.opener.state;
    this.stopReceiving = receiveFiles({
      open: (name, source) => void this.opener.open(name, source),
      refuse: (name, error) => this.opener.fail(name, error),
      dragging: (over) => (this.dragging = over),
    });
    document.addEventListener('keydown', this.keyDown);
    document.addEventListener('keyup', this.keyUp);
    this.dark.addEventListener('change', this.systemThemeChanged);
    const embedded = takeEmbeddedSnapshot();
    if (embedded) {
      markPicked();
      void this.opener.open(embedded.name, { file: embedded });
      return;
    }
    const wanted = fileOfAddress(new URL(location.href));
    if (wanted && 'error' in wanted) this.opener.fail(location.search, wanted.error);
    else if (wanted) {
      markPicked();
      void this.opener.open(wanted.name, wanted.source);
    }
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopReceiving?.();
    document.removeEventListener('keydown', this.keyDown);
    document.removeEventListener('keyup', this.keyUp);
    this.dark.removeEventListener('change', this.systemThemeChanged);
  }

  private readonly systemThemeChanged = (event: MediaQueryListEvent): void => {
    this.systemDark = event.matches;
  };

  private get theme(): Theme {
    if (this.themeChoice !== 'auto') return this.themeChoice;
    return this.systemDark ? 'dark' : 'light';
  }

  private toggleTheme(): void {
    this.themeChoice = this.theme === 'dark' ? 'light' : 'dark';
    saveSettings({ theme: this.themeChoice });
  }

  // -- One file, one device.

  protected override willUpdate(): void {
    const { file, state } = this.opener;
    if (file?.view !== this.shownView) this.viewChanged(file);
    document.title = file ? `${file.name} · memstrata` : 'memstrata';
    document.documentElement.style.colorScheme = this.theme;
    this.dataset['theme'] = this.theme;
    this.dataset['state'] = state;
  }

  private viewChanged(file: OpenFile | undefined): void {
    this.shownView = file?.view;
    this.pinned = undefined;
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
    this.opener.prepareNext();
  }

  private get diagnostics(): readonly Diagnostic[] {
    return this.opener.file?.diagnostics ?? [];
  }

  private openSample({ detail: path }: CustomEvent<string>): void {
    markPicked();
    const url = new URL(path, document.baseURI).href;
    void this.opener.open(path.slice(path.lastIndexOf('/') + 1), { url });
  }

  // -- Pin and search.

  private togglePin(block: BlockDetails | undefined): void {
    this.pinned = block && block.rank === this.pinned?.rank ? undefined : block;
  }

  private showFound(answer: SearchAnswer, wish: SearchWish): void {
    this.searches += 1;
    this.match = -1;
    this.found = wish.text === '' ? undefined : answer;
    this.highlight = wish.text !== '' && answer.count > 0 ? String(this.searches) : '';
  }

  private async stepMatch(by: 1 | -1): Promise<void> {
    const engine = this.opener.file?.engine;
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

  // -- Keys.

  private readonly keyDown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || this.opener.state === 'loading') return;
    const path = event.composedPath();
    if (path.some((node) => node instanceof HTMLDialogElement)) return;
    const target = path[0];
    const typing =
      target instanceof HTMLSelectElement ||
      target instanceof HTMLTextAreaElement ||
      (target instanceof HTMLInputElement && target.type !== 'radio' && target.type !== 'file');
    if (typing) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'c') {
      if (
        this.details &&
        (this.pinned ?? this.pointed) &&
        !somethingSelected([this.shadowRoot, this.details.shadowRoot])
      )
        this.details.copy();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrows = event.code.startsWith('Arrow');
    const ownArrows =
      arrows && (target instanceof HTMLInputElement || path.includes(this.details as EventTarget));
    const movement = movements[event.code];
    if (movement && this.timeline && !ownArrows) {
      event.preventDefault();
      this.timeline.press(movement[event.shiftKey ? 1 : 0]);
      return;
    }
    if (this.act(event, target)) event.preventDefault();
  };

  private readonly keyUp = (event: KeyboardEvent): void => {
    const movement = movements[event.code];
    for (const one of movement ?? []) this.timeline?.release(one);
  };

  /** True if the key meant something. */
  private act(event: KeyboardEvent, target: EventTarget | undefined): boolean {
    const { timeline } = this;
    switch (event.key.length === 1 ? event.key.toLowerCase() : event.key) {
      case '?':
        this.keys.open();
        return true;
      case 't':
        this.toggleTheme();
        return true;
      case 'escape':
      case 'Escape':
        return this.stepBack();
      case '/':
        this.search?.focus();
        return this.search !== null;
    }
    if (!timeline) return false;
    switch (event.key.length === 1 ? event.key.toLowerCase() : event.key) {
      case 'f':
        if (event.shiftKey) void timeline.fitHeight();
        else timeline.fit();
        return true;
      case 'p':
        timeline.goToPeak();
        return true;
      case 'o':
        timeline.nextOom();
        return true;
      case 'e':
        void timeline.changeAxis(this.axis === 'event' ? 'time' : 'event');
        return true;
      case 'n':
        void this.stepMatch(event.shiftKey ? -1 : 1);
        return true;
      case '[':
        timeline.stepEvent(-1);
        return true;
      case ']':
        timeline.stepEvent(1);
        return true;
      case 'Enter':
      case ' ':
        if (!(target instanceof HTMLElement) || !target.classList.contains('plot')) return false;
        timeline.pinAtCursor();
        return true;
    }
    return false;
  }

  /** `Esc`: one level. */
  private stepBack(): boolean {
    if (this.opener.failure) {
      this.opener.cancel();
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

  // -- The page.

  protected override render(): TemplateResult {
    const { file, loading, failure } = this.opener;
    return html`
      ${this.topBar(file)} ${file ? this.fileParts(file) : nothing}
      <main>
        ${file ? this.body(file) : nothing}
        ${!file && !loading && !failure ? html`<memstrata-start @file=${this.chosen} @sample=${this.openSample}></memstrata-start>` : nothing}
        ${
          loading || failure
            ? html`<div class="cover ${file ? 'over' : ''}">
                ${
                  loading
                    ? html`<memstrata-loading
                        .loading=${loading}
                        @cancel=${() => this.opener.cancel()}></memstrata-loading>`
                    : nothing
                }
                ${
                  failure
                    ? html`<memstrata-failure
                        .failure=${failure}
                        .behind=${file?.name ?? ''}
                        @file=${this.chosen}
                        @back=${() => this.opener.cancel()}></memstrata-failure>`
                    : nothing
                }
              </div>`
            : nothing
        }
      </main>
      <memstrata-keys></memstrata-keys>
      ${this.dragging ? html`<div class="drop" aria-hidden="true"><p>Drop to open</p></div>` : nothing}
    `;
  }

  private readonly chosen = (event: CustomEvent<File>): void => {
    void this.opener.open(event.detail.name, { file: event.detail });
  };

  private topBar(file: OpenFile | undefined): TemplateResult {
    const other = this.theme === 'dark' ? 'light' : 'dark';
    return html`<header class="top">
      <div class="brand">
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <rect x="2" y="12.5" width="16" height="4.5" rx="1.2" class="b1"></rect>
          <rect x="5" y="7.5" width="11" height="4" rx="1.2" class="b2"></rect>
          <rect x="8" y="3" width="5.5" height="3.5" rx="1.2" class="b3"></rect>
        </svg>
        <h1>memstrata</h1>
      </div>
      ${file ? this.fileChoice(file) : nothing}
      <div class="end">
        <button
          class="button quiet icon"
          title="Use the ${other} theme (T)"
          aria-label="Use the ${other} theme"
          @click=${() => this.toggleTheme()}>
          ${this.theme === 'dark' ? symbols.sun : symbols.moon}
        </button>
        <button class="button quiet icon" title="Keys (?)" aria-label="Keys" @click=${() => this.keys.open()}>
          ?
        </button>
      </div>
    </header>`;
  }

  private fileChoice(file: OpenFile): TemplateResult {
    const { snapshots } = file.contents;
    const devices = snapshots[file.snapshot]?.devices ?? [];
    return html`<div class="file">
      <span class="file-name" title=${file.name}>${file.name}</span>
      <span class="file-size" title=${formatExactBytes(file.bytes)}>${formatBytes(file.bytes)}</span>
      <span class="file-size" data-format>${file.contents.format}</span>
      <memstrata-file-button label="Open…" @file=${this.chosen}></memstrata-file-button>
      ${
        snapshots.length > 1
          ? html`<select
              class="field"
              aria-label="Snapshot"
              .value=${live(String(file.snapshot))}
              @change=${(event: Event) => this.chooseSnapshot(file, Number((event.target as HTMLSelectElement).value))}>
              ${snapshots.map(({ name }, index) => html`<option value=${index} ?selected=${index === file.snapshot}>${name || `Snapshot ${index + 1}`}</option>`)}
            </select>`
          : nothing
      }
      ${
        devices.length > 1
          ? html`<select
              class="field"
              aria-label="Device"
              ?disabled=${this.opener.switching}
              .value=${live(String(file.view?.device ?? ''))}
              @change=${(event: Event) =>
                void this.opener.openDevice(
                  file.snapshot,
                  Number((event.target as HTMLSelectElement).value),
                )}>
              ${devices.map(
                ({ device, events }) =>
                  html`<option value=${device} ?selected=${device === file.view?.device}>
                    Device ${device} · ${events > 0 ? `${formatCount(events)} events` : 'state only'}
                  </option>`,
              )}
            </select>`
          : devices.length === 1
            ? html`<span class="device">Device ${devices[0]?.device}</span>`
            : nothing
      }
    </div>`;
  }

  private chooseSnapshot(file: OpenFile, snapshot: number): void {
    const devices = [...(file.contents.snapshots[snapshot]?.devices ?? [])];
    devices.sort((a, b) => b.events - a.events);
    const device = devices[0]?.device;
    if (device !== undefined) void this.opener.openDevice(snapshot, device);
  }

  private fileParts(file: OpenFile): TemplateResult {
    const lost = this.diagnostics.filter(({ severity }) => severity === 'error');
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
                @step=${(event: CustomEvent<1 | -1>) => void this.stepMatch(event.detail)}></memstrata-search>
            </div>`
          : nothing
      }
      ${
        file.died
          ? html`<div class="banner bad" role="alert" data-banner="died">
              <p>
                <strong>The engine stopped.</strong> ${deathText(file.died)} What is on the screen stays;
                nothing more can be asked.
              </p>
              <button class="button small" @click=${() => this.opener.reopen()}>Open the file again</button>
            </div>`
          : nothing
      }
      ${lost.map(
        (one) =>
          html`<div class="banner" role="status" data-banner=${one.name}>
            <p>${bannerText(one)}</p>
            <button class="button small" @click=${() => this.notes?.open()}>All notes</button>
          </div>`,
      )}
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
      <div
        class="splitter"
        role="separator"
        tabindex="0"
        aria-orientation="vertical"
        aria-label="Width of the details"
        aria-valuemin=${narrowest}
        aria-valuemax=${widest}
        aria-valuenow=${this.detailsWidth}
        @pointerdown=${this.startResize}
        @pointermove=${this.resizing}
        @pointerup=${this.endResize}
        @keydown=${this.resizeByKey}></div>
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

  private readonly startResize = (event: PointerEvent): void => {
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    event.preventDefault();
  };
  private readonly resizing = (event: PointerEvent): void => {
    if (!(event.currentTarget as HTMLElement).hasPointerCapture(event.pointerId)) return;
    this.setDetailsWidth(this.getBoundingClientRect().right - event.clientX);
  };
  private readonly endResize = (): void => saveSettings({ detailsWidth: this.detailsWidth });
  private readonly resizeByKey = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: 16, ArrowRight: -16 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.setDetailsWidth(this.detailsWidth + by);
    this.endResize();
  };
  private setDetailsWidth(width: number): void {
    const most = Math.min(widest, this.clientWidth - 320);
    this.detailsWidth = Math.round(Math.max(narrowest, Math.min(width, most)));
  }

  static override styles = [
    tokens,
    base,
    css`
      :host {
        display: flex;
        flex-direction: column;
        height: 100vh;
        height: 100dvh;
        background: var(--bg);
        color: var(--text);
        font:
          14px/1.4 system-ui,
          -apple-system,
          'Segoe UI',
          Roboto,
          sans-serif;
      }
      .top {
        display: flex;
        align-items: center;
        gap: 8px 16px;
        min-height: 48px;
        padding: 8px 12px 8px 16px;
        background: var(--surface);
        border-bottom: 1px solid var(--line);
      }
      .brand {
        display: flex;
        align-items: center;
        gap: 8px;
      }
      .brand svg {
        width: 20px;
        height: 20px;
      }
      .b1 {
        fill: #4f7fbd;
      }
      .b2 {
        fill: #2f8f8b;
      }
      .b3 {
        fill: #c4a35a;
      }
      h1 {
        margin: 0;
        font-size: 15px;
        font-weight: 650;
        letter-spacing: -0.01em;
      }
      .file {
        display: flex;
        align-items: center;
        gap: 8px;
        min-width: 0;
        flex: 0 1 auto;
      }
      .file-name {
        min-width: 60px;
        max-width: 480px;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
        font-weight: 550;
      }
      .file-size,
      .device {
        color: var(--dim);
        white-space: nowrap;
        font-variant-numeric: tabular-nums;
      }
      .second {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 0 16px;
        padding: 4px 12px 4px 6px;
        background: var(--surface);
        border-bottom: 1px solid var(--line);
      }
      memstrata-stats {
        flex: 1 1 auto;
      }
      memstrata-search {
        flex: 0 1 500px;
        min-width: min(100%, 300px);
        padding: 4px 0 4px 6px;
      }
      .end {
        display: flex;
        gap: 4px;
        margin-left: auto;
      }
      .end .button {
        font-size: 15px;
      }
      .banner {
        display: flex;
        align-items: center;
        justify-content: space-between;
        gap: 8px 16px;
        padding: 8px 16px 8px 20px;
        background: var(--warn-soft);
        border-bottom: 1px solid var(--line);
      }
      .banner.bad {
        background: var(--bad-soft);
      }
      .banner p {
        margin: 0;
        overflow-wrap: anywhere;
      }
      main {
        position: relative;
        flex: 1;
        min-height: 0;
        display: flex;
        flex-direction: column;
      }
      memstrata-start {
        flex: 1;
        min-height: 0;
      }
      .work {
        flex: 1;
        min-height: 0;
        display: grid;
        grid-template-columns: minmax(0, 1fr) 1px min(var(--details), calc(100% - 320px));
      }
      .splitter {
        position: relative;
        background: var(--line);
        cursor: col-resize;
        touch-action: none;
      }
      .splitter::after {
        content: '';
        position: absolute;
        inset: 0 -4px;
        z-index: 1;
      }
      .splitter:hover,
      .splitter:focus-visible {
        background: var(--accent);
        box-shadow: 0 0 0 1px var(--accent);
        outline: none;
      }
      .nothing {
        margin: auto;
        padding: 24px;
        max-width: 52ch;
        line-height: 1.5;
      }
      .nothing h2 {
        margin: 0 0 8px;
        font-size: 20px;
      }
      .nothing p {
        margin: 0;
        color: var(--dim);
      }
      .cover {
        flex: 1;
        display: grid;
        min-height: 0;
      }
      .cover.over {
        position: absolute;
        inset: 0;
        z-index: 5;
        background: color-mix(in srgb, var(--bg) 70%, transparent);
      }
      .drop {
        position: fixed;
        inset: 8px;
        z-index: 20;
        display: grid;
        place-items: center;
        border: 2px dashed var(--accent);
        border-radius: 12px;
        background: color-mix(in srgb, var(--accent-soft) 85%, transparent);
        color: var(--accent);
        font-size: 20px;
        font-weight: 600;
        pointer-events: none;
      }
      @media (max-width: 1200px) {
        memstrata-search {
          flex: 1 1 500px;
        }
      }
      @media (max-width: 899px) {
        :host {
          height: auto;
          min-height: 100dvh;
        }
        .work {
          grid-template-columns: minmax(0, 1fr);
          grid-template-rows: minmax(360px, 60dvh) 1px auto;
        }
        .splitter {
          pointer-events: none;
        }
        .splitter::after {
          display: none;
        }
      }
      @media (max-width: 640px) {
        .top {
          flex-wrap: wrap;
        }
        .file {
          order: 4;
          flex: 1 0 100%;
          flex-wrap: wrap;
        }
        .file-name {
          flex: 1;
        }
        .banner {
          flex-wrap: wrap;
        }
      }
    `,
  ];
}

function bannerText({ name, first_offset, first_in, text }: Diagnostic): TemplateResult {
  const place =
    typeof first_offset === 'number' && first_offset >= 0
      ? ` at byte ${formatCount(first_offset)}${first_in ? ` of ${first_in}` : ''}`
      : '';
  const next = nextTime[name] ?? '';
  if (name === 'truncated')
    return html`<strong>Truncated${place}:</strong> shown is what came before. ${next}`;
  return html`<strong>Partial file${place ? `, stopped${place}` : ''}.</strong> ${text} ${next}`;
}

/** How to get a whole file, by diagnostic. */
const nextTime: Record<string, string> = {
  truncated: 'Dump again, and check that the disk has room and the job lives until the dump is written.',
  damaged: 'Copy the file again, or dump it again.',
  budget_exhausted: 'Record fewer events next time (max_entries of _record_memory_history).',
};

function deathText({ code, message }: EngineError): string {
  return code === 'out_of_memory'
    ? `The browser gives this page no more memory (${message}).`
    : `This is a defect of memstrata, not of your file (${message}).`;
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
