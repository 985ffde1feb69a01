// The active memory timeline: bands, levels, rulers, cursor, and everything one does with them.
//
// Nothing is computed here: the engine answers (tracks/picture_track.ts, moment_track.ts), tracks/scene.ts draws,
// tracks/view_motion.ts and travel.ts move. This element binds them to the page: properties in, events out.
import { html, LitElement, render, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, queryAll, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatBytes, plural } from '../base/format.ts';
import { onceAFrame } from '../base/once_a_frame.ts';
import type { AxisUnits, Bytes, Rank } from '../base/units.ts';
import { colorsOf, themes, type Theme } from '../draw/colors.ts';
import { colorsOfKinds } from '../draw/palettes.ts';
import { plotArea } from '../draw/plot.ts';
import type { Axis, Band, Bands, ColourBy, EngineView, RunningOps } from '../../engine/index.ts';
import { noFiles, type BesideFiles, type BesideTrace } from '../model/beside/files.ts';
import type { ToldOps } from '../model/beside/op_attribution.ts';
import type { CountersView } from './beside/counters.ts';
import type { Look, Stacking } from '../model/stacking.ts';
import { recordedOnly } from '../model/filtering.ts';
import { bandsNames, hasGap } from '../model/bands.ts';
import { deviceName } from '../model/devices.ts';
import { markerLines } from '../words/mark_text.ts';
import { fitAll, show, type Viewport } from '../model/viewport.ts';
import type { Range } from '../model/workspace.ts';
import { ChosenTrack } from './tracks/chosen_track.ts';
import { rememberArea, tracksOf, type DeviceTracks, type Groups } from './tracks/device_tracks.ts';
import { DragTool } from './tracks/drag_tool.ts';
import { Hearing } from '../controls/hearing.ts';
import { Gestures, type Point } from '../controls/gestures.ts';
import { MomentTrack } from './tracks/moment_track.ts';
import { LabelTrack } from './tracks/label_track.ts';
import type { PlacedMarker, PlacedRegion } from './tracks/marks_track.ts';
import type { Movement } from './tracks/motion.ts';
import { outlined, OutlineTrack } from './tracks/outline_track.ts';
import { highestEvent, type PictureStyle, type PictureTrack } from './tracks/picture_track.ts';
import { RulerTrack, spoken, type Measured } from './tracks/ruler_track.ts';
import { drawBase, drawOverlay, markerAt } from './tracks/scene.ts';
import { Stage } from './tracks/stage.ts';
import { Travel } from './tracks/travel.ts';
import { ViewMotion } from './tracks/view_motion.ts';
import './legend.ts';
import './minimap.ts';
import type { MinimapView, Stretch } from './minimap.ts';
import { blockTip, tipAt } from './block_tip.ts';
import { markerTip } from './marker_tip.ts';
import type { RegionsView } from './regions.ts';
import type { LanesView, Run, Stretch as LanesStretch } from './lanes/lanes.ts';
import { isOnPaper } from '../controls/resized.ts';
import { base, byPointer } from '../controls/styles.ts';
import { lineKeys, timelineBar, tools, type BarActions, type BarState } from './bar.ts';
import { describeBand } from '../words/band_text.ts';
import { groupLines, groupName } from '../words/group_text.ts';
import { timelineNotes } from './notes.ts';
import { readout, spokenMoment, type NamedGroup } from './readout.ts';
import type { OnScreen } from './sheet.ts';
import { timelineStyles } from './styles.ts';
import { tipStyles } from '../controls/tip.ts';

/** Only traces of profilers have them. */
export const loadLanes = (): Promise<unknown> => import('./lanes/lanes.ts').catch(() => undefined);
/** Only where a program said what it was doing. */
export const loadRegions = (): Promise<unknown> => import('./regions.ts').catch(() => undefined);
/** Only where counters are open beside a recording. */
export const loadCounters = (): Promise<unknown> => import('./beside/counters.ts').catch(() => undefined);

