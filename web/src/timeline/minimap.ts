// The whole recording in small, with a brush over the part that is shown: drag it, drag its edges, or draw a new one.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { property, query } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatCount, formatDuration } from '../base/format.ts';
import type { AxisUnits } from '../base/units.ts';
import { resizeToPlace } from '../draw/canvas.ts';
import { colorsOf, themes, type Theme } from '../draw/colors.ts';
import type { Axis } from '../../engine/index.ts';
import type { Bounds, Viewport } from '../model/viewport.ts';
import type { Picture } from './tracks/picture_track.ts';
import { base } from '../controls/styles.ts';
import { Resized } from '../controls/resized.ts';

const grip = 8; // CSS pixels about an edge
const shortest = 4; // CSS pixels of a new brush

export interface Stretch {
  x0: AxisUnits;
  x1: AxisUnits;
}

/** Tells `brush` with a Stretch. */
@element('gpustrata-minimap')
export class MinimapView extends LitElement {
  @property({ attribute: false }) picture: Picture | undefined;
  @property({ attribute: false }) bounds: Bounds = { extent: 1, fitTop: 1, top: 1 };
  @property({ attribute: false }) view: Viewport = { x0: 0, x1: 1, y0: 0, y1: 1 };
  @property() axis: Axis = 'event';
  @property({ attribute: false }) theme: Theme = themes.light;
  @query('canvas') private canvas!: HTMLCanvasElement;
  private drag: { mode: 'move' | 'left' | 'right' | 'new'; from: AxisUnits; start: Stretch } | undefined;
  protected readonly resized = new Resized(
    this,
    () => this.canvas,
    () => this.place(),
  );
  /** Device pixels a CSS pixel for which its place is known: asked for with each picture, the page would be laid out for it. */
  private placedFor = NaN;

  protected override updated(): void {
    if (this.placedFor === devicePixelRatio) this.draw();
    else if (this.placedFor > 0) this.place();
  }

  private place(): void {
    if (!resizeToPlace(this.canvas)) return;
    this.placedFor = devicePixelRatio;
    this.draw();
  }

  private get perPixel(): AxisUnits {
    return this.bounds.extent / Math.max(1, this.canvas.clientWidth);
  }
  private unitsAt(event: PointerEvent): AxisUnits {
    return (event.clientX - this.canvas.getBoundingClientRect().left) * this.perPixel;
  }

