// What the bands of a timeline can be, in the order of the list.
import { bandsWords, type Bands } from '../../engine/index.ts';

export const bandsNames: Record<Bands, string> = {
  blocks: 'Active memory',
  pools: 'Allocated memory (incl. private pools)',
  segments: 'Segments',
};
export const bandsWays: readonly Bands[] = bandsWords;
