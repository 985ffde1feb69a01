// The address map over time: a row for each region of device memory, in it every block at its offset, x as on the
// timeline. So fragmentation is seen as it grows. However many regions there are, only those that are seen are asked for.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { live } from 'lit/directives/live.js';
import { formatBytes, plural } from '../../base/format.ts';
import { onceAFrame } from '../../base/once_a_frame.ts';
import type { AxisUnits, DevicePx, Rank } from '../../base/units.ts';
import { colorsOf } from '../../draw/colors.ts';
import {
  boxOf,
  drawBox,
  drawStrip,
  drawWords,
  rowHeightFor,
  stripHeight,
  wordsHeight,
  wordsOf,
} from '../../draw/map_rows.ts';
import { plotArea, Projection, visibleColumns } from '../../draw/plot.ts';
import { mapPixels, regionOrderWords, type Region, type RegionOrder } from '../../../engine/index.ts';
import { chooseColouring, legendOfFree, rampStyles, type Colouring } from '../free_shares.ts';
import { RowWindow } from '../../controls/row_window.ts';
import { boundsOf } from '../../model/viewport.ts';
import { rowOfAddress } from './row_of_address.ts';
import { MapTrack } from './map_track.ts';
import { addressMapStyles } from './styles.ts';
import { oneOf } from '../link_field.ts';
import { tell, type Kept, type LoadedPanel, type PanelPage } from '../panel.ts';
import { base, column } from '../../controls/styles.ts';
import { Resized } from '../../controls/resized.ts';

const orderNames: Record<RegionOrder, string> = { address: 'Address', size: 'Size', stream: 'Stream' };
const restMs = 150; // after which the scroll bar is put where it belongs

/** What the panel keeps of a view. */
interface MapMemory {
  order: RegionOrder;
  colouring: Colouring;
  top: number;
}

/** What lies under the pointer or the keyboard's cursor. */
interface Spot {
  row: number;
  /** Or one of `mapPixels`. */
  rank: Rank;
  /** Of the region, that is free then; undefined = not coloured by it. */
  free: number | undefined;
  /** On the canvas, and in the region. */
  x: DevicePx;
  y: DevicePx;
  offset: number;
  byKeyboard: boolean;
}

/** Tells `choose-block`, `choose-event` and `point-thing` (panels/panel.ts). */
@element('gpustrata-address-map')
export class AddressMapView extends LitElement {
  @property({ attribute: false }) page!: PanelPage;
  @property({ attribute: false }) kept!: Kept<MapMemory>;

  @state() private order: RegionOrder = 'address';
  @state() private colouring: Colouring = 'blocks';
  @state() private spot: Spot | undefined;
  @query('.scroller') private scroller!: HTMLDivElement;
  @query('canvas') private canvas!: HTMLCanvasElement;