@element('gpustrata-timeline')
export class TimelineView extends LitElement {
  @property({ attribute: false }) device!: EngineView;
  @property({ attribute: false }) theme: Theme = themes.light;
  @property({ attribute: false }) axis: Axis = 'event';
  /** The pinned block, shared with the other views. */
  @property({ attribute: false }) pinned: Band | undefined;
  @property({ attribute: false }) colourBy: ColourBy = 'allocation';
  @property({ attribute: false }) stacking: Stacking = 'blocks';
  /** What the device has, as the reader said. */
  @property({ attribute: false }) capacity: Bytes | undefined;
  /** The chosen moment, if it is to be seen: the state after this event, -1 = before the first. */
  @property({ attribute: false }) chosen: number | undefined;
  /** The filter whose blocks are lit while the others fade; empty = none fade. */
  @property({ attribute: false }) highlight = '';
  /** What is drawn above this recording, by the clock: ops of a trace, counters. */
  @property({ attribute: false }) beside: BesideFiles = noFiles;
  /** How many allocations have an op of that trace. */
  @property({ attribute: false }) told: ToldOps | undefined;
  /** What is pointed at is told beside the pointer. */
  @property({ type: Boolean }) tips = false;
  /** Another view of the device is on its way. */
  @property({ type: Boolean }) switching = false;
  /** Colours may still come: their legend has its place, so that the picture stays where it is. */
  @property({ type: Boolean }) undecided = false;
  /** Shown first of a device instead of everything; taken once. */
  @property({ attribute: false }) firstView: Viewport | undefined;

  /** The kind that is lit while the pointer is on it, and the one that stays so. */
  @state() private litKind = -1;
  @state() private heldKind = -1;
  @state() private problem: string | undefined;
  /** The marker whose words are shown: under the pointer, or gone to by key. */
  @state() private marker: PlacedMarker | undefined;

  @query('.plot') private plot!: HTMLDivElement;
  @query('.base') private baseCanvas!: HTMLCanvasElement;
  @query('.overlay') private overlayCanvas!: HTMLCanvasElement;
  @query('.pointed') private pointedTip!: HTMLElement;
  @query('.readout') private pointedLine!: HTMLElement;
  @query('[data-spoken]') private pointedWords!: HTMLElement;
  @query('gpustrata-minimap') private minimap!: MinimapView | null;
  @query('gpustrata-regions') private regions!: RegionsView | null;
  @query('gpustrata-lanes') private lanes!: LanesView | null;
  @queryAll('gpustrata-counters') private counters!: NodeListOf<CountersView>;

