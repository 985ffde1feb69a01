// The same calls as a table: a row for each frame, sorted, however many there are (controls/row_window.ts).
import { reasonOf } from '../../base/reason.ts';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { repeat } from 'lit/directives/repeat.js';
import { copyText } from '../../base/clipboard.ts';
import { formatCount, formatShare } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import { saveFile } from '../../base/save_file.ts';
import { RowWindow } from '../../controls/row_window.ts';
import { base } from '../../controls/styles.ts';
import { Resized } from '../../controls/resized.ts';
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
import { tableStyles } from './table_styles.ts';

const rowHeight = 24;
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
  @query('.scroller') private scroller!: HTMLDivElement | null;

  private readonly window = new RowWindow(rowHeight);
  private view: EngineView | undefined;
  private asking: LatestOnly<{ key: string; args: Args<'flameRows'> }, FrameRows> | undefined;
  private asked = '';
  private shown = '';
  protected readonly resized = new Resized(
    this,
    () => this.scroller,
    () => this.requestUpdate(),
  );

  override focus(): void {
    this.scroller?.focus();
  }

  protected override willUpdate(): void {
    if (this.of.page.view !== this.view) this.start();
    this.window.resize(this.count, this.scroller?.clientHeight ?? 0);
  }
  protected override updated(changed: PropertyValues): void {
    if (changed.has('of') || this.loaded) this.ask();
    this.scroller?.toggleAttribute('data-settled', this.shown !== '' && this.shown === this.asked);
  }

  private start(): void {
    const { view } = this.of.page;
    this.view = view;
    this.loaded = undefined;
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
    const { first, end } = this.window;
    const { loaded } = this;
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

  private readonly key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter') {
      if (this.row >= 0) this.choose(this.row);
    } else {
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
      this.row = Math.min(Math.max(to, 0), this.count - 1);
      if (this.row >= 0) this.window.show(this.row);
      if (this.scroller) this.scroller.scrollTop = this.window.resync();
    }
    event.preventDefault();
  };

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
    const { window, loaded, problem } = this;
    const { chosen } = this.of;
    const { first, end } = window;
    const shown = chosen.of === 'difference' ? changes : columns;
    const indices = Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i);
    const header = (order: FrameOrder, name: string): TemplateResult => {
      const is = chosen.order === order;
      return html`<span
        role="columnheader"
        class=${order === 'name' ? 'name' : 'number'}
        aria-sort=${is ? (chosen.descending ? 'descending' : 'ascending') : 'none'}
        ><button data-order=${order} @click=${() => this.sort(order)}>
          ${name}${is ? (chosen.descending ? ' ↓' : ' ↑') : ''}
        </button></span
      >`;
    };
    return html`
      ${problem === undefined ? nothing : html`<p role="alert">The calls cannot be listed: ${problem}</p>`}
      <div
        class="grid"
        .style=${`--row: ${rowHeight}px`}
        role="grid"
        aria-label="Calls"
        aria-rowcount=${this.count + 1}
        data-rows=${loaded?.rows.count ?? nothing}
        data-total=${loaded?.rows.total ?? nothing}>
        <div class="head" role="row" aria-rowindex="1">
          ${shown.map(({ order, name }) => header(order, name))}
          <span role="columnheader" class="share">Share</span>
          ${header('name', chosen.by === 'file' ? 'File' : 'Function')}
        </div>
        <div
          class="scroller"
          role="rowgroup"
          tabindex="0"
          aria-label="Rows of calls"
          @scroll=${() => {
            window.scrolled(this.scroller?.scrollTop ?? 0);
            this.requestUpdate();
          }}
          @keydown=${this.key}
          @click=${(event: MouseEvent) => {
            const at = (event.target as HTMLElement).closest<HTMLElement>('[data-row]');
            if (at) this.choose(Number(at.dataset['row']));
          }}>
          <div class="window" role="presentation">
            ${loaded?.rows.count === 0 ? html`<p role="presentation">Nothing to list.</p>` : nothing}
            ${repeat(
              indices,
              (index) => index,
              (index) => this.line(index, shown),
            )}
          </div>
          <div
            class="bar"
            role="presentation"
            .style=${`height: ${Math.max(0, window.barHeight - (this.scroller?.clientHeight ?? 0))}px`}></div>
        </div>
      </div>
      <div class="foot">
        <span data-count>${loaded ? `${formatCount(loaded.rows.count)} rows` : ''}</span>
        <span role="status">${this.said}</span>
        <button class="button small" data-copy @click=${() => void this.take('copy')}>Copy</button>
        <button class="button small" data-csv @click=${() => void this.take('csv')}>CSV</button>
      </div>
    `;
  }

  private line(index: number, shown: readonly Column[]): TemplateResult {
    const row = this.rowAt(index);
    const rows = this.loaded?.rows;
    const { page, chosen } = this.of;
    const share = row && rows && rows.total > 0 ? row.weight / rows.total : 0;
    return html`<div
      class="row"
      role="row"
      aria-rowindex=${index + 2}
      aria-selected=${row?.filter !== undefined && row.filter === page.highlight ? 'true' : 'false'}
      data-row=${index}
      data-current=${index === this.row ? 'true' : nothing}
      data-label=${row?.label ?? nothing}
      data-weight=${row?.weight ?? nothing}
      data-self=${row?.self ?? nothing}
      .style=${`transform: translateY(${Math.round(index * rowHeight - this.window.top)}px)`}>
      ${shown.map((column) => {
        const [text, exact] = row && rows ? column.text(row, rows) : ['…', ''];
        return html`<span role="gridcell" class="number" title=${exact === '' ? nothing : exact}
          >${text}</span
        >`;
      })}
      <span role="gridcell" class="share">
        <i .style=${`width: ${100 * Math.min(1, share)}%`}></i
        ><b>${row && rows ? formatShare(row.weight, rows.total) : ''}</b>
      </span>
      <span role="gridcell" class="name" title=${row ? placeOf(row) : nothing}
        >${row?.label ?? ''}${row && row.name !== '' && chosen.by !== 'file' ? html` <small>${folderOf(row.file)}</small>` : nothing}</span
      >
    </div>`;
  }

  static override styles = [base, tableStyles];
}

const placeOf = ({ name, file, line }: FrameRow): string =>
  [name, line > 0 ? `${file}:${line}` : file].filter((part) => part !== '').join('\n');

/** The last folder of a file. */
function folderOf(file: string): string {
  const parts = file.split(/[\\/]/);
  return parts.length > 1 ? (parts.at(-2) ?? '') : '';
}
