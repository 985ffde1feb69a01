// All ranks over time, a colour for how much memory each has: pointed at, walked through by keys, clicked to open a rank.
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatBytes, formatDuration, formatMoment } from '../base/format.ts';
import { onceAFrame } from '../base/once_a_frame.ts';
import type { CssPx } from '../base/units.ts';
import { resizeToPlace } from '../draw/canvas.ts';
import { themes, type Theme } from '../draw/colors.ts';
import {
  bucketAt,
  heatImage,
  heatLayout,
  heightFor,
  highestOf,
  paintHeat,
  placesAt,
  type HeatLayout,
} from '../draw/heat_map.ts';
import { heatColors } from '../draw/heat_colors.ts';
import type { FleetFacts, Ordered } from '../model/fleet_facts.ts';
import { countOfRanks, rankName, rankPlace } from '../words/fleet_text.ts';
import { isOnPaper } from '../controls/resized.ts';
import { base } from '../controls/styles.ts';
import { tip, tipStyles } from '../controls/tip.ts';

/** Where one points: a place in the order, and a moment. */
interface Pointed {
  place: number;
  bucket: number;
  /** Ranks that share the row of pixels. */
  among: number;
  x: CssPx;
  y: CssPx;
}

/** Tells `row` (chosen) and `open-row` with the number of a row. */
@element('gpustrata-heat-map')
export class HeatMapView extends LitElement {
  @property({ attribute: false }) facts!: FleetFacts;
  @property({ attribute: false }) ordered!: Ordered;
  @property() curve: 'allocated' | 'reserved' = 'allocated';
  @property({ attribute: false }) lit = new Uint8Array();
  @property({ attribute: false }) outOfMemory = new Uint8Array();
  /** Chosen; -1 = none. */
  @property({ type: Number }) row = -1;
  @property({ attribute: false }) theme: Theme = themes.light;
  @state() private pointed: Pointed | undefined;
  @state() private bucket: number | undefined;
  @query('canvas') private canvas!: HTMLCanvasElement | null;
  /** As high as the picture may get. */
  @query('.most') private most!: HTMLElement | null;
  @state() private room: CssPx = 0;
  private image: { key: readonly unknown[]; canvas: HTMLCanvasElement } | undefined;
  @state() private share = 1;
  private readonly resized = new ResizeObserver(() => {
    if (isOnPaper()) return;
    this.room = this.most?.clientHeight ?? 0;
    this.redraw();
  });
  private readonly redraw = onceAFrame(() => this.draw());

