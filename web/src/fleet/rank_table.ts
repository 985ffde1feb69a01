// The table of ranks: a row each, every fact a column. However many there are, only rows that are seen exist.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property, query } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { RowWindow } from '../controls/row_window.ts';
import '../controls/sheet.ts';
import { base } from '../controls/styles.ts';
import type { Sheet, SheetCell, SheetColumn, SheetRow } from '../controls/sheet.ts';
import type { FleetFacts, Ordered } from '../model/fleet_facts.ts';
import type { FleetColumn } from '../model/fleet_file.ts';
import { columnTitle, factExactly, factText, rankName } from '../words/fleet_text.ts';

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
  @query('gpustrata-sheet') private sheet!: Sheet | null;
  private readonly window = new RowWindow(26);

  override focus(): void {
    this.sheet?.focus();
  }

  private tell(what: 'row' | 'open-row', row: number | undefined): void {
    if (row !== undefined) this.dispatchEvent(new CustomEvent<number>(what, { detail: row }));
  }

  private get columns(): readonly FleetColumn[] {
    return this.facts.columns.filter(({ name }) => name !== 'rank');
  }

  protected override render(): TemplateResult {
    const { facts, ordered, columns } = this;
    const { rows } = ordered;
    const heads: SheetColumn[] = [
      { name: 'Rank', says: 'Sort by rank', sort: 'rank', look: 'first', width: 'var(--first, 84px)' },
      ...columns.map((column) => {
        const name = columnTitle(column);
        const look = column.unit === 'text' ? 'text' : column.unit === 'us' ? 'dim' : 'number';
        const width = { text: '132px', dim: '190px', number: 'var(--number, 118px)' }[look];
        return { name, says: `Sort by ${name.toLowerCase()}`, sort: column.name ?? '', look, width };
      }),
    ];
    const medians: SheetRow = {
      key: 'medians',
      cells: [{ text: 'Median' }, ...columns.map((column) => medianOf(column, facts))],
    };
    return html`<gpustrata-sheet
      label="Ranks and their facts. Up and down choose a rank, Enter opens its snapshot."
      .window=${this.window}
      .columns=${heads}
      .heads=${[medians]}
      .rowAt=${(place: number) => this.rowOf(rows[place])}
      .count=${rows.length}
      .current=${this.row < 0 ? -1 : rows.indexOf(this.row)}
      .sort=${this.sort}
      ?descending=${this.descending}
      .data=${{ rows: rows.length }}
      @sort=${({ detail }: CustomEvent<string>) => this.dispatchEvent(new CustomEvent('sort', { detail }))}
      @current=${({ detail }: CustomEvent<number>) => this.tell('row', rows[detail])}
      @pick=${({ detail }: CustomEvent<number>) => this.tell('row', rows[detail])}
      @choose=${({ detail }: CustomEvent<number>) => this.tell('open-row', rows[detail])}></gpustrata-sheet>`;
  }

  private rowOf(row: number | undefined): SheetRow | undefined {
    if (row === undefined) return undefined;
    const { facts } = this;
    const lit = this.lit[row] === 1;
    return {
      key: row,
      look: `framed ${lit ? 'lit' : ''}`,
      selected: row === this.row,
      data: { row },
      cells: [
        {
          text: html`${lit ? html`<i class="mark" aria-hidden="true"></i><span class="visually-hidden">lit,</span>` : nothing}<button
              class="link"
              tabindex="-1"
              title="Open ${facts.text('file', row)}"
              aria-label="Open ${rankName(facts, row)}"
              @click=${(event: Event) => {
                event.stopPropagation();
                this.tell('open-row', row);
              }}>
              ${facts.text('rank', row) || '–'}
            </button>`,
        },
        ...this.columns.map((column) => this.cell(column, row)),
      ],
    };
  }

  private cell(column: FleetColumn, row: number): SheetCell {
    const value = column.values[row];
    const text = factText(column.unit, value);
    const exact = factExactly(column.unit, value);
    const data = { column: column.name ?? '', value };
    if (this.facts.spreadOf(column).odd[row] !== 1) return { text, says: exact, data };
    return {
      text: html`<b aria-hidden="true">≠ </b><span class="visually-hidden">unlike the others: </span>${text}`,
      says: `${exact}, unlike the other ranks`,
      look: 'odd',
      data: { ...data, odd: true },
    };
  }

  static override styles = [
    base,
    css`
      :host {
        display: block;
        min-width: 0;
      }
      gpustrata-sheet {
        --sheet-width: max-content;
        height: var(--table-height, 420px);
        border: 1px solid var(--line);
        border-radius: 6px;
        overflow: hidden;
      }
      @container (max-width: 560px) {
        gpustrata-sheet {
          --first: 64px;
          --number: 104px;
        }
      }
    `,
  ];
}

function medianOf(column: FleetColumn, facts: FleetFacts): SheetCell {
  const { median } = facts.spreadOf(column);
  const data = { median: column.name ?? '' };
  if (median === null) return { text: '', data };
  return { text: factText(column.unit, median), says: factExactly(column.unit, median), data };
}