  private readonly stage = new Stage();
  private readonly motion: ViewMotion = new ViewMotion(
    this.stage,
    () => this.cursor.centre() ?? this.chosenTrack.centre(),
    () => this.moved(),
  );
  private readonly cursor: MomentTrack = new MomentTrack(this.stage, this.motion, {
    changed: () => {
      const { measured } = this.ruler;
      const place = this.cursor.place();
      if (measured && place && this.cursor.moment?.byKeyboard) void this.ruler.measure(measured.from, place);
      this.follow(); // first: a canvas asks for its font, for which changed words would be laid out
      this.tellPointed();
    },
    pointed: (block) => this.dispatchEvent(new CustomEvent<Band>('point', { detail: block })),
    went: (event) => this.choose(event, true),
    groups: () => this.groups,
    drawnColumns: () => this.kept?.picture.shown?.columns,
  });
  private readonly travel: Travel = new Travel(this.stage, this.motion, this.cursor);
  private readonly chosenTrack: ChosenTrack = new ChosenTrack(
    this.stage,
    () => this.drawOverlay(),
    (time) => this.travel.eventAt(time),
    (event, step) => this.choose(event, step),
  );
  private readonly pinOutline = new OutlineTrack(this.stage, () => this.redraw());
  private readonly hoverOutline = new OutlineTrack(this.stage, () => this.follow());
  private readonly ruler = new RulerTrack(this.stage, this.travel, () => {
    this.tellRange();
    this.requestUpdate(); // it is told in words, too
    this.drawOverlay();
  });
  private readonly dragTool = new DragTool(this.motion, this.cursor, this.ruler, {
    tool: () => this.requestUpdate(),
    box: () => this.drawOverlay(),
  });
  private kept: DeviceTracks | undefined;
  private readonly answers = new Hearing(this, () =>
    this.kept ? [this.kept.answers.add((what) => this.answered(what))] : [],
  );
  private readonly labels = new LabelTrack(this.stage, () => this.redraw());
  private gestures: Gestures | undefined;
  private pendingView: Viewport | undefined;
  private readonly redraw = onceAFrame(() => this.draw());
  private readonly overlaySoon = onceAFrame(() => this.drawOverlay());
  /** When the pointer moved last; and whether what is visible moved with it. */
  private hoveredView: Viewport | undefined;
  private isMoving = false;
  private firstPicture = false;
  /** The recording has grown: the picture before stays until the next one is whole. */
  private renewing = false;
  /** The picture shown is exact and no step of a zoom ago. */
  private resting = false;
  private toldView: Viewport | undefined;
  private readonly resized = new ResizeObserver((entries) => this.resize(entries));

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener('blur', this.motion.releaseAll);
    if (this.hasUpdated) this.resized.observe(this.plot);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.leave();
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
  goToOom(event: number): void {
    this.travel.toOom(event);
  }
  press(movement: Movement): void {
    this.motion.press(movement);
  }
  release(movement: Movement): void {
    this.motion.release(movement);
  }
  /** The cursor to the event before or after. */
  stepEvent(by: 1 | -1): void {
    this.cursor.stepEvent(by, this.chosen);
  }
  /** The next marker right of the cursor, or left of it; goes round. */
  stepMarker(by: 1 | -1): void {
    const markers = this.kept?.marks.placed?.markers ?? [];
    const from = this.marker?.event ?? this.chosen ?? this.cursor.event ?? (by > 0 ? -1 : Infinity);
    const next =
      by > 0
        ? (markers.find(({ event }) => event > from) ?? markers[0])
        : (markers.findLast(({ event }) => event < from) ?? markers.at(-1));
    if (next) this.goToMarker(next);
  }
  private goToMarker(marker: PlacedMarker): void {
    this.travel.toEvent(marker.at, marker.event);
    if (this.chosen !== undefined) this.choose(marker.event, false);
    this.marker = marker;
  }

  /** Shows a block that was chosen elsewhere, keeping the zoom if that is enough to see it. */
  showBlock(rank: Rank, size: Bytes): Promise<void> {
    return this.travel.showBlock(rank, size);
  }

  /** An op of the trace, in its lane. */
  async showOp(op: RunningOps): Promise<void> {
    await this.updateComplete;
    if (!this.device.info.has_ops && this.axis !== 'time') await this.changeAxis('time');
    await loadLanes();
    await this.updateComplete;
    await this.lanes?.updateComplete;
    await this.lanes?.showOp(op);
  }

  /** An event that was chosen elsewhere. */
  showEvent(event: number): Promise<void> {
    return this.travel.showEvent(event);
  }

  /** Keys `Enter` and `Space`: pins what the cursor is on. */
  pinAtCursor(): void {
    if (this.cursor.group) this.toggleHeld(this.cursor.group.kind);
    else if (this.cursor.block) this.togglePin(this.cursor.block);
  }

  /** Gives up a box being drawn, a tool, the ruler or a kind that stays lit; false if there was none. */
  giveUp(): boolean {
    if (this.gestures?.giveUp()) return true;
    if (this.dragTool.giveUp()) return true;
    if (this.heldKind < 0) return false;
    this.hold(-1);
    return true;
  }

  /** As the ruler does, over the height that is seen. */
  measureStretch(from: AxisUnits, to: AxisUnits): void {
    const { y0, y1 } = this.stage.view;
    void this.ruler.measure({ x: from, y: y0 }, { x: to, y: y1 });
  }

  /** Key `M`. */
  measure(): void {
    this.dragTool.measure();
  }

  /** Shows a part of the recording, the height as it is. */
  showStretch({ x0, x1 }: Stretch): void {
    this.motion.jump(show({ ...this.stage.view, x0, x1 }, this.stage.bounds));
  }
  showView(view: Viewport): void {
    this.motion.to(show(view, this.stage.bounds));
  }
  /** What is visible; undefined before anything is. */
  get shownView(): Viewport | undefined {
    return this.kept && this.stage.view;
  }

