// One chart of numbers over time: curves, or categories stacked upon each other. What of the axis is shown and where the
// reader points is told to whoever shares them with other charts.
import { reasonOf } from '../base/reason.ts';
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatBytes, formatExactBytes } from '../base/format.ts';
import { LatestOnly } from '../base/latest_only.ts';
import { onceAFrame } from '../base/once_a_frame.ts';
import type { AxisUnits } from '../base/units.ts';
import type {
  Columns,
  Engine,
  SeriesCurve,
  SeriesMark,
  SeriesMoment,
  SeriesPart,
} from '../../engine/index.ts';
import { drawGrid, drawRulers } from '../draw/axes.ts';
import { colorOfSeries, drawAreas } from '../draw/areas.ts';
import { colorsOf, themes, type Theme } from '../draw/colors.ts';
import { drawSteps } from '../draw/curves.ts';
import { clipped, font, plotArea, Projection, visibleColumns, type Context } from '../draw/plot.ts';
import { Gestures, type GestureTarget, type Point } from '../controls/gestures.ts';
import { base } from '../controls/styles.ts';
import { Resized } from '../controls/resized.ts';
import { markText, nameOfSeries } from '../words/series_text.ts';
import { between, moved, whole, zoomed, type Stretch } from './stretch.ts';

/** The column that the reader points at. */
export interface Cursor {
  column: number;
  width: AxisUnits;
}

interface Picture {
  of: SeriesPart;
  columns: Columns;
  /** Of each curve, or of each category from the bottom up. */
  values: readonly ArrayLike<number>[];
  lowest: readonly ArrayLike<number>[];
}

const keyStep = 1.5;

/** Tells `stretch` (a Stretch) and `cursor` (a Cursor, or null). */
@element('gpustrata-chart')
export class ChartView extends LitElement {
  @property({ attribute: false }) engine!: Engine;
  @property({ attribute: false }) of!: SeriesPart;
  /** The first of stacked ones is their total. */
  @property({ attribute: false }) curves: readonly SeriesCurve[] = [];
  @property({ attribute: false }) marks: readonly SeriesMark[] = [];
  @property({ type: Boolean }) stacked = false;
  @property({ attribute: false }) stretch: Stretch = { x0: 0, x1: 1 };
  @property({ attribute: false }) cursor: Cursor | undefined;
  /** At the cursor. */
  @property({ attribute: false }) moment: SeriesMoment | undefined;
  @property({ attribute: false }) theme: Theme = themes.light;
  @property() label = '';
  @query('canvas') private canvas!: HTMLCanvasElement | null;

  @state() private problem: string | undefined;
  private picture: Picture | undefined;
  private from: Point | undefined;
  private to: Point | undefined;
  private readonly redraw = onceAFrame(() => this.draw());
  protected readonly resized = new Resized(
    this,
    () => this.canvas,
    () => this.redraw(),
  );
  private readonly asking = new LatestOnly<
    { part: SeriesPart; columns: Columns },
    Omit<Picture, 'of' | 'columns'>
  >(
    ({ part, columns }) => this.ask(part, columns),
    (values, { part, columns }) => {
      this.picture = { of: part, columns, ...values };
      this.problem = undefined;
      this.redraw();
    },
    (error) => this.engine.alive && (this.problem = reasonOf(error)),
  );

