// The events of the device, one row each, however many there are: only the rows that are seen exist, and only those
// (and some around them) are asked for (controls/sheet.ts).
import { reasonOf } from '../../base/reason.ts';
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount, formatExactBytes, formatMoment } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import {
  type Args,
  type EngineView,
  EngineFailure,
  type EngineError,
  type EventDetails,
  type EventRow,
  type StateInfo,
} from '../../../engine/index.ts';
import { RowWindow } from '../../controls/row_window.ts';
import '../../controls/sheet.ts';
import type { SeenRows, Sheet, SheetColumn, SheetRow } from '../../controls/sheet.ts';
import './event_filter.ts';
import type { Jump } from './event_filter.ts';
import { tell, type Kept, type PanelPage } from '../panel.ts';
import { base, column } from '../../controls/styles.ts';

export interface EventsKept {
  /** Which are listed, in the engine's language. */
  filter: string;
}

const around = 60; // rows asked for before and behind those that are seen

/** Tells `choose-event`, `point-thing` and `choose-thing` (panels/panel.ts). */
@element('gpustrata-event-list')
export class EventListView extends LitElement {
  @property({ attribute: false }) page!: PanelPage;
  @property({ attribute: false }) kept!: Kept<EventsKept>;

  @state() private info: StateInfo | undefined;
  @state() private count = 0;
  /** In the engine's language. */
  @state() private text = '';
  @state() private wrong: EngineError | undefined;
  @state() private problem: string | undefined;
  /** Of the chosen event, or of the next one that is listed. */
  @state() private row = -1;
  @query('gpustrata-sheet') private sheet!: Sheet | null;

  private readonly window = new RowWindow(22);
  private seen: SeenRows = { first: 0, end: 0, top: 0 };
  /** `isOld`: of the recording before it grew. */
  private loaded: { first: number; rows: readonly EventRow[]; isOld?: boolean } = { first: 0, rows: [] };
  private view: EngineView | undefined;
  private rows: LatestOnly<Args<'eventRows'>, EventRow[]> | undefined;
  /** What is listed. */
  private listed = '';
  private filters: LatestOnly<string, number> | undefined;
  private pointing: LatestOnly<number, EventDetails | null> | undefined;
  private choosing: LatestOnly<number, EventDetails | null> | undefined;
  private pointed = -1;
  /** Counts the lists: answers about an older one are of no use. */
  private epoch = 0;

  override focus(): void {
    this.sheet?.focus();
  }

  /** Lists what it means. */
  filter(text: string): void {
    this.text = text;
    this.kept.keep({ filter: text });
    this.wrong = undefined;
    this.filters?.request(text);
  }