  /** For a picture to take along; undefined before there is one. */
  get onScreen(): OnScreen | undefined {
    const { kept: tracks, stage, travel, baseCanvas: canvas, theme } = this;
    return tracks && { stage, tracks, landmarks: travel.landmarks, canvas, theme };
  }

  /** Has the picture of another file ready, so that it is there when one goes to it. */
  prepare(device: EngineView): void {
    if (device === this.device) return;
    const { colourBy: colour, stacking } = this;
    tracksOf(device).prepare(this.stage.area, this.axis, this.theme, { colour, stacking });
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
    const isNew = changed.has('device');
    const isNext = changed.get('device')?.run === this.device.run;
    stage.typedCapacity = this.capacity;
    if (isNew || changed.has('axis')) {
      if (isNew) this.leave();
      this.motion.stop();
      stage.device = this.device;
      stage.axis = this.axis;
      stage.bounds = stage.boundsFor(this.axis);
      if (isNew) this.start(isNext);
      const before = this.kept?.axis === this.axis ? this.kept.view : undefined;
      const first = isNew ? (this.firstView ?? before) : this.pendingView;
      stage.view = first ? show(first, stage.bounds) : fitAll(stage.bounds);
      this.pendingView = undefined;
      if (isNext) this.cursor.renewed();
      else this.cursor.forget();
      this.pinOutline.forget();
      this.hoverOutline.forget();
      this.chosenTrack.forget();
      this.ruler.forget();
      this.labels.forget();
      this.marker = undefined;
      void this.travel.findLandmarks().then((found) => found && this.redraw());
    }
    if (changed.has('capacity') && !isNew) {
      stage.bounds = stage.boundsFor(this.axis);
      // What was typed is seen.
      const y1 = Math.max(stage.view.y1, (this.capacity ?? 0) * 1.04);
      this.motion.to(show({ ...stage.view, y0: y1 === stage.view.y1 ? stage.view.y0 : 0, y1 }, stage.bounds));
    }
    if (changed.has('stacking')) {
      // What lies where is another thing now.
      this.cursor.forget();
      this.hoverOutline.forget();
      this.labels.forget();
    }
    if (this.device.info.has_ops || this.beside.trace) void loadLanes();
    if (this.beside.counters.length > 0) void loadCounters();
    this.chosenTrack.show(this.chosen);
    if (this.chosen !== undefined && changed.has('chosen')) this.cursor.leaveEvent(this.chosen);
  }

  private start(isNext: boolean): void {
    const held = isNext ? this.kept?.kinds.kinds?.kinds[this.heldKind]?.label : undefined;
    this.renewing = isNext;
    this.kept = tracksOf(this.device);
    this.kept.showing();
    this.answers.again();
    this.hold(this.kept.kinds.kinds?.kinds.findIndex(({ label }) => label === held) ?? -1);
    this.travel.landmarks = undefined;
    this.firstPicture = false;
  }

  private answered(what: 'picture' | 'kinds' | 'marks'): void {
    if (what !== 'picture') this.requestUpdate(); // the legend; the strip of regions may come
    if (what === 'marks') void loadRegions();
    this.redraw();
  }

  /** What is seen of a device is there when one comes back to it. */
  private leave(): void {
    if (!this.kept) return;
    this.kept.view = this.stage.view;
    this.kept.axis = this.stage.axis;
  }

  private styleOf(kept: DeviceTracks, highlight: string): PictureStyle {
    return kept.style(this.theme, this.stacking, highlight, this.litKind);
  }

  /** Undefined = the stack is one of blocks. */
  private get groups(): Groups | undefined {
    return this.kept?.groups(this.stacking, this.highlight);
  }

  private hold(kind: number): void {
    this.heldKind = kind;
    this.litKind = kind;
  }

  /** As a click in the legend does. */
  private toggleHeld(kind: number | undefined): void {
    const kinds = this.kept?.kinds.kinds?.kinds.length ?? 0;
    if (kind !== undefined && kind < kinds) this.hold(kind === this.heldKind ? -1 : kind);
  }

