// What of a file of counters is shown: kept with the file, told in links.
import type { Viewport } from './viewport.ts';

export interface SeriesChoice {
  part: number;
  /** Which stretch of the axis; its heights mean nothing. Undefined = all. */
  view: Viewport | undefined;
  /** The file whose curves lie over these, by its hash; empty = none. */
  over: string;
}

export const wholeSeries: SeriesChoice = { part: 0, view: undefined, over: '' };

/** Name of `over` in a link, beside the choices of panels. */
export const overInLink = 'series.over';
