// Lanes of ops above the timeline: for each thread of a profiler's trace its ops in rows, on the axis of the plot.
//
// The timeline draws them together with its own picture, so all move in the same frame. A click lights the blocks that
// an op allocated, a double click fits it; by key: arrows go along and between the rows, Enter lights, Z fits.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, queryAll, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatCount, plural } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import type { AxisUnits, CssPx } from '../../base/units.ts';
import { Gestures, type GestureTarget, type Point } from '../../controls/gestures.ts';
import { Hearing } from '../../controls/hearing.ts';
import { base } from '../../controls/styles.ts';
import { tip, tipStyles } from '../../controls/tip.ts';
import { resizeTo } from '../../draw/canvas.ts';
import { colorsOf, themes, type Theme } from '../../draw/colors.ts';
import { drawOps, opAt, opHeight, type OpRow } from '../../draw/lanes.ts';
import type { Projection } from '../../draw/plot.ts';
import {
  type Axis,
  type EngineView,
  type LaneThread,
  type RunningOps,
  type SpanDetails,
} from '../../../engine/index.ts';
import { meet, spanOf } from '../../model/beside/choices.ts';
import type { BesideTrace } from '../../model/beside/files.ts';
import type { ToldOps } from '../../model/beside/op_attribution.ts';
import { besideLine, opLines, threadLine, threadName, toldLine } from '../../words/op_text.ts';
import { besideLineOf, besideStyles, tellBeside } from '../beside/line.ts';
import { keyOf, lanesOf, type Lane, type LanesTrack } from './lanes_track.ts';
import { lanesStyles } from './styles.ts';

export const headHeight: CssPx = 22;
/** An op that is gone to is fitted if it is narrower. */
const leastWide: CssPx = 12;

/** What is pointed at or has the focus: an entry of the answer. */
interface OnEntry extends Lane {
  span: number;
  count: number;
  /** On the axis of the plot. */
  from: AxisUnits;
  to: AxisUnits;
}

/** A recording of the same run, above which the ops are drawn. */
export interface Run {
  trace: BesideTrace;
  /** Of the recording. */
  view: EngineView;
  told: ToldOps | undefined;
}

export interface Stretch {
  from: AxisUnits;
  to: AxisUnits;
}

/** Tells `fit` and `reveal` with a Stretch, `go` with a filter (panels/panel.ts), `ready` when it can draw. */
@element('gpustrata-lanes')
export class LanesView extends LitElement {
  /** Of the trace, which is not always what the timeline shows. */
  @property({ attribute: false }) device!: EngineView;
  /** Undefined = the timeline shows the trace itself. */
  @property({ attribute: false }) run: Run | undefined;
  @property({ attribute: false }) theme: Theme = themes.light;
  @property({ attribute: false }) search = '';
  /** What wheel and drag do. */
  @property({ attribute: false }) motion!: Pick<GestureTarget, 'zoomAt' | 'panBy'>;

  @state() private hovered: OnEntry | undefined;
  @state() private focused: OnEntry | undefined;
  @state() private chosen = -1;
  @state() private details: SpanDetails | undefined;
  @query('.scroller') private scroller!: HTMLDivElement | null;
  @queryAll('canvas') private canvases!: NodeListOf<HTMLCanvasElement>;