  protected override firstUpdated(): void {
    this.gestures = new Gestures(this.overlayCanvas, {
      zoomAt: (at, factorX, factorY) => this.motion.zoomAt(at, factorX, factorY),
      panBy: (dx, dy) => this.motion.panBy(dx, dy),
      hover: (at) => this.hover(at),
      click: (at) => void this.clicked(at),
      doubleClick: (at) => void this.doubleClick(at),
      box: (from, to) => this.dragTool.drag(from, to),
      boxDone: (from, to) => this.dragTool.drop(from, to),
      boxWanted: () => this.dragTool.tool !== 'none',
      scrubs: (at) => this.chosenTrack.holds(at),
      scrub: (at, first) => this.chosenTrack.scrub(at, first),
    });
    this.resized.observe(this.plot);
  }

  protected override updated(changed: PropertyValues): void {
    this.tellPointed();
    if (changed.size > 0) this.redraw(); // the line below the plot is not on the canvas
  }

  /** Under the pointer or the cursor: what follows it is made anew with each of its moves, and nothing else is. */
  private tellPointed(): void {
    if (!this.hasUpdated) return;
    const { info } = this.device;
    const capacity = this.capacity ?? info.capacity;
    const line = readout(this.cursor.moment?.pick, this.namedGroup, { info, capacity }, hasGap(this.device));
    render(line, this.pointedLine);
    render(this.tips ? this.hoverTip() : '', this.pointedTip);
    render(this.spoken(), this.pointedWords);
  }

  private get markers(): readonly PlacedMarker[] {
    const placed = this.kept?.marks.placed;
    return placed?.axis === this.axis ? placed.markers : [];
  }

  private async clicked(at: Point): Promise<void> {
    const marker = markerAt(this.stage.projection(), this.markers, at);
    if (marker) return this.goToMarker(marker);
    if (!this.stage.projection().contains(at.x, at.y)) return;
    const answer = await this.cursor.probeOnce(at);
    if (answer?.isLow) this.toggleHeld(answer.group?.kind);
    else this.togglePin(answer?.details);
    if (this.chosen !== undefined && answer?.pick)
      this.choose(answer.pick.event, answer.details !== undefined);
  }

  private hover(at: Point | undefined): void {
    this.overlayCanvas.classList.toggle(
      'scrub',
      at !== undefined && this.chosenTrack.holds(at) !== undefined,
    );
    const { view } = this.stage;
    this.isMoving = view !== this.hoveredView;
    this.hoveredView = view;
    this.cursor.hover(at);
    this.marker = at && markerAt(this.stage.projection(), this.markers, at);
  }

  /** `step`: no entry in the history. */
  private choose(event: number, step: boolean): void {
    this.dispatchEvent(new CustomEvent('choose-event', { detail: { event, step } }));
  }

  private async doubleClick(at: Point): Promise<void> {
    if (!this.stage.projection().contains(at.x, at.y)) return;
    const answer = await this.cursor.probeOnce(at);
    if (!answer?.details) return;
    // Whatever the first of the two clicks did.
    this.dispatchEvent(new CustomEvent<Band>('pin', { detail: answer.details }));
    await this.travel.fitBlock(answer.details.rank);
  }

  private togglePin(block: Band | undefined): void {
    this.dispatchEvent(new CustomEvent<Band | undefined>('toggle-pin', { detail: block }));
  }

  // -- Drawing.

  private resize(entries: ResizeObserverEntry[]): void {
    const entry = entries.at(-1);
    if (!entry || isOnPaper()) return;
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
    rememberArea(this.stage.area);
    this.draw(); // at once: setting the size has emptied the canvas
    this.dispatchEvent(new CustomEvent('resized'));
  }

  /** The engine begins at once: at the next frame the exact picture may be there. */
  private moved(): void {
    if (this.kept && this.stage.area.width > 1) this.wantPicture(this.kept);
    this.redraw();
  }

