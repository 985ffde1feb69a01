// Where things lie on the canvas: the plot between its rulers, and data to device pixels.
import type { AxisUnits, Bytes, CssPx, DevicePx } from '../base/units.ts';
import type { Axis, Columns } from '../../engine/index.ts';
import { columnWidth, type Bounds, type Viewport } from '../model/viewport.ts';

/** The plot's place on the canvas, in device pixels. */
export interface PlotArea {
  left: DevicePx;
  top: DevicePx;
  width: DevicePx;
  height: DevicePx;
  /** Device pixels per CSS pixel. */
  ratio: number;
}

const gutters = { left: 76, right: 12, top: 30, bottom: 30 } as const;

/** Leaves room for the byte ruler, the markers above and the axis below. */
export function plotArea(
  width: DevicePx,
  height: DevicePx,
  ratio: number,
  { top: above, bottom }: { top: CssPx; bottom: CssPx } = gutters,
): PlotArea {
  const narrow = width / ratio < 480;
  const left = Math.round((narrow ? 60 : gutters.left) * ratio);
  const top = Math.round(above * ratio);
  return {
    left,
    top,
    width: Math.max(1, width - left - Math.round(gutters.right * ratio)),
    height: Math.max(1, height - top - Math.round(bottom * ratio)),
    ratio,
  };
}

/** Data to canvas and back for one viewport. */
export class Projection {
  constructor(
    readonly view: Viewport,
    readonly area: PlotArea,
  ) {}

  get unitsPerPixel(): number {
    return (this.view.x1 - this.view.x0) / this.area.width;
  }
  get bytesPerPixel(): number {
    return (this.view.y1 - this.view.y0) / this.area.height;
  }
  x(units: AxisUnits): DevicePx {
    return this.area.left + (units - this.view.x0) / this.unitsPerPixel;
  }
  y(bytes: Bytes): DevicePx {
    return this.area.top + this.area.height - (bytes - this.view.y0) / this.bytesPerPixel;
  }
  units(x: DevicePx): AxisUnits {
    return this.view.x0 + (x - this.area.left) * this.unitsPerPixel;
  }
  bytes(y: DevicePx): Bytes {
    return this.view.y0 + (this.area.top + this.area.height - y) * this.bytesPerPixel;
  }
  contains(x: DevicePx, y: DevicePx): boolean {
    const { left, top, width, height } = this.area;
    return x >= left && x < left + width && y >= top && y < top + height;
  }
}

export type Context = CanvasRenderingContext2D;

export function font(area: PlotArea, size: CssPx, weight = 400): string {
  return `${weight} ${size * area.ratio}px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif`;
}

/** Calls `draw` with everything outside the plot cut away. */
export function clipped(ctx: Context, area: PlotArea, draw: () => void): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(area.left, area.top, area.width, area.height);
  ctx.clip();
  draw();
  ctx.restore();
}

/** The grid on which the visible part is drawn; also the one to pick on. */
export function visibleColumns(at: Projection, axis: Axis, bounds: Bounds): Columns {
  const width = columnWidth(at.unitsPerPixel);
  const first = Math.max(0, Math.floor(at.view.x0 / width));
  const end = Math.min(Math.ceil(bounds.extent / width), Math.ceil(at.view.x1 / width));
  return { axis, first, width, count: Math.max(1, end - first) };
}

/** With so many more on either side, inside of the axis. */
export function widened(columns: Columns, extent: AxisUnits, more: number): Columns {
  const first = Math.max(0, columns.first - more);
  const end = Math.min(Math.ceil(extent / columns.width), columns.first + columns.count + more);
  return { ...columns, first, count: Math.max(1, end - first) };
}

export const covers = (have: Columns, wanted: Columns): boolean =>
  have.axis === wanted.axis &&
  have.width === wanted.width &&
  have.first <= wanted.first &&
  have.first + have.count >= wanted.first + wanted.count;
