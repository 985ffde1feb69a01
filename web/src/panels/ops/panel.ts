// The op table: what each op of a profiler's trace did with the memory of the device. However many rows there are, only
// those that are seen exist. Choosing a row makes the filter that lights its blocks.
import { reasonOf } from '../../base/reason.ts';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount, formatExactBytes, plural } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import '../../controls/sheet.ts';
import type { SeenRows, Sheet, SheetCell, SheetColumn, SheetRow } from '../../controls/sheet.ts';
import { base, column } from '../../controls/styles.ts';
import { opLineHeads } from '../../../engine/heads.ts';
import {
  opByWords,
  opSortWords,
  type EngineView,
  type OpBy,
  type OpLine,
  type OpLines,
  type OpSort,
  type ProfilerLine,
  type ProfilerLines,
} from '../../../engine/index.ts';
import { flag, oneOf } from '../link_field.ts';
import { tell, type Kept, type LoadedPanel, type PanelPage } from '../panel.ts';
import { opColumns, profilerColumns, type OpColumn } from './columns.ts';
import { opsStyles } from './styles.ts';

const around = 40; // rows asked for before and behind those that are seen

type Mode = 'thread' | 'span' | 'pytorch';
const modes: readonly { mode: Mode; name: string; says: string }[] = [
  { mode: 'thread', name: 'By thread', says: 'An op holds what its own thread allocates while it runs.' },
  { mode: 'span', name: 'By span', says: 'An op holds what any thread of its process allocates meanwhile: a range around a backward pass, which runs on a thread of its own.' },
  { mode: 'pytorch', name: 'As PyTorch', says: 'What key_averages().table() prints, its known errors included, to compare. All devices are one column.' },
]; // prettier-ignore
const byNames: Record<OpBy, string> = {
  op: 'Op',
  path: 'Path of ops',
  shape: 'Op and shapes',
  module: 'Op and module',
  stack: 'Op and Python stack',
};

interface OpsMemory {
  mode: Mode;
  by: OpBy;
  sort: OpSort;
  tree: boolean;
  open: readonly number[];
  top: number;
  chosen: string;
}

interface Asked extends OpsMemory {
  view: PanelPage['view'];
  first: number;
  count: number;
}
type Answered = { ops: OpLines } | { profiler: ProfilerLines };

/** Tells `go` with a filter (panels/panel.ts). */
@element('gpustrata-ops')
export class OpsPanel extends LitElement {
  @property({ attribute: false }) page!: PanelPage;
  @property({ attribute: false }) kept!: Kept<OpsMemory>;
  @state() private answered: Answered | undefined;
  @state() private problem: string | undefined;
  @state() private current = 0;
  @query('gpustrata-sheet') private sheet!: Sheet | null;
  private first = 0;
  private seen: SeenRows = { first: 0, end: 0, top: 0 };
  private readonly asking = new LatestOnly<Asked, Answered>(
    (asked) => ask(asked),
    (answered, asked) => this.deliver(answered, asked),
    (error) => {
      if (this.ofTrace.alive) this.problem = reasonOf(error);
    },
  );

  override focus(): void {
    this.sheet?.focus();
  }

  /** Of the trace that is shown, or that lies beside what is shown. */
  private get ofTrace(): EngineView {
    const { info, trace, view } = this.page;
    return info.has_ops ? view : (trace?.view ?? view);
  }

