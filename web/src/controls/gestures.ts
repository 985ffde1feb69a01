// Pointer, wheel and touch on a canvas as a few plain calls, in device pixels.
import type { DevicePx } from '../base/units.ts';

export interface Point {
  x: DevicePx;
  y: DevicePx;
}

/** By a press alone, or only when it becomes a drag; undefined = of nothing. */
export type Hold = 'at once' | 'by drag' | undefined;

export interface GestureTarget {
  /** Factors below 1 zoom in. */
  zoomAt(at: Point, factorX: number, factorY: number): void;
  panBy(dx: DevicePx, dy: DevicePx): void;
  hover(at: Point | undefined): void;
  click?(at: Point): void;
  doubleClick?(at: Point): void;
  /** While a box is drawn; undefined = given up. */
  box?(from: Point, to: Point | undefined): void;
  boxDone?(from: Point, to: Point): void;
  /** The next drag draws a box even without Shift. */
  boxWanted?(): boolean;
  /** What a press here takes hold of, to move the chosen moment. */
  scrubs?(at: Point): Hold;
  scrub?(at: Point, first: boolean): void;
}

const clickSlack = 4; // CSS pixels a hand moves while clicking

export class Gestures {
  private readonly touches = new Map<number, Point>();
  private start: Point | undefined;
  private last: Point | undefined;
  /** Where a press ended that did not become a drag; the click event that follows belongs to it. */
  private pressed: Point | undefined;
  private held: Hold;
  private mode: 'none' | 'press' | 'pan' | 'box' | 'pinch' | 'scrub' = 'none';

  constructor(
    private readonly element: HTMLElement,
    private readonly target: GestureTarget,
  ) {
    element.addEventListener('pointerdown', this.down);
    element.addEventListener('pointermove', this.move);
    element.addEventListener('pointerup', this.up);
    element.addEventListener('pointercancel', this.cancelled);
    element.addEventListener('pointerleave', (event) => {
      if (this.mode === 'none' && event.pointerType !== 'touch') target.hover(undefined);
    });
    element.addEventListener('click', this.clicked);
    element.addEventListener('dblclick', (event) => target.doubleClick?.(this.point(event)));
    element.addEventListener('wheel', this.wheel, { passive: false });
  }

  /** Gives up what is being drawn; false if there was nothing. */
  giveUp(): boolean {
    if (this.mode !== 'box') return false;
    if (this.start) this.target.box?.(this.start, undefined);
    this.mode = 'none';
    return true;
  }

  private point(event: MouseEvent): Point {
    const rect = this.element.getBoundingClientRect();
    return {
      x: (event.clientX - rect.left) * devicePixelRatio,
      y: (event.clientY - rect.top) * devicePixelRatio,
    };
  }

  private readonly down = (event: PointerEvent): void => {
    if (event.button !== 0 && event.button !== 1) return;
    const at = this.point(event);
    this.element.setPointerCapture(event.pointerId);
    if (event.pointerType === 'touch') {
      this.touches.set(event.pointerId, at);
      if (this.touches.size === 2) {
        this.mode = 'pinch';
        return;
      }
    }
    this.start = at;
    this.last = at;
    this.pressed = undefined;
    const left = event.button === 0;
    const box = left && (event.shiftKey || this.target.boxWanted?.() === true);
    this.held = left && !box ? this.target.scrubs?.(at) : undefined;
    if (this.held === 'at once') {
      this.mode = 'scrub';
      this.target.scrub?.(at, true);
      return;
    }
    this.mode = box ? 'box' : 'press';
  };

  private readonly move = (event: PointerEvent): void => {
    const at = this.point(event);
    switch (this.mode) {
      case 'none':
        if (event.pointerType !== 'touch') this.target.hover(at);
        return;
      case 'press': {
        const slack = clickSlack * devicePixelRatio;
        if (!this.start || Math.hypot(at.x - this.start.x, at.y - this.start.y) < slack) return;
        if (this.held === 'by drag') {
          this.mode = 'scrub';
          this.target.scrub?.(this.start, true);
          this.target.scrub?.(at, false);
          return;
        }
        this.mode = 'pan';
        this.pan(at);
        return;
      }
      case 'pan':
        this.pan(at);
        this.target.hover(at);
        return;
      case 'box':
        if (this.start) this.target.box?.(this.start, at);
        return;
      case 'scrub':
        this.target.scrub?.(at, false);
        return;
      case 'pinch':
        this.pinch(event.pointerId, at);
        return;
    }
  };

  private pan(at: Point): void {
    if (this.last) this.target.panBy(this.last.x - at.x, at.y - this.last.y);
    this.last = at;
  }

  private pinch(id: number, at: Point): void {
    const before = [...this.touches.values()];
    this.touches.set(id, at);
    const after = [...this.touches.values()];
    const [a0, b0] = before;
    const [a1, b1] = after;
    if (!a0 || !b0 || !a1 || !b1) return;
    const middle = { x: (a1.x + b1.x) / 2, y: (a1.y + b1.y) / 2 };
    const factor = Math.hypot(a0.x - b0.x, a0.y - b0.y) / Math.max(1, Math.hypot(a1.x - b1.x, a1.y - b1.y));
    this.target.panBy((a0.x + b0.x) / 2 - middle.x, middle.y - (a0.y + b0.y) / 2);
    this.target.zoomAt(middle, factor, factor);
  }

  private readonly up = (event: PointerEvent): void => {
    const at = this.point(event);
    this.touches.delete(event.pointerId);
    const { mode, start } = this;
    this.mode = 'none';
    this.start = undefined;
    if (!start) return;
    if (mode === 'press') this.pressed = start;
    if (mode === 'press' && event.pointerType === 'touch') this.target.hover(start);
    if (mode === 'box') this.target.boxDone?.(start, at);
  };

  /** Only the click event knows whether it is the second of a double click. */
  private readonly clicked = (event: MouseEvent): void => {
    const at = this.pressed;
    this.pressed = undefined;
    if (at && event.detail < 2) this.target.click?.(at);
  };

  private readonly cancelled = (event: PointerEvent): void => {
    this.touches.delete(event.pointerId);
    this.giveUp();
    this.mode = 'none';
  };

  private readonly wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const dx = event.deltaX * unit;
    const dy = event.deltaY * unit;
    const at = this.point(event);
    if (event.ctrlKey || event.metaKey) {
      const factor = wheelFactor(dy, 0.006);
      this.target.zoomAt(at, factor, factor);
    } else if (event.shiftKey || event.altKey) {
      this.target.zoomAt(at, 1, wheelFactor(dy || dx, 0.0018)); // Shift turns the wheel sideways in some browsers
    } else if (Math.abs(dx) > Math.abs(dy)) {
      this.target.panBy(dx * devicePixelRatio, 0);
    } else {
      this.target.zoomAt(at, wheelFactor(dy, 0.0018), 1);
    }
    this.target.hover(at);
  };
}

function wheelFactor(delta: number, strength: number): number {
  return Math.exp(Math.min(Math.max(delta * strength, -0.6), 0.6));
}