  override connectedCallback(): void {
    super.connectedCallback();
    this.observe();
  }
  private observe(): void {
    for (const one of [this.canvas, this.most]) if (one) this.resized.observe(one);
  }
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resized.disconnect();
  }
  protected override firstUpdated(): void {
    this.room = this.most?.clientHeight ?? 0;
    this.observe();
  }
  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('ordered')) this.pointed = undefined;
  }
  protected override updated(): void {
    this.redraw();
  }
  override focus(): void {
    this.canvas?.focus();
  }

  // -- What there is.

  private get curves() {
    return this.facts.fleet.curves;
  }
  private get bytes(): Uint8Array {
    return this.curves[this.curve];
  }
  private get span(): number {
    const { from_us: from, to_us: to } = this.curves;
    return from === null || to === null ? 0 : Math.max(0, to - from);
  }
  private get place(): number | undefined {
    const place = this.ordered.rows.indexOf(this.row);
    return this.row < 0 || place < 0 ? undefined : place;
  }

  // -- Drawing.

  private layout(): HeatLayout | undefined {
    const { canvas } = this;
    if (!canvas) return undefined;
    return heatLayout(this.ordered.rows.length, canvas.width, canvas.height, devicePixelRatio);
  }

  private draw(): void {
    const { canvas } = this;
    const ctx = canvas?.getContext('2d');
    if (!canvas || !ctx || !resizeToPlace(canvas)) return;
    const at = this.layout();
    if (!at) return;
    const { facts, ordered, lit, outOfMemory, theme } = this;
    const { pointed } = this;
    paintHeat(ctx, at, {
      image: this.painted(at),
      order: ordered.rows,
      groups: ordered.groups,
      label: (row) => facts.text('rank', row) || facts.text('file', row),
      lit,
      outOfMemory,
      span: this.span,
      buckets: this.curves.buckets,
      place: pointed?.place ?? this.place,
      bucket: pointed?.bucket ?? this.bucket,
      theme,
    });
    this.share = at.share;
    canvas.dataset['plot'] = [at.left, at.top, at.width, at.height].join(' ');
    canvas.dataset['rowHeight'] = String(at.rowHeight);
    canvas.dataset['share'] = String(at.share);
    canvas.dataset['rows'] = String(at.rows);
    canvas.toggleAttribute('data-settled', true);
  }

  /** Kept until something that it shows changes. */
  private painted(at: HeatLayout): HTMLCanvasElement | undefined {
    const { ordered, curve, theme } = this;
    const key = [ordered, curve, theme, at.share, at.painted];
    if (this.image && key.every((one, index) => one === this.image?.key[index])) return this.image.canvas;
    const { buckets } = this.curves;
    const image = heatImage(highestOf(this.bytes, ordered.rows, at, buckets), buckets, theme);
    if (!image) return undefined;
    const canvas = document.createElement('canvas');
    canvas.width = image.width;
    canvas.height = image.height;
    canvas.getContext('2d')?.putImageData(image, 0, 0);
    this.image = { key, canvas };
    return canvas;
  }

  // -- What the reader does.

  private pointAt(event: PointerEvent | MouseEvent): Pointed | undefined {
    const at = this.layout();
    const { canvas } = this;
    if (!at || !canvas) return undefined;
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const places = placesAt(at, y * devicePixelRatio);
    const bucket = bucketAt(at, x * devicePixelRatio, this.curves.buckets);
    if (!places || bucket === undefined) return undefined;
    // Of those that share the pixels the one that they show; nobody hits a single pixel, so a lower row takes its
    // neighbours along.
    const reach = at.rowHeight < 3 * devicePixelRatio ? devicePixelRatio : 0;
    const first = placesAt(at, y * devicePixelRatio - reach)?.first ?? places.first;
    const end = placesAt(at, y * devicePixelRatio + reach)?.end ?? places.end;
    let place = places.first;
    for (let one = first; one < end; one += 1)
      if (this.byteAt(one, bucket) > this.byteAt(place, bucket)) place = one;
    return { place, bucket, among: end - first, x, y };
  }
  private byteAt(place: number, bucket: number): number {
    return this.bytes[(this.ordered.rows[place] ?? 0) * this.curves.buckets + bucket] ?? 0;
  }

  private readonly moved = (event: PointerEvent): void => {
    this.pointed = this.pointAt(event);
  };
  private readonly left = (): void => {
    this.pointed = undefined;
  };
  private readonly clicked = (event: MouseEvent): void => {
    const pointed = this.pointAt(event);
    if (!pointed) return;
    this.bucket = pointed.bucket;
    this.tell('open-row', pointed.place);
  };
  private tell(what: 'row' | 'open-row', place: number): void {
    const row = this.ordered.rows[place];
    if (row !== undefined) this.dispatchEvent(new CustomEvent<number>(what, { detail: row }));
  }

  private readonly keys = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.ordered.rows.length - 1;
    if (last < 0) return;
    const { place } = this;
    const { buckets } = this.curves;
    const far = Math.max(10, Math.round(last / 20));
    const go = (to: number): void => {
      this.pointed = undefined;
      this.tell('row', Math.min(Math.max(to, 0), last));
    };
    const time = (by: number): void => {
      this.pointed = undefined;
      const from = this.bucket ?? (by > 0 ? -1 : buckets);
      this.bucket = Math.min(Math.max(from + by, 0), buckets - 1);
      if (place === undefined) go(0);
    };
    const acts: Readonly<Record<string, () => void>> = {
      ArrowDown: () => go(place === undefined ? 0 : place + 1),
      ArrowUp: () => go(place === undefined ? last : place - 1),
      PageDown: () => go((place ?? -1) + far),
      PageUp: () => go((place ?? last + 1) - far),
      Home: () => go(0),
      End: () => go(last),
      ArrowRight: () => time(event.shiftKey ? 10 : 1),
      ArrowLeft: () => time(event.shiftKey ? -10 : -1),
      Enter: () => place !== undefined && this.tell('open-row', place),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  // -- The page.

  private time(bucket: number): string {
    return formatMoment((bucket * this.span) / this.curves.buckets);
  }
  private words({ place, bucket, among }: Omit<Pointed, 'x' | 'y'>): string[] {
    const row = this.ordered.rows[place] ?? 0;
    const byte = this.byteAt(place, bucket);
    const size = byte === 0 ? 'nothing' : `at most ${formatBytes((byte / 255) * this.curves.scale)}`;
    return [
      rankName(this.facts, row),
      `${size} ${this.curve}, ${this.time(bucket)}`,
      ...(rankPlace(this.facts, row) === '' ? [] : [rankPlace(this.facts, row)]),
      ...(among > 1 ? [`The highest of ${countOfRanks(this.facts, among)} here`] : []),
    ];
  }

  protected override render(): TemplateResult {
    const { pointed, place, bucket, share } = this;
    const { rows } = this.ordered;
    const now =
      pointed ?? (place === undefined ? undefined : { place, bucket: bucket ?? 0, among: 1, x: 0, y: 0 });
    const shown = now && (pointed || bucket !== undefined) ? this.words(now) : undefined;
    const said =
      shown ??
      (place === undefined
        ? []
        : [rankName(this.facts, rows[place] ?? 0), rankPlace(this.facts, rows[place] ?? 0)]);
    const height = heightFor(rows.length, this.room, devicePixelRatio);
    return html`<div class="legend" aria-hidden="true">
        <span>0</span
        ><i class="ramp" .style=${`background: linear-gradient(to right, ${legend(this.theme)})`}></i
        ><span>${formatBytes(this.curves.scale)}</span>
        <span class="key"
          ><i class="nothing" .style=${`background: ${heatColors(this.theme)[0]}`}></i>nothing</span
        >
        ${this.outOfMemory.includes(1) ? html`<span class="key"><i class="oom"></i>out of memory</span>` : nothing}
        ${this.lit.includes(1) ? html`<span class="key"><i class="lit"></i>lit</span>` : nothing}
      </div>
      <p class="shares" data-shares=${share}>
        ${
          share > 1
            ? `${countOfRanks(this.facts, rows.length)}: ${share} share a row of pixels, which shows the highest of them.`
            : `${countOfRanks(this.facts, rows.length)}, from the top down.`
        }
        Each column shows the maximum per ${formatDuration(this.span / this.curves.buckets)}.
      </p>
      <div class="most" aria-hidden="true"></div>
      <div class="stage" @pointerleave=${this.left}>
        <canvas
          tabindex="0"
          role="application"
          aria-roledescription="heat map"
          aria-label="Memory of all ranks over time. Up and down choose a rank, left and right a moment, Enter opens the rank's snapshot."
          .style=${`height: ${height}px`}
          @pointermove=${this.moved}
          @click=${this.clicked}
          @keydown=${this.keys}></canvas>
        ${pointed ? tip(pointed.x, this.canvas?.clientWidth ?? 1, pointed.y + 16, this.words(pointed)) : nothing}
      </div>
      <p class="now" aria-live="polite" data-now>${said.filter((text) => text !== '').join(' · ')}</p>`;
  }

  static override styles = [
    base,
    tipStyles,
    css`
      :host {
        display: block;
        position: relative;
        min-width: 0;
      }
      .legend {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 4px 8px;
        color: var(--dim);
        font-size: 12px;
        font-variant-numeric: tabular-nums;
      }
      .ramp {
        width: 160px;
        height: 10px;
        border-radius: 2px;
      }
      .key {
        display: inline-flex;
        align-items: center;
        gap: 6px;
        margin-left: 10px;
      }
      .key i {
        width: 10px;
        height: 10px;
        border-radius: 2px;
      }
      .key .oom {
        width: 6px;
        height: 6px;
        border-radius: 0;
        background: var(--bad);
      }
      .key .lit {
        border-radius: 0;
        background: var(--accent);
        clip-path: polygon(0 0, 100% 50%, 0 100%);
      }
      .shares,
      .now {
        margin: 4px 0;
        color: var(--dim);
        font-size: 12px;
      }
      .now {
        min-height: 18px;
        color: var(--text);
        font-variant-numeric: tabular-nums;
      }
      .stage {
        position: relative;
      }
      .most {
        position: absolute;
        width: 0;
        height: var(--heat-height, 420px);
        visibility: hidden;
        pointer-events: none;
      }
      canvas {
        display: block;
        width: 100%;
        border-radius: 4px;
        cursor: pointer;
        touch-action: pan-y;
      }
      @media print {
        .now {
          display: none;
        }
      }
    `,
  ];
}

function legend(theme: Theme): string {
  const colors = heatColors(theme);
  return [1, 32, 64, 96, 128, 160, 192, 224, 255].map((byte) => colors[byte] ?? '').join(', ');
}
