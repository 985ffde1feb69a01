// Keeps the rows of the address map that are seen: their regions, and the picture of the blocks in them. Asks the engine
// for what is missing; until it comes, the last picture is moved.
import { reasonOf } from '../../base/reason.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import type { DevicePx } from '../../base/units.ts';
import { packed, type Theme } from '../../draw/colors.ts';
import type { MapRows } from '../../draw/map_rows.ts';
import type { Colouring } from '../free_shares.ts';
import { lookOf, shadesOfFree } from '../../draw/palettes.ts';
import {
  type ColourBy,
  type Columns,
  type EngineView,
  type Kinds,
  type Look,
  type MapPicture,
  type Region,
  type RegionOrder,
  type Regions,
} from '../../../engine/index.ts';

const around = 3; // rows drawn before and behind those that are seen
const wordsAround = 30; // rows whose words are asked for likewise

/** Rows [first, end) are seen, `height` pixels each. */
export interface MapView {
  order: RegionOrder;
  first: number;
  end: number;
  height: DevicePx;
  columns: Columns;
  theme: Theme;
  /** The filter whose blocks are lit while the others fade; empty = none fade. */
  highlight: string;
  colouring: Colouring;
}
/** Blocks as the timeline has them, or free memory by how much of its region is free. */

interface List {
  order: RegionOrder;
  first: number;
  count: number;
}
interface Question extends List {
  columns: Columns;
  height: DevicePx;
  look: Look;
  shades?: readonly number[];
  /** Differs whenever the answer does. */
  key: string;
}

export class MapTrack {
  /** Undefined = not known yet: the first answer takes the longest. */
  count: number | undefined;
  /** Why there is no answer. */
  problem: string | undefined;
  shown: (MapRows & { key: string }) | undefined;
  /** The last question, which is not repeated while it is under way. */
  private asked = '';
  private kinds: Kinds | undefined;
  private regions: { order: RegionOrder; first: number; rows: readonly Region[] } | undefined;
  private isOld = false;
  private readonly lists: LatestOnly<List, Regions>;
  private readonly pictures: LatestOnly<Question, MapPicture>;
  private readonly asking: LatestOnly<ColourBy, Kinds>;

  /**
   * `counted`: the number of regions is known or another one. `before`: of the recording before it grew, which is shown until all
   * is asked for anew.
   */
  constructor(view: EngineView, changed: () => void, counted: () => void, before?: MapTrack) {
    if (before) {
      this.count = before.count;
      this.shown = before.shown && { ...before.shown, key: '' };
      this.regions = before.regions;
      this.isOld = true;
    }
    const failed = (error: unknown): void => {
      if (view.alive) this.problem = reasonOf(error);
      counted();
    };
    this.lists = new LatestOnly(
      (part) => view.ask('regions', part),
      (answer, { order }) => {
        const { rows, count } = answer;
        this.regions = { order, first: rows[0]?.row ?? 0, rows };
        const isNew = this.count !== count;
        this.count = count;
        if (isNew) counted();
        else changed();
      },
      failed,
    );
    this.pictures = new LatestOnly(
      ({ key: _, ...question }) => view.ask('addressMap', question),
      (answer, question) => {
        this.shown = painted(answer, question, this.shown?.canvas);
        changed();
      },
      failed,
    );
    this.asking = new LatestOnly(
      (by) => view.ask('kinds', { by }),
      (kinds) => {
        this.kinds = kinds;
        changed();
      },
      () => undefined, // the colours before stay
    );
  }

  colourBy(by: ColourBy): void {
    if (by !== this.kinds?.by) this.asking.request(by);
  }

  regionAt(order: RegionOrder, row: number): Region | undefined {
    const { regions } = this;
    return regions?.order === order ? regions.rows[row - regions.first] : undefined;
  }

  /** Asks for what is missing; true if nothing is. */
  want({ order, first, end, height, columns, theme, highlight, colouring }: MapView): boolean {
    const { shown, kinds, count: rows } = this;
    if (rows === 0) return true;
    const isListed = this.regionAt(order, first) && this.regionAt(order, Math.max(end - 1, first));
    if (!isListed || this.isOld) {
      this.isOld = false;
      const from = Math.max(0, first - wordsAround);
      this.lists.request({ order, first: from, count: end + wordsAround - from });
    }
    if (rows === undefined || end <= first) return false;
    const look = lookOf(kinds, theme, highlight);
    const key = [order, theme.key, look.colourBy, highlight, colouring, height, JSON.stringify(columns)].join(
      '|',
    );
    if (shown?.key === key && shown.first <= first && shown.first + shown.count >= end) return true;
    const from = Math.max(0, first - around);
    const count = Math.min(rows, end + around) - from;
    const asked = `${from} ${count} ${key}`;
    if (asked !== this.asked || !this.pictures.busy)
      this.pictures.request({
        ...{ order, columns, first: from, count, height, look, key },
        ...(colouring === 'free' ? { shades: shadesOfFree(theme).map(packed) } : {}),
      });
    this.asked = asked;
    return false;
  }
}

function painted(
  { ranks, pixels, freeShares }: MapPicture,
  { columns, first, height, key }: Question,
  reuse: HTMLCanvasElement | undefined,
): MapRows & { key: string } {
  const canvas = reuse ?? document.createElement('canvas');
  const count = Math.floor(ranks.length / Math.max(1, columns.count * height));
  canvas.width = Math.max(1, columns.count);
  canvas.height = Math.max(1, count * height);
  if (count > 0)
    canvas.getContext('2d')?.putImageData(new ImageData(pixels, columns.count, count * height), 0, 0);
  return { columns, first, count, height, ranks, freeShares, canvas, key };
}