  private window = new RowWindow(rowHeightFor(0, 0));
  /** Where the chosen moment lies on the axis. */
  private moment: AxisUnits | undefined;
  private map: MapTrack | undefined;
  private readonly redraw = onceAFrame(() => this.draw());
  private resting: ReturnType<typeof setTimeout> | undefined;
  private revealed: Rank = -1;
  protected readonly resized = new Resized(
    this,
    () => this.scroller,
    () => this.resize(),
  );

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.resting);
    this.leave();
  }

  // -- Another device, another part of it.

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('page') && !changed.has('kept')) return;
    const before = changed.has('page') ? changed.get('page') : this.page;
    const { page } = this;
    if (before?.view !== page.view) this.start(before?.view.run === page.view.run);
    else if (changed.has('kept')) this.recall();
    this.map?.colourBy(page.colourBy);
    if (before?.view !== page.view || before.event !== page.event || before.axis !== page.axis)
      void this.findMoment();
    if (before?.view !== page.view || before.pinned?.rank !== page.pinned?.rank) void this.reveal();
    if (before?.view !== page.view || before.segment !== page.segment) void this.revealSegment();
  }

  protected override updated(): void {
    this.redraw();
  }

  /** `isNext`: the recording has grown; the rows stay until they are there anew. */
  private start(isNext: boolean): void {
    const made: MapTrack = new MapTrack(
      this.page.view,
      () => made === this.map && this.redraw(),
      () => made === this.map && this.counted(),
      isNext ? this.map : undefined,
    );
    this.map = made;
    this.spot = undefined;
    this.revealed = -1;
    this.recall();
  }
  private recall(): void {
    const { order, colouring, top } = this.kept.value;
    Object.assign(this, { order, colouring });
    this.window.top = top;
  }
  private counted(): void {
    this.measure();
    this.placeBar();
    void this.reveal();
    void this.revealSegment();
  }

  private async findMoment(): Promise<void> {
    const { view, axis, event } = this.page;
    const found =
      axis === 'event'
        ? [event + 0.5]
        : await view.ask('position', { axis, events: [Math.max(event, 0)] }).catch(() => []);
    if (event !== this.page.event || axis !== this.page.axis || view !== this.page.view) return;
    this.moment = event < 0 ? 0 : found[0];
    this.redraw();
  }

  /** The row of the pinned block. */
  private async reveal(): Promise<void> {
    const { view, pinned } = this.page;
    const rank = pinned?.rank ?? -1;
    if (rank < 0) this.revealed = -1;
    if (rank < 0 || rank === this.revealed) return this.redraw();
    const { order } = this;
    try {
      const block = await view.ask('blockOfRank', { rank });
      const row = block < 0 ? -1 : await view.ask('regionOfBlock', { order, block });
      if (view !== this.page.view || rank !== this.page.pinned?.rank || order !== this.order) return;
      if (row < 0 || this.map?.count === undefined) return;
      this.revealed = rank;
      this.window.show(row);
      this.placeBar();
    } catch {
      return; // the page says why
    }
  }

  /** The row in which the segment lies that the details tell of. */
  private async revealSegment(): Promise<void> {
    const { view, segment, event } = this.page;
    const { order } = this;
    const count = this.map?.count;
    if (segment < 0 || count === undefined) return;
    try {
      const known = await view.ask('stateSegment', { event, segment });
      const row = known ? await rowOfAddress(view, order, count, BigInt(known.address)) : -1;
      if (row < 0 || view !== this.page.view || segment !== this.page.segment || order !== this.order) return;
      this.window.show(row);
      this.placeBar();
    } catch {
      return; // the page says why
    }
  }

  private sort(order: RegionOrder): void {
    this.order = order;
    this.kept.keep({ order, top: 0 });
    this.spot = undefined;
    this.revealed = -1;
    this.window.top = 0;
    this.placeBar();
    void this.reveal();
  }

  private colour(colouring: Colouring): void {
    this.colouring = colouring;
    this.kept.keep({ colouring });
    this.spot = undefined;
  }

  // -- Scrolling.

  private resize(): void {
    const { clientHeight, offsetWidth } = this.scroller;
    // As wide as the timeline: the scroll bar lies over the room right of the plot.
    this.canvas.style.width = `${offsetWidth}px`;
    this.canvas.width = Math.round(offsetWidth * devicePixelRatio);
    this.canvas.height = Math.round(clientHeight * devicePixelRatio);
    this.measure();
    this.draw();
  }
  private measure(): void {
    const { window, map } = this;
    const count = map?.count ?? 0;
    const height = this.scroller?.clientHeight ?? 0;
    const rowHeight = rowHeightFor(count, height);
    if (rowHeight !== window.rowHeight) {
      this.window = new RowWindow(rowHeight);
      this.window.top = window.top;
    }
    this.window.resize(count, height);
    this.requestUpdate();
  }
  private readonly scrolled = (): void => {
    this.window.scrolled(this.scroller.scrollTop);
    this.kept.keep({ top: this.window.top });
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.placeBar(), restMs);
    this.redraw();
  };
  private placeBar(): void {
    this.requestUpdate();
    void this.updateComplete.then(() => {
      const bar = this.window.resync();
      if (this.scroller && this.scroller.scrollTop !== bar) this.scroller.scrollTop = bar;
    });
  }

  private regionAt(row: number): Region | undefined {
    return this.map?.regionAt(this.order, row);
  }

  private get bounds(): ReturnType<typeof boundsOf> {
    const { info, axis } = this.page;
    const extent = (axis === 'event' ? info.extent.event : info.extent.time_us) ?? 1;
    return boundsOf(extent, info);
  }

  private projection(): Projection {
    const { extent, fitTop } = this.bounds;
    const view = this.page.viewport ?? { x0: 0, x1: extent, y0: 0, y1: fitTop };
    return new Projection(view, plotArea(this.canvas.width, this.canvas.height, devicePixelRatio));
  }

  // -- What is under the pointer.

  private spotAt(event: MouseEvent): Spot | undefined {
    const rect = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - rect.left, event.clientY - rect.top];
    return this.spotOf(x * devicePixelRatio, y * devicePixelRatio, false);
  }

  private spotOf(x: DevicePx, y: DevicePx, byKeyboard: boolean): Spot | undefined {
    const { window } = this;
    const shown = this.map?.shown;
    const at = this.projection();
    const ratio = devicePixelRatio;
    const row = Math.floor((window.top + y / ratio) / window.rowHeight);
    if (!shown || row < shown.first || row >= shown.first + shown.count) return undefined;
    const line = Math.floor(y - Math.round(this.topOf(row) + wordsHeight * ratio));
    const column = Math.floor(at.units(Math.floor(x) + 0.5) / shown.columns.width) - shown.columns.first;
    const { left, width } = at.area;
    const inside = x >= left && x < left + width && line >= 0 && line < shown.height;
    if (!inside || column < 0 || column >= shown.columns.count) return undefined;
    const rank = shown.ranks[((row - shown.first) * shown.height + line) * shown.columns.count + column];
    const share = (shown.height - 1 - line) / Math.max(1, shown.height - 1);
    return {
      row,
      rank: rank ?? mapPixels.nothing,
      free: shown.freeShares?.[(row - shown.first) * shown.columns.count + column],
      x,
      y,
      offset: Math.floor((this.regionAt(row)?.size ?? 0) * Math.min(Math.max(share, 0), 1)),
      byKeyboard,
    };
  }

  private point(spot: Spot | undefined): void {
    const before = this.spot;
    this.spot = spot;
    if (!spot || spot.rank < 0) {
      if (before && before.rank >= 0) tell(this, 'point-thing', undefined);
    } else if (before?.rank !== spot.rank) void this.tellOf(spot);
  }
  private leave(): void {
    if (this.spot) this.point(undefined);
  }

  /** The details tell of the block, as it was at that moment. */
  private async tellOf(spot: Spot): Promise<void> {
    const { view } = this.page;
    try {
      const block = await view.ask('blockOfRank', { rank: spot.rank });
      const known = block < 0 ? undefined : await view.ask('stateBlock', { event: this.page.event, block });
      if (!known || this.spot?.rank !== spot.rank) return;
      const at = known.state ? this.page.event : known.begin;
      const there = known.state ? known : await view.ask('stateBlock', { event: at, block });
      if (this.spot?.rank === spot.rank) tell(this, 'point-thing', { kind: 'state-block', block: there, at });
    } catch {
      return; // the page says why
    }
  }

  private choose(spot: Spot | undefined): void {
    if (!spot) return;
    const rank = spot.rank >= 0 ? spot.rank : undefined;
    this.revealed = rank ?? -1; // it is in view
    tell(this, 'choose-block', rank === this.page.pinned?.rank ? undefined : rank);
  }

  // -- Keys: up and down from region to region, left and right from block to block.

  private readonly key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = (this.map?.count ?? 0) - 1;
    const row = this.spot?.row ?? this.window.first;
    const acts: Record<string, () => void> = {
      ArrowDown: () => this.toRow(this.spot ? row + 1 : row),
      ArrowUp: () => this.toRow(row - 1),
      PageDown: () => this.toRow(row + this.window.page),
      PageUp: () => this.toRow(row - this.window.page),
      Home: () => this.toRow(0),
      End: () => this.toRow(last),
      ArrowRight: () => this.toBlock(1),
      ArrowLeft: () => this.toBlock(-1),
      Enter: () => this.choose(this.spot),
      ' ': () => this.choose(this.spot),
    };
    const act = acts[event.key];
    if (!act || last < 0) return;
    event.preventDefault();
    act();
  };

  private toRow(wanted: number): void {
    const row = Math.min(Math.max(wanted, 0), (this.map?.count ?? 1) - 1);
    this.window.show(row);
    this.placeBar();
    const y = this.topOf(row) + wordsHeight * devicePixelRatio;
    this.point({
      row,
      rank: mapPixels.nothing,
      free: undefined,
      x: this.projection().area.left,
      y,
      offset: 0,
      byKeyboard: true,
    });
  }

  /** In the order in which they appear. */
  private toBlock(by: 1 | -1): void {
    const shown = this.map?.shown;
    const row = this.spot?.row ?? this.window.first;
    if (!shown || row < shown.first || row >= shown.first + shown.count) return;
    const { columns, height, ranks } = shown;
    const found: Rank[] = [];
    const seen = new Set<Rank>();
    for (let column = 0; column < columns.count; column += 1)
      for (let line = height - 1; line >= 0; line -= 1) {
        const rank = ranks[((row - shown.first) * height + line) * columns.count + column] ?? -1;
        if (rank < 0 || seen.has(rank)) continue;
        seen.add(rank);
        found.push(rank);
      }
    const current = found.indexOf(this.spot?.rank ?? -1);
    const rank = found[current < 0 ? (by > 0 ? 0 : found.length - 1) : current + by];
    const box = rank === undefined ? undefined : boxOf(shown, rank);
    if (rank === undefined || !box) return;
    const at = this.projection();
    const x = at.x((columns.first + (box.left + box.right) / 2) * columns.width);
    const y = this.topOf(row) + wordsHeight * devicePixelRatio + (((box.top + box.bottom) / 2) % height);
    const spot = this.spotOf(x, y, true);
    this.point({ ...(spot ?? { x, y, free: undefined, offset: 0 }), row, rank, byKeyboard: true });
  }

  // -- Drawing.

  private topOf(row: number): DevicePx {
    return Math.round((row * this.window.rowHeight - this.window.top) * devicePixelRatio);
  }

  private draw(): void {
    const ctx = this.canvas?.getContext('2d');
    if (!ctx || this.canvas.width < 2 || this.canvas.height < 2) return;
    const { window, map, spot, page, order, colouring } = this;
    const shown = map?.shown;
    const at = this.projection();
    const settled =
      map?.want({
        order,
        first: window.first,
        end: window.end,
        height: Math.round(stripHeight(window.rowHeight) * at.area.ratio),
        columns: visibleColumns(at, page.axis, this.bounds),
        theme: page.theme,
        highlight: page.highlight,
        colouring,
      }) ?? false;
    const colors = colorsOf(page.theme);
    ctx.fillStyle = colors.background;
    ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const rows = shown?.columns.axis === page.axis ? shown : undefined;
    for (let row = window.first; row < window.end; row += 1) {
      const top = this.topOf(row);
      drawStrip(ctx, at, rows, row, top, window.rowHeight, colors);
      drawWords(ctx, at, this.regionAt(row), top, window.rowHeight, colors, row === spot?.row);
    }
    this.drawMoment(ctx, at);
    if (rows) {
      for (const rank of new Set([spot?.rank ?? -1, page.pinned?.rank ?? -1])) {
        const box = rank >= 0 ? boxOf(rows, rank) : undefined;
        if (box) drawBox(ctx, at, rows, box, (row) => this.topOf(row), colors);
      }
    }
    this.scroller.toggleAttribute('data-settled', settled);
  }

  private drawMoment(ctx: CanvasRenderingContext2D, at: Projection): void {
    const { moment } = this;
    if (moment === undefined || moment < at.view.x0 || moment > at.view.x1) return;
    const { ratio } = at.area;
    ctx.fillStyle = colorsOf(this.page.theme).boxLine;
    ctx.fillRect(Math.round(at.x(moment) - ratio / 2), 0, Math.max(1, Math.round(ratio)), this.canvas.height);
  }

  // -- The frame around the canvas.

  protected override render(): TemplateResult {
    const { window, spot, map, colouring } = this;
    const { count, problem } = map ?? {};
    window.resize(count ?? 0, this.scroller?.clientHeight ?? 0);
    const said = spot?.byKeyboard ? this.textOf(spot) : '';
    return html`
      <div class="head">
        <label>
          Order by
          <select
            class="field"
            aria-label="Order of the address ranges"
            .value=${live(this.order)}
            @change=${(event: Event) => this.sort((event.target as HTMLSelectElement).value as RegionOrder)}>
            ${regionOrderWords.map((order) => html`<option value=${order} ?selected=${order === this.order}>${orderNames[order]}</option>`)}
          </select>
        </label>
        <label>
          Colour by ${chooseColouring('Colour of the address ranges', colouring, (one) => this.colour(one))}
        </label>
        <span class="dim" data-regions=${count ?? nothing}>
          ${count !== undefined ? plural(count, 'address range') : problem === undefined ? 'Looking through the addresses…' : nothing}
        </span>
        <span class="legend dim" data-colouring=${colouring}
          >${colouring === 'free' ? legendOfFree(this.page.theme) : html`<i></i>free in its segment`}<span
            class="more">
            · lowest address at the bottom</span
          ></span
        >
      </div>
      ${problem === undefined ? nothing : html`<p role="alert">The addresses cannot be shown: ${problem}</p>`}
      ${count === 0 ? html`<p class="dim">No device memory is known: neither segments nor their events are in the file.</p>` : nothing}
      <div
        class="scroller"
        data-row=${window.rowHeight}
        tabindex="0"
        role="application"
        aria-roledescription="address map"
        aria-label="Address map over time: ${plural(count ?? 0, 'address range')}. Up and down move from range to range, left and right from block to block, Enter pins."
        @scroll=${this.scrolled}
        @keydown=${this.key}
        @pointermove=${(event: PointerEvent) => this.point(this.spotAt(event))}
        @pointerleave=${() => this.leave()}
        @click=${(event: MouseEvent) => this.choose(this.spotAt(event))}>
        <div class="window"><canvas></canvas>${this.tip()}</div>
        <div
          class="bar"
          .style=${`height: ${Math.max(0, window.barHeight - (this.scroller?.clientHeight ?? 0))}px`}></div>
      </div>
      <p class="visually-hidden" role="status" data-said>${said}</p>
    `;
  }

  private textOf({ row, rank, free, offset }: Spot): string {
    const region = this.regionAt(row);
    if (!region) return '';
    if (rank === mapPixels.nothing) return `${formatBytes(region.size)}, ${wordsOf(region)}`;
    const what = rank === mapPixels.free ? 'free' : rank < 0 ? 'a block that has no band' : 'block';
    const share = free === undefined ? '' : `, ${(100 * free).toFixed(0)} % of which is free`;
    return `${what} at ${formatBytes(offset)} in ${region.name}${share}`;
  }

  /** Beside the pointer, on the side where there is room. */
  private tip(): TemplateResult | typeof nothing {
    const { spot } = this;
    if (!spot || spot.byKeyboard) return nothing;
    const [x, y] = [spot.x / devicePixelRatio, spot.y / devicePixelRatio];
    const [width, height] = [this.canvas.width / devicePixelRatio, this.canvas.height / devicePixelRatio];
    const across = x < width / 2 ? `left: ${x + 14}px` : `right: ${width - x + 14}px`;
    const along = y < height / 2 ? `top: ${y + 14}px` : `bottom: ${height - y + 14}px`;
    return html`<div
      class="tip"
      aria-hidden="true"
      data-rank=${spot.rank}
      data-free=${spot.free ?? nothing}
      .style=${`${across}; ${along}`}>
      ${this.textOf(spot)}
    </div>`;
  }

  static override styles = [base, column, addressMapStyles, rampStyles];
}

export const panel: LoadedPanel<MapMemory> = {
  reads: ['axis', 'colourBy', 'event', 'highlight', 'pinned', 'segment', 'theme', 'viewport'],
  initial: { order: 'address', colouring: 'blocks', top: 0 },
  linked: { order: oneOf(regionOrderWords), colouring: oneOf(['blocks', 'free']) },
  show: (page, kept) => html`<gpustrata-address-map .page=${page} .kept=${kept}></gpustrata-address-map>`,
};
