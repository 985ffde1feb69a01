// What the bands of a timeline can be, in the order of the list.
import { bandsWords, type Bands, type EngineView, type ViewInfo } from '../../engine/index.ts';

export const bandsNames: Record<Bands, string> = {
  blocks: 'Active memory',
  pools: 'Allocated memory (incl. private pools)',
  segments: 'Segments',
};
export const bandsWays: readonly Bands[] = bandsWords;

/** Many traces and all files of other tools say nothing of it: nothing reserved, with memory in use, means not known. */
export function hasReserved({ peak, reserved_peak: reserved }: ViewInfo): boolean {
  return reserved > 0 || peak.bytes === 0;
}

/** What is reserved and in no band is free: not so where blocks are left out. */
export function hasGap({ info, shown }: EngineView): boolean {
  return info.bands !== 'segments' && !shown.only && hasReserved(info);
}
