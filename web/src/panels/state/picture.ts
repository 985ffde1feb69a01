// The allocator's state after an event, as a picture: segments in rows, the blocks in them, what is between.
// The engine says which rectangles there are (engine/replay/state_layout.h); gestures move them until it has answered.
import { reasonOf } from '../../base/reason.ts';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount, plural } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import { onceAFrame } from '../../base/once_a_frame.ts';
import { lookOf } from '../../draw/palettes.ts';
import { drawFrame, drawState, legendOf, shiftBetween } from '../../draw/state_rects.ts';
import {
  stateKinds,
  type BlockRow,
  type ColourBy,
  type Kinds,
  type SegmentRow,
  type StatePick,
  type StatePlace,
  type StateRects,
  type StateTotals,
  type StateWindow,
} from '../../../engine/index.ts';
import { pannedBy, resizedTo, revealing, wholeState, zoomedAt, type StateMemory } from './state_window.ts';
import { pictureStyles } from './picture_styles.ts';
import { thingAt } from '../../model/detail_subject.ts';
import { Gestures, type Point } from '../../controls/gestures.ts';
import { tell, type Kept, type PanelPage } from '../panel.ts';
import './numbers.ts';
import { Hearing } from '../../controls/hearing.ts';
import { base, column } from '../../controls/styles.ts';
import { chooseColouring, legendOfFree, rampStyles, type Colouring } from '../free_shares.ts';
import { symbols } from '../../controls/symbols.ts';
import { Resized } from '../../controls/resized.ts';

const margin = 6; // CSS pixels around the picture

interface Question {
  event: number;
  window: StateWindow;
  /** To be outlined; -1 = none. */
  block: BlockRow;
  /** Differs whenever the look does. */
  look: string;
}
interface Shown extends Question {
  rects: StateRects;
  totals: StateTotals;
  /** Of the block, if it exists then. */
  place: StatePlace | null;
}
/** What can be told before the events are undone. */
interface Sketched extends Question {
  rects: StateRects;
}
interface Pointed {
  at: Point;
  pick: StatePick;
}

/** Tells `choose-block`, `choose-thing` and `point-thing` (panels/panel.ts). */
@element('gpustrata-state-picture')
export class StatePictureView extends LitElement {
  @property({ attribute: false }) page!: PanelPage;
  @property({ attribute: false }) kept!: Kept<StateMemory>;

  @state() private totals: StateTotals | undefined;
  @state() private pointed: Pointed | undefined;
  @state() private problem: string | undefined;
  /** Of the states that are found; long recordings take a while. */
  @state() private share = 1;
  private readonly preparation = new Hearing(this, () =>
    this.page ? [this.page.view.watchPreparation((share) => (this.share = share))] : [],
  );
  @query('.picture') private picture!: HTMLDivElement;
  @query('canvas') private canvas!: HTMLCanvasElement;
  @query('.tip') private tipBox!: HTMLDivElement | null;

