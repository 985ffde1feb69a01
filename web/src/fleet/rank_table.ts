// The table of ranks: a row each, every fact a column. However many there are, only rows that are seen exist.
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { repeat } from 'lit/directives/repeat.js';
import { RowWindow } from '../controls/row_window.ts';
import { base } from '../controls/styles.ts';
import { Resized } from '../controls/resized.ts';
import type { FleetFacts, Ordered } from '../model/fleet_facts.ts';
import type { FleetColumn } from '../model/fleet_file.ts';
import { columnTitle, factExactly, factText, rankName } from '../words/fleet_text.ts';

const rowHeight = 26;
const headRows = 2; // names, medians

/** Tells `sort` with the name of a column, `row` (chosen) and `open-row` with the number of a row. */
@element('gpustrata-rank-table')
export class RankTable extends LitElement {
  @property({ attribute: false }) facts!: FleetFacts;
  @property({ attribute: false }) ordered!: Ordered;
  @property({ attribute: false }) lit = new Uint8Array();
  @property() sort = '';
  @property({ type: Boolean }) descending = false;
  /** Chosen; -1 = none. */
  @property({ type: Number }) row = -1;
  @state() private drawn = 0;
  @query('.scroller') private scroller!: HTMLDivElement | null;
  private readonly window = new RowWindow(rowHeight);
  protected readonly resized = new Resized(
    this,
    () => this.scroller,
    () => this.measure(),
  );

  override focus(): void {
    this.scroller?.focus();
  }
  protected override updated(changed: PropertyValues<this>): void {
    if (!changed.has('row') && !changed.has('ordered')) return;
    this.window.resize(this.ordered.rows.length, this.room);
    if (this.place >= 0) this.window.show(this.place);
    this.placeBar();
  }

  private get place(): number {
    return this.row < 0 ? -1 : this.ordered.rows.indexOf(this.row);
  }
  private get room(): number {
    return Math.max(0, (this.scroller?.clientHeight ?? 0) - headRows * rowHeight);
  }
  private measure(): void {
    this.window.resize(this.ordered.rows.length, this.room);
    this.drawn += 1;
  }
  private placeBar(): void {
    if (this.scroller) this.scroller.scrollTop = this.window.resync();
    this.measure();
  }
  private readonly scrolled = (): void => {
    this.window.scrolled(this.scroller?.scrollTop ?? 0);
    this.measure();
  };
  private tell(what: 'row' | 'open-row', row: number | undefined): void {
    if (row !== undefined) this.dispatchEvent(new CustomEvent<number>(what, { detail: row }));
  }