  protected override firstUpdated(): void {
    if (!this.canvas) return;
    new Gestures(this.canvas, this.target());
  }
  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('of')) this.picture = undefined;
    this.redraw();
  }
  override focus(): void {
    this.canvas?.focus();
  }

  private async ask(part: SeriesPart, columns: Columns): Promise<Omit<Picture, 'of' | 'columns'>> {
    const { first, width, count } = columns;
    const stretch = { first, width, count };
    if (this.stacked) {
      const { levels } = await this.engine.ask('seriesAreas', { part: part.part, stretch });
      return { values: levels.map((level) => level.slice()), lowest: [] };
    }
    const series = this.curves.map((curve) => curve.series);
    const { curves } = await this.engine.ask('seriesPicture', { part: part.part, series, stretch });
    return {
      values: curves.map(({ highest }) => highest.slice()),
      lowest: curves.map(({ lowest }) => lowest.slice()),
    };
  }

  // -- Where things lie.

  private projection(): Projection | undefined {
    const { canvas } = this;
    if (!canvas) return undefined;
    const highest = Math.max(64, ...this.curves.map((curve) => curve.highest ?? 0));
    const lowest = Math.min(0, ...this.curves.map((curve) => curve.lowest ?? 0));
    const area = plotArea(canvas.width, canvas.height, devicePixelRatio);
    return new Projection({ ...this.stretch, y0: lowest * 1.1, y1: highest * 1.1 }, area);
  }

  private columnsOf(at: Projection): Columns {
    const { extent } = this.of;
    return visibleColumns(at, this.of.has_clock ? 'time' : 'event', { extent, fitTop: 1, top: 1 });
  }

  // -- Drawing.

  private draw(): void {
    const { canvas } = this;
    const ctx = canvas?.getContext('2d');
    if (!canvas || !ctx || canvas.clientWidth === 0) return;
    const width = Math.round(canvas.clientWidth * devicePixelRatio);
    const height = Math.round(canvas.clientHeight * devicePixelRatio);
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const at = this.projection();
    if (!at) return;
    const columns = this.columnsOf(at);
    const shown = this.picture?.of === this.of ? this.picture : undefined;
    const is = shown?.columns;
    const settled = is?.first === columns.first && is.width === columns.width && is.count === columns.count;
    if (!settled) this.asking.request({ part: this.of, columns });
    this.paint(ctx, at, shown);
    canvas.toggleAttribute('data-settled', settled);
    canvas.dataset['stretch'] = `${this.stretch.x0} ${this.stretch.x1}`;
    canvas.dataset['plot'] = [at.area.left, at.area.top, at.area.width, at.area.height].join(' ');
  }

  private paint(ctx: Context, at: Projection, shown: Picture | undefined): void {
    const colors = colorsOf(this.theme);
    const { area } = at;
    ctx.fillStyle = colors.background;
    ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    drawGrid(ctx, at, colors);
    if (shown)
      clipped(ctx, area, () => {
        if (this.stacked) drawAreas(ctx, at, shown.columns, shown.values, this.colors().slice(1));
        else
          shown.values.forEach((values, index) =>
            drawSteps(
              ctx,
              at,
              shown.columns,
              values,
              { color: this.colors()[index] ?? colors.allocated, width: 1.5 * area.ratio },
              shown.lowest[index],
            ),
          );
      });
    this.paintMarks(ctx, at);
    this.paintCursor(ctx, at);
    drawRulers(ctx, at, this.of.has_clock ? 'time' : 'event', colors);
  }

  private paintMarks(ctx: Context, at: Projection): void {
    const { area } = at;
    const colors = colorsOf(this.theme);
    ctx.font = font(area, 11);
    ctx.textBaseline = 'middle';
    ctx.textAlign = 'left';
    let free = area.left;
    for (const mark of this.marks) {
      const x = at.x(mark.position);
      if (x < area.left || x > area.left + area.width) continue;
      const bad = mark.name === 'critical' || mark.name === 'fw_bw_boundary';
      ctx.fillStyle = bad ? colors.oom : mark.name === 'warning' ? colors.reserved : colors.peak;
      ctx.fillRect(Math.round(x), area.top, Math.max(1, Math.round(area.ratio)), area.height);
      const text = nameOfSeries(mark.name);
      const width = ctx.measureText(text).width + 10 * area.ratio;
      if (x < free || x + width > area.left + area.width) continue;
      ctx.fillText(text, x + 4 * area.ratio, area.top - 10 * area.ratio);
      free = x + width;
    }
  }

  private paintCursor(ctx: Context, at: Projection): void {
    const { area } = at;
    const colors = colorsOf(this.theme);
    const { cursor } = this;
    if (cursor) {
      const x = at.x((cursor.column + 0.5) * cursor.width);
      ctx.fillStyle = colors.cursor;
      if (x >= area.left && x <= area.left + area.width)
        ctx.fillRect(Math.round(x), area.top, Math.max(1, Math.round(area.ratio)), area.height);
    }
    if (!this.from || !this.to) return;
    const left = Math.max(area.left, Math.min(this.from.x, this.to.x));
    const right = Math.min(area.left + area.width, Math.max(this.from.x, this.to.x));
    ctx.fillStyle = colors.boxFill;
    ctx.fillRect(left, area.top, right - left, area.height);
  }

  private colors(): string[] {
    return this.curves.map(({ name }, index) => colorOfSeries(name, index, this.theme));
  }

  // -- What the reader does.

  private show(stretch: Stretch): void {
    this.dispatchEvent(new CustomEvent<Stretch>('stretch', { detail: stretch }));
  }
  private point(cursor: Cursor | undefined): void {
    const same = cursor?.column === this.cursor?.column && cursor?.width === this.cursor?.width;
    if (!same) this.dispatchEvent(new CustomEvent<Cursor | null>('cursor', { detail: cursor }));
  }
  private columnAt(units: AxisUnits): Cursor | undefined {
    const at = this.projection();
    if (!at) return undefined;
    const { first, width, count } = this.columnsOf(at);
    const column = Math.min(Math.max(Math.floor(units / width), first), first + count - 1);
    return { column, width };
  }

  private target(): GestureTarget {
    const { of: part } = this;
    const with_ = (act: (at: Projection) => void): void => {
      const at = this.projection();
      if (at) act(at);
    };
    const extent = (): number => (this.of ?? part).extent;
    return {
      zoomAt: ({ x }, factorX, factorY) =>
        with_((at) => {
          const factor = factorX === 1 ? factorY : factorX;
          this.show(zoomed(this.stretch, extent(), at.units(x), factor));
        }),
      panBy: (dx) => with_((at) => this.show(moved(this.stretch, extent(), dx * at.unitsPerPixel))),
      hover: (point) =>
        with_((at) => {
          const over = point && at.contains(point.x, point.y);
          this.point(over ? this.columnAt(at.units(point.x)) : undefined);
        }),
      click: () => this.canvas?.focus(),
      doubleClick: () => this.show(whole(extent())),
      box: (from, to) => {
        this.from = to && from;
        this.to = to;
        this.redraw();
      },
      boxDone: (from, to) =>
        with_((at) => {
          this.from = undefined;
          this.to = undefined;
          this.show(between(at.units(from.x), at.units(to.x), extent()));
        }),
      boxWanted: () => false,
      scrubs: () => undefined,
      scrub: () => undefined,
    };
  }

  private readonly keys = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { stretch, of: part } = this;
    const { extent } = part;
    const span = stretch.x1 - stretch.x0;
    const middle = this.cursor
      ? (this.cursor.column + 0.5) * this.cursor.width
      : (stretch.x0 + stretch.x1) / 2;
    const step = (by: number): void => {
      const at = this.columnAt(middle);
      const next = at && this.columnAt((at.column + by + 0.5) * at.width);
      this.point(next);
    };
    const acts: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => step(event.shiftKey ? -10 : -1),
      ArrowRight: () => step(event.shiftKey ? 10 : 1),
      Home: () => this.point(this.columnAt(stretch.x0)),
      End: () => this.point(this.columnAt(stretch.x1)),
      w: () => this.show(zoomed(stretch, extent, middle, 1 / keyStep)),
      '+': () => this.show(zoomed(stretch, extent, middle, 1 / keyStep)),
      s: () => this.show(zoomed(stretch, extent, middle, keyStep)),
      '-': () => this.show(zoomed(stretch, extent, middle, keyStep)),
      a: () => this.show(moved(stretch, extent, -span / 5)),
      d: () => this.show(moved(stretch, extent, span / 5)),
      f: () => this.show(whole(extent)),
    };
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  protected override render(): TemplateResult {
    const colors = this.colors();
    return html`<ul class="legend">
        ${this.curves.map((curve, index) => this.entry(curve, this.stacked && index === 0 ? undefined : colors[index]))}
      </ul>
      ${this.problem === undefined ? nothing : html`<p role="alert">The curves cannot be shown: ${this.problem}</p>`}
      <canvas
        tabindex="0"
        role="application"
        aria-roledescription="chart"
        aria-label="${this.label}. Arrows point at moments, W and S zoom, A and D move, F shows all."
        @keydown=${this.keys}></canvas>
      ${
        this.marks.length === 0
          ? nothing
          : html`<p class="visually-hidden" data-marks=${this.marks.length}>
              ${this.marks.slice(0, 20).map(markText).join('; ')}
            </p>`
      }`;
  }

  private entry({ name, series, highest }: SeriesCurve, color: string | undefined): TemplateResult {
    const now = this.cursor && this.moment ? this.moment.values[series] : undefined;
    const bytes = this.cursor ? now : highest;
    const opacity = this.stacked ? 0.7 : 1;
    return html`<li data-curve=${name} data-bytes=${bytes ?? nothing}>
      ${color === undefined ? nothing : html`<i aria-hidden="true" .style=${`background: ${color}; opacity: ${opacity}`}></i>`}
      <span>${nameOfSeries(name)}</span>
      <b title=${bytes === null || bytes === undefined ? nothing : formatExactBytes(bytes)}
        >${bytes === null || bytes === undefined ? '–' : formatBytes(bytes)}</b
      >
      ${this.cursor ? nothing : html`<span class="dim">at most</span>`}
    </li>`;
  }

  static override styles = [
    base,
    css`
      :host {
        display: block;
        min-width: 0;
      }
      .legend {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 20px;
        margin: 0 0 4px;
        padding: 0;
        font-size: 12px;
        list-style: none;
      }
      li {
        display: inline-flex;
        align-items: center;
        gap: 6px;
        min-height: 20px;
      }
      i {
        width: 10px;
        height: 10px;
        border-radius: 2px;
      }
      b {
        min-width: 62px;
        font-weight: 600;
        font-variant-numeric: tabular-nums;
      }
      .dim {
        color: var(--dim);
      }
      canvas {
        display: block;
        width: 100%;
        height: var(--chart-height, 240px);
        touch-action: none;
        filter: var(--on-paper, none);
      }
    `,
  ];
}