  private get memory(): OpsMemory {
    return this.kept.value;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('page') && !changed.has('kept')) return;
    const before = changed.get('page');
    if (before && (before.view !== this.page.view || before.trace?.view !== this.page.trace?.view))
      this.answered = undefined;
    this.request();
  }

  private request(): void {
    if (!this.page.settled) return;
    const first = Math.max(0, this.seen.first - around);
    const count = this.seen.end - this.seen.first + 2 * around;
    this.asking.request({ ...this.memory, view: this.ofTrace, first, count });
  }

  private deliver(answered: Answered, asked: Asked): void {
    if (asked.view !== this.ofTrace) return;
    this.problem = undefined;
    this.first = asked.first;
    this.answered = answered;
    this.load();
  }

  private get count(): number {
    const { answered } = this;
    if (!answered) return 0;
    return 'ops' in answered ? answered.ops.count : answered.profiler.count;
  }
  private get lines(): readonly (OpLine | ProfilerLine)[] {
    const { answered } = this;
    if (!answered) return [];
    return 'ops' in answered ? answered.ops.lines : answered.profiler.lines;
  }

  private load(): void {
    const { first, end } = this.seen;
    if (first < this.first || Math.min(end, this.count) > this.first + this.lines.length) this.request();
  }

  private change(change: Partial<OpsMemory>): void {
    const again = !('chosen' in change);
    this.kept.keep(again ? { ...change, ...('open' in change ? {} : { open: [], top: 0 }) } : change);
    if (again) {
      if (!('open' in change)) this.current = 0;
      this.request();
    }
    this.requestUpdate();
  }

  private toggle(line: OpLine): void {
    const open = this.memory.open.includes(line.row)
      ? this.memory.open.filter((row) => row !== line.row)
      : [...this.memory.open, line.row];
    this.change({ open });
  }

  private choose({ filter }: OpLine | ProfilerLine): void {
    if (filter === null) return;
    const same = this.memory.chosen === filter;
    this.change({ chosen: same ? '' : filter });
    tell(this, 'go', { to: 'filter', text: same ? '' : filter });
  }

  private readonly keys = (event: KeyboardEvent): void => {
    const line = this.lines[this.current - this.first];
    if (!line || !('inside' in line) || event.ctrlKey || event.metaKey || event.altKey) return;
    const isOpen = this.memory.open.includes(line.row);
    if (event.key === 'ArrowRight' ? line.inside === 0 || isOpen : event.key !== 'ArrowLeft' || !isOpen)
      return;
    event.preventDefault();
    event.stopPropagation();
    this.toggle(line);
  };

  // -- The page.

  protected override render(): TemplateResult {
    const { answered, problem } = this;
    return html`${this.choices()} ${problem === undefined ? nothing : html`<p role="alert">${problem}</p>`}
    ${answered && 'ops' in answered ? this.sums(answered.ops) : nothing} ${this.table()}`;
  }

  private choices(): TemplateResult {
    const { mode, by, tree } = this.memory;
    const picked = (event: Event): string => (event.target as HTMLSelectElement).value;
    return html`<div class="choices">
      <label
        >Memory
        <select
          class="field"
          data-choice="mode"
          @change=${(event: Event) => this.change({ mode: picked(event) as Mode })}>
          ${modes.map((one) => html`<option value=${one.mode} ?selected=${one.mode === mode}>${one.name}</option>`)}
        </select></label
      >
      <label
        >A row for each
        <select
          class="field"
          data-choice="by"
          ?disabled=${tree && mode !== 'pytorch'}
          @change=${(event: Event) => this.change({ by: picked(event) as OpBy })}>
          ${opByWords
            .filter((word) => mode !== 'pytorch' || word === 'op' || word === 'shape')
            .map((word) => html`<option value=${word} ?selected=${word === by}>${byNames[word]}</option>`)}
        </select></label
      >
      ${
        mode === 'pytorch'
          ? nothing
          : html`<button
              class="button small"
              data-choice="tree"
              aria-pressed=${tree ? 'true' : 'false'}
              title="Ops inside of the ops that call them"
              @click=${() => this.change({ tree: !tree })}>
              Tree
            </button>`
      }
      <span class="dim">${modes.find((one) => one.mode === mode)?.says}</span>
      ${
        this.page.info.has_ops || !this.page.trace
          ? nothing
          : html`<span class="dim" data-of-trace
              >Numbers are those of ${this.page.trace.name}; a row lights the blocks of this recording that
              were made in it.</span
            >`
      }
    </div>`;
  }

  private sums({ device }: OpLines): TemplateResult {
    if (!device) return html`<p class="dim">This device has no memory records of ops.</p>`;
    const bytes = (value: number): TemplateResult =>
      html`<b title=${formatExactBytes(value)}>${formatBytes(value)}</b>`;
    const self = device.net_bytes - device.unowned_bytes;
    return html`<p
      class="sums"
      data-device=${device.device}
      data-peak=${device.peak_bytes}
      data-end=${device.end_bytes}>
      ${device.device}: ${plural(device.records, 'record')}, peak ${bytes(device.peak_bytes)}. Before
      ${bytes(device.base_bytes)} + ops ${bytes(self)} + outside of ops ${bytes(device.unowned_bytes)} =
      ${bytes(device.end_bytes)} at the end.
      ${device.has_addresses ? nothing : html` <span class="dim">Old trace without addresses: frees are matched by size, “at peak” and “at return” are not known.</span>`}
    </p>`;
  }

  private table(): TemplateResult {
    const { answered } = this;
    const { sort, tree, mode, top } = this.memory;
    const columns = (
      answered && 'profiler' in answered ? profilerColumns(answered.profiler.shows_devices) : opColumns
    ) as readonly OpColumn<OpLine & ProfilerLine>[];
    const heads: SheetColumn[] = [
      { name: 'Op', look: 'name first', width: 'minmax(200px, 1fr)' },
      ...columns.map(({ name, says, sort: by }) => ({
        ...{ name, says, look: 'number', width: '108px' },
        ...(by !== undefined && { sort: by }),
      })),
      { ...opLineHeads.calls, look: 'number dim', width: '68px' },
    ];
    return html`<gpustrata-sheet
      label="Ops and their memory"
      .columns=${heads}
      .rowAt=${(index: number) => this.row(index, columns)}
      .count=${this.count}
      .current=${this.current}
      .sort=${sort}
      descending
      ?tree=${tree && mode !== 'pytorch'}
      .top=${top}
      .data=${{ rows: answered && this.count }}
      .empty=${html`<p>${answered ? 'No op holds a record of this device.' : 'Adding up…'}</p>`}
      @keydown=${this.keys}
      @seen=${({ detail }: CustomEvent<SeenRows>) => {
        this.seen = detail;
        this.kept.keep({ top: detail.top });
        this.load();
      }}
      @current=${({ detail }: CustomEvent<number>) => (this.current = detail)}
      @pick=${this.picked}
      @choose=${this.picked}
      @sort=${({ detail }: CustomEvent<OpSort>) => this.change({ sort: detail })}></gpustrata-sheet>`;
  }

  private readonly picked = ({ detail: row }: CustomEvent<number>): void => {
    this.current = row;
    const line = this.lines[row - this.first];
    if (line) this.choose(line);
  };

  private row(index: number, columns: readonly OpColumn<OpLine & ProfilerLine>[]): SheetRow | undefined {
    const line = this.lines[index - this.first];
    if (!line) return undefined;
    const { chosen, open, tree } = this.memory;
    const op = 'row' in line ? line : undefined;
    const isTree = op !== undefined && tree;
    const isOpen = op !== undefined && open.includes(op.row);
    return {
      key: op?.row ?? index,
      selected: line.filter !== null && line.filter === chosen,
      says: op?.why ?? undefined,
      data: { op: line.name },
      ...(isTree && { depth: op.depth, open: op.inside > 0 ? isOpen : undefined }),
      cells: [
        {
          text: html`${isTree ? html`<span .style=${`padding-left: ${op.depth * 16}px`}>${this.twist(op, isOpen)}</span>` : nothing}
          ${line.name}${line.detail !== '' && !tree ? html` <span class="dim">${line.detail}</span>` : nothing}
          ${op?.why ? html`<span class="why" data-why>${op.why}</span>` : nothing}`,
        },
        ...columns.map(({ name, of }) => bytesCell(name, of(line as OpLine & ProfilerLine))),
        { text: formatCount(line.calls) },
      ],
    };
  }

  private twist(op: OpLine, isOpen: boolean): TemplateResult {
    if (op.inside === 0) return html`<i class="twist"></i>`;
    return html`<button
      class="twist dim"
      tabindex="-1"
      aria-label="${isOpen ? 'Close' : 'Open'} ${op.name}"
      @click=${(event: Event) => {
        event.stopPropagation();
        this.toggle(op);
      }}>
      ${isOpen ? '▾' : '▸'}
    </button>`;
  }

  static override styles = [base, column, opsStyles];
}