  /** True if the picture shown is exactly the one wanted. */
  private wantPicture(kept: DeviceTracks): boolean {
    const { stage } = this;
    const style = this.styleOf(kept, this.highlight);
    return kept.picture.want(stage.projection(), stage.axis, stage.bounds, style);
  }

  private draw(): void {
    const { kept, stage } = this;
    const ctx = this.baseCanvas?.getContext('2d');
    if (!ctx || !kept || stage.area.width < 2) return;
    const { picture, kinds } = kept;
    const by = this.groups?.by;
    stage.stacking = by ? { by } : {};
    const at = stage.projection();
    const settled = this.wantPicture(kept);
    kinds.want(this.colourBy);
    this.resting = settled && !picture.zooming;
    if (settled && picture.shown) this.labels.want(picture.shown, kinds.kinds);
    const { labels, markers } = this;
    const { landmarks } = this.travel;
    const isWhole = settled && labels.settled && landmarks !== undefined;
    if (this.renewing && !isWhole && picture.problem === undefined) return;
    this.renewing = false;
    const outline = this.pinOutline.of(this.pinned && outlined(this.pinned, stage.stacking));
    drawBase(ctx, at, { stage, picture, labels, landmarks, markers, outline }, colorsOf(this.theme));
    this.drawOverlay();
    this.regions?.draw?.(at, ctx.canvas.width, this.axis);
    if (settled || this.firstPicture) {
      this.lanes?.draw?.(at, ctx.canvas.width, this.axis);
      this.counters.forEach((one) => one.draw?.(at, this.axis));
    }
    // After the first picture: a question asked before would delay it.
    const marked = (settled || this.firstPicture) && kept.marks.want(this.axis);
    this.tellState(settled, settled && kinds.settled && labels.settled && marked);
    this.problem = picture.problem;
    this.drawMinimap(picture);
    if (!settled) return;
    this.cursor.follow();
    const event = picture.shown && highestEvent(picture.shown, stage.view);
    if (event !== undefined && event >= -1) kinds.wantShares(event, this.highlight);
  }

  private drawMinimap({ backdrop }: PictureTrack): void {
    const { minimap, stage } = this;
    if (!minimap) return;
    minimap.picture = backdrop;
    minimap.view = stage.view;
    minimap.bounds = stage.bounds;
    minimap.requestUpdate(); // the picture is painted over in place
  }

  /** At once, where the pointer alone has moved: the next frame has less to do then. Once a frame where the view moves, too. */
  private follow(): void {
    if (this.isMoving || this.stage.view !== this.hoveredView) this.overlaySoon();
    else this.drawOverlay();
  }

  private drawOverlay(): void {
    const ctx = this.overlayCanvas?.getContext('2d');
    const { stage, cursor } = this;
    if (!ctx || stage.area.width < 2) return;
    const hovered =
      cursor.block && cursor.block.rank === this.pinned?.rank ? undefined : (cursor.block ?? cursor.group);
    const { measured } = this.ruler;
    const ruler = measured?.axis === this.axis ? measured : undefined;
    const scene = {
      outline: this.hoverOutline.of(hovered && outlined(hovered, stage.stacking), this.resting), // the picture comes first
      box: this.dragTool.box,
      cursor: cursor.cursor(),
      chosen: this.chosenTrack.moment,
      ruler,
    };
    drawOverlay(ctx, stage.projection(), scene, colorsOf(this.theme));
  }

  private toldRange: Measured | undefined;
  private tellRange(): void {
    const { measured } = this.ruler;
    const places = (one: Measured | undefined): string => JSON.stringify([one?.axis, one?.from.x, one?.to.x]);
    const isNew = places(measured) !== places(this.toldRange);
    this.toldRange = measured;
    if (!isNew) return;
    const [from = 0, to = 0] = measured ? [measured.from.x, measured.to.x].sort((a, b) => a - b) : [];
    const detail: Range | undefined = measured && { axis: measured.axis, from, to };
    this.dispatchEvent(new CustomEvent('range-change', { detail }));
  }