  private readonly keys = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.scroller) return;
    const { rows } = this.ordered;
    const { place } = this;
    const at = (to: number): void => this.tell('row', rows[Math.min(Math.max(to, 0), rows.length - 1)]);
    const sideways = (by: number): void => {
      if (this.scroller) this.scroller.scrollLeft += by;
    };
    const acts: Readonly<Record<string, () => void>> = {
      ArrowDown: () => at(place + 1),
      ArrowUp: () => at(place < 0 ? rows.length - 1 : place - 1),
      ArrowRight: () => sideways(80),
      ArrowLeft: () => sideways(-80),
      PageDown: () => at(place + this.window.page),
      PageUp: () => at(place - this.window.page),
      Home: () => at(0),
      End: () => at(rows.length - 1),
      Enter: () => this.tell('open-row', rows[place]),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  // -- The page.

  private get columns(): readonly FleetColumn[] {
    return this.facts.columns.filter(({ name }) => name !== 'rank');
  }

  protected override render(): TemplateResult {
    void this.drawn;
    const { window, facts, place } = this;
    const { rows } = this.ordered;
    const from = window.first;
    const to = Math.min(window.end + 1, rows.length);
    const seen = [...rows.subarray(from, Math.max(from, to))];
    return html`<div
      class="scroller"
      tabindex="0"
      role="grid"
      aria-label="Ranks and their facts. Up and down choose a rank, Enter opens its snapshot."
      aria-rowcount=${rows.length + headRows}
      aria-activedescendant=${place >= from && place < to ? `row-${place}` : nothing}
      data-rows=${rows.length}
      @keydown=${this.keys}
      @scroll=${this.scrolled}>
      <div class="top" role="rowgroup">
        <div class="head" role="row" aria-rowindex="1">
          ${this.headOf('rank', 'Rank', 'rank')}
          ${this.columns.map((column) => this.headOf(column.name ?? '', columnTitle(column), classOf(column)))}
        </div>
        <div class="medians" role="row" aria-rowindex="2">
          <span role="rowheader" class="rank">Median</span>
          ${this.columns.map((column) => {
            const { median } = facts.spreadOf(column);
            return html`<span
              role="gridcell"
              class=${classOf(column)}
              data-median=${column.name ?? ''}
              title=${median === null ? nothing : factExactly(column.unit, median)}
              >${median === null ? '' : factText(column.unit, median)}</span
            >`;
          })}
        </div>
      </div>
      <div class="bar" role="rowgroup" .style=${`height: ${window.barHeight}px`}>
        <div
          class="rows"
          role="presentation"
          .style=${`transform: translateY(${from * rowHeight - window.top + (this.scroller?.scrollTop ?? 0)}px)`}>
          ${repeat(
            seen,
            (row) => row,
            (row, index) => this.rowOf(row, from + index),
          )}
        </div>
      </div>
    </div>`;
  }

  private headOf(name: string, title: string, where: string): TemplateResult {
    const sorted = this.sort === name && name !== '';
    const direction = this.descending ? 'descending' : 'ascending';
    return html`<span role="columnheader" class=${where} aria-sort=${sorted ? direction : 'none'}
      ><button
        class="sort"
        data-sort=${name}
        aria-pressed=${sorted ? 'true' : 'false'}
        title="Sort by ${title.toLowerCase()}"
        @click=${() => this.dispatchEvent(new CustomEvent<string>('sort', { detail: name }))}>
        ${title}${sorted ? (this.descending ? ' ↓' : ' ↑') : ''}
      </button></span
    >`;
  }

  private rowOf(row: number, place: number): TemplateResult {
    const { facts } = this;
    const name = rankName(facts, row);
    const lit = this.lit[row] === 1;
    return html`<div
      id="row-${place}"
      role="row"
      class="row ${row === this.row ? 'current' : ''} ${lit ? 'lit' : ''}"
      aria-rowindex=${place + headRows + 1}
      aria-selected=${row === this.row ? 'true' : 'false'}
      data-row=${row}
      @click=${() => this.tell('row', row)}>
      <span role="rowheader" class="rank"
        >${lit ? html`<i class="mark" aria-hidden="true"></i><span class="visually-hidden">lit,</span>` : nothing}<button
          class="link"
          tabindex="-1"
          title="Open ${facts.text('file', row)}"
          aria-label="Open ${name}"
          @click=${(event: Event) => {
            event.stopPropagation();
            this.tell('open-row', row);
          }}>
          ${facts.text('rank', row) || '–'}
        </button></span
      >
      ${this.columns.map((column) => this.cell(column, row))}
    </div>`;
  }

  private cell(column: FleetColumn, row: number): TemplateResult {
    const value = column.values[row];
    const odd = this.facts.spreadOf(column).odd[row] === 1;
    return html`<span
      role="gridcell"
      class="${classOf(column)} ${odd ? 'odd' : ''}"
      data-column=${column.name ?? ''}
      data-value=${value ?? nothing}
      data-odd=${odd ? '' : nothing}
      title=${odd ? `${factExactly(column.unit, value)}, unlike the other ranks` : factExactly(column.unit, value)}
      >${odd ? html`<b aria-hidden="true">≠ </b><span class="visually-hidden">unlike the others: </span>` : nothing}${factText(column.unit, value)}</span
    >`;
  }

  static override styles = [
    base,
    css`
      :host {
        display: block;
        min-width: 0;
        font-size: 12.5px;
      }
      .scroller {
        height: var(--table-height, 420px);
        overflow: auto;
        overflow-anchor: none;
        border: 1px solid var(--line);
        border-radius: 6px;
      }
      .scroller:focus-visible {
        outline-offset: -2px;
      }
      .top {
        position: sticky;
        top: 0;
        z-index: 2;
        width: max-content;
        min-width: 100%;
        background: var(--bg);
      }
      .bar {
        position: relative;
        width: max-content;
        min-width: 100%;
      }
      .rows {
        width: max-content;
        min-width: 100%;
        will-change: transform;
      }
      .head,
      .medians,
      .row {
        display: flex;
        align-items: center;
        height: 26px;
        font-variant-numeric: tabular-nums;
      }
      .head,
      .medians {
        background: var(--bg);
        color: var(--dim);
      }
      .medians {
        border-bottom: 1px solid var(--line-strong);
      }
      .row {
        border-bottom: 1px solid var(--line);
        background: var(--surface);
        cursor: default;
      }
      .row:hover {
        background: var(--hover);
      }
      .row.lit {
        background: var(--accent-soft);
      }
      .row.current {
        box-shadow: inset 0 0 0 2px var(--accent);
      }
      .rank {
        position: sticky;
        left: 0;
        z-index: 1;
        flex: 0 0 84px;
        height: 100%;
        padding: 0 10px;
        display: flex;
        align-items: center;
        justify-content: flex-end;
        background: inherit;
        font-weight: 500;
      }
      .row.current .rank {
        box-shadow:
          inset 2px 2px 0 var(--accent),
          inset 0 -2px 0 var(--accent);
      }
      .number,
      .text,
      .time {
        flex: 0 0 118px;
        min-width: 0;
        padding: 0 10px;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .number {
        text-align: right;
      }
      .text {
        flex-basis: 132px;
      }
      .time {
        flex-basis: 190px;
        color: var(--dim);
      }
      .odd {
        color: var(--warn);
        font-weight: 650;
      }
      .mark {
        width: 7px;
        height: 9px;
        margin-right: auto;
        background: var(--accent);
        clip-path: polygon(0 0, 100% 50%, 0 100%);
      }
      .sort,
      .link {
        height: 24px;
        max-width: 100%;
        padding: 0;
        border: 0;
        background: none;
        color: inherit;
        overflow: hidden;
        text-overflow: ellipsis;
        cursor: pointer;
      }
      .sort:hover,
      .sort[aria-pressed='true'] {
        color: var(--text);
      }
      .link {
        color: var(--accent);
      }
      .link:hover {
        text-decoration: underline;
      }
      @container (max-width: 560px) {
        .rank {
          flex-basis: 64px;
        }
        .number {
          flex-basis: 104px;
        }
      }
    `,
  ];
}

const classOf = ({ unit }: FleetColumn): string =>
  unit === 'text' ? 'text' : unit === 'us' ? 'time' : 'number';