  private window = wholeState(1, 1);
  private shown: Shown | undefined;
  /** Until the state is found. */
  @state() private sketched: Sketched | undefined;
  private sketches: LatestOnly<Question, Sketched> | undefined;
  /** By which blocks are coloured; undefined = not known yet: each block has a colour of its own. */
  @state() private kinds: Kinds | undefined;
  private block: BlockRow = -1;
  /** The chosen block is to be brought into view once its place is known. */
  private reveal = false;
  @state() private shading: Colouring = 'blocks';
  /** Where the pointer is. */
  private hovered: Point | undefined;
  private layouts: LatestOnly<Question, Shown> | undefined;
  private colouring: LatestOnly<ColourBy, Kinds> | undefined;
  private picks: LatestOnly<Point, StatePick | null> | undefined;
  private readonly redraw = onceAFrame(() => this.draw());
  /** Number of the rectangle that the keyboard is on. */
  private cursor = -1;
  protected readonly resized = new Resized(
    this,
    () => this.picture,
    () => this.resize(),
  );

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.leave();
  }

  protected override firstUpdated(): void {
    const inside = ({ x, y }: Point): Point => ({
      x: x - margin * devicePixelRatio,
      y: y - margin * devicePixelRatio,
    });
    new Gestures(this.canvas, {
      zoomAt: (at, x, y) => {
        const { x: left, y: top } = inside(at);
        this.move(zoomedAt(this.window, left, top, 1 / (x === 1 ? y : x)));
      },
      panBy: (dx, dy) => this.move(pannedBy(this.window, dx, -dy)),
      hover: (at) => {
        this.hovered = at && inside(at);
        if (this.hovered) this.picks?.request(this.hovered);
        else this.leave();
      },
      click: (at) => void this.clicked(inside(at)),
      doubleClick: (at) => {
        const { x, y } = inside(at);
        this.move(zoomedAt(this.window, x, y, 4));
      },
    });
  }

  // -- Another device, event or block.

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('page')) return;
    const before = changed.get('page');
    const { page } = this;
    if (before?.view !== page.view) this.start(before?.view.run === page.view.run);
    if (page.colourBy !== (this.kinds?.by ?? 'allocation')) this.colouring?.request(page.colourBy);
    if (before?.view !== page.view || before.pinned?.rank !== page.pinned?.rank) void this.follow();
    if (before?.view !== page.view || before.event !== page.event) {
      this.leave();
      this.ask();
    } else if (before.theme !== page.theme || before.highlight !== page.highlight) this.ask();
    else this.redraw(); // what is outlined
  }

  /** `isNext`: the recording has grown; the last picture stays until the next one is there. */
  private start(isNext: boolean): void {
    const { view } = this.page;
    const isCurrent = (): boolean => view === this.page.view;
    const { width, height } = this.window;
    const { window, colouring: shading } = this.kept.value;
    this.window = width < 2 ? window : resizedTo(window, width, height);
    this.shading = shading;
    if (!isNext) {
      this.shown = undefined;
      this.totals = undefined;
      this.kinds = undefined;
    }
    this.problem = undefined;
    this.preparation.again();
    this.colouring?.forget();
    this.colouring = new LatestOnly(
      (by) => view.ask('kinds', { by }),
      (kinds) => {
        if (!isCurrent()) return;
        this.kinds = kinds;
        this.ask();
      },
      () => undefined, // the colours before stay
    );
    if (isNext && this.kinds) this.colouring.request(this.kinds.by);
    this.layouts?.forget();
    this.layouts = new LatestOnly(
      async (question) => {
        const { event, window, block } = question;
        const look = lookOf(this.kinds, this.page.theme, this.page.highlight);
        const [{ rects, totals }, place] = await Promise.all([
          view.ask('layout', { event, window, look }),
          block < 0 ? null : view.ask('statePlace', { event, block, window }),
        ]);
        return { ...question, rects, totals, place };
      },
      (answer) => isCurrent() && this.laidOut(answer),
      (error) => {
        if (isCurrent() && view.alive) this.problem = reasonOf(error);
      },
    );
    this.sketched = undefined;
    this.sketches?.forget();
    this.sketches = new LatestOnly(
      async (question) => {
        const look = lookOf(this.kinds, this.page.theme, this.page.highlight);
        const { event, window } = question;
        const { rects } = await view.ask('stateSketch', { event, window, look });
        return { ...question, rects };
      },
      (answer) => {
        if (!isCurrent() || this.shown) return;
        this.sketched = answer;
        this.draw();
      },
      () => undefined, // one waits for the state then
    );
    this.picks?.forget();
    this.picks = new LatestOnly(
      (at) => view.ask('statePick', { event: this.page.event, window: this.window, ...at }),
      (pick, at) => isCurrent() && this.point(pick, at),
      () => undefined, // nothing is shown then
    );
  }

  /** The pinned block, as the state knows it. */
  private async follow(): Promise<void> {
    const { pinned, view } = this.page;
    const block = pinned ? await view.ask('blockOfRank', { rank: pinned.rank }).catch(() => -1) : -1;
    if (view !== this.page.view || pinned?.rank !== this.page.pinned?.rank || block === this.block) return;
    this.block = block;
    this.reveal = block >= 0;
    this.ask();
  }

  private ask(): void {
    const { window, block, lookKey } = this;
    if (window.width < 2 || window.height < 2) return;
    this.picture?.removeAttribute('data-settled');
    const question = { event: this.page.event, window, block, look: lookKey };
    this.layouts?.request(question);
    if (!this.shown && this.share < 1) this.sketches?.request(question);
  }
  private get lookKey(): string {
    const { theme, highlight } = this.page;
    return [theme.key, this.kinds?.by ?? 'allocation', highlight].join('|');
  }

  private laidOut(shown: Shown): void {
    this.shown = shown;
    this.sketched = undefined;
    this.totals = shown.totals;
    this.problem = undefined;
    this.cursor = -1;
    if (this.reveal && shown.place && shown.block === this.block) {
      this.reveal = false;
      const window = revealing(shown.window, shown.place);
      if (window !== shown.window) return this.move(window);
    }
    if (this.hovered) this.picks?.request(this.hovered); // something else may be under it now
    this.draw();
  }

  protected override updated(): void {
    const { pointed, tipBox } = this;
    if (!pointed || !tipBox) return;
    const y = pointed.at.y / devicePixelRatio + margin;
    const lowest = this.picture.clientHeight - tipBox.offsetHeight - 2;
    tipBox.style.top = `${Math.max(2, Math.min(y + 14, lowest))}px`;
  }

  private colour(colouring: Colouring): void {
    this.shading = colouring;
    this.kept.keep({ colouring });
    this.redraw();
  }

  // -- Moving.

  private move(window: StateWindow): void {
    this.window = window;
    this.kept.keep({ window });
    this.leave();
    this.redraw();
    this.ask();
  }

  private zoomBy(factor: number): void {
    this.move(zoomedAt(this.window, this.window.width / 2, this.window.height / 2, factor));
  }

  private resize(): void {
    const width = Math.round(this.picture.clientWidth * devicePixelRatio);
    const height = Math.round(this.picture.clientHeight * devicePixelRatio);
    if (width < 2 || height < 2) return;
    this.canvas.width = width;
    this.canvas.height = height;
    const both = 2 * margin * devicePixelRatio;
    this.window = resizedTo(this.window, Math.max(1, width - both), Math.max(1, height - both));
    this.draw();
    this.ask();
  }

  private readonly key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const acts: Record<string, () => void> = {
      '+': () => this.zoomBy(1.5),
      '-': () => this.zoomBy(1 / 1.5),
      Home: () => this.move(wholeState(this.window.width, this.window.height)),
      ArrowRight: () => this.walk(1),
      ArrowLeft: () => this.walk(-1),
      ArrowDown: () => this.walk(1, true),
      ArrowUp: () => this.walk(-1, true),
      Enter: () => this.pointed && void this.take(this.pointed.pick),
      ' ': () => this.pointed && void this.take(this.pointed.pick),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };

  /** To the next rectangle in the order of addresses, or to the next segment. */
  private walk(by: 1 | -1, segments = false): void {
    const rects = this.shown?.rects;
    if (!rects) return;
    const count = rects.x.length;
    let next = this.cursor < 0 && by < 0 ? count : this.cursor;
    for (next += by; next >= 0 && next < count; next += by)
      if ((stateKinds[rects.kind[next] ?? 0] === 'segment') === segments) break;
    if (next < 0 || next >= count) return;
    this.cursor = next;
    const at = {
      x: (rects.x[next] ?? 0) + (rects.width[next] ?? 0) / 2,
      y: (rects.y[next] ?? 0) + (rects.height[next] ?? 0) / 2,
    };
    if (segments) void this.pointSegment(rects.row[next] ?? -1, at);
    else this.picks?.request(at);
  }

  /** As a whole: every point of it may lie in a block. */
  private async pointSegment(segment: SegmentRow, at: Point): Promise<void> {
    const { view, event } = this.page;
    const { cursor } = this;
    const thing = await thingAt(view, event, { block: -1, segment });
    if (thing?.kind !== 'segment' || cursor !== this.cursor || event !== this.page.event) return;
    const { name, size, free, rounding } = thing.segment;
    const text = `Segment ${name}, ${formatBytes(size)}\nfree ${formatBytes(free)}, lost to rounding ${formatBytes(rounding)}`;
    this.point({ segment, block: -1, part: 'segment', text }, at);
  }

  // -- What is under the pointer.

  private point(pick: StatePick | null, at: Point): void {
    if (!pick) return this.leave();
    const before = this.pointed?.pick;
    const same = before?.block === pick.block && before.segment === pick.segment && before.part === pick.part;
    this.pointed = { at, pick: same ? before : pick }; // what is asked about it meanwhile belongs to the one before
    this.redraw();
    if (same) return;
    const { view, event } = this.page;
    void thingAt(view, event, pick).then((thing) => {
      if (thing && this.pointed?.pick === pick) tell(this, 'point-thing', thing);
    });
  }

  private leave(): void {
    this.picks?.forget();
    if (!this.pointed) return;
    this.pointed = undefined;
    tell(this, 'point-thing', undefined);
    this.redraw();
  }

  private async clicked(at: Point): Promise<void> {
    const { view, event } = this.page;
    const pick = await view.ask('statePick', { event, window: this.window, ...at }).catch(() => null);
    if (event === this.page.event) await this.take(pick);
  }

  /** A block is pinned everywhere; of a segment, or a block that no band stands for, the details tell. */
  private async take(pick: StatePick | null): Promise<void> {
    const { view, event, pinned } = this.page;
    if (!pick) return tell(this, 'choose-thing', undefined);
    if (pick.block >= 0) {
      const rank = await view.ask('rankOfBlock', { block: pick.block }).catch(() => -1);
      if (rank >= 0) return tell(this, 'choose-block', rank === pinned?.rank ? undefined : rank);
    }
    tell(this, 'choose-thing', await thingAt(view, event, pick));
  }

  // -- Drawing.

  private draw(): void {
    const ctx = this.canvas?.getContext('2d');
    if (!ctx) return;
    const { shown, window, page } = this;
    const ratio = devicePixelRatio;
    const drawn = shown ?? this.sketched;
    const seen = drawn ? shiftBetween(drawn.window, window) : { scale: 1, x: 0, y: 0 };
    const shift = { scale: seen.scale, x: seen.x + margin * ratio, y: seen.y + margin * ratio };
    drawState(ctx, drawn?.rects, shift, page.theme, ratio, this.shading);
    if (!shown) return;
    const frame = (x: number, y: number, width: number, height: number): void => {
      const { scale } = shift;
      const place = [x * scale + shift.x, y * scale + shift.y, width * scale, height * scale] as const;
      drawFrame(ctx, place, page.theme, ratio);
    };
    const { rects, place } = shown;
    const frameOf = (row: number, isSegment: boolean): void => {
      const i = rects.row.findIndex((one, at) => one === row && (rects.kind[at] === 0) === isSegment);
      if (i >= 0) frame(rects.x[i] ?? 0, rects.y[i] ?? 0, rects.width[i] ?? 0, rects.height[i] ?? 0);
    };
    const { pick } = this.pointed ?? {};
    if (pick) frameOf(pick.block >= 0 ? pick.block : pick.segment, pick.block < 0);
    if (page.segment >= 0) frameOf(page.segment, true);
    if (place && shown.block === this.block) {
      const { left, top } = shown.window;
      frame(place.block_x - left, place.y - top, place.block_width, place.height);
    }
    const settled =
      shown.window === window &&
      shown.event === page.event &&
      shown.block === this.block &&
      shown.look === this.lookKey &&
      page.colourBy === (this.kinds?.by ?? 'allocation');
    this.picture.toggleAttribute('data-settled', settled);
    if (!settled) return;
    this.picture.dataset['event'] = String(shown.event);
    this.picture.dataset['window'] = [window.zoom, window.left, window.top].join(' ');
  }

  // -- The frame around the canvas.

  protected override render(): TemplateResult {
    const { totals, page, problem } = this;
    const what = totals
      ? `${plural(totals.segments, 'segment')}, ${plural(totals.live_blocks, 'block')}`
      : 'not known yet';
    return html`
      <gpustrata-state-numbers .totals=${totals} .info=${page.info}></gpustrata-state-numbers>
      <div
        class="picture"
        tabindex="0"
        role="application"
        aria-roledescription="memory map"
        aria-label="Segments and blocks after event ${formatCount(page.event)}: ${what}. Arrow keys walk through them, Enter pins, plus and minus zoom."
        @keydown=${this.key}>
        <canvas></canvas>
        ${problem === undefined ? nothing : html`<p class="problem" role="alert">The state cannot be shown: ${problem}</p>`}
        ${
          totals || problem !== undefined || this.share === 1
            ? nothing
            : html`<p
                class=${this.sketched ? 'problem aside' : 'problem'}
                ?data-sketched=${this.sketched !== undefined}>
                ${this.sketched ? 'A sketch; undoing' : 'Undoing'} the events to find the
                state:&nbsp;${Math.floor(this.share * 100)}&nbsp;%
              </p>`
        }
        ${totals?.segments === 0 ? html`<p class="problem">No memory is reserved at this moment.</p>` : nothing}
        ${this.tip()}
        <div class="tools">
          <button
            class="button small icon"
            title="Show everything (Home)"
            aria-label="Show the whole state"
            @click=${() => this.move(wholeState(this.window.width, this.window.height))}>
            ${symbols.fit}
          </button>
          <button
            class="button small icon"
            title="Zoom in (+)"
            aria-label="Zoom into the state"
            @click=${() => this.zoomBy(2)}>
            ${symbols.plus}
          </button>
          <button
            class="button small icon"
            title="Zoom out (-)"
            aria-label="Zoom out of the state"
            @click=${() => this.zoomBy(0.5)}>
            ${symbols.minus}
          </button>
        </div>
      </div>
      <p class="visually-hidden" role="status">${this.cursor >= 0 ? (this.pointed?.pick.text ?? '') : ''}</p>
      <div class="legend" role="group" aria-label="Colours of the state" data-colouring=${this.shading}>
        ${chooseColouring('Colour of the state', this.shading, (one) => this.colour(one))}
        ${this.shading === 'free' ? html`<span title="Each segment by how much of it is free">${legendOfFree(page.theme)}</span>` : nothing}
        ${legendOf(page.theme, this.kinds, this.shading).map(
          ({ name, color, line }) =>
            html`<span title=${name}>
              <i .style=${`background: ${color}; border-color: ${line}`}></i><span>${name}</span></span
            >`,
        )}
      </div>
    `;
  }

  /** Beside the pointer, on the side where there is room. */
  private tip(): TemplateResult | typeof nothing {
    const { pointed, window } = this;
    if (!pointed) return nothing;
    const css = (device: number): number => device / devicePixelRatio + margin;
    const x = css(pointed.at.x);
    const width = css(window.width) + margin;
    // Beside the pointer, so it never covers what is pointed at; `updated` keeps it inside.
    const across = x < width / 2 ? `left: ${x + 14}px` : `right: ${width - x + 14}px`;
    return html`<div
      class="tip"
      aria-hidden="true"
      data-part=${pointed.pick.part}
      .style=${across}
      .textContent=${pointed.pick.text}></div>`;
  }

  static override styles = [base, column, rampStyles, pictureStyles];
}
