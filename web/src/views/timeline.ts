// The active memory timeline: bands, levels, rulers, cursor, and everything one does with them.
//
// Nothing is computed here: the engine answers (tracks/picture_track.ts, moment_track.ts), tracks/scene.ts draws,
// tracks/view_motion.ts and travel.ts move. This element binds them to the page: properties in, events out.
import { html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { formatBytes, formatCount } from '../base/format.ts';
import type { Bytes, Rank } from '../base/units.ts';
import { colorsOf, enginePalette, type Theme } from '../draw/colors.ts';
import { plotArea } from '../draw/plot.ts';
import type { Axis, BlockDetails, ViewInfo } from '../engine/answers.ts';
import type { EngineClient } from '../engine/client.ts';
import { fitAll, type Viewport } from '../state/viewport.ts';
import { Gestures, type Point } from '../tracks/gestures.ts';
import { MomentTrack } from '../tracks/moment_track.ts';
import { LabelTrack } from '../tracks/label_track.ts';
import type { Movement } from '../tracks/motion.ts';
import { OutlineTrack } from '../tracks/outline_track.ts';
import { PictureTrack } from '../tracks/picture_track.ts';
import { drawBase, drawOverlay } from '../tracks/scene.ts';
import { Stage } from '../tracks/stage.ts';
import { Travel } from '../tracks/travel.ts';
import { ViewMotion } from '../tracks/view_motion.ts';
import { base } from './styles.ts';
import { symbols } from './symbols.ts';
import { readout } from './timeline_readout.ts';
import { timelineStyles } from './timeline_styles.ts';

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

  @state() private boxTool = false;
  @state() private problem: string | undefined;

  @query('.plot') private plot!: HTMLDivElement;
  @query('.base') private baseCanvas!: HTMLCanvasElement;
  @query('.overlay') private overlayCanvas!: HTMLCanvasElement;

  private readonly stage = new Stage();
  private readonly motion = new ViewMotion(
    this.stage,
    () => this.cursor.pointer,
    () => this.redraw(),
  );
  private readonly cursor: MomentTrack = new MomentTrack(this.stage, this.motion, {
    changed: () => {
      this.requestUpdate(); // the line below the plot
      this.drawOverlay();
    },
    pointed: (block) => this.dispatchEvent(new CustomEvent<BlockDetails>('point', { detail: block })),
    drawnColumns: () => this.picture?.shown?.columns,
  });
  private readonly travel = new Travel(this.stage, this.motion, this.cursor);
  private readonly pinOutline = new OutlineTrack(this.stage, () => this.redraw());
  private readonly labels = new LabelTrack(this.stage, () => this.redraw());
  private picture: PictureTrack | undefined;
  private gestures: Gestures | undefined;
  private box: { from: Point; to: Point } | undefined;
  private pendingView: Viewport | undefined;
  private drawing = false;
  private firstPicture = false;
  private readonly resized = new ResizeObserver((entries) => this.resize(entries));

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener('blur', this.motion.releaseAll);
    if (this.hasUpdated) this.resized.observe(this.plot);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resized.disconnect();
    this.motion.releaseAll();
    removeEventListener('blur', this.motion.releaseAll);
  }

  // -- What the rest of the page may ask for.

  fit(): void {
    this.travel.fit();
  }
  /** Height of what is visible, x stays. */
  fitHeight(): Promise<void> {
    return this.travel.fitHeight();
  }
  goToPeak(): void {
    this.travel.toPeak();
  }
  /** The first OOM right of the cursor, else the first of all. */
  nextOom(): void {
    this.travel.nextOom();
  }
  press(movement: Movement): void {
    this.motion.press(movement);
  }
  release(movement: Movement): void {
    this.motion.release(movement);
  }
  /** The cursor to the event before or after. */
  stepEvent(by: 1 | -1): void {
    this.cursor.stepEvent(by);
  }
  /** Shows a block that was chosen elsewhere, keeping the zoom if that is enough to see it. */
  showBlock(rank: Rank, size: Bytes): Promise<void> {
    return this.travel.showBlock(rank, size);
  }

  /** Keys `Enter` and `Space`: pins what the cursor is on. */
  pinAtCursor(): void {
    if (this.cursor.block) this.togglePin(this.cursor.block);
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
    if (axis === this.axis || this.stage.extentOf(axis) === undefined) return;
    const view = await this.travel.sameStretchOn(axis);
    if (!view) return; // another device or file meanwhile
    this.pendingView = view;
    this.dispatchEvent(new CustomEvent<Axis>('axis-change', { detail: axis }));
  }

  // -- Life of the element.

  protected override willUpdate(changed: PropertyValues<this>): void {
    const { stage } = this;
    const isNew = changed.has('info') || changed.has('engine');
    if (isNew || changed.has('axis')) {
      stage.engine = this.engine;
      stage.info = this.info;
      stage.axis = this.axis;
      stage.bounds = stage.boundsFor(this.axis);
      stage.view = (isNew ? undefined : this.pendingView) ?? fitAll(stage.bounds);
      this.pendingView = undefined;
      this.cursor.forget();
      this.pinOutline.forget();
      this.labels.forget();
      if (isNew) this.start();
      void this.travel.findMarks().then((found) => found && this.redraw());
    }
  }

  private start(): void {
    this.picture = new PictureTrack(this.engine, () => this.redraw());
    this.travel.marks = undefined;
    this.firstPicture = false;
  }

  protected override firstUpdated(): void {
    this.gestures = new Gestures(this.overlayCanvas, {
      zoomAt: (at, factorX, factorY) => this.motion.zoomAt(at, factorX, factorY),
      panBy: (dx, dy) => this.motion.panBy(dx, dy),
      hover: (at) => this.cursor.hover(at),
      click: (at) => void this.clicked(at),
      doubleClick: (at) => void this.doubleClick(at),
      box: (from, to) => {
        this.box = to && { from, to };
        this.drawOverlay();
      },
      boxDone: (from, to) => {
        this.box = undefined;
        this.boxTool = false;
        this.drawOverlay();
        this.motion.zoomToBox(from, to);
      },
      boxWanted: () => this.boxTool,
    });
    this.resized.observe(this.plot);
  }

  protected override updated(changed: PropertyValues): void {
    if (changed.size > 0) this.redraw(); // the line below the plot is not on the canvas
  }

  private async clicked(at: Point): Promise<void> {
    if (!this.stage.projection().contains(at.x, at.y)) return;
    const answer = await this.cursor.probeOnce(at);
    this.togglePin(answer?.details);
  }

  private async doubleClick(at: Point): Promise<void> {
    if (!this.stage.projection().contains(at.x, at.y)) return;
    const answer = await this.cursor.probeOnce(at);
    if (!answer?.details) return;
    // Whatever the first of the two clicks did.
    this.dispatchEvent(new CustomEvent<BlockDetails>('pin', { detail: answer.details }));
    await this.travel.fitBlock(answer.details.rank);
  }

  private togglePin(block: BlockDetails | undefined): void {
    this.dispatchEvent(new CustomEvent<BlockDetails | undefined>('toggle-pin', { detail: block }));
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
    this.stage.area = plotArea(width, height, ratio);
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
    const { picture, stage } = this;
    const ctx = this.baseCanvas?.getContext('2d');
    if (!ctx || !picture || stage.area.width < 2) return;
    const at = stage.projection();
    const settled = picture.want(at, this.axis, stage.bounds, {
      key: `${this.theme}|${this.highlight}`,
      palette: enginePalette(this.theme),
      dimOthers: this.highlight !== '',
    });
    if (settled && picture.shown) this.labels.want(picture.shown);
    const { labels } = this;
    const outline = this.pinOutline.of(this.pinned);
    drawBase(ctx, at, { stage, picture, labels, marks: this.travel.marks, outline }, colorsOf(this.theme));
    this.drawOverlay();
    this.tellState(settled, settled && labels.settled);
    this.problem = picture.problem;
    if (settled) this.cursor.follow();
  }

  private drawOverlay(): void {
    const ctx = this.overlayCanvas?.getContext('2d');
    const { stage, cursor, box } = this;
    if (!ctx || stage.area.width < 2) return;
    const hovered = cursor.outline;
    const isShown = hovered?.columns.axis === this.axis && hovered.rank !== this.pinned?.rank;
    const scene = { outline: isShown ? hovered : undefined, box, cursor: cursor.cursor() };
    drawOverlay(ctx, stage.projection(), scene, colorsOf(this.theme));
  }

  /** For tests and for the mark of the first picture. `complete`: the words in the bands are there, too. */
  private tellState(exact: boolean, complete: boolean): void {
    const { area, view } = this.stage;
    this.plot.toggleAttribute('data-settled', complete);
    if (!exact) return;
    this.plot.dataset['view'] = [view.x0, view.x1, view.y0, view.y1].join(' ');
    this.plot.dataset['plot'] = [area.left, area.top, area.width, area.height].join(' ');
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
            @click=${() => this.motion.zoomStep(0.5)}>
            ${symbols.plus}
          </button>
          <button
            class="button small quiet icon"
            title="Zoom out (S)"
            aria-label="Zoom out"
            @click=${() => this.motion.zoomStep(2)}>
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
      <div class="readout">${readout(this.cursor.moment?.pick, info)}</div>
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

  static override styles = [base, timelineStyles];
}

declare global {
  interface HTMLElementTagNameMap {
    'memstrata-timeline': TimelineView;
  }
}