  /** For tests and for the mark of the first picture. `complete`: the words in the bands are there, too. */
  private tellState(exact: boolean, complete: boolean): void {
    const { area, view } = this.stage;
    this.plot.toggleAttribute('data-settled', complete);
    if (view !== this.toldView) this.dispatchEvent(new CustomEvent('moved'));
    this.toldView = view;
    if (!exact) return;
    this.plot.dataset['view'] = [view.x0, view.x1, view.y0, view.y1].join(' ');
    this.plot.dataset['stacking'] = this.groups ? 'groups' : 'blocks';
    this.plot.dataset['plot'] = [area.left, area.top, area.width, area.height].join(' ');
    if (this.firstPicture) return;
    this.firstPicture = true;
    // Drawing happens within a frame; when the next one begins, this one is on the screen.
    requestAnimationFrame(() => this.dispatchEvent(new CustomEvent('first-picture')));
  }

  // -- The frame around the canvas.

  protected override render(): TemplateResult {
    const { info } = this.device;
    const peak = formatBytes(info.peak.bytes);
    const kinds = this.kept?.kinds.kinds;
    const { measured } = this.ruler;
    const marks = this.kept?.marks.placed;
    const bar: BarState = {
      info,
      gap: hasGap(this.device),
      capacity: this.capacity ?? info.capacity,
      axis: this.axis,
      colourBy: this.colourBy,
      stacking: this.stacking,
      tool: this.dragTool.tool,
      measured: measured !== undefined,
      earlier: this.device.shown.only?.includes(recordedOnly)
        ? 'hidden'
        : info.from_start > 0 && info.events > 0
          ? 'shown'
          : undefined,
      switching: this.switching,
    };
    return html`
      ${timelineBar(bar, this.barActions)}
      <gpustrata-legend
        ?hidden=${this.colourBy === 'allocation' && !this.undecided}
        .kinds=${kinds}
        .shares=${this.kept?.kinds.shares}
        .colors=${colorsOfKinds(kinds, this.theme)}
        .held=${this.heldKind}
        @light=${(event: CustomEvent<number>) => (this.litKind = event.detail)}
        @hold=${(event: CustomEvent<number>) => this.hold(event.detail)}></gpustrata-legend>
      ${timelineNotes(this.device)}
      ${
        marks && marks.depths > 0
          ? html`<gpustrata-regions
              .marks=${marks}
              .theme=${this.theme}
              .firstTime=${info.first_time_us}
              .motion=${this.motionAt}
              @ready=${this.redraw}
              @choose=${({ detail }: CustomEvent<PlacedRegion>) => this.travel.fitStretch(detail.from, detail.to)}
              @reveal=${({ detail }: CustomEvent<PlacedRegion>) => this.travel.reveal(detail.from, detail.to)}></gpustrata-regions>`
          : ''
      }
      ${info.has_ops ? this.lanesOf(this.device) : this.beside.trace ? this.lanesOf(this.beside.trace.view, this.beside.trace) : ''}
      ${this.beside.counters.map(
        (file) =>
          html`<gpustrata-counters
            .file=${file}
            .recording=${this.device}
            .theme=${this.theme}
            .motion=${this.motionAt}
            @ready=${this.redraw}></gpustrata-counters>`,
      )}
      <div
        class="plot"
        tabindex="0"
        role="application"
        aria-roledescription="timeline"
        aria-label="${bandsNames[info.bands]}, ${deviceName(info.device, info.is_processor)}: ${plural(info.events, 'event')}, ${plural(
          info.blocks,
          info.bands === 'segments' ? 'segment' : 'block',
        )}, peak ${peak}. Press question mark for the keys.">
        <canvas class="base"></canvas>
        <canvas class="overlay"></canvas>
        ${this.marker && marks ? markerTip(this.marker, marks, info.first_time_us, this.stage.projection(), this.clientWidth) : ''}
        <div class="pointed"></div>
        ${this.problem === undefined ? '' : html`<p class="problem" role="status">This part cannot be drawn: ${this.problem}</p>`}
      </div>
      ${
        info.events > 1
          ? html`<gpustrata-minimap
              .axis=${this.axis}
              .theme=${this.theme}
              @brush=${(event: CustomEvent<Stretch>) => this.showStretch(event.detail)}></gpustrata-minimap>`
          : ''
      }
      <div class="foot">
        ${lineKeys(bar, this.barActions)}
        <div class="readout"></div>
        ${tools(bar, this.barActions)}
      </div>
      <p class="visually-hidden" role="status" data-spoken></p>
      <p class="visually-hidden" role="status" data-measured=${measured?.text ?? ''}>
        ${measured ? spoken(measured) : ''}
      </p>
      <p
        class="visually-hidden"
        role="status"
        data-markers=${marks?.markers.length ?? 0}
        data-marker=${this.marker?.event ?? ''}>
        ${this.marker ? markerLines(this.marker, info.first_time_us).join(', ') : ''}
      </p>
    `;
  }

