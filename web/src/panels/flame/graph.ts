// The flame graph itself: a canvas of the rows that are seen, walked by pointer and keys.
import { reasonOf } from '../../base/reason.ts';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import { base, column } from '../../controls/styles.ts';
import { Resized } from '../../controls/resized.ts';
import { resizeToPlace } from '../../draw/canvas.ts';
import { drawFlame, flameLegend, rectAt, rowHeight, topOf, type FlameView } from '../../draw/flame_rects.ts';
import {
  type Args,
  type CallFacts,
  type CallTree,
  type EngineView,
  type FlameGraph,
} from '../../../engine/index.ts';
import { formatShare } from '../../base/format.ts';
import { changeText, exactWeightText, weightText } from '../../words/call_text.ts';
import type { PanelPage } from '../panel.ts';
import type { FlameChoices } from './choices.ts';
import { pathTo, stepFrom, type Step } from './walk.ts';
import { graphStyles } from './graph_styles.ts';

const mostRows = 400;

export interface FlameOf {
  /** Undefined = it is not known yet what to ask. */
  tree: CallTree | undefined;
  page: PanelPage;
  chosen: FlameChoices;
  /** The calls of another file that these are compared with, and what tells them from others. */
  before?: CallFacts;
  beforeKey: string;
}

/** Tells `choices`, `found` (what the search found and the total, in words) and `filter` (that of a frame). */
@element('gpustrata-flame-graph')
export class FlameGraphView extends LitElement {
  @property({ attribute: false }) of!: FlameOf;
  @state() private flame: FlameGraph | undefined;
  @state() private problem: string | undefined;
  @state() private pointed: { rect: number; x: number; y: number } | undefined;
  @state() private current = -1;
  @query('canvas') private canvas!: HTMLCanvasElement | null;
  @query('.scroller') private scroller!: HTMLDivElement | null;

  private view: EngineView | undefined;
  private asking: LatestOnly<{ key: string; args: Args<'flame'> }, FlameGraph> | undefined;
  private asked = '';
  private shown = '';
  private width = 0;
  private atEdge = true;
  protected readonly resized = new Resized(
    this,
    () => this.scroller,
    () => {
      this.ask();
      this.draw();
    },
  );

  override focus(): void {
    this.scroller?.focus();
  }

  protected override willUpdate(): void {
    if (this.of.page.view !== this.view) this.start();
  }
  protected override updated(changed: PropertyValues): void {
    if (changed.has('of')) this.ask();
    if (changed.has('flame') && this.atEdge && this.scroller)
      this.scroller.scrollTop = this.isUpwards ? this.scroller.scrollHeight : 0;
    this.draw();
  }

  private start(): void {
    const { view } = this.of.page;
    // Of a recording that has grown the last one stays until the next one is there.
    if (this.view?.run !== view.run) this.flame = undefined;
    this.view = view;
    this.problem = undefined;
    this.pointed = undefined;
    this.current = -1;
    this.asked = this.shown = '';
    this.asking = new LatestOnly(
      ({ args }) => view.ask('flame', args),
      (flame, { key }) => view === this.view && this.deliver(flame, key),
      (error) => {
        if (view !== this.view || !view.alive) return;
        this.problem = reasonOf(error);
      },
    );
  }

  private ask(): void {
    const { tree, chosen, before, beforeKey } = this.of;
    const width = Math.floor(this.scroller?.clientWidth ?? 0);
    if (!tree || width < 8) return;
    const asked = { tree, path: [...chosen.path], width, rows: mostRows, search: chosen.search };
    const key = JSON.stringify([asked, beforeKey]);
    if (key === this.asked) return;
    this.asked = key;
    this.width = width;
    this.asking?.request({ key, args: before ? { ...asked, before } : asked });
  }

  private deliver(flame: FlameGraph, key: string): void {
    this.problem = undefined;
    this.flame = flame;
    this.shown = key;
    this.pointed = undefined;
    this.current = Math.min(this.current, flame.rects.row.length - 1);
    const { found, unit, total, grew } = flame;
    const whole = this.differs ? `${changeText(grew - (total - grew), unit)}` : weightText(total, unit);
    this.tell('found', {
      text: found ? `${formatShare(found.weight, total)} · ${weightText(found.weight, unit)}` : '',
      total: whole,
      rest: flame.rest === 0 ? '' : weightText(flame.rest, unit),
    });
  }

