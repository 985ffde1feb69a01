// The events of the device, one row each, however many there are: only the rows that are seen exist, and only those
// (and some around them) are asked for. Where the scroll bar stands: controls/row_window.ts.
import { reasonOf } from '../../base/reason.ts';
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { repeat } from 'lit/directives/repeat.js';
import { formatBytes, formatCount, formatExactBytes, formatMoment } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import {
  type Args,
  type EngineView,
  type EventDetails,
  type EventFilter,
  type EventRow,
  type StateInfo,
} from '../../../engine/index.ts';
import { filterOf, isEmpty, noFields, type EventFields } from './event_fields.ts';
import { RowWindow } from '../../controls/row_window.ts';
import './event_filter.ts';
import type { Jump } from './event_filter.ts';
import { tell, type Kept, type PanelPage } from '../panel.ts';
import { base } from '../../controls/styles.ts';
import { Resized } from '../../controls/resized.ts';

const rowHeight = 22;
const around = 60; // rows asked for before and behind those that are seen
const restMs = 150; // after which the scroll bar is put where it belongs

/** Tells `choose-event`, `point-thing` and `choose-thing` (panels/panel.ts). */
@element('gpustrata-event-list')
export class EventListView extends LitElement {
  @property({ attribute: false }) page!: PanelPage;
  @property({ attribute: false }) kept!: Kept<EventFields>;

  @state() private info: StateInfo | undefined;
  @state() private count = 0;
  @state() private fields: EventFields = noFields;
  @state() private wrong: keyof EventFields | undefined;
  @state() private problem: string | undefined;
  /** Of the chosen event, or of the next one that is listed. */
  @state() private row = -1;
  @query('.scroller') private scroller!: HTMLDivElement | null;

