// Where the chosen moment lies on the axis, and the event at a place of the axis.
import { formatCount } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import type { AxisUnits, Bytes, DevicePx } from '../../base/units.ts';
import type { ChosenMoment } from '../../draw/cursor.ts';
import type { Axis } from '../../../engine/index.ts';
import type { Hold, Point } from '../../controls/gestures.ts';
import type { Stage } from './stage.ts';

const reach = 6; // CSS pixels around the line in which it can be taken hold of

export class ChosenTrack {
  private event: number | undefined;
  /** Of the event on the time axis. */
  private placed: { event: number; axis: Axis; from: AxisUnits } | undefined;
  private readonly scrubbing: LatestOnly<AxisUnits, number | undefined>;

  constructor(
    private readonly stage: Stage,
    private readonly changed: () => void,
    eventAt: (time: AxisUnits) => Promise<number | undefined>,
    private readonly chosen: (event: number, step: boolean) => void,
  ) {
    this.scrubbing = new LatestOnly(
      eventAt,
      (event) => event !== undefined && this.chosen(event, true),
      () => undefined,
    );
  }

  forget(): void {
    this.scrubbing.forget();
    this.placed = undefined;
  }

  /** Undefined = no moment is shown. */
  show(event: number | undefined): void {
    this.event = event;
    const { axis } = this.stage;
    if (event === undefined || axis === 'event') return;
    if (this.placed?.event === event && this.placed.axis === axis) return;
    void this.stage.positionOf(Math.max(event, 0), axis).then((from) => {
      if (from === undefined || event !== this.event || axis !== this.stage.axis) return;
      this.placed = { event, axis, from };
      this.changed();
    });
  }

  /** What zooming keeps in place; undefined = it is not in view. */
  centre(): { x: AxisUnits; y: Bytes } | undefined {
    const { view } = this.stage;
    const { moment } = this;
    if (!moment) return undefined;
    const x = (moment.from + moment.to) / 2;
    return x >= view.x0 && x <= view.x1 ? { x, y: view.y0 } : undefined;
  }

  get moment(): ChosenMoment | undefined {
    const { event, placed, stage } = this;
    if (event === undefined) return undefined;
    const label = event < 0 ? 'start' : formatCount(event);
    const { peak } = stage.info;
    const below = event === peak.event ? peak.bytes : undefined; // the word at the peak
    if (stage.axis === 'event') {
      const from = Math.max(event, 0);
      return { from, to: event < 0 ? from : from + 1, label, below };
    }
    // Until the place of the new one is known, the one before is shown.
    return placed?.axis === stage.axis ? { from: placed.from, to: placed.from, label, below } : undefined;
  }

  /** What of it is there: its line, which is dragged, or the ruler below the plot, where a press is enough. */
  holds({ x, y }: Point): Hold {
    const { moment } = this;
    if (!moment) return undefined;
    const { area } = this.stage;
    const inside = x >= area.left && x <= area.left + area.width;
    if (inside && y > area.top + area.height) return 'at once';
    return inside && Math.abs(x - this.middle(moment)) <= reach * area.ratio ? 'by drag' : undefined;
  }

  /** `first`: a new choice; else one of many on the way. */
  scrub({ x }: Point, first: boolean): void {
    const { stage } = this;
    const { extent } = stage.bounds;
    const at = Math.min(Math.max(stage.projection().units(x), 0), extent);
    if (stage.axis === 'time') this.scrubbing.request(at);
    else this.chosen(Math.min(Math.floor(at), stage.info.events - 1), !first);
  }

  private middle({ from, to }: ChosenMoment): DevicePx {
    const projection = this.stage.projection();
    return (projection.x(from) + projection.x(to)) / 2;
  }
}
