// One chart of levels over time: lines, areas, or areas stacked upon each other. It zooms, moves and has a cursor by pointer, touch
// and keys; what of the axis is shown and where the reader points is told to whoever shares them with other charts.
import { reasonOf } from '../base/reason.ts';
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatBytes, formatExactBytes } from '../base/format.ts';
import { LatestOnly } from '../base/latest_only.ts';
import { onceAFrame } from '../base/once_a_frame.ts';
import type { AxisUnits, Bytes, CssPx } from '../base/units.ts';
import type { Axis, Columns } from '../../engine/index.ts';
import { resizeToPlace } from '../draw/canvas.ts';
import { drawGrid, drawRulers } from '../draw/axes.ts';
import { drawAreas } from '../draw/areas.ts';
import { colorsOf, themes, type Theme } from '../draw/colors.ts';
import { drawSteps } from '../draw/curves.ts';
import {
  clipped,
  covers,
  font,
  plotArea,
  Projection,
  visibleColumns,
  widened,
  type Context,
} from '../draw/plot.ts';
import { Gestures, type GestureTarget, type Point } from '../controls/gestures.ts';
import { base } from '../controls/styles.ts';
import { Resized } from '../controls/resized.ts';
import { between, moved, whole, zoomed, type Stretch } from './stretch.ts';

/** The column that the reader points at. */
export interface Cursor {
  column: number;
  width: AxisUnits;
}

export interface Level {
  /** In hooks. */
  name: string;
  text: string;
  color: string;
  /** A `sum` of those that are stacked is told, not drawn; `between` is from its lowest to its highest, and not told. */
  look: 'line' | 'area' | 'between' | 'stacked' | 'sum';
  highest: Bytes | null;
  lowest?: Bytes | null;
  /** Of another recording, over the same level of this one: paler. */
  isOver?: true;
  /** It is known at some places alone: the highest of these only gives the scale, and is not told. */
  sampled?: true;
  /** Without a history: the highest is what there was when it was saved. */
  isSaved?: boolean;
}

export const levelOf = (
  text: string,
  color: string,
  look: Level['look'],
  highest: Bytes | null,
  name = text,
): Level => ({ name, text, color, look, highest });

const opacityOf = ({ look, isOver }: Pick<Level, 'look' | 'isOver'>): number =>
  isOver ? 0.45 : look === 'line' ? 1 : 0.7;

/** A line across the plot at a place of the axis; without a text it is thin. */
export interface ChartMark {
  position: AxisUnits;
  text: string;
  /** Where there is more to say. */
  says?: string;
  look: 'bad' | 'warning' | 'plain';
}

/** A single place. */
export interface Dot {
  position: AxisUnits;
  bytes: Bytes;
  color: string;
}

export interface Samples {
  /** On which grid, if it is not the one that was asked for. */
  columns?: Columns;
  /** Of each level, in their order. */
  values: readonly ArrayLike<number>[];
  lowest?: readonly (ArrayLike<number> | undefined)[];
}

/** What the levels are over; another object is another picture. */
export interface Course {
  axis: Axis;
  extent: AxisUnits;
  /** So many of the axis are one of the ruler, 1 if it is left out. */
  unit?: number;
  /** That is asked. */
  engine?: { readonly alive: boolean };
  samples: Samples | ((columns: Columns) => Promise<Samples>);
}

interface Picture extends Samples {
  of: Course;
  columns: Columns;
  asked: Columns;
}

const keyStep = 1.5;
const margin = 0.5; // of what is seen, on either side: it is asked for, too
const dashes = [6, 4] as const; // CSS pixels

