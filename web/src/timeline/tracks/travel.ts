// Goes to things: everything, the peak, an OOM, a block, the same stretch on the other axis.
import type { AxisUnits, Bytes, Rank } from '../../base/units.ts';
import type { Axis } from '../../../engine/index.ts';
import { bringIntoView, fitAll, show, type Viewport } from '../../model/viewport.ts';
import type { MomentTrack } from './moment_track.ts';
import type { Stage } from './stage.ts';
import type { ViewMotion } from './view_motion.ts';

/** Where the peak and the OOMs lie on an axis. */
export interface Landmarks {
  axis: Axis;
  peak: AxisUnits;
  ooms: AxisUnits[];
}

export class Travel {
  landmarks: Landmarks | undefined;

  constructor(
    private readonly stage: Stage,
    private readonly motion: ViewMotion,
    private readonly cursor: MomentTrack,
  ) {}

  fit(): void {
    this.motion.to(fitAll(this.stage.bounds));
  }

  /** Height of what is visible, x stays. */
  async fitHeight(): Promise<void> {
    const { stage } = this;
    const highest = await stage.ask('highest', { columns: stage.columns() });
    if (highest === undefined || highest <= 0) return;
    this.motion.to(show({ ...stage.view, y0: 0, y1: highest * 1.1 }, stage.bounds));
  }

  /** True if the landmarks of the stage's axis are found (they may be outdated by then). */
  async findLandmarks(): Promise<boolean> {
    const { axis, info } = this.stage;
    const events = [info.peak.event, ...info.oom_events];
    const place = (event: number): AxisUnits => (event < 0 ? 0 : event + 0.5);
    let positions: AxisUnits[] | undefined = events.map(place);
    if (axis === 'time')
      positions = await this.stage.ask('position', { axis, events: events.map((e) => Math.max(e, 0)) });
    if (!positions || axis !== this.stage.axis || info !== this.stage.info) return false;
    const [peak = 0, ...ooms] = positions;
    this.landmarks = { axis, peak, ooms };
    return true;
  }

  toPeak(): void {
    const { peak } = this.stage.info;
    if (this.landmarks) this.to(this.landmarks.peak, peak.bytes, peak.event);
  }

  /** An out-of-memory event, if its place is known. */
  toOom(event: number): void {
    const position = this.landmarks?.ooms[this.stage.info.oom_events.indexOf(event)];
    if (position !== undefined) this.toEvent(position, event);
  }

  /** Shows a block that was chosen elsewhere, keeping the zoom if that is enough to see it. */
  async showBlock(rank: Rank, size: Bytes): Promise<void> {
    const { stage } = this;
    const { view, bounds, info } = stage;
    const place = (await stage.ask('block', { rank, axis: stage.axis, ...stage.stacking }))?.place;
    if (!place) return;
    const y = { from: place.offset, to: place.offset + size };
    const x = { from: place.from, to: Math.max(place.to, place.from) };
    const overlapping = bringIntoView(view, bounds, x, { from: view.y0, to: view.y1 });
    const lower = await this.lowerEdge(rank, overlapping);
    if (info !== stage.info) return;
    if (lower !== undefined && x.to - x.from >= stage.columns().width) {
      this.motion.to(bringIntoView(overlapping, bounds, x, { from: lower, to: lower + size }));
      return;
    }
    // Shorter than a column shows: zoom in until it is not.
    const room = Math.max((x.to - x.from) * 4, 20);
    const close = show({ ...view, x0: x.from - room, x1: x.to + room }, bounds);
    this.motion.to(bringIntoView(close, bounds, x, y));
  }

  /** Moves there only if it is outside. */
  async showEvent(event: number): Promise<void> {
    const { stage } = this;
    const at = Math.max(event, 0);
    const position = stage.axis === 'event' ? at : await stage.positionOf(at);
    const { view, bounds } = stage;
    if (position === undefined || (position >= view.x0 && position <= view.x1)) return;
    const place = { from: position, to: position + 1 };
    this.motion.to(bringIntoView(view, bounds, place, { from: view.y0, to: view.y1 }));
  }

