// The strip of regions above the timeline: what the program said it was doing (record_function, ProfilerStep).
//
// The timeline draws it together with its own picture, so both move in the same frame. A region fits the view when it
// is clicked; by key: arrows go along and between the levels, Enter fits.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatCount, plural } from '../base/format.ts';
import type { Microseconds } from '../base/units.ts';
import { resizeTo } from '../draw/canvas.ts';
import { colorsOf, themes, type Theme } from '../draw/colors.ts';

import type { Projection } from '../draw/plot.ts';
import { drawRegions, laneHeight, regionAt } from '../draw/regions.ts';
import type { Axis } from '../../engine/index.ts';
import { regionLines } from '../words/mark_text.ts';
import { Gestures, type GestureTarget, type Point } from '../controls/gestures.ts';
import type { PlacedMarks, PlacedRegion } from './tracks/marks_track.ts';
import { base } from '../controls/styles.ts';
import { tip, tipStyles } from '../controls/tip.ts';

const mostLanes = { wide: 6, narrow: 3 } as const;

/** Loaded when marks are there. Tells `ready`, then `choose` (fit it) and `reveal` (make it visible) with a PlacedRegion. */
@element('gpustrata-regions')
export class RegionsView extends LitElement {
  @property({ attribute: false }) marks!: PlacedMarks;
  @property({ attribute: false }) theme: Theme = themes.light;
  @property({ attribute: false }) firstTime: Microseconds | null = null;
  /** What wheel and drag do. */
  @property({ attribute: false }) motion!: Pick<GestureTarget, 'zoomAt' | 'panBy'>;

  @state() private narrow = false;
  @state() private hovered: PlacedRegion | undefined;
  @state() private focused: PlacedRegion | undefined;
  @query('canvas') private canvas!: HTMLCanvasElement;
  private at: Projection | undefined;
  private axis: Axis = 'event';
  private pointer: Point | undefined;

  private get lanes(): number {
    return Math.min(this.marks.depths, this.narrow ? mostLanes.narrow : mostLanes.wide);
  }
  private get lit(): PlacedRegion | undefined {
    return this.hovered ?? this.focused;
  }
  /** None while their places on another axis are asked for. */
  private get shown(): readonly PlacedRegion[] {
    return this.marks.axis === this.axis ? this.marks.regions : [];
  }

