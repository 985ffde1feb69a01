// Keeps a picture of the bands for what is visible: asks the engine for the exact one, and until it comes shows
// the last one moved to the new place, with a coarse picture of everything behind it.
import { reasonOf } from '../../base/reason.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import type { AxisUnits, Bytes } from '../../base/units.ts';
import type {
  Args,
  Axis,
  ColourBy,
  Columns,
  Curves,
  EngineView,
  Look,
  PictureAnswer,
  Rows,
} from '../../../engine/index.ts';
import {
  covers,
  visibleColumns,
  widened,
  type Context,
  type PlotArea,
  type Projection,
} from '../../draw/plot.ts';
import { columnWidth, type Bounds, type Viewport } from '../../model/viewport.ts';

export interface Picture {
  columns: Columns;
  rows: Rows;
  curves: Curves;
  style: string;
  canvas: HTMLCanvasElement;
  /** What the canvas holds: RGBA, rows from the top. */
  pixels: Uint8ClampedArray;
}

/** Undefined outside the picture and where it shows nothing. */
export function colorIn(
  { columns, rows, pixels }: Picture,
  units: AxisUnits,
  bytes: Bytes,
): [number, number, number] | undefined {
  const column = Math.floor(units / columns.width) - columns.first;
  const row = Math.floor((bytes - rows.bottom) / rows.bytesPerRow);
  if (column < 0 || column >= columns.count || row < 0 || row >= rows.count) return undefined;
  const i = ((rows.count - 1 - row) * columns.count + column) * 4;
  const [r = 0, g = 0, b = 0, alpha = 0] = pixels.subarray(i, i + 4);
  return alpha === 0 ? undefined : [r, g, b];
}

/** What decides the colours; `key` differs whenever they do. */
export interface PictureStyle {
  key: string;
  look: Look;
  /** Stacked by group. */
  by?: ColourBy;
}

type Question = Args<'picture'> & { style: string };

/** Columns drawn beyond either side of what is visible, and how few of them may be left before more are asked for. */
const overscan = 192;
const leastMargin = 96;

/** A zoom rests so long before anything is asked for that its next step would have to wait for. */
const restMs = 150;

const retryAfterMs = 300;
const mostFailures = 2; // of the same picture

export class PictureTrack {
  shown: Picture | undefined;
  /** Why the wanted picture cannot be had; the last one stays, moved. */
  problem: string | undefined;
  /** The view was zoomed and has not rested since. */
  zooming = false;
  private failures = 0;
  private asked = '';
  private scale = { x: 0, y: 0 };
  private rest: ReturnType<typeof setTimeout> | undefined;
  /** Everything, coarsely. */
  backdrop: Picture | undefined;
  private readonly exact: LatestOnly<Question, PictureAnswer>;
  private readonly coarse: LatestOnly<Question, PictureAnswer>;

  constructor(
    private readonly device: EngineView,
    private readonly changed: () => void,
  ) {
    const ask = ({ style: _, ...question }: Question): Promise<PictureAnswer> =>
      device.ask('picture', question);
    this.exact = new LatestOnly(
      ask,
      (answer, question) => {
        const old = this.shown?.canvas;
        this.shown = paint(answer, question, old);
        this.failures = 0;
        this.problem = undefined;
        this.changed();
      },
      (error) => this.failed(error),
    );
    this.coarse = new LatestOnly(
      ask,
      (answer, question) => {
        this.backdrop = paint(answer, question, this.backdrop?.canvas);
        this.changed();
      },
      () => undefined, // without it there is less to see while moving
    );
  }

  /** Once more after a moment; then in words. The next movement asks again anyway. */
  private failed(error: unknown): void {
    if (!this.device.alive) {
      this.asked = ''; // asked again when the device is shown again
      return;
    }
    this.failures += 1;
    if (this.failures === 1) setTimeout(this.changed, retryAfterMs);
    else {
      this.problem = reasonOf(error);
      this.changed();
    }
  }

  /** Asks for what is missing. True if the picture shown is exactly the one wanted. */
  want(at: Projection, axis: Axis, bounds: Bounds, style: PictureStyle): boolean {
    const visible = visibleColumns(at, axis, bounds);
    const rows = visibleRows(at);
    this.noteScale(at);
    if (!this.shown || !shows(this.shown, visible, rows, style.key)) {
      this.ask(visible, rows, style);
      return false;
    }
    this.problem = undefined;
    // What is visible comes first. The engine draws only columns that it has not: a pan is met before it reaches
    // the edge.
    const wide = widened(visible, bounds.extent, marginOf(visible, leastMargin));
    if (this.zooming) this.rest ??= setTimeout(this.rested, restMs);
    else if (!shows(this.shown, wide, rows, style.key))
      this.ask(widened(visible, bounds.extent, marginOf(visible, overscan)), rows, style);
    this.wantBackdrop(at.area, axis, bounds, style);
    return true;
  }

  private noteScale({ unitsPerPixel: x, bytesPerPixel: y }: Projection): void {
    if (isNear(x, this.scale.x, x) && isNear(y, this.scale.y, y)) return;
    this.scale = { x, y };
    this.zooming = true;
    clearTimeout(this.rest);
    this.rest = undefined;
  }

  private readonly rested = (): void => {
    this.zooming = false;
    this.rest = undefined;
    this.changed();
  };

