// The engine's answers, and how the page calls what the bands are.
import { bandsWords, type Bands } from '../../engine/protocol/arguments.ts';

export type * from '../../engine/protocol/answers.ts';
export { isBlock, sizeOf } from '../../engine/protocol/answers.ts';
export type { Axis, Bands, ColourBy } from '../../engine/protocol/arguments.ts';

export const bandsNames: Record<Bands, string> = {
  blocks: 'Active memory',
  pools: 'Allocated memory (incl. private pools)',
  segments: 'Segments',
};
export const bandsWays: readonly Bands[] = bandsWords;
