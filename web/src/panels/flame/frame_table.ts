// The same calls as a table: a row for each frame, sorted, however many there are (controls/sheet.ts).
import { reasonOf } from '../../base/reason.ts';
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { copyText } from '../../base/clipboard.ts';
import { formatCount, formatShare } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import { saveFile } from '../../base/save_file.ts';
import '../../controls/sheet.ts';
import type { SeenRows, Sheet, SheetColumn, SheetRow } from '../../controls/sheet.ts';
import { base, column } from '../../controls/styles.ts';
import {
  type Args,
  type EngineView,
  type FrameOrder,
  type FrameRow,
  type FrameRows,
} from '../../../engine/index.ts';
import { changeText, exactWeightText, weightText } from '../../words/call_text.ts';
import type { FlameOf } from './graph.ts';
import { tableText } from './table_text.ts';

const around = 60;
const most = 1000; // rows an answer has

interface Column {
  order: FrameOrder;
  name: string;
  /** The text, and the exact one. */
  text: (row: FrameRow, rows: FrameRows) => [string, string];
}

const columns: readonly Column[] = [
  { order: 'self', name: 'Self', text: (row, { unit }) => both(row.self, unit) },
  { order: 'total', name: 'Total', text: (row, { unit }) => both(row.weight, unit) },
  { order: 'blocks', name: 'Blocks', text: ({ blocks }) => [formatCount(blocks), ''] },
];
const changes: readonly Column[] = [
  {
    order: 'change',
    name: 'Change',
    text: (row, { unit }) => [changeText(row.grew - (row.weight - row.grew), unit), ''],
  },
  { order: 'total', name: 'More and less', text: (row, { unit }) => both(row.weight, unit) },
  { order: 'blocks', name: 'Blocks', text: ({ blocks }) => [formatCount(blocks), ''] },
];
const both = (weight: number, unit: FrameRows['unit']): [string, string] => [
  weightText(weight, unit),
  exactWeightText(weight, unit),
];

/** Tells `choices`, `found` and `filter`, as the flame graph does. */
@element('gpustrata-frame-table')
export class FrameTableView extends LitElement {
  @property({ attribute: false }) of!: FlameOf;
  @state() private loaded: { first: number; rows: FrameRows } | undefined;
  @state() private problem: string | undefined;
  @state() private row = -1;
  @state() private said = '';
  @query('gpustrata-sheet') private sheet!: Sheet | null;

  private seen: SeenRows = { first: 0, end: 0, top: 0 };
  private view: EngineView | undefined;
  private asking: LatestOnly<{ key: string; args: Args<'flameRows'> }, FrameRows> | undefined;
  private asked = '';
  private shown = '';

  override focus(): void {
    this.sheet?.focus();
  }

  protected override willUpdate(): void {
    if (this.of.page.view !== this.view) this.start();
  }
  protected override updated(changed: PropertyValues): void {
    if (changed.has('of') || this.loaded) this.ask();
  }

  private start(): void {
    const { view } = this.of.page;
    // Of a recording that has grown the last ones stay until the next ones are there.
    if (this.view?.run !== view.run) this.loaded = undefined;
    this.view = view;
    this.problem = undefined;
    this.row = -1;
    this.asked = this.shown = '';
    this.asking = new LatestOnly(
      ({ args }) => view.ask('flameRows', args),
      (rows, asked) => view === this.view && this.deliver(rows, asked),
      (error) => {
        if (view !== this.view || !view.alive) return;
        this.problem = reasonOf(error);
      },
    );
  }

  private get count(): number {
    return this.loaded?.rows.count ?? 0;
  }

  private question(first: number, count: number): Args<'flameRows'> | undefined {
    const { tree, chosen } = this.of;
    const { search, order, descending } = chosen;
    const asked = tree && { tree, search, order, descending, first, count };
    return asked && this.of.before ? { ...asked, before: this.of.before } : asked;
  }

  /** What is seen and some around it, unless it is there. */
  private ask(): void {
    const { loaded, seen } = this;
    const { first, end } = seen;
    const page = Math.max(end, first + 40);
    const args = this.question(Math.max(0, first - around), Math.min(most, page - first + 2 * around));
    if (!args) return;
    const { tree, search, order, descending } = args;
    const [now, before] = [JSON.stringify([tree, search, order, descending, this.of.beforeKey]), this.asked];
    const has =
      loaded !== undefined &&
      loaded.first <= first &&
      loaded.first + loaded.rows.rows.length >= Math.min(end, loaded.rows.count);
    if (now === before && (has || this.asking?.busy)) return;
    this.asked = now;
    this.asking?.request({ key: now, args });
  }

  private deliver(rows: FrameRows, { key, args }: { key: string; args: Args<'flameRows'> }): void {
    this.problem = undefined;
    this.loaded = { first: args.first, rows };
    this.shown = key;
    const { unit, total, grew } = rows;
    const differs = args.tree.of === 'difference';
    this.tell('found', {
      text: args.search.trim() === '' ? '' : `${formatCount(rows.count)} found`,
      total: differs ? changeText(grew - (total - grew), unit) : weightText(total, unit),
      rest: rows.rest === 0 ? '' : weightText(rows.rest, unit),
    });
  }

