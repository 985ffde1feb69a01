// Moves what is visible: gestures, held keys, glides. The only one that changes the view.
import type { AxisUnits, Bytes, DevicePx } from '../../base/units.ts';
import { pan, same, show, zoom, type Viewport } from '../../model/viewport.ts';
import type { Point } from '../../controls/gestures.ts';
import { Glide, HeldKeys, type Movement } from './motion.ts';
import type { Stage } from './stage.ts';

export class ViewMotion {
  private readonly held = new HeldKeys((movement, seconds) => this.step(movement, seconds));
  private readonly glide = new Glide((view) => this.set(view));

  constructor(
    private readonly stage: Stage,
    /** What zooming keeps in place; undefined = the middle. */
    private readonly place: () => { x: AxisUnits; y: Bytes } | undefined,
    private readonly changed: () => void,
  ) {}

  press(movement: Movement): void {
    this.glide.stop();
    this.held.press(movement);
  }
  release(movement: Movement): void {
    this.held.release(movement);
  }
  readonly releaseAll = (): void => this.held.releaseAll();

  to(target: Viewport): void {
    if (!same(target, this.stage.view)) this.glide.to(this.stage.view, target);
  }

  /** At once; ends a glide. */
  jump(target: Viewport): void {
    this.glide.stop();
    this.set(target);
  }

  /** Ends what moves, where it is. */
  stop(): void {
    this.glide.stop();
    this.held.releaseAll();
  }

  /** Factors below 1 zoom in; about the pointer, the cursor or the middle. */
  zoomStep(factor: number): void {
    this.to(zoom(this.stage.view, this.stage.bounds, this.centre(), factor, 1));
  }

  zoomAt(at: Point, factorX: number, factorY: number): void {
    this.glide.stop();
    const { view, bounds, area } = this.stage;
    const projection = this.stage.projection();
    const point = { x: projection.units(at.x), y: projection.bytes(at.y) };
    // Over a ruler only that axis makes sense.
    const alone = at.x < area.left && factorX !== 1;
    this.set(zoom(view, bounds, point, alone ? 1 : factorX, alone ? factorX * factorY : factorY));
  }

  panBy(dx: DevicePx, dy: DevicePx): void {
    this.glide.stop();
    const { unitsPerPixel, bytesPerPixel } = this.stage.projection();
    this.set(pan(this.stage.view, this.stage.bounds, dx * unitsPerPixel, dy * bytesPerPixel));
  }

  zoomToBox(from: Point, to: Point): void {
    const { view, bounds, area } = this.stage;
    const { ratio } = area;
    if (Math.abs(from.x - to.x) < 4 * ratio && Math.abs(from.y - to.y) < 4 * ratio) return;
    const at = this.stage.projection();
    const [x0, x1] = ordered(at.units(from.x), at.units(to.x));
    const [y0, y1] = ordered(at.bytes(from.y), at.bytes(to.y));
    // A flat or narrow box means one axis.
    const flat = Math.abs(from.y - to.y) < 8 * ratio;
    const narrow = Math.abs(from.x - to.x) < 8 * ratio;
    const wanted = {
      x0: narrow ? view.x0 : Math.max(0, x0),
      x1: narrow ? view.x1 : Math.min(bounds.extent, x1),
      y0: flat ? view.y0 : Math.max(0, y0),
      y1: flat ? view.y1 : y1,
    };
    this.to(show(wanted, bounds));
  }

  private set(view: Viewport): void {
    if (same(view, this.stage.view)) return;
    this.stage.view = view;
    this.changed();
  }

  private centre(): { x: AxisUnits; y: Bytes } {
    const { view } = this.stage;
    return this.place() ?? { x: (view.x0 + view.x1) / 2, y: view.y0 };
  }

  private step(movement: Movement, seconds: number): void {
    const { view, bounds } = this.stage;
    const spanX = view.x1 - view.x0;
    const spanY = view.y1 - view.y0;
    const factor = Math.exp(2.6 * seconds);
    const move = 0.9 * seconds;
    switch (movement) {
      case 'zoom-in':
        return this.set(zoom(view, bounds, this.centre(), 1 / factor, 1));
      case 'zoom-out':
        return this.set(zoom(view, bounds, this.centre(), factor, 1));
      case 'taller':
        return this.set(zoom(view, bounds, this.centre(), 1, 1 / factor));
      case 'shorter':
        return this.set(zoom(view, bounds, this.centre(), 1, factor));
      case 'left':
        return this.set(pan(view, bounds, -move * spanX, 0));
      case 'right':
        return this.set(pan(view, bounds, move * spanX, 0));
      case 'up':
        return this.set(pan(view, bounds, 0, move * spanY));
      case 'down':
        return this.set(pan(view, bounds, 0, -move * spanY));
    }
  }
}

function ordered(a: number, b: number): [number, number] {
  return a < b ? [a, b] : [b, a];
}