  private readonly window = new RowWindow(rowHeight);
  private loaded: { first: number; rows: readonly EventRow[] } = { first: 0, rows: [] };
  private view: EngineView | undefined;
  private rows: LatestOnly<Args<'eventRows'>, EventRow[]> | undefined;
  /** What is listed. */
  private listed: EventFilter = {};
  private filters: LatestOnly<EventFilter, number> | undefined;
  private pointing: LatestOnly<number, EventDetails | null> | undefined;
  private choosing: LatestOnly<number, EventDetails | null> | undefined;
  private pointed = -1;
  private resting: ReturnType<typeof setTimeout> | undefined;
  /** Counts the lists: answers about an older one are of no use. */
  private epoch = 0;
  protected readonly resized = new Resized(
    this,
    () => this.scroller,
    () => this.measure(),
  );

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.resting);
    this.point(-1);
  }

  override focus(): void {
    this.scroller?.focus();
  }

  /** Lists what these fields mean. */
  filter(fields: EventFields): void {
    this.fields = fields;
    this.kept.keep(fields);
    const meant = filterOf(fields);
    this.wrong = 'wrong' in meant ? meant.wrong : undefined;
    if ('filter' in meant) this.filters?.request(meant.filter);
  }

  // -- Another device, another event.

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.has('page') ? changed.get('page') : this.page;
    if (before?.view !== this.page.view) this.start();
    else if (changed.has('kept')) this.filter(this.kept.value);
    else if (before.event !== this.page.event) void this.findRow();
  }

  private start(): void {
    const { view } = this.page;
    this.epoch += 1;
    const { epoch } = this;
    const isCurrent = (): boolean => epoch === this.epoch;
    const failed = (error: unknown): void => {
      if (isCurrent() && view.alive) this.problem = reasonOf(error);
    };
    this.view = view;
    this.listed = {};
    this.info = undefined;
    this.count = 0;
    this.problem = undefined;
    this.loaded = { first: 0, rows: [] };
    this.rows = new LatestOnly(
      (part) => view.ask('eventRows', part),
      (rows, { first, filter }) => {
        if (!isCurrent() || filter !== this.listed) return;
        this.loaded = { first, rows };
        this.requestUpdate();
      },
      failed,
    );
    this.filters = new LatestOnly(
      (filter) => view.ask('filterEvents', { filter }),
      (count, filter) => isCurrent() && void this.list(filter, count),
      failed,
    );
    const details = (deliver: (thing: EventDetails) => void): LatestOnly<number, EventDetails | null> =>
      new LatestOnly(
        (event) => view.ask('event', { event }),
        (answer) => answer && isCurrent() && deliver(answer),
        () => undefined, // nothing is shown then
      );
    this.pointing = details((event) => {
      if (this.pointed >= 0) tell(this, 'point-thing', { kind: 'event', event });
    });
    this.choosing = details((event) => tell(this, 'choose-thing', { kind: 'event', event }));
    view.ask('states', {}).then((info) => isCurrent() && (this.info = info), failed);
    this.filter(this.kept.value);
  }

  private async list(filter: EventFilter, count: number): Promise<void> {
    this.listed = filter;
    this.count = count;
    this.loaded = { first: 0, rows: [] };
    this.measure();
    await this.findRow(true);
  }

  /** The row of the chosen event, into view. */
  private async findRow(middle = false): Promise<void> {
    const { event } = this.page;
    const { epoch } = this;
    let row = event;
    if (!isEmpty(this.fields) && event >= 0)
      row = (await this.view?.ask('rowOfEvent', { filter: this.listed, event }).catch(() => -1)) ?? -1;
    if (epoch !== this.epoch || event !== this.page.event) return;
    this.row = row;
    if (row < 0 || row >= this.count) return this.requestUpdate();
    if (middle) this.window.centre(row);
    else this.window.show(row);
    this.placeBar();
  }

  // -- Scrolling.

  private measure(): void {
    this.window.resize(this.count, this.scroller?.clientHeight ?? 0);
    this.requestUpdate();
  }

  private readonly scrolled = (): void => {
    const { scroller } = this;
    if (!scroller) return;
    this.window.scrolled(scroller.scrollTop);
    this.point(-1); // another row is under the pointer
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.placeBar(), restMs);
    this.requestUpdate();
  };

  private readonly wheeled = (event: WheelEvent): void => {
    if (!this.window.isMapped || event.ctrlKey) return; // the browser does it
    event.preventDefault();
    const unit = event.deltaMode === 1 ? rowHeight : event.deltaMode === 2 ? this.window.page * rowHeight : 1;
    this.window.moveBy(event.deltaY * unit);
    this.point(-1);
    this.placeBar();
  };

  private placeBar(): void {
    this.requestUpdate();
    void this.updateComplete.then(() => {
      const bar = this.window.resync();
      if (this.scroller && this.scroller.scrollTop !== bar) this.scroller.scrollTop = bar;
    });
  }

  private load(): void {
    const { first, end } = this.window;
    const { loaded, count } = this;
    const from = Math.max(0, first - around / 3);
    const to = Math.min(count, end + around / 3);
    if (loaded.first <= from && loaded.first + loaded.rows.length >= to) return;
    const start = Math.max(0, first - around);
    this.rows?.request({ filter: this.listed, first: start, count: end + around - start });
  }

  private rowAt(index: number): EventRow | undefined {
    return this.loaded.rows[index - this.loaded.first];
  }

  // -- Choosing.

  private async choose(row: number, step: boolean): Promise<void> {
    if (this.count === 0) return;
    const index = Math.min(Math.max(row, 0), this.count - 1);
    this.row = index; // at once: the next key starts here
    let event = isEmpty(this.fields) ? index : this.rowAt(index)?.event;
    if (event === undefined) {
      const { epoch } = this;
      const { listed: filter } = this;
      const rows = await this.view
        ?.ask('eventRows', { filter, first: index, count: 1 })
        .catch(() => undefined);
      if (epoch !== this.epoch || filter !== this.listed || this.row !== index) return;
      event = rows?.[0]?.event;
    }
    if (event === undefined) return;
    this.chooseEvent(event, step);
  }

  private chooseEvent(event: number, step: boolean): void {
    tell(this, 'choose-event', { event, step, told: true });
    this.choosing?.request(event);
  }

  private async jump({ kind, backwards }: Jump): Promise<void> {
    const from = this.page.event;
    const { epoch } = this;
    const found = await this.view?.ask('findEvent', { kind, from, backwards }).catch(() => -1);
    // Around the end.
    const end = backwards ? (this.info?.events ?? 0) : -1;
    const event =
      found === undefined || found < 0
        ? await this.view?.ask('findEvent', { kind, from: end, backwards }).catch(() => -1)
        : found;
    if (epoch === this.epoch && event !== undefined && event >= 0) this.chooseEvent(event, false);
  }

  private readonly key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { page } = this.window;
    const to = {
      ArrowUp: this.row - 1,
      ArrowDown: this.row + 1,
      PageUp: this.row - page,
      PageDown: this.row + page,
      Home: 0,
      End: this.count - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (event.key === 'ArrowUp' && this.row === 0 && isEmpty(this.fields))
      tell(this, 'choose-event', { event: -1, step: true }); // before the first
    else void this.choose(to, true);
  };

  private indexAt(event: MouseEvent): number {
    const rect = this.scroller?.getBoundingClientRect();
    if (!rect || event.clientX > rect.left + (this.scroller?.clientWidth ?? 0)) return -1;
    const row = Math.floor((this.window.top + event.clientY - rect.top) / rowHeight);
    return row < this.count ? row : -1;
  }

  private point(row: number): void {
    if (row === this.pointed) return;
    this.pointed = row;
    const event = this.rowAt(row)?.event;
    if (event !== undefined) this.pointing?.request(event);
    else {
      this.pointing?.forget();
      tell(this, 'point-thing', undefined);
    }
  }

  // -- The list.

  protected override render(): TemplateResult {
    const { window, count, problem } = this;
    window.resize(count, this.scroller?.clientHeight ?? 0);
    const { first, end } = window;
    const indices = Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i);
    const active = this.row >= first && this.row < end ? `row-${this.row}` : nothing;
    return html`
      <gpustrata-event-filter
        .fields=${this.fields}
        .wrong=${this.wrong}
        .info=${this.info}
        .found=${count}
        @fields=${(event: CustomEvent<EventFields>) => this.filter(event.detail)}
        @jump=${(event: CustomEvent<Jump>) => void this.jump(event.detail)}></gpustrata-event-filter>
      ${problem === undefined ? nothing : html`<p role="alert">The events cannot be listed: ${problem}</p>`}
      <div
        class="scroller"
        role="listbox"
        tabindex="0"
        aria-label="Events"
        aria-activedescendant=${active}
        data-loaded=${this.rowAt(first) || count === 0 ? 'true' : 'false'}
        .style=${`--digits: ${formatCount(this.info?.events ?? 0).length}`}
        @scroll=${this.scrolled}
        @wheel=${this.wheeled}
        @keydown=${this.key}
        @pointermove=${(event: PointerEvent) => this.point(event.pointerType === 'touch' ? -1 : this.indexAt(event))}
        @pointerleave=${() => this.point(-1)}
        @click=${(event: MouseEvent) => {
          const row = this.indexAt(event);
          if (row >= 0) void this.choose(row, false);
        }}>
        <div class="window" role="none">
          ${count === 0 && this.info ? html`<p class="nothing" role="none">${this.nothing()}</p>` : nothing}
          ${repeat(
            indices,
            (index) => index,
            (index) => this.line(index),
          )}
        </div>
        <div
          class="bar"
          role="none"
          .style=${`height: ${Math.max(0, window.barHeight - (this.scroller?.clientHeight ?? 0))}px`}></div>
      </div>
    `;
  }

  private nothing(): string {
    return isEmpty(this.fields)
      ? 'No events in this file: what is shown is the state when it was saved.'
      : 'No event is meant by these fields.';
  }

  protected override updated(): void {
    if (this.count > 0) this.load();
  }

  private line(index: number): TemplateResult {
    const row = this.rowAt(index);
    const next = this.rowAt(index + 1);
    const { pinned, info } = this.page;
    // A request and its completion right behind it read as one free.
    const isFree = row?.action === 'free_requested' && next?.follows_request === true;
    const action = row?.follows_request ? 'completed' : isFree ? 'free' : (row?.action ?? '');
    const kind = row?.follows_request
      ? 'follows'
      : action === 'oom'
        ? 'oom'
        : action.startsWith('segment')
          ? 'segment'
          : '';
    const ofPinned = pinned !== undefined && row?.name === pinned.name;
    const time =
      row?.time_us !== null && row !== undefined && info.first_time_us !== null
        ? formatMoment(row.time_us - info.first_time_us)
        : '';
    return html`<div
      class="row ${kind} ${ofPinned ? 'pinned' : ''}"
      role="option"
      id="row-${index}"
      data-row=${index}
      data-event=${row?.event ?? nothing}
      data-action=${row?.action ?? nothing}
      aria-selected=${index === this.row && row?.event === this.page.event ? 'true' : 'false'}
      aria-setsize=${this.count}
      aria-posinset=${index + 1}
      .style=${`transform: translateY(${Math.round(index * rowHeight - this.window.top)}px)`}>
      <span class="event">${row ? formatCount(row.event) : '…'}</span>
      <span class="action">${action}</span>
      ${
        row && !row.follows_request
          ? html`<span class="name">${row.name}</span>
              ${row.stream === 0 ? nothing : html`<span class="stream" title="stream ${row.stream}">s${row.stream}</span>`}
              <span class="size" title=${formatExactBytes(row.size)}
                >${row.action === 'snapshot' ? '' : formatBytes(row.size)}</span
              >
              <span class="time">${time}</span>`
          : nothing
      }
    </div>`;
  }

  static override styles = [
    base,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-width: 0;
        min-height: 0;
        container-type: inline-size;
      }
      gpustrata-event-filter {
        flex: none;
      }
      @container (min-width: 760px) {
        :host {
          flex-direction: row;
        }
        gpustrata-event-filter {
          width: 344px;
          border-right: 1px solid var(--line);
        }
        .scroller {
          border-top: 0;
        }
      }
      p {
        margin: 0;
        padding: 8px;
        color: var(--dim);
        font-size: 13px;
      }
      p[role='alert'] {
        color: var(--bad);
      }
      .scroller {
        position: relative;
        flex: 1;
        min-height: 66px;
        overflow: hidden auto;
        overflow-anchor: none;
        border-top: 1px solid var(--line);
        font-size: 12px;
        font-variant-numeric: tabular-nums;
      }
      .scroller:focus-visible {
        outline-offset: -2px;
      }
      .window {
        position: sticky;
        top: 0;
        height: 100%;
        overflow: hidden;
      }
      .row {
        position: absolute;
        top: 0;
        left: 0;
        display: flex;
        align-items: center;
        gap: 6px;
        width: 100%;
        height: ${rowHeight}px;
        padding: 0 8px;
        white-space: nowrap;
        cursor: default;
      }
      .row:hover {
        background: var(--hover);
      }
      .row[aria-selected='true'] {
        background: var(--accent-soft);
        box-shadow: inset 2px 0 var(--accent);
      }
      .row.pinned .name {
        font-weight: 700;
        text-decoration: underline;
        text-underline-offset: 2px;
      }
      .event {
        flex: 0 0 calc(var(--digits) * 1ch);
        color: var(--dim);
        text-align: right;
      }
      .action {
        flex: 0 0 98px;
        overflow: hidden;
        text-overflow: ellipsis;
      }
      .name {
        flex: 1 1 118px;
        min-width: 0;
        overflow: hidden;
        font-family: var(--mono);
        font-size: 11.5px;
        text-overflow: ellipsis;
      }
      .size {
        flex: 0 0 60px;
        text-align: right;
      }
      .stream {
        flex: none;
        color: var(--dim);
      }
      .time {
        display: none;
        flex: 0 0 96px;
        color: var(--dim);
        text-align: right;
      }
      @container (min-width: 520px) {
        .time {
          display: block;
        }
      }
      .segment .action {
        color: var(--reserved);
      }
      .oom {
        color: var(--bad);
        font-weight: 600;
      }
      .follows .action {
        padding-left: 14px;
        color: var(--dim);
      }
      .follows .action::before {
        content: '└ ';
        margin-left: -14px;
      }
    `,
  ];
}
