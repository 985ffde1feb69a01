// A sheet: rows of one height under a head that stays. However many rows there are, only those that are seen exist (row_window.ts);
// whoever shows it has what is in them, and is told which ones are seen.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import type { CssPx } from '../base/units.ts';
import { withData, type Data } from './data.ts';
import { element } from './element.ts';
import { Resized } from './resized.ts';
import { RowWindow } from './row_window.ts';
import { sheetStyles } from './sheet_styles.ts';
import { base, column } from './styles.ts';

export interface SheetColumn {
  name: string;
  /** What it is, as a sentence. */
  says?: string;
  /** By which one sorts: the head is a button then. */
  sort?: string;
  /** Of its cells and head: `number`, `text`, `name`, `share`, `dim`, `first` (stays at the left). */
  look: string;
  /** As of a CSS grid. */
  width: string;
}
export interface SheetCell {
  text: unknown;
  /** The number to the last digit, or why there is none. */
  says?: string | undefined;
  look?: string;
  data?: Data;
}
export interface SheetRow {
  /** The same for the same row. */
  key: unknown;
  /** One for each column. */
  cells: readonly SheetCell[];
  look?: string;
  selected?: boolean;
  says?: string | undefined;
  data?: Data;
  /** Of a tree; `open` is undefined where there is nothing inside. */
  depth?: number;
  open?: boolean | undefined;
}
export interface SeenRows {
  first: number;
  /** Behind the last one. */
  end: number;
  /** Pixels above them. */
  top: CssPx;
}

const restMs = 150; // after which the scroll bar is put where it belongs

/** Tells `seen` (SeenRows), `sort`, and of a row: `current` (by keys), `choose` (Enter), `pick` (a click), `point` (-1 = none). */
@element('gpustrata-sheet')
export class Sheet extends LitElement {
  @property() label = '';
  @property({ attribute: false }) columns: readonly SheetColumn[] = [];
  /** Rows of the head below the names. */
  @property({ attribute: false }) heads: readonly SheetRow[] = [];
  @property({ attribute: false }) rowAt: (row: number) => SheetRow | undefined = () => undefined;
  @property({ type: Number }) count = 0;
  /** Where the keys are; -1 = nowhere, or before the first. */
  @property({ type: Number }) current = -1;
  /** The keys may go before the first row. */
  @property({ type: Boolean }) beforeFirst = false;
  @property() sort = '';
  @property({ type: Boolean }) descending = false;
  @property({ type: Boolean }) tree = false;
  /** In place of rows; of an element without rows. */
  @property({ attribute: false }) empty: unknown;
  /** Pixels above what is seen at first. */
  @property({ type: Number }) top: CssPx = 0;
  @property({ attribute: false }) window = new RowWindow(24);
  /** Of the grid. */
  @property({ attribute: false }) data: Data = {};
  @query('.scroller') private scroller!: HTMLDivElement | null;
  private seen: SeenRows = { first: -1, end: -1, top: -1 };
  private resting: ReturnType<typeof setTimeout> | undefined;
  private pointed = -1;
  protected readonly resized = new Resized(
    this,
    () => this.scroller,
    () => this.requestUpdate(),
  );

