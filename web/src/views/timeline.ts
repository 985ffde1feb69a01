// The active memory timeline: bands, levels, rulers, cursor, and everything one does with them.
//
// Nothing is computed here: the engine answers (tracks/picture_track.ts, probes), draw/ draws, state/viewport.ts
// moves. Base canvas: what changes with the view. Overlay canvas: what follows the pointer.
import { css, html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { formatBytes, formatBytesAt, formatCount, formatMoment } from '../base/format.ts';
import { LatestOnly } from '../base/latest_only.ts';
import type { AxisUnits, Bytes, Rank } from '../base/units.ts';
import { drawGrid, drawRulers } from '../draw/axes.ts';
import { colorsOf, enginePalette, type Theme } from '../draw/colors.ts';
import { drawCursor, type Cursor } from '../draw/cursor.ts';
import { drawBlockOutline, drawSteps, type LineStyle } from '../draw/curves.ts';
import { drawAbove, drawOoms, drawPeak } from '../draw/markers.ts';
import { clipped, plotArea, Projection, type Context, type PlotArea } from '../draw/plot.ts';
import type { Axis, BlockDetails, Pick, ViewInfo } from '../engine/answers.ts';
import type { EngineClient } from '../engine/client.ts';
import type { Calls, Columns, Kind, ProbeAnswer, ProbeQuestion } from '../engine/protocol.ts';
import {
  bringIntoView,
  boundsOf,
  fitAll,
  pan,
  same,
  show,
  zoom,
  type Bounds,
  type Viewport,
} from '../state/viewport.ts';
import { Gestures, type Point } from '../tracks/gestures.ts';
import { Glide, HeldKeys, type Movement } from '../tracks/motion.ts';
import { PictureTrack, visibleColumns } from '../tracks/picture_track.ts';
import { base } from './styles.ts';
import { symbols } from './symbols.ts';

interface Outline {
  rank: Rank;
  size: Bytes;
  columns: Columns;
  lower: Float64Array;
}

/** A moment chosen with the pointer or the keyboard, and what is there. */
interface Moment {
  axis: Axis;
  column: number;
  width: AxisUnits;
  bytes: Bytes;
  pick: Pick | undefined;
  byKeyboard: boolean;
}

const wholeView: Viewport = { x0: 0, x1: 1, y0: 0, y1: 1 };

@customElement('memstrata-timeline')
export class TimelineView extends LitElement {
  @property({ attribute: false }) engine!: EngineClient;
  @property({ attribute: false }) info!: ViewInfo;
  @property({ attribute: false }) theme: Theme = 'light';
  @property({ attribute: false }) axis: Axis = 'event';
  /** The pinned block, shared with the other views. */
  @property({ attribute: false }) pinned: BlockDetails | undefined;
  /** Changes with every search; empty = nothing is dimmed. */
  @property({ attribute: false }) highlight = '';

  @state() private moment: Moment | undefined;
  @state() private boxTool = false;
  @state() private problem: string | undefined;

  @query('.plot') private plot!: HTMLDivElement;
  @query('.base') private baseCanvas!: HTMLCanvasElement;
  @query('.overlay') private overlayCanvas!: HTMLCanvasElement;

  private track: PictureTrack | undefined;
  private bounds: Bounds = { extent: 1, fitTop: 1, top: 1 };
  private view: Viewport = wholeView;
  private area: PlotArea = plotArea(1, 1, 1);
  private marks: { axis: Axis; peak: AxisUnits; ooms: AxisUnits[] } | undefined;
  private hovered: BlockDetails | undefined;
  private hoverOutline: Outline | undefined;
  private pinOutline: Outline | undefined;
  private box: { from: Point; to: Point } | undefined;
  private pointer: Point | undefined;
  private drawing = false;
  private firstPicture = false;
  private probes: LatestOnly<ProbeQuestion & { byKeyboard: boolean }, ProbeAnswer> | undefined;
  private outlines: LatestOnly<{ rank: Rank; size: Bytes; columns: Columns }, Float64Array> | undefined;
  private gestures: Gestures | undefined;
  private readonly held = new HeldKeys((movement, seconds) => this.step(movement, seconds));
  private readonly glide = new Glide((view) => this.setView(view));
  private readonly resized = new ResizeObserver((entries) => this.resize(entries));

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resized.disconnect();
    this.held.releaseAll();
    removeEventListener('blur', this.releaseKeys);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener('blur', this.releaseKeys);
    if (this.hasUpdated) this.resized.observe(this.plot);
  }

  private readonly releaseKeys = (): void => this.held.releaseAll();

  // -- What the rest of the page may ask for.

  fit(): void {
    this.glide.to(this.view, fitAll(this.bounds));
  }

  /** Height of what is visible, x stays. */
  async fitHeight(): Promise<void> {
    const highest = await this.ask('highest', {
      columns: visibleColumns(this.projection(), this.axis, this.bounds),
    });
    if (highest === undefined || highest <= 0) return;
    this.glide.to(this.view, show({ ...this.view, y0: 0, y1: highest * 1.1 }, this.bounds));
  }

  goToPeak(): void {
    const peak = this.marks?.peak;
    if (peak !== undefined) this.goTo(peak, this.info.peak.bytes, this.info.peak.event);
  }

  /** The first OOM right of the cursor, else the first of all. */
  nextOom(): void {
    const ooms = this.marks?.ooms ?? [];
    const events = this.info.oom_events;
    const current = this.moment?.pick?.event ?? -1;
    const index = Math.max(
      0,
      events.findIndex((event) => event > current),
    );
    const position = ooms[index];
    const event = events[index];
    if (position !== undefined && event !== undefined) this.goTo(position, this.view.y0, event);
  }

  press(movement: Movement): void {
    this.glide.stop();
    this.held.press(movement);
  }
  release(movement: Movement): void {
    this.held.release(movement);
  }

  zoomStep(factor: number): void {
    const target = zoom(this.view, this.bounds, this.centre(), factor, 1);
    this.glide.to(this.view, target);
  }

  /** The cursor to the event before or after. */
  stepEvent(by: 1 | -1): void {
    const current = this.moment?.pick?.event ?? (by > 0 ? -1 : this.info.events);
    const event = Math.min(Math.max(current + by, 0), this.info.events - 1);
    if (this.info.events > 0) void this.moveCursor(event, this.moment?.bytes ?? this.view.y1 / 3);
  }

  /** Shows a block that was chosen elsewhere, keeping the zoom if that is enough to see it. */
  async showBlock(rank: Rank, size: Bytes): Promise<void> {
    const answer = await this.ask('block', { rank, axis: this.axis });
    const place = answer?.place;
    if (!place) return;
    const y = { from: place.offset, to: place.offset + size };
    const x = { from: place.from, to: Math.max(place.to, place.from) };
    const overlapping = bringIntoView(this.view, this.bounds, x, { from: this.view.y0, to: this.view.y1 });
    const lower = await this.lowerEdges(rank, overlapping);
    if (lower) {
      this.glide.to(this.view, bringIntoView(overlapping, this.bounds, x, { from: lower, to: lower + size }));
      return;
    }
    // Shorter than a column shows: zoom in until it is not.
    const room = Math.max((x.to - x.from) * 4, 20);
    const close = show({ ...this.view, x0: x.from - room, x1: x.to + room }, this.bounds);
    this.glide.to(this.view, bringIntoView(close, this.bounds, x, y));
  }

  /** A block's whole life fills the view. */
  async fitBlock(rank: Rank): Promise<void> {
    const answer = await this.ask('block', { rank, axis: this.axis });
    if (!answer?.place) return;
    const { from, to, offset, size } = answer.place;
    const room = Math.max((to - from) * 0.08, 1);
    const wide = show({ ...this.view, x0: from - room, x1: to + room }, this.bounds);
    const columns = visibleColumns(this.projection(wide), this.axis, this.bounds);
    const lower = await this.ask('outline', { rank, columns });
    let low = offset;
    let high = offset + size;
    for (const edge of lower ?? []) {
      if (Number.isNaN(edge)) continue;
      low = Math.min(low, edge);
      high = Math.max(high, edge + size);
    }
    const air = Math.max((high - low) * 0.15, size * 0.5);
    this.glide.to(this.view, show({ ...wide, y0: low - air, y1: high + air }, this.bounds));
  }

  /** Gives up a box being drawn or the box tool; false if there was neither. */
  giveUp(): boolean {
    if (this.gestures?.giveUp()) return true;
    if (!this.boxTool) return false;
    this.boxTool = false;
    return true;
  }

  /** The other axis for the same stretch of the recording. */
  async changeAxis(axis: Axis): Promise<void> {
    if (axis === this.axis || this.extentOf(axis) === undefined) return;
    const { info } = this;
    const { x0, x1, y0, y1 } = this.view;
    const bounds = this.boundsFor(axis);
    let range: [number, number] = [0, bounds.extent];
    if (x0 > 0 || x1 < this.bounds.extent) {
      if (axis === 'time') {
        const last = Math.max(info.events - 1, 0);
        const events = [Math.floor(x0), Math.min(Math.ceil(x1), last)];
        const found = await this.ask('position', { axis, events });
        range = [found?.[0] ?? 0, (found?.[1] ?? bounds.extent) + 1];
      } else {
        const found = await Promise.all([this.eventAt(Math.floor(x0)), this.eventAt(Math.ceil(x1) - 1)]);
        range = [found[0] ?? 0, (found[1] ?? bounds.extent) + 1];
      }
    }
    if (info !== this.info || axis === this.axis) return; // another device or file meanwhile
    this.pendingView = show({ x0: range[0], x1: range[1], y0, y1 }, bounds);
    this.dispatchEvent(new CustomEvent<Axis>('axis-change', { detail: axis }));
  }
  private pendingView: Viewport | undefined;

  /** Keys `Enter` and `Space`: pins what the cursor is on. */
  pinAtCursor(): void {
    if (this.hovered && this.moment?.pick?.rank === this.hovered.rank) this.togglePin(this.hovered);
  }

  // -- Life of the element.

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('info') || changed.has('engine')) this.start();
    else if (changed.has('axis')) {
      this.bounds = this.boundsFor(this.axis);
      this.view = this.pendingView ?? fitAll(this.bounds);
      this.pendingView = undefined;
      this.forgetMoment();
      this.pinOutline = undefined;
    }
    if (changed.has('info') || changed.has('engine') || changed.has('axis')) void this.findMarks();
    if (changed.has('pinned')) this.pinOutline = undefined;
  }

  protected override firstUpdated(): void {
    this.gestures = new Gestures(this.overlayCanvas, {
      zoomAt: (at, factorX, factorY) => {
        this.glide.stop();
        const projection = this.projection();
        const point = { x: projection.units(at.x), y: projection.bytes(at.y) };
        // Over a ruler only that axis makes sense.
        const alone = at.x < this.area.left && factorX !== 1;
        this.setView(
          zoom(this.view, this.bounds, point, alone ? 1 : factorX, alone ? factorX * factorY : factorY),
        );
      },
      panBy: (dx, dy) => {
        this.glide.stop();
        const projection = this.projection();
        this.setView(
          pan(this.view, this.bounds, dx * projection.unitsPerPixel, dy * projection.bytesPerPixel),
        );
      },
      hover: (at) => this.hover(at),
      click: (at) => void this.clicked(at),
      doubleClick: (at) => void this.doubleClick(at),
      box: (from, to) => {
        this.box = to && { from, to };
        this.drawOverlay();
      },
      boxDone: (from, to) => this.zoomToBox(from, to),
      boxWanted: () => this.boxTool,
    });
    this.resized.observe(this.plot);
  }

  protected override updated(): void {
    this.redraw();
  }

  private start(): void {
    const { engine } = this;
    const failed = (): void => undefined; // a dead engine is told by its client; a refusal leaves what is shown
    this.bounds = this.boundsFor(this.axis);
    this.view = fitAll(this.bounds);
    this.track = new PictureTrack(engine, () => this.redraw());
    this.probes?.forget();
    this.outlines?.forget();
    this.probes = new LatestOnly(
      (question) => engine.call('probe', question),
      (answer, question) => this.probed(answer, question),
      failed,
    );
    this.outlines = new LatestOnly(
      ({ rank, columns }) => engine.call('outline', { rank, columns }),
      (lower, { rank, size, columns }) => {
        this.pinOutline = { rank, size, columns, lower };
        this.redraw();
      },
      failed,
    );
    this.forgetMoment();
    this.pinOutline = undefined;
    this.marks = undefined;
    this.firstPicture = false;
  }

  private forgetMoment(): void {
    this.moment = undefined;
    this.hovered = undefined;
    this.hoverOutline = undefined;
    this.pointer = undefined;
  }

  private extentOf(axis: Axis): AxisUnits | undefined {
    return (axis === 'event' ? this.info.extent.event : this.info.extent.time_us) ?? undefined;
  }

  private boundsFor(axis: Axis): Bounds {
    return boundsOf(this.extentOf(axis) ?? 1, this.info.peak.bytes, this.info.reserved_peak);
  }

  private async findMarks(): Promise<void> {
    const { axis, info } = this;
    const events = [info.peak.event, ...info.oom_events];
    const place = (event: number): AxisUnits => (event < 0 ? 0 : event + 0.5);
    let positions: AxisUnits[] | undefined = events.map(place);
    if (axis === 'time')
      positions = await this.ask('position', { axis, events: events.map((e) => Math.max(e, 0)) });
    if (!positions || axis !== this.axis || info !== this.info) return;
    const [peak = 0, ...ooms] = positions;
    this.marks = { axis, peak, ooms };
    this.redraw();
  }

  // -- Moving.

  private projection(view: Viewport = this.view): Projection {
    return new Projection(view, this.area);
  }

  private setView(view: Viewport): void {
    if (same(view, this.view)) return;
    this.view = view;
    this.redraw();
  }

  private centre(): { x: number; y: number } {
    const projection = this.projection();
    const { pointer } = this;
    if (pointer && projection.contains(pointer.x, pointer.y))
      return { x: projection.units(pointer.x), y: projection.bytes(pointer.y) };
    return { x: (this.view.x0 + this.view.x1) / 2, y: this.view.y0 };
  }

  private step(movement: Movement, seconds: number): void {
    const { view, bounds } = this;
    const spanX = view.x1 - view.x0;
    const spanY = view.y1 - view.y0;
    const zoomFactor = Math.exp(2.6 * seconds);
    const move = 0.9 * seconds;
    switch (movement) {
      case 'zoom-in':
        return this.setView(zoom(view, bounds, this.centre(), 1 / zoomFactor, 1));
      case 'zoom-out':
        return this.setView(zoom(view, bounds, this.centre(), zoomFactor, 1));
      case 'taller':
        return this.setView(zoom(view, bounds, this.centre(), 1, 1 / zoomFactor));
      case 'shorter':
        return this.setView(zoom(view, bounds, this.centre(), 1, zoomFactor));
      case 'left':
        return this.setView(pan(view, bounds, -move * spanX, 0));
      case 'right':
        return this.setView(pan(view, bounds, move * spanX, 0));
      case 'up':
        return this.setView(pan(view, bounds, 0, move * spanY));
      case 'down':
        return this.setView(pan(view, bounds, 0, -move * spanY));
    }
  }

  private zoomToBox(from: Point, to: Point): void {
    this.box = undefined;
    this.boxTool = false;
    this.drawOverlay();
    const ratio = this.area.ratio;
    if (Math.abs(from.x - to.x) < 4 * ratio && Math.abs(from.y - to.y) < 4 * ratio) return;
    const at = this.projection();
    const [x0, x1] = ordered(at.units(from.x), at.units(to.x));
    const [y0, y1] = ordered(at.bytes(from.y), at.bytes(to.y));
    // A flat or narrow box means one axis.
    const flat = Math.abs(from.y - to.y) < 8 * ratio;
    const narrow = Math.abs(from.x - to.x) < 8 * ratio;
    const wanted = {
      x0: narrow ? this.view.x0 : Math.max(0, x0),
      x1: narrow ? this.view.x1 : Math.min(this.bounds.extent, x1),
      y0: flat ? this.view.y0 : Math.max(0, y0),
      y1: flat ? this.view.y1 : y1,
    };
    this.glide.to(this.view, show(wanted, this.bounds));
  }

  private goTo(position: AxisUnits, bytes: Bytes, event: number): void {
    const target = bringIntoView(
      this.view,
      this.bounds,
      { from: position, to: position },
      { from: bytes, to: bytes },
    );
    if (!same(target, this.view)) this.glide.to(this.view, target);
    if (event >= 0) void this.moveCursor(event, Math.max(bytes - 1, 0));
  }

  // -- The moment under the pointer or the keyboard's cursor.

  private hover(at: Point | undefined): void {
    this.keyboardCursor = false;
    this.pointer = at;
    if (!at || !this.projection().contains(at.x, at.y)) {
      this.probes?.forget();
      this.moment = undefined;
      this.hoverOutline = undefined;
      this.drawOverlay();
      return;
    }
    this.probePointer();
  }

  /** The pixel's own column and row: the state the picture shows there, not that of the pointer's event. */
  private target(at: Point): { axis: Axis; column: number; width: AxisUnits; bytes: Bytes } {
    const projection = this.projection();
    const shown = this.track?.shown;
    const exact = shown && shown.columns.axis === this.axis;
    const width = exact ? shown.columns.width : visibleColumns(projection, this.axis, this.bounds).width;
    const last = Math.ceil(this.bounds.extent / width) - 1;
    const column = Math.floor(projection.units(Math.floor(at.x) + 0.5) / width);
    const bytes = projection.bytes(Math.floor(at.y) + 0.5);
    return { axis: this.axis, column: Math.min(Math.max(column, 0), last), width, bytes };
  }

  private probePointer(): void {
    if (!this.pointer) return;
    this.probes?.request({
      ...this.target(this.pointer),
      known: this.hovered?.rank ?? -1,
      columns: visibleColumns(this.projection(), this.axis, this.bounds),
      byKeyboard: false,
    });
  }

  /** The cursor was last moved by key: the resting pointer does not take it back. */
  private keyboardCursor = false;

  private async moveCursor(event: number, bytes: Bytes): Promise<void> {
    this.keyboardCursor = true;
    const found = await this.ask('position', { axis: this.axis, events: [event] });
    const position = found?.[0] ?? event;
    this.probes?.request({
      axis: 'event',
      column: event,
      width: 1,
      bytes,
      known: this.hovered?.rank ?? -1,
      columns: visibleColumns(this.projection(), this.axis, this.bounds),
      byKeyboard: true,
    });
    const place = { from: position, to: position + 1 };
    const target = bringIntoView(this.view, this.bounds, place, { from: this.view.y0, to: this.view.y1 });
    if (position < this.view.x0 || position > this.view.x1) this.glide.to(this.view, target);
  }

  private probed(answer: ProbeAnswer, question: ProbeQuestion & { byKeyboard: boolean }): void {
    const { axis, column, width, bytes, columns, byKeyboard } = question;
    const { pick, details, outline } = answer;
    const old = this.moment;
    this.moment = { axis, column, width, bytes, pick: pick ?? undefined, byKeyboard };
    if (byKeyboard && pick) void this.placeCursor(pick.event);
    if (details) this.hovered = details;
    this.hoverOutline =
      pick && outline && columns
        ? { rank: pick.rank, size: pick.size ?? 0, columns, lower: outline }
        : undefined;
    if (pick && pick.rank >= 0 && (details || old?.pick?.rank !== pick.rank) && this.hovered)
      this.dispatchEvent(new CustomEvent<BlockDetails>('point', { detail: this.hovered }));
    this.drawOverlay();
  }

  /** Where the keyboard's event lies on the axis shown. */
  private async placeCursor(event: number): Promise<void> {
    if (this.axis === 'event') return;
    const found = await this.ask('position', { axis: this.axis, events: [event] });
    this.cursorAt = found?.[0];
    this.drawOverlay();
  }
  private cursorAt: AxisUnits | undefined;

  private async clicked(at: Point): Promise<void> {
    if (!this.projection().contains(at.x, at.y)) return;
    const answer = await this.probeOnce(at);
    this.togglePin(answer?.details);
  }

  private async doubleClick(at: Point): Promise<void> {
    if (!this.projection().contains(at.x, at.y)) return;
    const answer = await this.probeOnce(at);
    if (!answer?.details) return;
    // Whatever the first of the two clicks did.
    this.dispatchEvent(new CustomEvent<BlockDetails>('pin', { detail: answer.details }));
    await this.fitBlock(answer.details.rank);
  }

  private probeOnce(at: Point): Promise<ProbeAnswer | undefined> {
    return this.ask('probe', { ...this.target(at), known: -1, columns: undefined });
  }

  private togglePin(block: BlockDetails | undefined): void {
    this.dispatchEvent(new CustomEvent<BlockDetails | undefined>('toggle-pin', { detail: block }));
  }

  private async eventAt(time: number): Promise<number | undefined> {
    const answer = await this.ask('probe', {
      axis: 'time',
      column: time,
      width: 1,
      bytes: 0,
      known: -1,
      columns: undefined,
    });
    return answer?.pick ? Math.max(answer.pick.event, 0) : undefined;
  }

  private async lowerEdges(rank: Rank, view: Viewport): Promise<Bytes | undefined> {
    const columns = visibleColumns(this.projection(view), this.axis, this.bounds);
    const lower = await this.ask('outline', { rank, columns });
    const edges = lower?.filter((edge) => !Number.isNaN(edge));
    return edges?.[Math.floor(edges.length / 2)];
  }

  /** Undefined when the engine is gone or refuses. */
  private async ask<K extends Kind>(
    kind: K,
    args: Calls[K]['args'],
  ): Promise<Calls[K]['answer'] | undefined> {
    try {
      return await this.engine.call(kind, args);
    } catch {
      return undefined;
    }
  }

  // -- Drawing.

  private resize(entries: ResizeObserverEntry[]): void {
    const entry = entries.at(-1);
    if (!entry) return;
    const ratio = devicePixelRatio;
    const exact = entry.devicePixelContentBoxSize?.[0];
    const size = (css: number, device: number | undefined): number =>
      // An emulated screen may tell the size of the real one.
      device !== undefined && Math.abs(device - css * ratio) < 2 ? device : Math.round(css * ratio);
    const width = size(entry.contentRect.width, exact?.inlineSize);
    const height = size(entry.contentRect.height, exact?.blockSize);

    if (width < 1 || height < 1) return;
    for (const canvas of [this.baseCanvas, this.overlayCanvas]) {
      canvas.width = width;
      canvas.height = height;
    }
    this.area = plotArea(width, height, ratio);
    this.draw(); // at once: setting the size has emptied the canvas
  }

  private redraw(): void {
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      this.draw();
    });
  }

  private draw(): void {
    const { track, area } = this;
    const ctx = this.baseCanvas?.getContext('2d');
    if (!ctx || !track || area.width < 2) return;
    const colors = colorsOf(this.theme);
    const at = this.projection();
    const style = {
      key: `${this.theme}|${this.highlight}`,
      palette: enginePalette(this.theme),
      dimOthers: this.highlight !== '',
    };
    const settled = track.want(at, this.axis, this.bounds, style);

    ctx.fillStyle = colors.background;
    ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    clipped(ctx, area, () => {
      drawGrid(ctx, at, colors);
      track.draw(ctx, at);
      this.drawLevels(ctx, at);
    });
    if (this.marks?.axis === this.axis) {
      drawOoms(ctx, at, this.marks.ooms, colors);
      if (this.info.peak.bytes > 0)
        drawPeak(ctx, at, { x: this.marks.peak, bytes: this.info.peak.bytes }, colors);
    }
    drawRulers(ctx, at, this.axis, colors);
    this.wantPinOutline(at);
    this.drawOverlay();
    this.tellState(settled);
    this.problem = track.problem;
    if (this.pointer && settled && !this.keyboardCursor) this.reprobe();
  }

  private drawLevels(ctx: Context, at: Projection): void {
    const shown = this.track?.shown;
    if (!shown || shown.columns.axis !== this.axis) return;
    const colors = colorsOf(this.theme);
    const { ratio } = this.area;
    const { columns, curves } = shown;
    const line = (color: string, width: number): LineStyle => ({ color, width });
    if (columns.width > 1) drawSteps(ctx, at, columns, curves.lowest, line(colors.lowest, ratio));
    drawSteps(ctx, at, columns, curves.allocated, line(colors.allocated, 1.25 * ratio), curves.lowest);
    drawSteps(ctx, at, columns, curves.reserved, line(colors.reserved, 1.5 * ratio));
    const last = Math.min(Math.ceil(at.view.x1 / columns.width) - columns.first, columns.count) - 1;
    const reserved = curves.reserved[last];
    if (reserved !== undefined && reserved > at.view.y1) drawAbove(ctx, at, reserved, colors);
    if (
      this.pinned &&
      this.pinOutline?.rank === this.pinned.rank &&
      this.pinOutline.columns.axis === this.axis
    )
      drawBlockOutline(
        ctx,
        at,
        this.pinOutline.columns,
        this.pinOutline.lower,
        this.pinOutline.size,
        colors,
        true,
      );
  }

  private drawOverlay(): void {
    const ctx = this.overlayCanvas?.getContext('2d');
    if (!ctx || this.area.width < 2) return;
    const at = this.projection();
    const colors = colorsOf(this.theme);
    ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    const { hoverOutline, box } = this;
    clipped(ctx, this.area, () => {
      if (hoverOutline && hoverOutline.columns.axis === this.axis && hoverOutline.rank !== this.pinned?.rank)
        drawBlockOutline(ctx, at, hoverOutline.columns, hoverOutline.lower, hoverOutline.size, colors, false);
      if (box) {
        const [x, y] = [Math.min(box.from.x, box.to.x), Math.min(box.from.y, box.to.y)];
        const [width, height] = [Math.abs(box.from.x - box.to.x), Math.abs(box.from.y - box.to.y)];
        ctx.fillStyle = colors.boxFill;
        ctx.fillRect(x, y, width, height);
        ctx.strokeStyle = colors.boxLine;
        ctx.lineWidth = this.area.ratio;
        ctx.strokeRect(x, y, width, height);
      }
    });
    const cursor = box ? undefined : this.cursor();
    if (cursor) drawCursor(ctx, at, cursor, colors);
  }

  private cursor(): Cursor | undefined {
    const { moment } = this;
    if (!moment?.pick) return undefined;
    const { pick, byKeyboard } = moment;
    let from = moment.column * moment.width;
    if (moment.axis !== this.axis) {
      if (this.cursorAt === undefined) return undefined;
      from = this.cursorAt;
    }
    const label =
      this.axis === 'time' && pick.time_us !== null && this.info.first_time_us !== null
        ? formatMoment(pick.time_us - this.info.first_time_us)
        : pick.event < 0
          ? 'start'
          : formatCount(pick.event);
    return {
      from,
      to: from + (moment.axis === this.axis ? moment.width : 1),
      bytes: byKeyboard ? undefined : moment.bytes,
      label,
      bytesLabel: formatBytesAt(moment.bytes, this.projection().bytesPerPixel),
    };
  }

  private wantPinOutline(at: Projection): void {
    const { pinned, pinOutline } = this;
    if (!pinned || !this.outlines) return;
    const columns = visibleColumns(at, this.axis, this.bounds);
    const have = pinOutline?.columns;
    if (
      have &&
      pinOutline.rank === pinned.rank &&
      have.axis === columns.axis &&
      have.width === columns.width &&
      have.first <= columns.first &&
      have.first + have.count >= columns.first + columns.count
    )
      return;
    this.outlines.request({ rank: pinned.rank, size: pinned.requested_size, columns });
  }

  private lastReprobe = '';
  /** The view moved under a resting pointer. */
  private reprobe(): void {
    const { x0, x1, y0, y1 } = this.view;
    const key = [x0, x1, y0, y1].join();
    if (key === this.lastReprobe) return;
    this.lastReprobe = key;
    if (this.pointer && this.projection().contains(this.pointer.x, this.pointer.y)) this.probePointer();
  }

  /** For tests and for the mark of the first picture. */
  private tellState(settled: boolean): void {
    this.plot.toggleAttribute('data-settled', settled);
    if (!settled) return;
    const { x0, x1, y0, y1 } = this.view;
    this.plot.dataset['view'] = [x0, x1, y0, y1].join(' ');
    this.plot.dataset['plot'] = [this.area.left, this.area.top, this.area.width, this.area.height].join(' ');
    if (this.firstPicture) return;
    this.firstPicture = true;
    requestAnimationFrame(() =>
      requestAnimationFrame(() => this.dispatchEvent(new CustomEvent('first-picture'))),
    );
  }

  // -- The frame around the canvas.

  protected override render(): TemplateResult {
    const { info } = this;
    const noTimes = info.extent.time_us === null;
    const peak = formatBytes(info.peak.bytes);
    return html`
      <div class="bar">
        <div class="tools" role="toolbar" aria-label="Timeline">
          <button class="button small quiet" title="Show everything (F)" @click=${() => this.fit()}>
            ${symbols.fit}<span class="word">Fit</span>
          </button>
          <button
            class="button small quiet icon"
            title="Zoom in (W)"
            aria-label="Zoom in"
            @click=${() => this.zoomStep(0.5)}>
            ${symbols.plus}
          </button>
          <button
            class="button small quiet icon"
            title="Zoom out (S)"
            aria-label="Zoom out"
            @click=${() => this.zoomStep(2)}>
            ${symbols.minus}
          </button>
          <button
            class="button small quiet icon"
            title="Zoom to a box: drag one (or Shift and drag)"
            aria-label="Zoom to a box"
            aria-pressed=${this.boxTool ? 'true' : 'false'}
            data-tool="box"
            @click=${() => (this.boxTool = !this.boxTool)}>
            ${symbols.box}
          </button>
        </div>
        <fieldset class="axis" title=${noTimes ? 'The events of this file carry no times.' : 'Axis (E)'}>
          <legend class="visually-hidden">Horizontal axis</legend>
          ${this.axisButton('event', 'Events', false)} ${this.axisButton('time', 'Time', noTimes)}
        </fieldset>
        <div class="legend" aria-label="Legend">
          <span><i class="line allocated"></i>allocated</span>
          <span><i class="line reserved"></i>reserved</span>
          <span class="optional"><i class="swatch"></i>lower than a pixel</span>
        </div>
      </div>
      ${info.events === 0 ? this.noEventsNote() : ''}
      <div
        class="plot ${this.boxTool ? 'boxing' : ''}"
        tabindex="0"
        role="application"
        aria-roledescription="timeline"
        aria-label="Allocated memory of device ${info.device}: ${formatCount(info.events)} events, ${formatCount(
          info.blocks,
        )} blocks, peak ${peak}. Press question mark for the keys.">
        <canvas class="base"></canvas>
        <canvas class="overlay"></canvas>
        ${this.problem === undefined ? '' : html`<p class="problem" role="status">This part cannot be drawn: ${this.problem}</p>`}
      </div>
      <div class="readout">${this.readout()}</div>
    `;
  }

  private noEventsNote(): TemplateResult {
    return html`<p class="note">
      No history in this file: the picture is the state when it was saved. Call
      <code>torch.cuda.memory._record_memory_history()</code> before the work to see how it came about.
    </p>`;
  }

  private axisButton(axis: Axis, label: string, disabled: boolean): TemplateResult {
    return html`<label class=${disabled ? 'disabled' : ''}>
      <input
        type="radio"
        name="axis"
        .value=${axis}
        .checked=${this.axis === axis}
        ?disabled=${disabled}
        aria-label=${disabled ? `${label}: the events of this file carry no times` : label}
        @change=${() => void this.changeAxis(axis)} /><span>${label}</span>
    </label>`;
  }

  private readout(): TemplateResult {
    const pick = this.moment?.pick;
    if (!pick)
      return html`<span class="hint">Wheel zooms, drag moves, click pins. <kbd>?</kbd> all keys</span>`;
    const time =
      pick.time_us !== null && this.info.first_time_us !== null
        ? formatMoment(pick.time_us - this.info.first_time_us)
        : undefined;
    return html`
      <span data-readout="event"
        >${pick.event < 0 ? 'before the first event' : `event ${formatCount(pick.event)}`}</span
      >
      ${time ? html`<span class="optional">${time}</span>` : ''}
      <span data-readout="allocated" data-bytes=${pick.allocated}
        ><b>${formatBytes(pick.allocated)}</b> allocated</span
      >
      ${
        pick.level > pick.allocated
          ? html`<span class="optional"
              >${formatBytes(pick.level - pick.allocated)} waiting to be freed</span
            >`
          : ''
      }
      <span data-readout="reserved" data-bytes=${pick.reserved}
        ><b>${formatBytes(pick.reserved)}</b> reserved</span
      >
    `;
  }

  static override styles = [
    base,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-width: 0;
        min-height: 240px;
        background: var(--surface);
      }
      .bar {
        display: flex;
        align-items: center;
        gap: 4px 16px;
        min-height: 40px;
        padding: 4px 16px 4px 8px;
        border-bottom: 1px solid var(--line);
        flex-wrap: wrap;
        font-size: 12px;
      }
      .tools {
        display: flex;
        gap: 2px;
      }
      .axis {
        display: flex;
        margin: 0;
        padding: 0;
        border: 1px solid var(--line-strong);
        border-radius: 6px;
      }
      .axis label {
        position: relative;
        cursor: pointer;
      }
      .axis label.disabled {
        cursor: not-allowed;
      }
      .axis input {
        position: absolute;
        inset: 0;
        margin: 0;
        opacity: 0;
        cursor: inherit;
      }
      .axis span {
        display: block;
        padding: 3px 10px;
        border-radius: 5px;
        color: var(--dim);
        font-weight: 500;
      }
      .axis input:checked + span {
        background: var(--accent-soft);
        color: var(--accent);
      }
      .axis .disabled span {
        text-decoration: line-through;
      }
      .axis input:focus-visible + span {
        outline: 2px solid var(--accent);
        outline-offset: 1px;
      }
      .legend {
        display: flex;
        flex-wrap: wrap;
        gap: 0 16px;
        margin-left: auto;
        color: var(--dim);
        white-space: nowrap;
      }
      .legend span {
        display: inline-flex;
        align-items: center;
        gap: 6px;
      }
      .line {
        width: 16px;
        border-top: 2px solid var(--allocated);
      }
      .line.reserved {
        border-color: var(--reserved);
      }
      .swatch {
        width: 10px;
        height: 10px;
        border-radius: 2px;
        background: var(--merged);
      }
      .readout {
        display: flex;
        align-items: center;
        gap: 4px 20px;
        height: 30px;
        padding: 0 16px;
        border-top: 1px solid var(--line);
        color: var(--dim);
        font-size: 12.5px;
        font-variant-numeric: tabular-nums;
        white-space: nowrap;
        overflow: hidden;
      }
      .readout b {
        color: var(--text);
        font-weight: 600;
      }
      .plot {
        position: relative;
        flex: 1;
        min-height: 200px;
        overflow: hidden;
      }
      .plot:focus-visible {
        outline-offset: -2px;
      }
      canvas {
        position: absolute;
        inset: 0;
        width: 100%;
        height: 100%;
      }
      .overlay {
        cursor: crosshair;
        touch-action: none;
      }
      .problem {
        position: absolute;
        inset: auto 16px 40px;
        width: fit-content;
        margin: 0 auto;
        padding: 8px 16px;
        border: 1px solid var(--line-strong);
        border-radius: 6px;
        background: var(--raised);
        font-size: 13px;
        pointer-events: none;
      }
      .note {
        margin: 0;
        padding: 8px 16px;
        border-bottom: 1px solid var(--line);
        background: var(--bg);
        font-size: 13px;
        line-height: 1.5;
      }
      .note code {
        font-family: var(--mono);
        font-size: 0.92em;
      }
      @media (max-width: 640px) {
        .word,
        .optional {
          display: none;
        }
        .bar {
          gap: 4px 8px;
        }
        .readout {
          gap: 4px 12px;
          padding: 0 8px;
          font-size: 12px;
        }
      }
    `,
  ];
}

function ordered(a: number, b: number): [number, number] {
  return a < b ? [a, b] : [b, a];
}

declare global {
  interface HTMLElementTagNameMap {
    'memstrata-timeline': TimelineView;
  }
}
