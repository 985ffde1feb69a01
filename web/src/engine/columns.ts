// What every question for a picture says: on which grid, in which colours.
import type { ColourBy } from './answers.ts';

export type { Columns } from '../../engine/protocol/arguments.ts';

/** Colours as 0xAABBGGRR. */
export interface Palette {
  bands: Uint32Array;
  nothing: number;
  dimmedTowards: number;
  /** What private pools keep and no block uses. */
  envelope: number;
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
