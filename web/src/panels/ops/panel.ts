// The op table: what each op of a profiler's trace did with the memory of the device. However many rows there are, only
// those that are seen exist. Choosing a row makes the filter that lights its blocks.
import { reasonOf } from '../../base/reason.ts';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { repeat } from 'lit/directives/repeat.js';
import { formatBytes, formatCount, formatExactBytes, plural } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import { RowWindow } from '../../controls/row_window.ts';
import { base } from '../../controls/styles.ts';
import { Resized } from '../../controls/resized.ts';
import {
  opByWords,
  type EngineView,
  type OpBy,
  type OpLine,
  type OpLines,
  type OpSort,
  type ProfilerLine,
  type ProfilerLines,
} from '../../../engine/index.ts';
import { tell, type Kept, type LoadedPanel, type PanelPage } from '../panel.ts';
import { opColumns, profilerColumns, type OpColumn } from './columns.ts';
import { opsStyles } from './styles.ts';

const rowHeight = 24;
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
  @query('.scroller') private scroller!: HTMLDivElement | null;
  private first = 0;
  private readonly window = new RowWindow(rowHeight);
  protected readonly resized = new Resized(
    this,
    () => this.scroller,
    () => this.measure(),
  );
  private readonly asking = new LatestOnly<Asked, Answered>(
    (asked) => ask(asked),
    (answered, asked) => this.deliver(answered, asked),
    (error) => {
      if (this.ofTrace.alive) this.problem = reasonOf(error);
    },
  );

  override focus(): void {
    this.scroller?.focus();
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
    this.window.top = this.memory.top;
    this.request();
  }

  private request(): void {
    if (!this.page.settled) return;
    const first = Math.max(0, this.window.first - around);
    const count = this.window.page + 2 * around;
    this.asking.request({ ...this.memory, view: this.ofTrace, first, count });
  }

  private deliver(answered: Answered, asked: Asked): void {
    if (asked.view !== this.ofTrace) return;
    this.problem = undefined;
    this.first = asked.first;
    this.answered = answered;
    this.measure();
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

  private measure(): void {
    this.window.resize(this.count, Math.max(0, (this.scroller?.clientHeight ?? 0) - rowHeight));
    const { first, end } = this.window;
    if (first < this.first || Math.min(end, this.count) > this.first + this.lines.length) this.request();
    this.requestUpdate();
  }

  private change(change: Partial<OpsMemory>): void {
    const again = !('chosen' in change);
    this.kept.keep(again ? { ...change, ...('open' in change ? {} : { open: [], top: 0 }) } : change);
    if (again) {
      if (!('open' in change)) {
        this.window.top = 0;
        this.current = 0;
        if (this.scroller) this.scroller.scrollTop = this.window.resync();
      }
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
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const line = this.lines[this.current - this.first];
    const at = (row: number): void => {
      this.current = Math.min(Math.max(row, 0), Math.max(this.count - 1, 0));
      this.window.show(this.current);
      this.placeBar();
      this.measure();
    };
    const acts: Readonly<Record<string, () => void>> = {
      ArrowDown: () => at(this.current + 1),
      ArrowUp: () => at(this.current - 1),
      PageDown: () => at(this.current + this.window.page),
      PageUp: () => at(this.current - this.window.page),
      Home: () => at(0),
      End: () => at(this.count - 1),
      Enter: () => line && this.choose(line),
      ' ': () => line && this.choose(line),
      ArrowRight: () =>
        line &&
        'inside' in line &&
        line.inside > 0 &&
        !this.memory.open.includes(line.row) &&
        this.toggle(line),
      ArrowLeft: () => line && 'inside' in line && this.memory.open.includes(line.row) && this.toggle(line),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  private placeBar(): void {
    if (this.scroller) this.scroller.scrollTop = this.window.resync();
    this.kept.keep({ top: this.window.top });
  }
  private readonly scrolled = (): void => {
    this.window.scrolled(this.scroller?.scrollTop ?? 0);
    this.kept.keep({ top: this.window.top });
    this.measure();
  };

  // -- The page.

  protected override render(): TemplateResult {
    const { answered, problem } = this;
    return html`${this.choices()} ${problem === undefined ? nothing : html`<p role="alert">${problem}</p>`}
      ${answered && 'ops' in answered ? this.sums(answered.ops) : nothing}
      <div
        class="scroller"
        tabindex="0"
        role="treegrid"
        aria-label="Ops and their memory"
        aria-rowcount=${this.count}
        aria-activedescendant=${this.lines[this.current - this.first] ? `row-${this.current}` : nothing}
        data-rows=${answered ? this.count : nothing}
        @keydown=${this.keys}
        @scroll=${this.scrolled}>
        ${answered ? this.table(answered) : html`<p class="dim">Adding up…</p>`}
      </div>`;
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
      ${device.has_addresses ? nothing : html` <span class="dim">Old trace without addresses: frees are matched by size, “at the peak” is not known for all.</span>`}
    </p>`;
  }

  private table(answered: Answered): TemplateResult {
    const { window } = this;
    const from = Math.max(window.first, this.first);
    const to = Math.min(window.end + 1, this.first + this.lines.length, this.count);
    const rows = this.lines.slice(from - this.first, Math.max(0, to - this.first));
    const columns = 'ops' in answered ? opColumns : profilerColumns(answered.profiler.shows_devices);
    return html`${this.head(columns)}
      <div class="bar" role="presentation" .style=${`height: ${window.barHeight}px`}>
        <div
          class="rows"
          role="presentation"
          .style=${`transform: translateY(${from * rowHeight - window.top + (this.scroller?.scrollTop ?? 0)}px)`}>
          ${repeat(
            rows,
            (line, index) => ('row' in line ? line.row : from + index),
            (line, index) =>
              this.row(line, from + index, columns as readonly OpColumn<OpLine & ProfilerLine>[]),
          )}
        </div>
      </div>
      ${this.count === 0 ? html`<p class="dim">No op holds a record of this device.</p>` : nothing}`;
  }

  private head(columns: readonly OpColumn<OpLine & ProfilerLine>[]): TemplateResult {
    const { sort } = this.memory;
    return html`<div class="head" role="row">
      ${columns.map((column) => {
        const by = column.sort;
        const sorted = by !== undefined && by === sort;
        return html`<span
          role="columnheader"
          class="number"
          title=${column.says}
          aria-sort=${sorted ? 'descending' : 'none'}>
          ${
            by === undefined
              ? column.name
              : html`<button
                  class="sort"
                  tabindex="0"
                  data-sort=${by}
                  aria-pressed=${sorted ? 'true' : 'false'}
                  @click=${() => this.change({ sort: by })}>
                  ${column.name}${sorted ? ' ↓' : ''}
                </button>`
          }
        </span>`;
      })}
      <span role="columnheader" class="number calls">Calls</span>
      <span role="columnheader" class="name">Op</span>
    </div>`;
  }

  private row(
    line: OpLine | ProfilerLine,
    index: number,
    columns: readonly OpColumn<OpLine & ProfilerLine>[],
  ): TemplateResult {
    const { chosen, open, tree } = this.memory;
    const op = 'row' in line ? line : undefined;
    const isOpen = op !== undefined && open.includes(op.row);
    const lit = line.filter !== null && line.filter === chosen;
    return html`<div
      id="row-${index}"
      role="row"
      class="row ${index === this.current ? 'current' : ''} ${lit ? 'lit' : ''}"
      aria-selected=${lit ? 'true' : 'false'}
      aria-level=${op && tree ? op.depth + 1 : nothing}
      aria-expanded=${op && tree && op.inside > 0 ? (isOpen ? 'true' : 'false') : nothing}
      data-op=${line.name}
      data-row=${index}
      title=${op?.why ?? nothing}
      @click=${() => {
        this.current = index;
        this.choose(line);
      }}>
      ${columns.map((column) => {
        const value = column.of(line as OpLine & ProfilerLine);
        if (value === null)
          return html`<span role="gridcell" class="number" data-column=${column.name} title="Not known"
            >?</span
          >`;
        return html`<span
          role="gridcell"
          class="number ${value < 0 ? 'negative' : ''}"
          data-column=${column.name}
          data-bytes=${value}
          title=${formatExactBytes(value)}
          >${value === 0 ? '–' : formatBytes(value)}</span
        >`;
      })}
      <span role="gridcell" class="number calls">${formatCount(line.calls)}</span>
      <span role="gridcell" class="name" .style=${op && tree ? `padding-left: ${12 + op.depth * 16}px` : ''}>
        ${
          op && tree
            ? op.inside > 0
              ? html`<button
                  class="twist"
                  tabindex="-1"
                  aria-label="${isOpen ? 'Close' : 'Open'} ${line.name}"
                  @click=${(event: Event) => {
                    event.stopPropagation();
                    this.toggle(op);
                  }}>
                  ${isOpen ? '▾' : '▸'}
                </button>`
              : html`<i class="twist"></i>`
            : nothing
        }
        ${line.name}${line.detail !== '' && !tree ? html` <span class="dim">${line.detail}</span>` : nothing}
        ${op?.why ? html`<span class="why" data-why>${op.why}</span>` : nothing}
      </span>
    </div>`;
  }

  static override styles = [base, opsStyles];
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
  show: (page, kept) =>
    html`<gpustrata-ops role="region" aria-label="Ops" .page=${page} .kept=${kept}></gpustrata-ops>`,
};