  override focus(): void {
    this.scroller?.focus();
  }
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.resting);
    this.point(-1);
  }

  /** The row into the middle. */
  centre(row: number): void {
    this.window.resize(this.count, this.room);
    this.window.centre(row);
    this.placeBar();
  }

  private get headRows(): number {
    return this.heads.length + (this.columns.some(({ name }) => name !== '') ? 1 : 0);
  }
  private get room(): CssPx {
    return Math.max(0, (this.scroller?.clientHeight ?? 0) - this.headRows * this.window.rowHeight);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('top') && this.top !== this.seen.top) this.window.top = this.top;
    this.window.resize(this.count, this.room);
  }
  protected override updated(changed: PropertyValues<this>): void {
    const { window, current } = this;
    const before = window.top;
    window.resize(this.count, this.room);
    if ((changed.has('current') || changed.has('count')) && current >= 0 && current < this.count)
      window.show(current);
    if (window.top !== before || (changed.has('top') && this.top !== this.seen.top)) this.placeBar();
    const { first, end, top } = window;
    const { seen } = this;
    if (first === seen.first && end === seen.end && top === seen.top) return;
    this.seen = { first, end, top };
    this.dispatchEvent(new CustomEvent<SeenRows>('seen', { detail: this.seen }));
    this.requestUpdate();
  }

  private tell(what: 'current' | 'choose' | 'pick' | 'point', row: number): void {
    this.dispatchEvent(new CustomEvent<number>(what, { detail: row }));
  }

  // -- Scrolling.

  private placeBar(): void {
    const bar = this.window.resync();
    if (this.scroller && this.scroller.scrollTop !== bar) this.scroller.scrollTop = bar;
    this.requestUpdate();
  }
  private readonly scrolled = (): void => {
    this.window.scrolled(this.scroller?.scrollTop ?? 0);
    this.point(-1); // another row is under the pointer
    clearTimeout(this.resting);
    if (this.window.isMapped) this.resting = setTimeout(() => this.placeBar(), restMs);
    this.requestUpdate();
  };
  private readonly wheeled = (event: WheelEvent): void => {
    const { window } = this;
    if (!window.isMapped || event.ctrlKey) return; // the browser does it
    event.preventDefault();
    const { rowHeight } = window;
    const unit = event.deltaMode === 1 ? rowHeight : event.deltaMode === 2 ? window.page * rowHeight : 1;
    window.moveBy(event.deltaY * unit);
    this.point(-1);
    this.placeBar();
  };

  // -- Keys and pointer.

  private readonly keys = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.composedPath()[0] !== this.scroller) return;
    const { current, count } = this;
    const { page } = this.window;
    const sideways = { ArrowRight: 80, ArrowLeft: -80 }[event.key];
    const to = {
      ArrowUp: current - 1,
      ArrowDown: current + 1,
      PageUp: current - page,
      PageDown: current + page,
      Home: 0,
      End: count - 1,
    }[event.key];
    const least = this.beforeFirst && event.key === 'ArrowUp' ? -1 : 0;
    if (to !== undefined) this.tell('current', Math.max(Math.min(to, count - 1), least));
    else if (event.key === 'Enter' || event.key === ' ') this.tell('choose', current);
    else if (sideways !== undefined && !this.tree) this.scroller?.scrollBy(sideways, 0);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  private rowUnder(event: Event): number {
    const row = (event.target as HTMLElement).closest<HTMLElement>('.rows > [role=row]');
    return row ? Number(row.id.slice('row-'.length)) : -1;
  }
  private readonly clicked = (event: Event): void => {
    const row = this.rowUnder(event);
    if (row >= 0) this.tell('pick', row);
  };
  private readonly moved = (event: PointerEvent): void =>
    this.point(event.pointerType === 'touch' ? -1 : this.rowUnder(event));
  private point(row: number): void {
    if (row === this.pointed) return;
    this.pointed = row;
    this.tell('point', row);
  }

  // -- The rows.

  protected override render(): TemplateResult {
    const { window, count, columns, heads, current, headRows } = this;
    const { first, rowHeight } = window;
    const end = Math.min(window.end + 1, count);
    const rows = Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
    const shift = first * rowHeight - window.top + (this.scroller?.scrollTop ?? 0);
    return html`<div
      class="scroller"
      tabindex="0"
      role=${this.tree ? 'treegrid' : 'grid'}
      aria-label=${this.label}
      aria-rowcount=${count + headRows}
      aria-activedescendant=${current >= first && current < end ? `row-${current}` : nothing}
      .style=${`--row: ${rowHeight}px; --columns: ${columns.map(({ width }) => width).join(' ')}`}
      ${withData(this.data)}
      @keydown=${this.keys}
      @scroll=${this.scrolled}
      @wheel=${this.wheeled}
      @pointermove=${this.moved}
      @pointerleave=${() => this.point(-1)}
      @click=${this.clicked}>
      ${
        headRows === 0
          ? nothing
          : html`<div class="heads" role="rowgroup">
              ${heads.length < headRows ? html`<div role="row" aria-rowindex="1">${columns.map((column) => this.head(column))}</div>` : nothing}
              ${heads.map((row, at) => this.row(row, at + 1 + headRows - heads.length))}
            </div>`
      }
      <div class="bar" role="rowgroup" .style=${`height: ${window.barHeight}px`}>
        <div class="rows" role="presentation" .style=${`transform: translateY(${Math.round(shift)}px)`}>
          ${repeat(
            rows,
            (row) => this.rowAt(row)?.key ?? `row ${row}`,
            (row) => this.row(this.rowAt(row), row + headRows + 1, row),
          )}
        </div>
      </div>
      ${count === 0 ? this.empty : nothing}
    </div>`;
  }

  private head({ name, says, sort, look }: SheetColumn): TemplateResult {
    const sorted = sort !== undefined && sort === this.sort;
    const arrow = sorted ? (this.descending ? ' ↓' : ' ↑') : '';
    return html`<span
      role="columnheader"
      class=${look}
      title=${says ?? nothing}
      aria-sort=${sorted ? (this.descending ? 'descending' : 'ascending') : 'none'}
      >${
        sort === undefined
          ? name
          : html`<button
              data-sort=${sort}
              aria-pressed=${sorted ? 'true' : 'false'}
              @click=${() => this.dispatchEvent(new CustomEvent<string>('sort', { detail: sort }))}>
              ${name}${arrow}
            </button>`
      }</span
    >`;
  }

  /** `number`: of it; undefined = it is of the head. */
  private row(row: SheetRow | undefined, index: number, number?: number): TemplateResult {
    const cells = row?.cells ?? [{ text: '…' }];
    return html`<div
      id=${number === undefined ? nothing : `row-${number}`}
      role="row"
      class="row ${row?.look ?? ''} ${number !== undefined && number === this.current ? 'current' : ''}"
      title=${row?.says ?? nothing}
      aria-rowindex=${index}
      aria-selected=${number === undefined ? nothing : row?.selected === true ? 'true' : 'false'}
      aria-level=${row?.depth === undefined ? nothing : row.depth + 1}
      aria-expanded=${row?.open === undefined ? nothing : row.open ? 'true' : 'false'}
      ${withData({ row: number, ...row?.data })}>
      ${cells.map(
        ({ text, says, look, data = {} }, at) =>
          html`<span
            role="gridcell"
            class="${this.columns[at]?.look ?? ''} ${look ?? ''}"
            title=${says ?? nothing}
            ${withData(data)}
            >${text}</span
          >`,
      )}
    </div>`;
  }

  static override styles = [base, column, sheetStyles];
}
