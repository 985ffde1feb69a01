// What every question for a picture says: on which grid, in which colours.
import type { AxisUnits } from '../base/units.ts';
import type { Axis, ColourBy } from './answers.ts';

/** Colours as 0xAABBGGRR. */
export interface Palette {
  bands: Uint32Array;
  nothing: number;
  dimmedTowards: number;
  /** What private pools keep and no block uses. */
  envelope: number;
}

/** Columns [first, first + count) of a grid in which column k covers [k * width, (k + 1) * width). */
export interface Columns {
  axis: Axis;
  first: number;
  width: AxisUnits;
  count: number;
}

/** How blocks are coloured. */
export interface Look {
  palette: Palette;
  /** Blocks that the filter does not mean fade; with `kind` all that are not of that kind. */
  dimOthers: boolean;
  colourBy: ColourBy;
  /** The only kind that is lit, -1 = the filter decides. */
  kind: number;
}