  // -- Another device, another event.

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.has('page') ? changed.get('page') : this.page;
    if (before?.view !== this.page.view) this.start(before?.view.run === this.page.view.run);
    else if (changed.has('kept')) this.filter(this.kept.value.filter);
    else if (before.event !== this.page.event) void this.findRow();
  }

  /** `isNext`: the recording has grown; the rows stay until they are there anew. */
  private start(isNext: boolean): void {
    const { view } = this.page;
    this.epoch += 1;
    const { epoch } = this;
    const isCurrent = (): boolean => epoch === this.epoch;
    const failed = (error: unknown): void => {
      if (isCurrent() && view.alive) this.problem = reasonOf(error);
    };
    this.view = view;
    this.problem = undefined;
    if (!isNext) {
      this.listed = '';
      this.info = undefined;
      this.count = 0;
      this.loaded = { first: 0, rows: [] };
    }
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
      (count, filter) => isCurrent() && void this.list(filter, count, isNext),
      (error) => {
        // What the one before meant stays listed.
        if (error instanceof EngineFailure && error.reason.offset >= 0) this.wrong = error.reason;
        else failed(error);
      },
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
    this.filter(this.kept.value.filter);
  }

  /** `isNext`: one looks at the same rows. */
  private async list(filter: string, count: number, isNext: boolean): Promise<void> {
    const isSame = isNext && filter === this.listed;
    this.listed = filter;
    this.count = count;
    this.loaded = isSame ? { ...this.loaded, isOld: true } : { first: 0, rows: [] };
    if (isSame) this.load();
    await this.findRow(!isSame);
  }

  /** The row of the chosen event, into view. */
  private async findRow(middle = false): Promise<void> {
    const { event } = this.page;
    const { epoch } = this;
    let row = event;
    if (!this.isAll && event >= 0)
      row = (await this.view?.ask('rowOfEvent', { filter: this.listed, event }).catch(() => -1)) ?? -1;
    if (epoch !== this.epoch || event !== this.page.event) return;
    this.row = row;
    await this.updateComplete;
    if (middle && row >= 0 && row < this.count) this.sheet?.centre(row);
  }

  private load(): void {
    const { loaded, count, seen } = this;
    const { first, end } = seen;
    const from = Math.max(0, first - around / 3);
    const to = Math.min(count, end + around / 3);
    if (!loaded.isOld && loaded.first <= from && loaded.first + loaded.rows.length >= to) return;
    const start = Math.max(0, first - around);
    this.rows?.request({ filter: this.listed, first: start, count: end + around - start });
  }

  private get isAll(): boolean {
    return this.listed.trim() === '';
  }

  private rowAt(index: number): EventRow | undefined {
    return this.loaded.rows[index - this.loaded.first];
  }

  // -- Choosing.

  private async choose(row: number, step: boolean): Promise<void> {
    if (this.count === 0) return;
    if (row < 0 && this.isAll) return tell(this, 'choose-event', { event: -1, step }); // before the first
    const index = Math.min(Math.max(row, 0), this.count - 1);
    this.row = index; // at once: the next key starts here
    let event = this.isAll ? index : this.rowAt(index)?.event;
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
    const { count, problem, info } = this;
    const digits = formatCount(info?.events ?? 0).length;
    const columns: SheetColumn[] = [
      { name: '', look: 'number dim', width: `calc(${digits}ch + 16px)` },
      { name: '', look: 'action', width: '106px' },
      { name: '', look: 'name', width: 'minmax(80px, 1fr)' },
      { name: '', look: 'dim', width: 'auto' },
      { name: '', look: 'number', width: '76px' },
      { name: '', look: 'number dim time', width: 'var(--time, 0)' },
    ];
    return html`
      <gpustrata-event-filter
        .text=${this.text}
        .wrong=${this.wrong}
        .info=${info}
        .found=${count}
        @filter=${(event: CustomEvent<string>) => this.filter(event.detail)}
        @jump=${(event: CustomEvent<Jump>) => void this.jump(event.detail)}></gpustrata-event-filter>
      ${problem === undefined ? nothing : html`<p role="alert">The events cannot be listed: ${problem}</p>`}
      <gpustrata-sheet
        label="Events"
        .window=${this.window}
        .columns=${columns}
        .rowAt=${(index: number) => this.line(index)}
        .count=${count}
        .current=${this.row}
        ?beforeFirst=${this.isAll}
        .empty=${info ? html`<p>${this.nothing()}</p>` : nothing}
        .data=${{ loaded: this.rowAt(this.seen.first) || count === 0 ? 'true' : 'false' }}
        @seen=${({ detail }: CustomEvent<SeenRows>) => {
          this.seen = detail;
          this.load();
        }}
        @current=${({ detail }: CustomEvent<number>) => void this.choose(detail, true)}
        @pick=${({ detail }: CustomEvent<number>) => void this.choose(detail, false)}
        @point=${({ detail }: CustomEvent<number>) => this.point(detail)}></gpustrata-sheet>
    `;
  }

  private nothing(): string {
    return this.isAll
      ? 'No events of this device: what is shown is the state when it was saved.'
      : 'The filter means no event.';
  }

  protected override updated(): void {
    if (this.count > 0) this.load();
  }

  private line(index: number): SheetRow | undefined {
    const row = this.rowAt(index);
    if (!row) return undefined;
    const next = this.rowAt(index + 1);
    const { pinned, info } = this.page;
    // A request and its completion right behind it read as one free.
    const isFree = row.action === 'free_requested' && next?.follows_request === true;
    const action = row.follows_request ? 'completed' : isFree ? 'free' : row.action;
    const kind = row.follows_request
      ? 'follows'
      : action === 'oom'
        ? 'oom'
        : action.startsWith('segment')
          ? 'segment'
          : '';
    const ofPinned = pinned !== undefined && row.name === pinned.name;
    const time =
      row.time_us !== null && info.first_time_us !== null
        ? formatMoment(row.time_us - info.first_time_us)
        : '';
    const isOwn = !row.follows_request;
    return {
      key: index,
      look: `${kind} ${ofPinned ? 'pinned' : ''}`,
      selected: index === this.row && row.event === this.page.event,
      data: { event: row.event, action: row.action },
      cells: [
        { text: formatCount(row.event) },
        { text: action },
        { text: isOwn ? row.name : '' },
        {
          text:
            isOwn && row.stream !== 0 ? html`<span title="stream ${row.stream}">s${row.stream}</span>` : '',
        },
        isOwn && row.action !== 'snapshot'
          ? { text: formatBytes(row.size), says: formatExactBytes(row.size) }
          : { text: '' },
        { text: isOwn ? time : '' },
      ],
    };
  }

  static override styles = [
    base,
    column,
    css`
      :host {
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
      }
      gpustrata-sheet {
        flex: 1;
        min-height: 66px;
        border-top: 1px solid var(--line);
        font-size: 12px;
      }
      @container (min-width: 520px) {
        gpustrata-sheet {
          --time: 112px;
        }
      }
    `,
  ];
}