  /** Of the trace that is shown, or of one beside it. */
  private lanesOf(trace: EngineView, beside?: BesideTrace): TemplateResult {
    const { device: view, told } = this;
    return html`<gpustrata-lanes
      .device=${trace}
      .run=${beside && this.runOf({ trace: beside, view, told })}
      .theme=${this.theme}
      .search=${this.highlight}
      .motion=${this.motionAt}
      @ready=${this.redraw}
      @fit=${({ detail }: CustomEvent<LanesStretch>) => this.travel.fitStretch(detail.from, detail.to)}
      @reveal=${({ detail }: CustomEvent<LanesStretch>) => this.travel.reveal(detail.from, detail.to)}></gpustrata-lanes>`;
  }
  private lastRun: Run | undefined;
  /** The same object as long as it is the same. */
  private runOf(run: Run): Run {
    const names = Object.keys(run) as (keyof Run)[];
    if (!this.lastRun || names.some((name) => run[name] !== this.lastRun?.[name])) this.lastRun = run;
    return this.lastRun ?? run;
  }

  private hoverTip(): TemplateResult | '' {
    const { block, pointer } = this.cursor;
    const { ratio } = this.stage.area;
    if (!pointer || this.marker || this.cursor.moment?.byKeyboard) return '';
    const { width, height } = this.baseCanvas;
    const at = { x: pointer.x / ratio, y: pointer.y / ratio, width: width / ratio, height: height / ratio };
    if (block) return blockTip(block, at);
    const { group, moment } = this.cursor;
    if (!group) return '';
    return tipAt(groupLines(group, this.kept?.kinds.kinds, moment?.pick?.level ?? 0), at);
  }

  /** Only what keys go to is said: a pointer would never be silent. */
  private spoken(): string {
    const { moment, block } = this.cursor;
    if (!moment?.byKeyboard || !moment.pick) return '';
    const { info } = this.device;
    const named = block ? describeBand(block, info).title : this.namedGroup?.name;
    return spokenMoment(moment.pick, named, info);
  }

  private get namedGroup(): NamedGroup | undefined {
    const { kind: group } = this.cursor;
    return group && { group, name: groupName(group, this.kept?.kinds.kinds) };
  }

  private readonly barActions: BarActions = {
    fit: () => this.fit(),
    zoomStep: (factor) => this.motion.zoomStep(factor),
    toggleBox: () => this.dragTool.toggle('box'),
    measure: () => this.measure(),
    changeCapacity: (bytes) =>
      this.dispatchEvent(new CustomEvent('capacity-change', { detail: bytes ?? null })),
    hideEarlier: () => this.dispatchEvent(new CustomEvent('hide-earlier')),
    changeBands: (bands) => this.dispatchEvent(new CustomEvent<Bands>('bands', { detail: bands })),
    changeAxis: (axis) => void this.changeAxis(axis),
    changeLook: (change) =>
      this.dispatchEvent(new CustomEvent<Partial<Look>>('look-change', { detail: change })),
  };

  /** Gestures on the strip of regions. */
  private readonly motionAt = {
    zoomAt: (at: Point, factorX: number) =>
      this.motion.zoomAt({ x: at.x, y: this.stage.area.top }, factorX, 1),
    panBy: (dx: number) => this.motion.panBy(dx, 0),
  };

  static override styles = [base, byPointer, tipStyles, timelineStyles];
}
