// A measured stretch: bytes up, events and time across. Two points of the data, so it stays where it was put.
import { formatBytes, formatCount, formatDuration, plural } from '../../base/format.ts';
import type { AxisUnits, Bytes } from '../../base/units.ts';
import type { Axis } from '../../../engine/index.ts';
import type { Point } from '../../controls/gestures.ts';
import type { Stage } from './stage.ts';
import type { Travel } from './travel.ts';

export interface DataPoint {
  x: AxisUnits;
  y: Bytes;
}

export interface Measured {
  axis: Axis;
  from: DataPoint;
  to: DataPoint;
  /** `3.2 GiB · 1,204 events · 12.3 ms` */
  text: string;
  /** The same without the bytes. */
  across: readonly string[];
}

export class RulerTrack {
  measured: Measured | undefined;
  private asked = 0;

  constructor(
    private readonly stage: Stage,
    private readonly travel: Travel,
    private readonly changed: () => void,
  ) {}

  forget(): boolean {
    const had = this.measured !== undefined;
    this.measured = undefined;
    this.asked += 1;
    this.changed();
    return had;
  }

  /** Between two points of the canvas. */
  between(from: Point, to: Point): void {
    const at = this.stage.projection();
    const { bounds } = this.stage;
    const inside = ({ x, y }: Point): DataPoint => ({
      x: Math.min(Math.max(at.units(x), 0), bounds.extent),
      y: Math.min(Math.max(at.bytes(y), 0), bounds.top),
    });
    void this.measure(inside(from), inside(to));
  }

  async measure(from: DataPoint, to: DataPoint): Promise<void> {
    const { axis, info } = this.stage;
    this.asked += 1;
    const asked = this.asked;
    const [left, right] = from.x <= to.x ? [from.x, to.x] : [to.x, from.x];
    const whole = (x: AxisUnits): number =>
      Math.max(0, Math.min(Math.floor(x), this.stage.bounds.extent - 1));
    const bytes = formatBytes(to.y - from.y);
    const height = to.y > from.y ? `+${bytes}` : bytes;
    let events: number | undefined = axis === 'event' ? whole(right) - whole(left) : undefined;
    let time: number | undefined = axis === 'time' ? right - left : undefined;
    const tell = (): void => {
      const across: string[] = [];
      if (events !== undefined) across.push(plural(events, 'event'));
      if (time !== undefined) across.push(formatDuration(time));
      this.measured = { axis, from, to, text: [height, ...across].join(' · '), across };
      this.changed();
    };
    tell();
    if (axis === 'event' && info.extent.time_us !== null) {
      const positions = await this.stage.ask('position', {
        axis: 'time',
        events: [whole(left), whole(right)],
      });
      if (positions) time = (positions[1] ?? 0) - (positions[0] ?? 0);
    } else if (axis === 'time') {
      const [first, last] = await Promise.all([
        this.travel.eventAt(whole(left)),
        this.travel.eventAt(whole(right)),
      ]);
      if (first !== undefined && last !== undefined) events = last - first;
    }
    if (asked === this.asked) tell();
  }
}

/** What a screen reader hears. The bytes are those between the two points, not what memory grew by. */
export function spoken({ axis, from, to, across }: Measured): string {
  const place = (x: AxisUnits): string =>
    axis === 'event' ? `event ${formatCount(Math.floor(x))}` : formatDuration(x);
  const height = `a height of ${formatBytes(Math.abs(to.y - from.y))}`;
  return `From ${place(from.x)} to ${place(to.x)}: ${[height, ...across].join(' · ')}`;
}
