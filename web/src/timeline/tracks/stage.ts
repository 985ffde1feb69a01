// What the parts of the timeline share: which recording and axis, where the plot lies, what of it is visible.
import type { AxisUnits, Bytes } from '../../base/units.ts';
import { plotArea, Projection, visibleColumns, type PlotArea } from '../../draw/plot.ts';
import type {
  Answer,
  Args,
  Axis,
  ColourBy,
  Columns,
  Edges,
  EngineView,
  Kind,
  ViewInfo,
} from '../../../engine/index.ts';
import { boundsOf, type Bounds, type Viewport } from '../../model/viewport.ts';

/** A band's edges on a grid of columns. */
export interface Outline extends Edges {
  columns: Columns;
}

export class Stage {
  device!: EngineView;
  axis: Axis = 'event';
  area: PlotArea = plotArea(1, 1, 1);
  bounds: Bounds = { extent: 1, fitTop: 1, top: 1 };
  view: Viewport = { x0: 0, x1: 1, y0: 0, y1: 1 };
  /** As the reader said. */
  typedCapacity: Bytes | undefined;
  /** How the bands of the picture are stacked, for questions about where one lies. */
  stacking: { by?: ColourBy } = {};

  get info(): ViewInfo {
    return this.device.info;
  }

  /** Of the device; null = not known. */
  get capacity(): Bytes | null {
    return this.typedCapacity ?? this.info.capacity;
  }

  projection(view: Viewport = this.view): Projection {
    return new Projection(view, this.area);
  }

  /** The grid on which `view` is drawn and picked. */
  columns(view: Viewport = this.view): Columns {
    return visibleColumns(this.projection(view), this.axis, this.bounds);
  }

  /** Undefined = the recording has no times. */
  extentOf(axis: Axis): AxisUnits | undefined {
    return (axis === 'event' ? this.info.extent.event : this.info.extent.time_us) ?? undefined;
  }

  boundsFor(axis: Axis): Bounds {
    return boundsOf(this.extentOf(axis) ?? 1, { ...this.info, capacity: this.capacity });
  }

  /** Undefined when the engine is gone or refuses, or when another recording is shown by then. */
  async ask<K extends Kind>(kind: K, args: Args<K>): Promise<Answer<K> | undefined> {
    const { device } = this;
    try {
      const answer = await device.ask(kind, args);
      return device === this.device ? answer : undefined;
    } catch {
      return undefined;
    }
  }

  /** Undefined when the engine is gone. */
  async positionOf(event: number, axis: Axis = this.axis): Promise<AxisUnits | undefined> {
    return (await this.ask('position', { axis, events: [event] }))?.[0];
  }
}