  /** `at` is the plot's: both canvases have the same width. */
  draw(at: Projection, width: number, axis: Axis): void {
    this.at = at;
    this.axis = axis;
    this.narrow = at.area.width < 420 * at.area.ratio;
    const ctx = this.canvas?.getContext('2d');
    if (!ctx) return;
    const height = Math.round(this.lanes * laneHeight * at.area.ratio);
    resizeTo(this.canvas, width, height);
    this.hovered = this.pointer && this.under(this.pointer);
    drawRegions(ctx, at, this.shown, this.lanes, this.lit, colorsOf(this.theme));
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('marks')) return;
    const same = (region: PlacedRegion | undefined): PlacedRegion | undefined =>
      region &&
      this.marks.regions.find((one) => one.name === region.name && one.from_event === region.from_event);
    this.focused = same(this.focused);
    this.hovered = undefined;
  }

  protected override firstUpdated(): void {
    const hover = (at: Point | undefined): void => {
      this.pointer = at;
      this.hovered = at && this.under(at);
    };
    new Gestures(this.canvas, {
      zoomAt: (at, factorX) => this.motion.zoomAt(at, factorX, 1),
      panBy: (dx) => this.motion.panBy(dx, 0),
      hover,
      click: (at) => {
        const region = this.under(at);
        if (region) this.choose(region);
      },
    });
    this.dispatchEvent(new CustomEvent('ready'));
  }

  protected override updated(): void {
    if (this.at) this.draw(this.at, this.canvas.width, this.axis);
  }

  private under({ x, y }: Point): PlacedRegion | undefined {
    const { at } = this;
    if (!at || x < at.area.left || x > at.area.left + at.area.width) return undefined;
    return regionAt(at, this.shown, x, y, 3 * at.area.ratio);
  }

  private choose(region: PlacedRegion): void {
    this.focused = region;
    this.dispatchEvent(new CustomEvent<PlacedRegion>('choose', { detail: region }));
  }

  private readonly key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const { focused } = this;
    if (event.key === 'Escape' && focused) this.focused = undefined;
    else if ((event.key === 'Enter' || event.key === ' ') && focused) this.choose(focused);
    else {
      const next = this.neighbour(event.key);
      if (next === undefined) return;
      if (next !== null) {
        this.focused = next;
        this.hovered = undefined;
        this.dispatchEvent(new CustomEvent<PlacedRegion>('reveal', { detail: next }));
      }
    }
    event.preventDefault();
  };

  /** null = there is none that way; undefined = the key means nothing here. */
  private neighbour(key: string): PlacedRegion | null | undefined {
    const { focused, at, lanes } = this;
    const shown = this.shown.filter(({ depth }) => depth < lanes);
    const arrows = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'];
    if (key === 'Home') return shown[0] ?? null;
    if (key === 'End') return shown.at(-1) ?? null;
    if (!arrows.includes(key)) return undefined;
    if (!focused) return shown.find(({ to }) => !at || to > at.view.x0) ?? shown[0] ?? null;
    const index = shown.indexOf(focused);
    const { depth } = focused;
    const before = shown.slice(0, Math.max(index, 0)).reverse();
    const after = shown.slice(index + 1);
    switch (key) {
      case 'ArrowLeft':
        return before.find((one) => one.depth === depth) ?? null;
      case 'ArrowRight':
        return after.find((one) => one.depth === depth) ?? null;
      case 'ArrowUp':
        return before.find((one) => one.depth === depth - 1) ?? null;
      default: {
        const inner = after[0];
        return inner && inner.depth === depth + 1 ? inner : null;
      }
    }
  }

  private get note(): string {
    const { regions, regionsLeftOut, depths } = this.marks;
    const parts: string[] = [];
    if (regionsLeftOut > 0) {
      const all = regions.length + regionsLeftOut;
      parts.push(`the ${formatCount(regions.length)} longest of ${formatCount(all)} regions`);
    }
    if (depths > this.lanes) parts.push(`${formatCount(this.lanes)} of ${formatCount(depths)} levels`);
    return parts.length > 0 ? `Shown: ${parts.join(', ')}.` : '';
  }

  protected override render(): TemplateResult {
    const { lit, at, lanes, note, focused } = this;
    const count = plural(this.marks.regions.length, 'region');
    const height = lanes * laneHeight;
    const ratio = at?.area.ratio ?? 1;
    const x = lit && at ? this.placeOf(lit, at) / ratio : 0;
    return html`
      <canvas
        tabindex="0"
        role="application"
        aria-roledescription="regions"
        aria-label="${count} of the program, in ${plural(lanes, 'level')}. Arrow keys go from one to the next, Enter shows one."
        data-regions=${this.marks.regions.length}
        data-levels=${lanes}
        .style=${`height: ${height}px`}
        @keydown=${this.key}></canvas>
      ${note === '' ? nothing : html`<p class="note" data-regions-note>${note}</p>`}
      ${lit ? tip(x, this.clientWidth, height + 4, regionLines(lit, this.firstTime)) : nothing}
      <p class="visually-hidden" role="status" data-region=${focused?.name ?? nothing}>
        ${focused ? regionLines(focused, this.firstTime).join(', ') : ''}
      </p>
    `;
  }

  /** Device pixels: the middle of its visible part, or the pointer. */
  private placeOf(region: PlacedRegion, at: Projection): number {
    if (region === this.hovered && this.pointer) return this.pointer.x;
    const [left, right] = [at.area.left, at.area.left + at.area.width];
    return (Math.max(at.x(region.from), left) + Math.min(at.x(region.to), right)) / 2;
  }

  static override styles = [
    base,
    tipStyles,
    css`
      :host {
        position: relative;
        display: block;
        padding-top: 4px;
        z-index: 3;
      }
      canvas {
        display: block;
        width: 100%;
        cursor: pointer;
        touch-action: none;
      }
      canvas:focus-visible {
        outline-offset: -2px;
      }
      .note {
        margin: 0;
        padding: 0 12px 2px 76px;
        color: var(--dim);
        font-size: 11.5px;
      }
      @container (max-width: 480px) {
        .note {
          padding-left: 60px;
        }
      }
    `,
  ];
}