  private tell(name: 'choices' | 'found' | 'filter', detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  private sort(order: FrameOrder): void {
    const { chosen } = this.of;
    const descending = chosen.order === order ? !chosen.descending : order !== 'name';
    this.row = -1;
    this.tell('choices', { order, descending });
  }

  private rowAt(index: number): FrameRow | undefined {
    return this.loaded?.rows.rows[index - this.loaded.first];
  }
  private choose(index: number): void {
    const row = this.rowAt(index);
    this.row = index;
    if (row) this.tell('filter', row.filter);
  }

  // -- All rows, as text.

  private async allRows(): Promise<FrameRows | undefined> {
    const { view } = this;
    let all: FrameRows | undefined;
    for (let first = 0; view; first += most) {
      const args = this.question(first, most);
      if (!args) return undefined;
      const part = await view.ask('flameRows', args);
      if (view !== this.view) return undefined;
      all = all ? { ...all, rows: [...all.rows, ...part.rows] } : part;
      if (all.rows.length >= all.count || part.rows.length === 0) return all;
    }
    return undefined;
  }
  private async take(how: 'copy' | 'csv'): Promise<void> {
    const rows = await this.allRows().catch(() => undefined);
    if (!rows) return;
    const differs = this.of.chosen.of === 'difference';
    if (how === 'csv') saveFile('calls.csv', new Blob([tableText(rows, differs, ',')], { type: 'text/csv' }));
    else if (await copyText(tableText(rows, differs, '\t')))
      this.said = `${formatCount(rows.count)} rows copied`;
  }

  protected override render(): TemplateResult {
    const { loaded, problem } = this;
    const { chosen } = this.of;
    const shown = chosen.of === 'difference' ? changes : columns;
    const heads: SheetColumn[] = [
      ...shown.map(({ order, name }) => ({ name, sort: order, look: 'number', width: '104px' })),
      { name: 'Share', look: 'share', width: '96px' },
      {
        name: chosen.by === 'file' ? 'File' : 'Function',
        sort: 'name',
        look: 'name',
        width: 'minmax(120px, 1fr)',
      },
    ];
    const settled = this.shown !== '' && this.shown === this.asked;
    return html`
      ${problem === undefined ? nothing : html`<p role="alert">The calls cannot be listed: ${problem}</p>`}
      <gpustrata-sheet
        label="Calls"
        .columns=${heads}
        .rowAt=${(index: number) => this.line(index, shown)}
        .count=${this.count}
        .current=${this.row}
        .sort=${chosen.order}
        ?descending=${chosen.descending}
        .empty=${loaded ? html`<p>Nothing to list.</p>` : nothing}
        .data=${{ rows: loaded?.rows.count, total: loaded?.rows.total, settled }}
        @seen=${({ detail }: CustomEvent<SeenRows>) => {
          this.seen = detail;
          this.ask();
        }}
        @current=${({ detail }: CustomEvent<number>) => (this.row = detail)}
        @pick=${({ detail }: CustomEvent<number>) => this.choose(detail)}
        @choose=${({ detail }: CustomEvent<number>) => this.choose(detail)}
        @sort=${({ detail }: CustomEvent<FrameOrder>) => this.sort(detail)}></gpustrata-sheet>
      <div class="foot">
        <span data-count>${loaded ? `${formatCount(loaded.rows.count)} rows` : ''}</span>
        <span role="status">${this.said}</span>
        <button class="button small" data-copy @click=${() => void this.take('copy')}>Copy</button>
        <button class="button small" data-csv @click=${() => void this.take('csv')}>CSV</button>
      </div>
    `;
  }

  private line(index: number, shown: readonly Column[]): SheetRow | undefined {
    const row = this.rowAt(index);
    const rows = this.loaded?.rows;
    if (!row || !rows) return undefined;
    const { page, chosen } = this.of;
    const share = rows.total > 0 ? row.weight / rows.total : 0;
    const folder = row.name !== '' && chosen.by !== 'file' ? folderOf(row.file) : '';
    return {
      key: index,
      selected: row.filter === page.highlight,
      data: { label: row.label, weight: row.weight, self: row.self },
      cells: [
        ...shown.map((column) => {
          const [text, exact] = column.text(row, rows);
          return { text, says: exact === '' ? undefined : exact };
        }),
        {
          text: html`<i .style=${`width: ${100 * Math.min(1, share)}%`}></i
            ><b>${formatShare(row.weight, rows.total)}</b>`,
        },
        { text: html`${row.label} <small>${folder}</small>`, says: placeOf(row) },
      ],
    };
  }

  static override styles = [
    base,
    column,
    css`
      :host {
        font-size: 12.5px;
      }
      gpustrata-sheet {
        flex: 1;
        min-height: 48px;
      }
      p {
        margin: 8px 12px;
        color: var(--dim);
      }
      .foot {
        display: flex;
        align-items: center;
        flex: none;
        gap: 8px;
        padding: 3px 12px;
        border-top: 1px solid var(--line);
        color: var(--dim);
        font-size: 12px;
        font-variant-numeric: tabular-nums;
      }
      .foot span[role='status'] {
        flex: 1;
      }
    `,
  ];
}

const placeOf = ({ name, file, line }: FrameRow): string =>
  [name, line > 0 ? `${file}:${line}` : file].filter((part) => part !== '').join('\n');

/** The last folder of a file. */
function folderOf(file: string): string {
  const parts = file.split(/[\\/]/);
  return parts.length > 1 ? (parts.at(-2) ?? '') : '';
}
