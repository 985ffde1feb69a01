// Counters of the same run above the timeline, on its axis: the curves of each file in a plot as wide as that below, by the
// clock. The timeline draws them together with its own picture.
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes, formatExactBytes } from '../../base/format.ts';
import type { AxisUnits, CssPx } from '../../base/units.ts';
import { Gestures, type GestureTarget, type Point } from '../../controls/gestures.ts';
import { Hearing } from '../../controls/hearing.ts';
import { base } from '../../controls/styles.ts';
import { tip, tipStyles } from '../../controls/tip.ts';
import { resizeTo } from '../../draw/canvas.ts';
import { colorOfSeries } from '../../draw/areas.ts';
import { colorsOf, themes, type Theme } from '../../draw/colors.ts';
import { drawSteps } from '../../draw/curves.ts';
import { clipped, font, Projection, type Context } from '../../draw/plot.ts';
import { meet, type Span } from '../../model/beside/choices.ts';
import type { BesideCounters } from '../../model/beside/files.ts';
import { besideLine } from '../../words/op_text.ts';
import { nameOfDevice, nameOfSeries } from '../../words/series_text.ts';
import type { Axis, EngineView, SeriesMoment } from '../../../engine/index.ts';
import type { CountersTrack } from './counters_track.ts';
import { countersOf, type CountersPart } from './counters_track.ts';
import { besideLineOf, besideStyles } from './line.ts';

const plotHeight: CssPx = 44;
const room = 1.12; // above the highest value

@element('gpustrata-counters')
export class CountersView extends LitElement {
  @property({ attribute: false }) file!: BesideCounters;
  /** That the timeline shows. */
  @property({ attribute: false }) recording!: EngineView;
  @property({ attribute: false }) theme: Theme = themes.light;
  /** What wheel and drag do. */
  @property({ attribute: false }) motion!: Pick<GestureTarget, 'zoomAt' | 'panBy'>;
  @state() private pointer:
    { part: number; x: CssPx; y: CssPx; moment: SeriesMoment | undefined } | undefined;