  private ask(columns: Columns, rows: Rows, style: PictureStyle): void {
    const question = questionOf(columns, rows, style);
    const key = JSON.stringify([question.columns, rows, style.key]);
    if (key === this.asked && this.exact.busy) return;
    if (key !== this.asked) this.failures = 0;
    this.asked = key;
    if (this.failures < mostFailures) this.exact.request(question);
  }

  draw(ctx: Context, at: Projection): void {
    ctx.imageSmoothingEnabled = false;
    const { shown, backdrop } = this;
    if (shown && coversView(shown, at.view)) return place(ctx, at, shown);
    if (backdrop && backdrop.columns.axis === shown?.columns.axis) {
      // Where the last picture lies, the coarse one must not shine through.
      place(ctx, at, backdrop, shown);
    }
    if (shown) place(ctx, at, shown);
  }

  private wantBackdrop(area: PlotArea, axis: Axis, bounds: Bounds, style: PictureStyle): void {
    if (this.coarse.busy) return;
    const width = columnWidth(bounds.extent / Math.max(1, area.width / 2));
    const count = Math.ceil(area.height / 2);
    const columns = { axis, first: 0, width, count: Math.ceil(bounds.extent / width) };
    const rows = { bottom: 0, bytesPerRow: bounds.top / count, count };
    const old = this.backdrop;
    if (
      old &&
      old.style === style.key &&
      old.columns.axis === axis &&
      old.columns.width === width &&
      old.columns.count === columns.count &&
      old.rows.bytesPerRow === rows.bytesPerRow
    )
      return;
    this.coarse.request(questionOf(columns, rows, style));
  }
}

function questionOf(columns: Columns, rows: Rows, { key, ...style }: PictureStyle): Question {
  return { columns, rows, ...style, style: key };
}

/** Event of the highest point between two places of the axis, among the columns drawn; undefined = none is drawn. */
export function highestEvent({ columns, curves }: Picture, view: Viewport): number | undefined {
  const from = Math.max(0, Math.floor(view.x0 / columns.width) - columns.first);
  const to = Math.min(columns.count, Math.ceil(view.x1 / columns.width) - columns.first);
  let best = -1;
  for (let i = from; i < to; i += 1) {
    const level = curves.highest[i] ?? Number.NaN;
    if (!Number.isNaN(level) && (best < 0 || level > (curves.highest[best] ?? 0))) best = i;
  }
  return best < 0 ? undefined : curves.event[best];
}

function visibleRows(at: Projection): Rows {
  const bytesPerRow = at.bytesPerPixel;
  const bottom = Math.floor(at.view.y0 / bytesPerRow + 1e-6) * bytesPerRow;
  return { bottom, bytesPerRow, count: at.area.height + 1 };
}

const marginOf = ({ count }: Columns, most: number): number =>
  Math.min(most, Math.ceil((count * most) / (4 * overscan)));

function shows(picture: Picture, columns: Columns, rows: Rows, style: string): boolean {
  const { columns: have, rows: drawn } = picture;
  return (
    picture.style === style &&
    covers(have, columns) &&
    isNear(drawn.bytesPerRow, rows.bytesPerRow, rows.bytesPerRow) &&
    isNear(drawn.bottom, rows.bottom, rows.bytesPerRow) &&
    drawn.count === rows.count
  );
}

/** Within a small part of a `unit`. */
function isNear(a: number, b: number, unit: number): boolean {
  return Math.abs(a - b) < unit * 1e-4;
}

function coversView({ columns, rows }: Picture, view: Viewport): boolean {
  return (
    columns.first * columns.width <= view.x0 &&
    (columns.first + columns.count) * columns.width >= view.x1 &&
    rows.bottom <= view.y0 + rows.bytesPerRow / 2 &&
    rows.bottom + rows.count * rows.bytesPerRow >= view.y1 - rows.bytesPerRow / 2
  );
}

function paint(answer: PictureAnswer, question: Question, reuse: HTMLCanvasElement | undefined): Picture {
  const { columns, rows } = question;
  const canvas = reuse ?? document.createElement('canvas');
  if (canvas.width !== columns.count || canvas.height !== rows.count) {
    canvas.width = columns.count;
    canvas.height = rows.count;
  }
  const ctx = canvas.getContext('2d');
  ctx?.putImageData(new ImageData(answer.pixels, columns.count, rows.count), 0, 0);
  return { columns, rows, curves: answer.curves, style: question.style, canvas, pixels: answer.pixels };
}

function rectOf(at: Projection, { columns, rows }: Picture): [number, number, number, number] {
  const left = at.x(columns.first * columns.width);
  const right = at.x((columns.first + columns.count) * columns.width);
  let top = at.y(rows.bottom + rows.count * rows.bytesPerRow);
  let bottom = at.y(rows.bottom);
  // One row per pixel: put them on pixels.
  if (Math.abs(rows.bytesPerRow / at.bytesPerPixel - 1) < 1e-6) {
    bottom = Math.round(bottom);
    top = bottom - rows.count;
  }
  return [left, top, right - left, bottom - top];
}

function place(ctx: Context, at: Projection, picture: Picture, except?: Picture): void {
  const [x, y, width, height] = rectOf(at, picture);
  if (width <= 0 || height <= 0) return;
  if (!except) {
    ctx.drawImage(picture.canvas, x, y, width, height);
    return;
  }
  ctx.save();
  const outside = new Path2D();
  outside.rect(at.area.left, at.area.top, at.area.width, at.area.height);
  outside.rect(...rectOf(at, except));
  ctx.clip(outside, 'evenodd');
  ctx.drawImage(picture.canvas, x, y, width, height);
  ctx.restore();
}