  /** A block's whole life fills the view. */
  async fitBlock(rank: Rank): Promise<void> {
    const { stage } = this;
    const { info } = stage;
    const place = (await stage.ask('block', { rank, axis: stage.axis, ...stage.stacking }))?.place;
    if (!place) return;
    const { from, to, offset, size } = place;
    const room = Math.max((to - from) * 0.08, 1);
    const wide = show({ ...stage.view, x0: from - room, x1: to + room }, stage.bounds);
    const edges = await stage.ask('outline', { rank, columns: stage.columns(wide), ...stage.stacking });
    if (info !== stage.info) return;
    let low = offset;
    let high = offset + size;
    for (const edge of edges?.lower ?? []) if (!Number.isNaN(edge)) low = Math.min(low, edge);
    for (const edge of edges?.upper ?? []) if (!Number.isNaN(edge)) high = Math.max(high, edge);
    const air = Math.max((high - low) * 0.15, size * 0.5);
    this.motion.to(show({ ...wide, y0: low - air, y1: high + air }, stage.bounds));
  }

  /** The view that shows the same stretch of the recording on another axis; undefined if the stage changed meanwhile. */
  async sameStretchOn(axis: Axis): Promise<Viewport | undefined> {
    const { stage } = this;
    const { info } = stage;
    const { x0, x1, y0, y1 } = stage.view;
    const bounds = stage.boundsFor(axis);
    let range: [number, number] = [0, bounds.extent];
    if (x0 > 0 || x1 < stage.bounds.extent) {
      if (axis === 'time') {
        const last = Math.max(info.events - 1, 0);
        const events = [Math.floor(x0), Math.min(Math.ceil(x1), last)];
        const found = await stage.ask('position', { axis, events });
        range = [found?.[0] ?? 0, (found?.[1] ?? bounds.extent) + 1];
      } else {
        const found = await Promise.all([this.eventAt(Math.floor(x0)), this.eventAt(Math.ceil(x1) - 1)]);
        range = [found[0] ?? 0, (found[1] ?? bounds.extent) + 1];
      }
    }
    if (info !== stage.info || axis === stage.axis) return undefined;
    return show({ x0: range[0], x1: range[1], y0, y1 }, bounds);
  }

  /** To an event whose place is known, at the height that is shown. */
  toEvent(position: AxisUnits, event: number): void {
    this.to(position, this.stage.view.y0, event);
  }

  /** A stretch of the recording fills the view, the height stays. */
  fitStretch(from: AxisUnits, to: AxisUnits): void {
    const { view, bounds } = this.stage;
    const room = (to - from) * 0.02;
    this.motion.to(show({ ...view, x0: from - room, x1: to + room }, bounds));
  }

  /** Moves a stretch into the view if it lies outside. */
  reveal(from: AxisUnits, to: AxisUnits): void {
    const { view, bounds } = this.stage;
    this.motion.to(bringIntoView(view, bounds, { from, to }, { from: view.y0, to: view.y1 }));
  }

  private to(position: AxisUnits, bytes: Bytes, event: number): void {
    const { view, bounds } = this.stage;
    this.motion.to(bringIntoView(view, bounds, { from: position, to: position }, { from: bytes, to: bytes }));
    if (event >= 0) void this.cursor.moveTo(event, Math.max(bytes - 1, 0));
  }

  /** The event whose state holds at a time; undefined when the engine is gone. */
  async eventAt(time: number): Promise<number | undefined> {
    const answer = await this.stage.ask('probe', {
      axis: 'time',
      column: Math.floor(time),
      width: 1,
      bytes: 0,
      known: -1,
    });
    return answer?.pick ? Math.max(answer.pick.event, 0) : undefined;
  }

  private async lowerEdge(rank: Rank, view: Viewport): Promise<Bytes | undefined> {
    const { stage } = this;
    const outline = await stage.ask('outline', { rank, columns: stage.columns(view), ...stage.stacking });
    const edges = outline?.lower.filter((edge) => !Number.isNaN(edge));
    return edges?.[Math.floor(edges.length / 2)];
  }
}