  private track!: CountersTrack;
  private readonly answers = new Hearing(this, () =>
    this.file
      ? [
          countersOf(this.file.engine).answers.add(() => {
            this.requestUpdate();
            this.drawAll();
          }),
        ]
      : [],
  );
  private at: Projection | undefined;
  private axis: Axis = 'event';
  private width = 0;
  private readonly bound = new WeakSet<HTMLCanvasElement>();

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('file')) return;
    this.track = countersOf(this.file.engine);
    this.answers.again();
    this.track.findParts();
  }
  protected override firstUpdated(): void {
    this.dispatchEvent(new CustomEvent('ready'));
  }
  protected override updated(): void {
    this.canvases.forEach((canvas) => this.bind(canvas));
    this.drawAll();
  }

  /** `at` is the plot's. */
  draw(at: Projection, width: number, axis: Axis): void {
    this.at = at;
    this.width = width;
    this.axis = axis;
    this.drawAll();
  }

  private get canvases(): HTMLCanvasElement[] {
    return [...this.renderRoot.querySelectorAll('canvas')];
  }
  /** Of each part one plot: of the device that is shown, if the file tells of it. */
  private get plots(): readonly CountersPart[] {
    const parts = this.track.parts ?? [];
    const { device } = this.recording.info;
    const own = parts.filter(({ curves }) => curves.some((curve) => curve.device === device));
    const all = own.length > 0 ? own : parts;
    return all.filter(({ part }, at) => all.findIndex((one) => one.part === part) === at);
  }
  private isDrawn({ part }: CountersPart): boolean {
    return this.axis === 'time' && meet(part, this.recording.info, this.file.nudge);
  }
  /** From the axis of the part to that of the plot. */
  private shiftOf({ part }: CountersPart): AxisUnits {
    return (part.first_us ?? NaN) - (this.recording.info.first_time_us ?? NaN) - this.file.nudge;
  }
  private projectionOf(of: CountersPart, at: Projection): Projection {
    const { x0, x1 } = at.view;
    const shift = this.shiftOf(of);
    const { ratio, left, width } = at.area;
    const area = { left, width, top: 0, height: Math.round(plotHeight * ratio), ratio };
    return new Projection({ x0: x0 - shift, x1: x1 - shift, y0: of.lowest, y1: of.highest * room }, area);
  }

  private drawAll(): void {
    const { at, track } = this;
    if (!at || !track?.parts) return;
    const { plots } = this;
    let settled = true;
    for (const canvas of this.canvases) {
      const of = plots[Number(canvas.dataset['part'])];
      const ctx = canvas.getContext('2d');
      if (!of || !ctx) continue;
      const height = Math.round(plotHeight * at.area.ratio);
      resizeTo(canvas, this.width, height);
      const own = this.projectionOf(of, at);
      if (!this.isDrawn(of)) continue;
      settled = track.want(of, own) && settled;
      this.paint(ctx, own, of);
    }
    this.toggleAttribute('data-settled', settled);
  }

  private paint(ctx: Context, at: Projection, of: CountersPart): void {
    const { area } = at;
    const colors = colorsOf(this.theme);
    ctx.fillStyle = colors.background;
    ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    const line = Math.max(1, Math.round(area.ratio));
    ctx.fillStyle = colors.grid;
    for (const share of [0, 0.5, 1])
      ctx.fillRect(
        area.left,
        Math.min(Math.round(at.y(of.highest * share)), area.height - line),
        area.width,
        line,
      );
    const { picture } = of;
    if (picture)
      clipped(ctx, area, () =>
        of.curves.forEach(({ name }, index) =>
          drawSteps(
            ctx,
            at,
            picture.columns,
            picture.curves[index]?.highest ?? [],
            { color: colorOfSeries(name, index, this.theme), width: 1.5 * area.ratio },
            picture.curves[index]?.lowest,
          ),
        ),
      );
    ctx.font = font(area, 11);
    ctx.fillStyle = colors.text;
    ctx.textAlign = 'right';
    ctx.textBaseline = 'middle';
    ctx.fillText(formatBytes(of.highest), area.left - 8 * area.ratio, at.y(of.highest) + 2 * area.ratio);
  }

  // -- Pointer.

  private bind(canvas: HTMLCanvasElement): void {
    if (this.bound.has(canvas)) return;
    this.bound.add(canvas);
    new Gestures(canvas, {
      zoomAt: (at, factorX) => this.motion.zoomAt(at, factorX, 1),
      panBy: (dx, dy) => this.motion.panBy(dx, dy),
      hover: (at) => void this.hover(Number(canvas.dataset['part']), at, canvas),
    });
  }

  private async hover(part: number, point: Point | undefined, canvas: HTMLCanvasElement): Promise<void> {
    const { at } = this;
    const of = this.plots[part];
    this.pointer = undefined;
    if (!at || !point || !of || !this.isDrawn(of)) return;
    const { left, width, ratio } = at.area;
    if (point.x < left || point.x > left + width) return;
    const own = this.getBoundingClientRect();
    const box = canvas.getBoundingClientRect();
    const now = {
      part,
      x: box.left - own.left + point.x / ratio,
      y: box.bottom - own.top,
      moment: undefined as SeriesMoment | undefined,
    };
    this.pointer = now;
    const moment = await this.track.momentAt(of, this.projectionOf(of, at), point.x);
    if (this.pointer === now) this.pointer = { ...now, moment };
  }

  private tipLines(): string[] {
    const { pointer } = this;
    const of = pointer && this.plots[pointer.part];
    if (!of || !pointer.moment) return [];
    const { values } = pointer.moment;
    return of.curves.map(({ name, series, device }) => {
      const value = values[series];
      const words = this.nameOf(name, device);
      return `${words}: ${value === null || value === undefined ? '–' : `${formatBytes(value)} (${formatExactBytes(value)})`}`;
    });
  }

  // -- The page.

  protected override render(): TemplateResult {
    const { file, track, pointer } = this;
    const { parts, problem } = track;
    const lines = this.tipLines();
    return html`${this.plots.length > 0 ? this.all(this.plots) : nothing}
    ${parts?.length === 0 ? html`<p class="note" data-beside=${file.name}>Counters of ${file.name} cannot be drawn here: they have no times.</p>` : nothing}
    ${problem === undefined ? nothing : html`<p class="note" role="alert">Counters of ${file.name} cannot be drawn: ${problem}</p>`}
    ${pointer && lines.length > 0 ? tip(pointer.x, this.clientWidth, pointer.y + 4, lines) : nothing}`;
  }

  /** One line for the file, and the legend and plot of each chart. */
  private all(parts: readonly CountersPart[]): TemplateResult {
    const { file, recording } = this;
    const text = besideLine(
      `Counters of ${file.name}`,
      spanOfAll(parts),
      recording.info,
      file.nudge,
      this.axis,
    );
    const [first] = parts;
    return html`${besideLineOf(this, { file, text, more: first && this.isDrawn(first) ? this.legend(first) : nothing })}
    ${parts.map(
      (of, index) =>
        html`${index > 0 && this.isDrawn(of) ? html`<div class="beside">${this.legend(of)}</div>` : nothing}<canvas
            role="img"
            aria-label="${text} ${of.curves.map(({ name }) => nameOfSeries(name)).join(', ')}"
            data-part=${index}
            ?hidden=${!this.isDrawn(of)}
            .style=${`height: ${plotHeight}px`}></canvas>`,
    )}`;
  }

  /** With the device, if it is not the one that is shown. */
  private nameOf(name: string, device: number | null): string {
    const of = device === this.recording.info.device ? '' : nameOfDevice(device);
    return of === '' ? nameOfSeries(name) : `${of}: ${nameOfSeries(name)}`;
  }
  private legend({ curves }: CountersPart): TemplateResult {
    return html`<ul>
      ${curves.map(
        ({ name, device, highest }, at) =>
          html`<li data-curve=${name} data-bytes=${highest ?? nothing}>
            <i aria-hidden="true" .style=${`background: ${colorOfSeries(name, at, this.theme)}`}></i>
            ${this.nameOf(name, device)}
            ${highest === null ? nothing : html`<span>at most <b title=${formatExactBytes(highest)}>${formatBytes(highest)}</b></span>`}
          </li>`,
      )}
    </ul>`;
  }

  static override styles = [
    base,
    tipStyles,
    besideStyles,
    css`
      :host {
        position: relative;
        display: block;
        flex: none;
        z-index: 2;
        border-bottom: 1px solid var(--line);
      }
      canvas {
        display: block;
        width: 100%;
        touch-action: none;
      }
      canvas[hidden] {
        display: none;
      }
      ul {
        display: flex;
        flex-wrap: wrap;
        gap: 0 14px;
        margin: 0;
        padding: 0;
        list-style: none;
      }
      li {
        display: inline-flex;
        align-items: center;
        gap: 5px;
      }
      i {
        width: 10px;
        height: 10px;
        border-radius: 2px;
      }
      b {
        color: var(--text);
        font-weight: 600;
        font-variant-numeric: tabular-nums;
      }
      .note {
        margin: 0;
        padding: 2px 12px;
        color: var(--dim);
        font-size: 11.5px;
      }
    `,
  ];
}

/** From the first point of any to the last of all. */
function spanOfAll(parts: readonly CountersPart[]): Span {
  const clocks = parts.flatMap(({ part: { first_us: first, last_us: last } }) =>
    first === null || last === null ? [] : [{ first, last }],
  );
  if (clocks.length === 0) return { first_us: null, last_us: null };
  return {
    first_us: Math.min(...clocks.map(({ first }) => first)),
    last_us: Math.max(...clocks.map(({ last }) => last)),
  };
}