  private tell(name: 'choices' | 'found' | 'filter', detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  private get differs(): boolean {
    return this.of.chosen.of === 'difference';
  }
  private get isUpwards(): boolean {
    return this.of.chosen.shape === 'flame';
  }
  private get flameView(): FlameView {
    const { page } = this.of;
    return {
      scrolled: this.scroller?.scrollTop ?? 0,
      height: this.scroller?.clientHeight ?? 0,
      upwards: this.isUpwards,
      differs: this.differs,
      faded: page.highlight !== '',
      pointed: this.pointed?.rect ?? -1,
      current: this.current,
      filter: page.highlight,
    };
  }

  private draw(): void {
    const { canvas, scroller, flame } = this;
    const ctx = canvas?.getContext('2d');
    if (!canvas || !ctx || !scroller || !resizeToPlace(canvas, scroller)) return;
    if (flame) drawFlame(ctx, flame, this.flameView, this.of.page.theme, devicePixelRatio);
    else ctx.clearRect(0, 0, canvas.width, canvas.height);
    const settled = flame !== undefined && this.shown === this.asked && this.of.tree !== undefined;
    scroller.toggleAttribute('data-settled', settled);
  }

  // -- Pointer and keys.

  private rectUnder(event: MouseEvent): number {
    const rect = this.canvas?.getBoundingClientRect();
    if (!this.flame || !rect) return -1;
    return rectAt(this.flame, this.flameView, event.clientX - rect.left, event.clientY - rect.top);
  }
  private readonly moved = (event: PointerEvent): void => {
    const box = this.getBoundingClientRect();
    const rect = event.pointerType === 'touch' ? -1 : this.rectUnder(event);
    this.pointed = rect < 0 ? undefined : { rect, x: event.clientX - box.left, y: event.clientY - box.top };
  };
  private readonly clicked = (event: MouseEvent): void => {
    const rect = this.rectUnder(event);
    if (rect < 0) return;
    this.current = rect;
    if (event.detail === 2) this.zoom(rect);
    else if (event.detail < 2) this.filter(rect);
  };
  private filter(rect: number): void {
    const { flame } = this;
    const frame = flame?.frames[flame.rects.frame[rect] ?? -1];
    this.tell('filter', frame ? frame.filter : this.of.page.highlight);
  }
  private zoom(rect: number): void {
    if (!this.flame) return;
    const path = pathTo(this.flame, rect);
    this.current = path.length;
    this.tell('choices', { path });
  }
  private zoomOut(): void {
    const { path } = this.of.chosen;
    if (path.length === 0) return;
    this.current = path.length - 1;
    this.tell('choices', { path: path.slice(0, -1) });
  }

  private readonly key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.flame) return;
    const [up, down]: [Step, Step] = this.isUpwards ? ['callee', 'caller'] : ['caller', 'callee'];
    const steps: Partial<Record<string, Step>> = {
      ArrowUp: up,
      ArrowDown: down,
      ArrowLeft: 'before',
      ArrowRight: 'behind',
    };
    const step = steps[event.key];
    if (step !== undefined) {
      const next = stepFrom(this.flame, this.current, step);
      if (next >= 0) this.current = next;
      this.reveal();
    } else if (event.key === 'Enter') {
      if (this.current >= 0) this.filter(this.current);
    } else if (event.key === '+' || event.key === ' ') {
      if (this.current >= 0) this.zoom(this.current);
    } else if (event.key === '-' || event.key === 'Backspace') {
      this.zoomOut();
    } else if (event.key === 'Home') {
      this.current = 0;
      this.tell('choices', { path: [] });
    } else return;
    event.preventDefault();
  };
  /** The rectangle that keys reached. */
  private reveal(): void {
    const { flame, scroller } = this;
    if (!flame || !scroller || this.current < 0) return;
    const top = topOf(flame.rects.row[this.current] ?? 0, flame.rows, this.isUpwards);
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + rowHeight > scroller.scrollTop + scroller.clientHeight)
      scroller.scrollTop = top + rowHeight - scroller.clientHeight;
  }

  // -- What is told.

  /** `forward model.py:96`, its file, its bytes and shares. */
  private lines(rect: number): string[] {
    const { flame } = this;
    if (!flame) return [];
    const { rects, unit } = flame;
    const weight = rects.weight[rect] ?? 0;
    const self = rects.self[rect] ?? 0;
    const frame = flame.frames[rects.frame[rect] ?? -1];
    const lines = [frame?.label ?? 'all'];
    if (frame && frame.file !== '') lines.push(frame.line > 0 ? `${frame.file}:${frame.line}` : frame.file);
    if (this.differs) {
      const grew = rects.grew[rect] ?? 0;
      lines.push(
        `${changeText(grew - (weight - grew), unit)}: ${weightText(grew, unit)} more, ${weightText(weight - grew, unit)} less`,
      );
    } else {
      lines.push(
        `${weightText(weight, unit)}, ${formatShare(weight, flame.total)} of all (${exactWeightText(weight, unit)})`,
      );
      if (self > 0 && self < weight) lines.push(`${weightText(self, unit)} of it asked for right here`);
      if (unit !== 'blocks') lines.push(`${weightText(rects.blocks[rect] ?? 0, 'blocks')}`);
    }
    return lines;
  }

  protected override render(): TemplateResult {
    const { flame, problem, current } = this;
    const { chosen, page } = this.of;
    const isEmpty = flame !== undefined && flame.total === 0;
    return html`
      ${problem === undefined ? nothing : html`<p class="problem" role="alert">The calls cannot be shown: ${problem}</p>`}
      ${isEmpty ? html`<p class="problem">${nothingText(chosen)}</p>` : nothing}
      <div
        class="scroller"
        tabindex="0"
        role="application"
        aria-roledescription="flame graph"
        aria-label="Calls. Arrow keys walk through the frames, Enter filters by one, plus and minus zoom."
        data-total=${flame?.total ?? nothing}
        data-rects=${flame?.rects.row.length ?? nothing}
        data-rows=${flame?.rows ?? nothing}
        data-steps=${flame?.steps ?? nothing}
        data-current=${current >= 0 ? (this.lines(current)[0] ?? '') : nothing}
        @scroll=${this.scrolled}
        @pointermove=${this.moved}
        @pointerleave=${() => (this.pointed = undefined)}
        @click=${this.clicked}
        @keydown=${this.key}>
        <canvas></canvas>
        <div class="space" .style=${`height: ${(flame?.rows ?? 0) * rowHeight}px`}></div>
      </div>
      ${this.tip()}
      <p class="visually-hidden" role="status">${current >= 0 ? this.lines(current).join(', ') : ''}</p>
      <div class="legend" role="group" aria-label="Colours of the calls">
        ${flameLegend(page.theme, this.differs).map(
          ({ name, color }) => html`<span><i .style=${`background: ${color}`}></i>${name}</span>`,
        )}
        ${
          chosen.path.length === 0
            ? html`<span class="hint">click: filter · double click: zoom</span>`
            : html`<button class="button small" data-whole @click=${() => this.tell('choices', { path: [] })}>
                Show all
              </button>`
        }
        ${flame?.cut ? html`<span class="hint">deeper calls are left out: zoom to see them</span>` : nothing}
      </div>
    `;
  }

  private readonly scrolled = (): void => {
    const { scroller } = this;
    if (scroller) {
      const rest = scroller.scrollHeight - scroller.clientHeight;
      this.atEdge = this.isUpwards ? scroller.scrollTop >= rest - 1 : scroller.scrollTop <= 1;
    }
    this.draw();
  };

  private tip(): TemplateResult | typeof nothing {
    const { pointed, width } = this;
    if (!pointed) return nothing;
    const across = pointed.x < width / 2 ? `left: ${pointed.x + 14}px` : `right: ${width - pointed.x + 14}px`;
    const below = pointed.y < this.clientHeight / 2;
    const along = below ? `top: ${pointed.y + 14}px` : `bottom: ${this.clientHeight - pointed.y + 8}px`;
    return html`<div
      class="tip"
      aria-hidden="true"
      .style=${`${across}; ${along}`}
      .textContent=${this.lines(pointed.rect).join('\n')}></div>`;
  }

  static override styles = [base, column, graphStyles];
}

/** Why there is nothing to see. */
function nothingText({ of, search }: FlameChoices): string {
  if (of === 'difference') return 'Nothing changed between the two moments.';
  if (of === 'moment') return 'No memory is in use at this moment.';
  return search === '' ? 'No block is such in these events.' : 'Nothing was found.';
}