/** A name beside the legend may be put into it. Tells `stretch` (a Stretch), `cursor` (a Cursor, or null) and `choose` (a place of the axis that was clicked). */
@element('gpustrata-chart')
export class ChartView extends LitElement {
  @property({ attribute: false }) of!: Course;
  @property({ attribute: false }) levels: readonly Level[] = [];
  @property({ attribute: false }) marks: readonly ChartMark[] = [];
  @property({ attribute: false }) dots: readonly Dot[] = [];
  /** What the device has: a line across all, if it is not far above them. */
  @property({ attribute: false }) limit: Bytes | undefined;
  /** The scale has room for so much, as those of charts beside it: heights can be compared. */
  @property({ attribute: false }) top: Bytes = 0;
  /** What of the axis is shown; undefined = all. */
  @property({ attribute: false }) stretch: Stretch | undefined;
  @property({ attribute: false }) cursor: Cursor | undefined;
  /** Of each level at the cursor; undefined = the highest in its column. */
  @property({ attribute: false }) now: readonly (Bytes | null | undefined)[] | undefined;
  @property({ attribute: false }) theme: Theme = themes.light;
  @property() label = '';
  /** Low, in a column that scrolls: wheel and vertical swipes are the column's. */
  @property({ type: Boolean, reflect: true }) low = false;
  /** Above the timeline, whose axis it has: that shows what it shows (`follow`), and what moves it moves that. */
  @property({ attribute: false }) motion: Pick<GestureTarget, 'zoomAt' | 'panBy'> | undefined;
  /** Nothing of it is there but what is put into it. */
  @property({ type: Boolean, reflect: true }) off = false;
  @query('canvas') private canvas!: HTMLCanvasElement | null;