  private readonly down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    event.preventDefault();
    this.canvas.setPointerCapture(event.pointerId);
    const at = this.unitsAt(event);
    const { x0, x1 } = this.view;
    const near = grip * this.perPixel;
    const whole = x1 - x0 >= this.bounds.extent * 0.999;
    const mode =
      whole || at < x0 - near || at > x1 + near
        ? 'new'
        : Math.abs(at - x0) < near && at - x0 < x1 - at
          ? 'left'
          : Math.abs(at - x1) < near
            ? 'right'
            : 'move';
    this.drag = { mode, from: at, start: { x0, x1 } };
  };

  private readonly move = (event: PointerEvent): void => {
    const { drag } = this;
    if (!drag) return;
    const at = Math.min(Math.max(this.unitsAt(event), 0), this.bounds.extent);
    const by = at - drag.from;
    const { x0, x1 } = drag.start;
    if (drag.mode === 'new') {
      if (Math.abs(by) >= shortest * this.perPixel)
        this.tell({ x0: Math.min(at, drag.from), x1: Math.max(at, drag.from) });
    } else if (drag.mode === 'left') this.tell({ x0: Math.min(at, x1), x1 });
    else if (drag.mode === 'right') this.tell({ x0, x1: Math.max(at, x0) });
    else this.tell({ x0: x0 + by, x1: x1 + by });
  };

  private readonly up = (event: PointerEvent): void => {
    const { drag } = this;
    this.drag = undefined;
    if (!drag || drag.mode !== 'new') return;
    const at = this.unitsAt(event);
    if (Math.abs(at - drag.from) >= shortest * this.perPixel) return;
    // A click: the view goes there.
    const span = drag.start.x1 - drag.start.x0;
    this.tell({ x0: at - span / 2, x1: at + span / 2 });
  };

  private readonly key = (event: KeyboardEvent): void => {
    const { x0, x1 } = this.view;
    const span = x1 - x0;
    const by: Record<string, Stretch> = {
      ArrowLeft: { x0: x0 - span / 10, x1: x1 - span / 10 },
      ArrowRight: { x0: x0 + span / 10, x1: x1 + span / 10 },
      PageUp: { x0: x0 - span, x1: x1 - span },
      PageDown: { x0: x0 + span, x1: x1 + span },
      Home: { x0: 0, x1: span },
      End: { x0: this.bounds.extent - span, x1: this.bounds.extent },
      ArrowUp: { x0: x0 + span / 8, x1: x1 - span / 8 },
      ArrowDown: { x0: x0 - span / 6, x1: x1 + span / 6 },
    };
    const wanted = by[event.key];
    if (!wanted || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.tell(wanted);
  };

  private tell(stretch: Stretch): void {
    this.dispatchEvent(new CustomEvent<Stretch>('brush', { detail: stretch }));
  }

  private draw(): void {
    const { canvas, picture, bounds, view } = this;
    const ctx = canvas.getContext('2d');
    if (!ctx) return;
    const { width, height } = canvas;
    const ratio = devicePixelRatio;
    ctx.clearRect(0, 0, width, height);
    const colors = colorsOf(this.theme);
    const x = (units: AxisUnits): number => (units / bounds.extent) * width;
    if (picture && picture.columns.axis === this.axis) {
      // The bands themselves: from the bottom up to what fits everything.
      const { rows, columns } = picture;
      const shownRows = Math.min(rows.count, Math.ceil(bounds.fitTop / rows.bytesPerRow));
      ctx.drawImage(
        picture.canvas,
        0,
        rows.count - shownRows,
        columns.count,
        shownRows,
        x(columns.first * columns.width),
        0,
        x(columns.count * columns.width),
        height,
      );
    }
    const [left, right] = [x(view.x0), x(view.x1)];
    ctx.fillStyle = colors.background;
    ctx.globalAlpha = 0.72;
    ctx.fillRect(0, 0, left, height);
    ctx.fillRect(right, 0, width - right, height);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = colors.boxLine;
    ctx.lineWidth = 1.5 * ratio;
    const half = ctx.lineWidth / 2;
    ctx.strokeRect(left + half, half, Math.max(right - left - 2 * half, ratio), height - 2 * half);
  }

  protected override render(): TemplateResult {
    const { view, bounds, axis } = this;
    const place = (at: AxisUnits): string => (axis === 'event' ? formatCount(at) : formatDuration(at));
    const middle = (view.x0 + view.x1) / 2 / bounds.extent;
    return html`<canvas
      tabindex="0"
      role="slider"
      aria-label="Part of the recording that is shown"
      aria-valuemin="0"
      aria-valuemax="100"
      aria-valuenow=${Math.round(middle * 100)}
      aria-valuetext="${axis === 'event' ? 'events' : ''} ${place(view.x0)} to ${place(view.x1)} of ${place(bounds.extent)}"
      data-brush="${view.x0} ${view.x1}"
      title="The whole recording. Drag the brush or its edges; draw a new one beside it; double click shows everything."
      @pointerdown=${this.down}
      @pointermove=${this.move}
      @pointerup=${this.up}
      @pointercancel=${() => (this.drag = undefined)}
      @dblclick=${() => this.tell({ x0: 0, x1: bounds.extent })}
      @keydown=${this.key}></canvas>`;
  }

  static override styles = [
    base,
    css`
      :host {
        display: block;
        height: 44px;
        padding: 0 12px 6px 76px;
      }
      canvas {
        display: block;
        width: 100%;
        height: 100%;
        border-radius: 3px;
        background: var(--bg);
        cursor: ew-resize;
        touch-action: none;
      }
      @container (max-width: 480px) {
        :host {
          padding-left: 60px;
        }
      }
    `,
  ];
}
