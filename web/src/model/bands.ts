// What the bands of a timeline can be, in the order of the list.
import { bandsWords, type Bands, type EngineView } from '../../engine/index.ts';

export const bandsNames: Record<Bands, string> = {
  blocks: 'Active memory',
  pools: 'Allocated memory (incl. private pools)',
  segments: 'Segments',
};
export const bandsWays: readonly Bands[] = bandsWords;

/** What is reserved and in no band is free: not so where blocks are left out. */
export function hasGap({ info, shown }: EngineView): boolean {
  return info.bands !== 'segments' && !shown.only;
}