  private track!: LanesTrack;
  private readonly answers = new Hearing(this, () =>
    this.device ? [lanesOf(this.device).answers.add((what) => this.answered(what))] : [],
  );
  private at: Projection | undefined;
  private axis: Axis = 'event';
  private width = 0;
  private pointer: { thread: number; at: Point; x: CssPx; y: CssPx } | undefined;
  private readonly bound = new WeakSet<HTMLCanvasElement>();
  private readonly asking = new LatestOnly<{ view: EngineView; span: number }, SpanDetails>(
    ({ view, span }) => view.ask('span', { span }),
    (details, { view }) => {
      if (view === this.device) this.details = details;
    },
    () => undefined,
  );

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('device')) this.begin();
    const { run } = this;
    if (run && changed.has('run')) {
      const before = changed.get('run')?.trace;
      if (before?.nudge !== run.trace.nudge) this.focused = undefined;
      if (before?.threads !== run.trace.threads) this.track.open = new Set(run.trace.threads);
    }
  }

  private answered(what: 'lanes' | 'threads'): void {
    if (what === 'lanes') this.drawAll();
    // Their text lies where they are.
    if (what === 'threads' || this.hovered || this.focused) this.requestUpdate();
  }

  private begin(): void {
    this.track = lanesOf(this.device);
    this.answers.again();
    this.track.findThreads();
    this.hovered = undefined;
    this.focused = undefined;
    this.details = undefined;
    this.chosen = -1;
  }

  protected override firstUpdated(): void {
    this.scroller?.addEventListener('scroll', () => this.drawAll(), { passive: true });
    this.dispatchEvent(new CustomEvent('ready'));
  }

  protected override updated(): void {
    this.canvases.forEach((canvas) => this.bind(canvas));
    this.drawAll();
  }

  /** `at` is the plot's: all canvases have its width. */
  draw(at: Projection, width: number, axis: Axis): void {
    this.at = at;
    this.width = width;
    if (this.axis !== axis) this.requestUpdate();
    this.axis = axis;
    this.drawAll();
  }

  // -- A recording of the same run.

  /** From the axis of the trace to that of the plot; NaN = one of the two has no clock. */
  private get shift(): AxisUnits {
    if (!this.run) return 0;
    const own = this.device.info.first_time_us ?? NaN;
    return own - (this.run.view.info.first_time_us ?? NaN) - this.run.trace.nudge;
  }
  /** That of the plot; of another recording only times mean the same. */
  private get isOnAxis(): boolean {
    return !this.run || (this.axis === 'time' && Number.isFinite(this.shift));
  }
  /** False: the two were recorded at other times, nothing of the trace would be seen. */
  private get isMet(): boolean {
    const { run, device } = this;
    return !run || meet(spanOf(device), run.view.info, run.trace.nudge);
  }

  /** Blocks of the run that were allocated while the op ran; undefined = none, or it cannot be told. */
  private async blocksOfRun(op: SpanDetails, run: Run): Promise<string | undefined> {
    const eventAt = async (time: number): Promise<number> => {
      const column = Math.min(Math.max(Math.floor(time), -1), run.view.info.extent.time_us ?? 0);
      if (column < 0) return -1;
      const answer = await run.view.ask('probe', { axis: 'time', column, width: 1, bytes: 0, known: -1 });
      return answer.pick?.event ?? -1;
    };
    const start = op.start_us + this.shift;
    const first = (await eventAt(Math.ceil(start) - 1)) + 1;
    const last = await eventAt(Math.floor(start + Math.max(op.duration_us, 0)));
    return last < first ? undefined : `born:${first}..${last}`;
  }

  // -- What is seen.

  private get threads(): readonly LaneThread[] {
    return this.track?.threads?.threads ?? [];
  }
  private isOpen(thread: number): boolean {
    return this.track.open.has(thread);
  }

  /** Upper edges of what threads show. */
  private tops(): CssPx[] {
    let top = 0;
    return this.threads.map(({ rows }, thread) => {
      const own = top + headHeight;
      top = own + (this.isOpen(thread) ? rows * opHeight : 0);
      return own;
    });
  }

  /** Rows that are seen, and a few around them. */
  private seenLanes(): Lane[] {
    const { scroller } = this;
    if (!scroller) return [];
    const from = scroller.scrollTop - 4 * opHeight;
    const to = scroller.scrollTop + scroller.clientHeight + 4 * opHeight;
    const tops = this.tops();
    const lanes: Lane[] = [];
    this.threads.forEach(({ rows }, thread) => {
      if (!this.isOpen(thread)) return;
      const top = tops[thread] ?? 0;
      const first = Math.max(0, Math.floor((from - top) / opHeight));
      const end = Math.min(rows, Math.ceil((to - top) / opHeight));
      for (let row = first; row < end; row += 1) lanes.push({ thread, row });
    });
    return lanes;
  }

  private rowOf(lane: Lane, top: CssPx): OpRow | undefined {
    const { shown } = this.track;
    if (!shown || shown.asked.axis !== this.axis) return undefined;
    const index = shown.asked.lanes.findIndex((one) => keyOf(one) === keyOf(lane));
    const first = shown.starts[index];
    const end = shown.starts[index + 1];
    return first === undefined || end === undefined ? undefined : { lanes: shown.lanes, first, end, top };
  }

  private drawAll(): void {
    const { at, track } = this;
    if (!at || !track?.threads || this.canvases.length === 0) return;
    const { shift, isOnAxis } = this;
    const lanes = this.seenLanes();
    const { view, unitsPerPixel } = at;
    const settled =
      lanes.length === 0 ||
      !isOnAxis ||
      track.want({
        axis: this.axis,
        x0: view.x0 - shift,
        x1: view.x1 - shift,
        unitsPerPixel,
        lanes,
        search: this.run ? '' : this.search, // a filter means blocks of what is shown
      });
    this.toggleAttribute('data-settled', settled);
    const lit = new Set([this.hovered, this.focused].flatMap((one) => (one ? [one.span] : [])));
    if (this.chosen >= 0) lit.add(this.chosen);
    const searched = (track.shown?.asked.search ?? '').trim() !== '';
    this.canvases.forEach((canvas) => {
      const ctx = canvas.getContext('2d');
      const thread = Number(canvas.dataset['thread']);
      const rows = this.threads[thread]?.rows ?? 0;
      const height = Math.round(rows * opHeight * at.area.ratio);
      resizeTo(canvas, this.width, height);
      if (!ctx) return;
      const drawn = lanes
        .filter((lane) => isOnAxis && lane.thread === thread)
        .flatMap((lane) => this.rowOf(lane, lane.row * opHeight) ?? []);
      drawOps(ctx, at, drawn, isOnAxis ? shift : 0, searched, lit, colorsOf(this.theme));
    });
  }

  // -- Pointer.

  private bind(canvas: HTMLCanvasElement): void {
    if (this.bound.has(canvas)) return;
    this.bound.add(canvas);
    const thread = (): number => Number(canvas.dataset['thread']);
    new Gestures(canvas, {
      zoomAt: (at, factorX) => this.motion.zoomAt(at, factorX, 1),
      panBy: (dx, dy) => {
        this.motion.panBy(dx, 0);
        if (this.scroller) this.scroller.scrollTop -= dy / (this.at?.area.ratio ?? 1);
      },
      hover: (at) => this.hover(thread(), at, canvas),
      click: (at) => void this.choose(this.under(thread(), at)),
      doubleClick: (at) => this.fit(this.under(thread(), at)),
    });
  }

  private hover(thread: number, at: Point | undefined, canvas: HTMLCanvasElement): void {
    const ratio = this.at?.area.ratio ?? 1;
    const box = this.getBoundingClientRect();
    const own = canvas.getBoundingClientRect();
    this.pointer = at && {
      thread,
      at,
      x: own.left - box.left + at.x / ratio,
      y: own.top - box.top + (Math.floor(at.y / ratio / opHeight) + 1) * opHeight,
    };
    const before = this.hovered?.span;
    this.hovered = at && this.under(thread, at);
    if (this.hovered && this.hovered.count === 1 && this.hovered.span !== before) this.look(this.hovered);
  }

  private under(thread: number, { x, y }: Point): OnEntry | undefined {
    const { at } = this;
    if (!at || !this.isOnAxis || x < at.area.left || x > at.area.left + at.area.width) return undefined;
    const row = Math.floor(y / (opHeight * at.area.ratio));
    const drawn = this.rowOf({ thread, row }, 0);
    if (!drawn) return undefined;
    const entry = opAt(at, drawn, this.shift, x, 3 * at.area.ratio);
    return entry < 0 ? undefined : this.entryAt({ thread, row }, drawn, entry);
  }

  private entryAt(lane: Lane, { lanes }: OpRow, entry: number): OnEntry {
    return {
      ...lane,
      span: lanes.span[entry] ?? -1,
      count: lanes.count[entry] ?? 1,
      from: (lanes.from[entry] ?? 0) + this.shift,
      to: (lanes.to[entry] ?? 0) + this.shift,
    };
  }

  private look({ span }: OnEntry): void {
    this.asking.request({ view: this.device, span });
  }

  // -- What one does.

  /** Lights the blocks of an op, or lets them go; of several: fits them, so that they can be told apart. */
  private async choose(entry: OnEntry | undefined): Promise<void> {
    if (!entry) return;
    if (entry.count > 1) return this.fit(entry);
    const { device } = this;
    const again = this.chosen === entry.span;
    const op = await device.ask('span', { span: entry.span }).catch(() => undefined);
    if (!op || device !== this.device) return;
    this.details = op;
    this.chosen = again ? -1 : entry.span;
    const { run } = this;
    const found = run ? await this.blocksOfRun(op, run).catch(() => undefined) : op.filter;
    if (device !== this.device) return;
    const text = again ? '' : (found ?? '');
    const detail = { to: 'filter', text };
    this.dispatchEvent(new CustomEvent('go', { detail, bubbles: true, composed: true }));
  }

  private fit(entry: OnEntry | undefined): void {
    if (entry)
      this.dispatchEvent(new CustomEvent<Stretch>('fit', { detail: { from: entry.from, to: entry.to } }));
  }

  private toggle(thread: number): void {
    if (this.focused?.thread === thread) this.focused = undefined;
    this.open(thread, !this.track.open.has(thread));
  }
  private open(thread: number, isOpen: boolean): void {
    const { open } = this.track;
    if (isOpen) open.add(thread);
    else open.delete(thread);
    this.requestUpdate();
    if (this.run) tellBeside(this, { hash: this.run.trace.hash, threads: [...open].sort((a, b) => a - b) });
  }

  /** Opens the lane of an op, and shows it there. */
  async showOp({ span, lane }: Pick<RunningOps, 'span' | 'lane'>): Promise<void> {
    const { device } = this;
    const op = await device.ask('span', { span }).catch(() => undefined);
    if (!op || !lane || device !== this.device || !this.isOnAxis) return;
    if (!this.isOpen(lane.thread)) this.open(lane.thread, true);
    const place =
      this.axis === 'time'
        ? { from: op.start_us + this.shift, to: op.start_us + this.shift + Math.max(op.duration_us, 0) }
        : { from: op.from_event, to: op.to_event };
    await this.updateComplete;
    this.details = op;
    const entry = { ...lane, ...place, span, count: 1 };
    this.focusOn(entry);
    const canvas = [...this.canvases].find((one) => Number(one.dataset['thread']) === lane.thread);
    canvas?.focus({ preventScroll: true });
    const wide = this.at ? (entry.to - entry.from) / this.at.unitsPerPixel / this.at.area.ratio : leastWide;
    if (wide < leastWide) this.fit(entry);
  }

  private readonly key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const { focused } = this;
    const thread = Number((event.target as HTMLElement).dataset['thread']);
    if (event.key === 'Escape' && focused) this.focused = undefined;
    else if ((event.key === 'Enter' || event.key === ' ') && focused) void this.choose(focused);
    else if (event.key === 'z' && focused) this.fit(focused);
    else {
      const next = this.neighbour(event.key, thread);
      if (next === undefined) return;
      if (next) this.focusOn(next);
    }
    event.preventDefault();
  };

  private focusOn(entry: OnEntry): void {
    this.focused = entry;
    this.hovered = undefined;
    if (entry.count === 1) this.look(entry);
    const { scroller } = this;
    const top = (this.tops()[entry.thread] ?? 0) + entry.row * opHeight;
    if (scroller && (top < scroller.scrollTop || top + opHeight > scroller.scrollTop + scroller.clientHeight))
      scroller.scrollTop = Math.max(0, top - scroller.clientHeight / 2);
    const detail: Stretch = { from: entry.from, to: entry.to };
    this.dispatchEvent(new CustomEvent<Stretch>('reveal', { detail }));
  }

  /** null = there is none that way; undefined = the key means nothing here. */
  private neighbour(key: string, thread: number): OnEntry | null | undefined {
    const { at } = this;
    const rows = this.threads[thread]?.rows ?? 0;
    if (
      !at ||
      !this.isOnAxis ||
      !['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'].includes(key)
    )
      return undefined;
    const current = this.focused?.thread === thread ? this.focused : undefined;
    const row = current?.row ?? 0;
    const entries = this.entriesOf({ thread, row });
    if (!current) return entries.find(({ to }) => to > at.view.x0) ?? entries[0] ?? null;
    const middle = (current.from + current.to) / 2;
    const inRow = (wanted: number): OnEntry | null => {
      if (wanted < 0 || wanted >= rows) return null;
      const there = this.entriesOf({ thread, row: wanted });
      const around = there.find(({ from, to }) => from <= middle && to >= middle);
      const inside = there.find(({ from, to }) => from >= current.from && to <= current.to);
      return (key === 'ArrowUp' ? around : inside) ?? around ?? null;
    };
    switch (key) {
      case 'ArrowLeft':
        return entries.findLast(({ to }) => to <= current.from) ?? null;
      case 'ArrowRight':
        return entries.find(({ from }) => from >= current.to) ?? null;
      case 'ArrowUp':
        return inRow(row - 1);
      case 'ArrowDown':
        return inRow(row + 1);
      case 'Home':
        return entries[0] ?? null;
      default:
        return entries.at(-1) ?? null;
    }
  }

  /** Of the last answer, which reaches beyond what is seen. */
  private entriesOf(lane: Lane): OnEntry[] {
    const drawn = this.rowOf(lane, 0);
    if (!drawn) return [];
    return Array.from({ length: drawn.end - drawn.first }, (_, i) =>
      this.entryAt(lane, drawn, drawn.first + i),
    );
  }

  // -- The page.

  protected override render(): TemplateResult {
    const { problem, threads } = this.track;
    const all = this.threads;
    const out = threads?.threads_left_out ?? 0;
    return html`
      ${this.run ? this.beside(this.run) : nothing}
      <div class="scroller" ?hidden=${all.length === 0 || !this.isMet}>
        ${all.map((thread, index) => this.section(thread, index))}
        ${out > 0 ? html`<p class="note">${plural(out, 'thread')} with fewer ops left out.</p>` : nothing}
      </div>
      ${problem === undefined ? nothing : html`<p class="note" role="alert">Ops cannot be drawn: ${problem}</p>`}
      ${this.tipOfHovered()}
      <p class="visually-hidden" role="status" data-op=${this.focused ? (this.details?.name ?? '') : nothing}>
        ${this.focused ? this.linesOf(this.focused).join(', ') : ''}
      </p>
    `;
  }

  private beside({ trace, view, told }: Run): TemplateResult {
    const text = besideLine(`Ops of ${trace.name}`, spanOf(this.device), view.info, trace.nudge, this.axis);
    const more = this.isMet && told ? html`<span data-told=${told.told}>${toldLine(told)}</span>` : nothing;
    return besideLineOf(this, { file: trace, text, all: trace.all, more });
  }

  private section(thread: LaneThread, index: number): TemplateResult {
    const open = this.isOpen(index);
    const height = `height: ${thread.rows * opHeight}px`;
    const levels = plural(thread.rows, 'level');
    return html`<button
        class="head"
        aria-expanded=${open ? 'true' : 'false'}
        data-thread-head=${index}
        @click=${() => this.toggle(index)}>
        <span aria-hidden="true">${open ? '▾' : '▸'}</span> Ops, ${threadName(thread)}
        <span class="dim">${threadLine(thread)}</span>
      </button>
      ${
        open
          ? html`<canvas
              tabindex="0"
              role="application"
              aria-roledescription="lanes of ops"
              aria-label="Ops of ${threadName(thread)}: ${formatCount(thread.spans)} in ${levels}. Arrow keys go from one to the next, Enter lights its blocks, Z shows it."
              data-thread=${index}
              data-rows=${thread.rows}
              .style=${height}
              @keydown=${this.key}></canvas>`
          : nothing
      }`;
  }

  private linesOf(entry: OnEntry): string[] {
    if (entry.count > 1)
      return [`${formatCount(entry.count)} ops`, 'too narrow to be told apart here: a click zooms to them'];
    if (this.details?.span !== entry.span) return ['…'];
    const lit = this.run
      ? 'a click lights the blocks that were allocated meanwhile, on any thread'
      : this.details.filter === null
        ? 'it allocated no block'
        : 'a click lights the blocks it allocated';
    const { start_us: start } = this.details;
    return [...opLines({ ...this.details, start_us: this.isOnAxis ? start + this.shift : start }), lit];
  }

  private tipOfHovered(): TemplateResult | typeof nothing {
    const { hovered, pointer, focused, at } = this;
    if (hovered && pointer) return tip(pointer.x, this.clientWidth, pointer.y + 4, this.linesOf(hovered));
    if (!focused || !at) return nothing;
    const { left, width, ratio } = at.area;
    const middle = (Math.max(at.x(focused.from), left) + Math.min(at.x(focused.to), left + width)) / 2;
    const top = (this.tops()[focused.thread] ?? 0) - (this.scroller?.scrollTop ?? 0);
    return tip(
      middle / ratio,
      this.clientWidth,
      top + (focused.row + 1) * opHeight + 4,
      this.linesOf(focused),
    );
  }

  static override styles = [base, tipStyles, besideStyles, lanesStyles];
}