function bytesCell(column: string, bytes: number | null): SheetCell {
  if (bytes === null) return { text: '?', says: 'Not known', data: { column } };
  return {
    text: bytes === 0 ? '–' : formatBytes(bytes),
    says: formatExactBytes(bytes),
    look: bytes < 0 ? 'negative' : '',
    data: { column, bytes },
  };
}

function ask({ view, mode, by, sort, tree, open, first, count }: Asked): Promise<Answered> {
  if (mode === 'pytorch')
    return view
      .ask('profilerTable', { shapes: by === 'shape', sort, first, count })
      .then((profiler) => ({ profiler }));
  const scope = mode === 'span' ? 'process' : 'thread';
  const asked = { by: tree ? ('path' as const) : by, scope, sort, tree, open, first, count } as const;
  return view.ask('ops', asked).then((ops) => ({ ops }));
}

export const panel: LoadedPanel<OpsMemory> = {
  reads: ['settled', 'trace'],
  initial: { mode: 'thread', by: 'op', sort: 'at_peak', tree: false, open: [], top: 0, chosen: '' },
  linked: {
    mode: oneOf(['thread', 'span', 'pytorch']),
    by: oneOf(opByWords),
    sort: oneOf(opSortWords),
    tree: flag,
  },
  show: (page, kept) =>
    html`<gpustrata-ops role="region" aria-label="Ops" .page=${page} .kept=${kept}></gpustrata-ops>`,
};