  @state() private problem: string | undefined;
  @state() private picture: Picture | undefined;
  /** What was asked for last. */
  private wanted: { of: Course; columns: Columns } | undefined;
  private from: Point | undefined;
  private to: Point | undefined;
  private readonly redraw = onceAFrame(() => this.draw());
  protected readonly resized = new Resized(
    this,
    () => this.canvas,
    () => this.redraw(),
  );
  private readonly asking = new LatestOnly<{ of: Course; columns: Columns }, Samples>(
    async ({ of, columns }) => (typeof of.samples === 'function' ? of.samples(columns) : of.samples),
    (samples, { of, columns }) => {
      this.picture = { columns, ...samples, of, asked: columns };
      this.problem = undefined;
    },
    (error) => {
      this.wanted = undefined;
      if (this.of.engine?.alive !== false) this.problem = reasonOf(error);
    },
  );

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('of')) return;
    this.problem = undefined;
    const before = changed.get('of');
    if (before && before.extent !== this.of.extent && !changed.has('stretch')) this.stretch = undefined;
  }
  protected override firstUpdated(): void {
    if (!this.canvas) return;
    this.canvas.addEventListener('wheel', (event) => {
      if (this.low && !event.ctrlKey && !event.metaKey) event.stopImmediatePropagation();
    });
    this.toggleAttribute('track', this.motion !== undefined);
    new Gestures(this.canvas, this.motion ? this.moving(this.motion) : this.target);
  }
  protected override updated(): void {
    this.redraw();
  }
  override focus(): void {
    this.canvas?.focus();
  }

  /** At once: it moves with what else is drawn in this frame. */
  follow(stretch: Stretch): void {
    this.stretch = stretch;
    this.draw();
  }

  // -- Where things lie.

  private get room(): { top: CssPx; bottom: CssPx } | undefined {
    if (this.motion) return { top: 7, bottom: 7 };
    return this.low ? { top: this.marks.some(({ text }) => text !== '') ? 20 : 8, bottom: 24 } : undefined;
  }
  private get seen(): Stretch {
    return this.stretch ?? whole(this.of.extent);
  }

  private projection(): Projection | undefined {
    const { canvas } = this;
    if (!canvas) return undefined;
    const highest = Math.max(64, this.highest, this.shownLimit ?? 0, ...this.dots.map(({ bytes }) => bytes));
    const lowest = Math.min(0, ...this.levels.map((level) => level.lowest ?? 0));
    const area = plotArea(canvas.width, canvas.height, devicePixelRatio, this.room);
    return new Projection({ ...this.seen, y0: lowest * 1.1, y1: highest * 1.1 }, area);
  }

  private columnsOf(at: Projection): Columns {
    const { axis, extent } = this.of;
    return visibleColumns(at, axis, { extent, fitTop: 1, top: 1 });
  }
  private get highest(): Bytes {
    return Math.max(this.top, ...this.levels.map((level) => level.highest ?? 0));
  }
  private get shownLimit(): Bytes | undefined {
    return this.limit !== undefined && this.limit <= this.highest * 1.5 ? this.limit : undefined;
  }

  // -- Drawing.

  private draw(): void {
    const { canvas } = this;
    const ctx = canvas?.getContext('2d');
    if (!canvas || !ctx || !resizeToPlace(canvas)) return;
    const at = this.projection();
    if (!at) return;
    const columns = this.columnsOf(at);
    const shown = this.shown(columns);
    const is = shown?.asked;
    const settled = is !== undefined && covers(is, columns);
    if (!settled && !(this.wanted?.of === this.of && covers(this.wanted.columns, columns))) {
      this.wanted = {
        of: this.of,
        columns: widened(columns, this.of.extent, Math.ceil(columns.count * margin)),
      };
      this.asking.request(this.wanted);
    }
    this.paint(ctx, at, shown);
    canvas.toggleAttribute('data-settled', settled);
    canvas.dataset['top'] = String(at.view.y1);
    canvas.dataset['stretch'] = `${this.seen.x0} ${this.seen.x1}`;
    canvas.dataset['plot'] = [at.area.left, at.area.top, at.area.width, at.area.height].join(' ');
  }

  private shown(columns: Columns): Picture | undefined {
    const { of, picture } = this;
    if (typeof of.samples !== 'function') return { columns, ...of.samples, of, asked: columns };
    return picture?.of === of ? picture : undefined;
  }

  private paint(ctx: Context, at: Projection, shown: Picture | undefined): void {
    const colors = colorsOf(this.theme);
    const { area } = at;
    ctx.fillStyle = colors.background;
    ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    drawGrid(ctx, at, colors);
    if (shown) clipped(ctx, area, () => this.paintLevels(ctx, at, shown));
    if (this.shownLimit !== undefined) {
      ctx.strokeStyle = colors.oom;
      ctx.lineWidth = 1.5 * area.ratio;
      ctx.setLineDash(dashes.map((dash) => dash * area.ratio));
      ctx.beginPath();
      ctx.moveTo(area.left, at.y(this.shownLimit));
      ctx.lineTo(area.left + area.width, at.y(this.shownLimit));
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.font = font(area, 11);
      ctx.fillStyle = colors.oom;
      ctx.textBaseline = 'top';
      ctx.textAlign = 'left';
      ctx.fillText(
        `device, ${formatBytes(this.shownLimit)}`,
        area.left + 6 * area.ratio,
        at.y(this.shownLimit) + 3 * area.ratio,
      );
    }
    this.paintMarks(ctx, at);
    this.paintCursor(ctx, at);
    if (this.motion) return this.paintTop(ctx, at);
    const { axis, unit = 1 } = this.of;
    const { x0, x1 } = at.view;
    drawRulers(ctx, new Projection({ ...at.view, x0: x0 / unit, x1: x1 / unit }, area), axis, colors);
  }

  /** There is no room for a ruler. */
  private paintTop(ctx: Context, at: Projection): void {
    const { left, ratio } = at.area;
    ctx.font = font(at.area, 11);
    ctx.fillStyle = colorsOf(this.theme).text;
    ctx.textAlign = 'right';
    ctx.textBaseline = 'middle';
    ctx.fillText(formatBytes(this.highest), left - 8 * ratio, at.y(this.highest) + 2 * ratio);
  }

  private paintLevels(ctx: Context, at: Projection, { columns, values, lowest }: Picture): void {
    const of = this.levels.map((level, index) => ({
      ...level,
      values: values[index] ?? [],
      lowest: lowest?.[index],
    }));
    const stacked = of.filter(({ look }) => look === 'stacked');
    for (const { look, color, values: high, lowest: low } of of) {
      if (look !== 'between' || !low) continue;
      const between = Float64Array.from(high, (bytes, i) => bytes - (low[i] ?? bytes));
      drawAreas(ctx, at, columns, [low, between], ['transparent', color]);
    }
    for (const areas of [stacked, ...of.filter(({ look }) => look === 'area').map((one) => [one])])
      drawAreas(
        ctx,
        at,
        columns,
        areas.map((one) => one.values),
        areas.map(({ color }) => color),
      );
    for (const one of of)
      if (one.look === 'line')
        drawSteps(
          ctx,
          at,
          columns,
          one.values,
          { color: one.color, width: 1.5 * at.area.ratio, opacity: opacityOf(one) },
          one.lowest,
        );
    ctx.lineWidth = 4 * at.area.ratio;
    ctx.strokeStyle = colorsOf(this.theme).background;
    for (const { position, bytes, color } of this.dots) {
      ctx.beginPath();
      ctx.arc(at.x(position), at.y(bytes), 4 * at.area.ratio, 0, 2 * Math.PI);
      ctx.fillStyle = color;
      ctx.stroke();
      ctx.fill();
    }
  }

  private paintMarks(ctx: Context, at: Projection): void {
    const { area } = at;
    const colors = colorsOf(this.theme);
    const looks = { bad: colors.oom, warning: colors.reserved, plain: colors.peak };
    ctx.font = font(area, 11);
    ctx.textBaseline = 'middle';
    ctx.textAlign = 'left';
    let free = area.left;
    for (const { position, text, look } of this.marks) {
      const x = at.x(position);
      if (x < area.left || x > area.left + area.width) continue;
      ctx.fillStyle = looks[look];
      ctx.fillRect(Math.round(x), area.top, Math.max(1, Math.round(area.ratio)), area.height);
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

  // -- What the reader does.

  private show(stretch: Stretch): void {
    this.stretch = stretch;
    this.dispatchEvent(new CustomEvent<Stretch>('stretch', { detail: stretch }));
  }
  private choose(units: AxisUnits): void {
    this.dispatchEvent(new CustomEvent<AxisUnits>('choose', { detail: units }));
  }
  private point(cursor: Cursor | undefined): void {
    const same = cursor?.column === this.cursor?.column && cursor?.width === this.cursor?.width;
    if (same) return;
    this.cursor = cursor;
    this.dispatchEvent(new CustomEvent<Cursor | null>('cursor', { detail: cursor }));
  }
  private columnAt(units: AxisUnits): Cursor | undefined {
    const at = this.projection();
    if (!at) return undefined;
    const { first, width, count } = this.columnsOf(at);
    const column = Math.min(Math.max(Math.floor(units / width), first), first + count - 1);
    return { column, width };
  }

  private with(act: (at: Projection) => void): void {
    const at = this.projection();
    if (at) act(at);
  }

  private hover(point: Point | undefined): void {
    this.with((at) => {
      const units = point && at.contains(point.x, point.y) ? at.units(point.x) : -1;
      this.point(units >= 0 && units <= this.of.extent ? this.columnAt(units) : undefined);
    });
  }
  private moving(motion: Pick<GestureTarget, 'zoomAt' | 'panBy'>): GestureTarget {
    return {
      zoomAt: (at, factor) => motion.zoomAt(at, factor, 1),
      panBy: (dx, dy) => motion.panBy(dx, dy),
      hover: (point) => this.hover(point),
    };
  }

  private readonly target: GestureTarget = {
    zoomAt: ({ x }, factorX, factorY) =>
      this.with((at) => {
        const factor = factorX === 1 ? factorY : factorX;
        this.show(zoomed(this.seen, this.of.extent, at.units(x), factor));
      }),
    panBy: (dx) => this.with((at) => this.show(moved(this.seen, this.of.extent, dx * at.unitsPerPixel))),
    hover: (point) => this.hover(point),
    click: (point) => {
      this.canvas?.focus();
      this.with((at) => {
        if (at.contains(point.x, point.y)) this.choose(at.units(point.x));
      });
    },
    doubleClick: () => this.show(whole(this.of.extent)),
    box: (from, to) => {
      this.from = to && from;
      this.to = to;
      this.redraw();
    },
    boxDone: (from, to) =>
      this.with((at) => {
        this.from = undefined;
        this.to = undefined;
        this.show(between(at.units(from.x), at.units(to.x), this.of.extent));
      }),
  };

  private readonly keys = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.motion && event.key.length === 1) return; // the timeline's
    const stretch = this.seen;
    const { extent } = this.of;
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
      Enter: () => this.choose(middle),
    };
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  protected override render(): TemplateResult {
    const said = this.marks.filter(({ text }) => text !== '');
    return html`<div class="head">
        <slot></slot>
        <ul class="legend">
          ${this.levels.map((level, index) => this.entry(level, index))}
        </ul>
      </div>
      ${this.problem === undefined ? nothing : html`<p role="alert">The curves cannot be shown: ${this.problem}</p>`}
      <canvas
        tabindex="0"
        role="application"
        aria-roledescription="chart"
        aria-label="${this.label}. Arrows point at moments${this.motion ? '' : ', W and S zoom, A and D move, F shows all'}."
        @keydown=${this.keys}></canvas>
      ${
        said.length === 0
          ? nothing
          : html`<p class="visually-hidden" data-marks=${said.length}>
              ${said
                .slice(0, 20)
                .map(({ says, text }) => says ?? text)
                .join('; ')}
            </p>`
      }`;
  }

  private atCursor(index: number): Bytes | null | undefined {
    const { cursor, now, of } = this;
    if (!cursor || now) return now?.[index];
    const found = typeof of.samples === 'function' ? this.picture : of.samples;
    const columns = found?.columns;
    if (!columns) return undefined;
    const value =
      found.values[index]?.[
        Math.floor(((cursor.column + 0.5) * cursor.width) / columns.width) - columns.first
      ];
    return Number.isNaN(value) ? undefined : value;
  }

  private entry(level: Level, index: number): TemplateResult {
    const { name, text, color, look, highest, sampled } = level;
    const told = look !== 'between' && (this.cursor !== undefined || !sampled);
    const bytes = this.cursor ? this.atCursor(index) : highest;
    return html`<li data-curve=${name} data-bytes=${told ? (bytes ?? nothing) : nothing}>
      ${look === 'sum' ? nothing : html`<i aria-hidden="true" .style=${`background: ${color}; opacity: ${opacityOf(level)}`}></i>`}
      <span>${text}</span>
      ${told ? this.number(bytes, level.isSaved ? 'as saved' : 'at most') : nothing}
    </li>`;
  }

  private number(bytes: Bytes | null | undefined, when: string): TemplateResult {
    return html`<b title=${bytes === null || bytes === undefined ? nothing : formatExactBytes(bytes)}
        >${bytes === null || bytes === undefined ? '–' : formatBytes(bytes)}</b
      >
      ${this.cursor ? nothing : html`<span class="dim">${when}</span>`}`;
  }

  static override styles = [
    base,
    css`
      :host {
        display: block;
        min-width: 0;
      }
      .head,
      .legend {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 20px;
      }
      .head {
        align-items: baseline;
        margin-bottom: 4px;
      }
      .legend {
        margin: 0;
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
      canvas {
        display: block;
        width: 100%;
        height: var(--chart-height, 240px);
        touch-action: none;
      }
      :host([low]) canvas {
        height: var(--chart-height, 112px);
        touch-action: pan-y;
      }
      :host([track]) canvas {
        height: 48px;
      }
      :host([track]) .legend {
        padding: 0 12px;
      }
      :host([off]) :is(canvas, .legend) {
        display: none;
      }
    `,
  ];
}
