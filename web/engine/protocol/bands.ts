// What is made of answers' bands and numbers of kinds; the answers describe themselves (answers_described.ts).
import type { BlockAnswer, BlockDetails } from './answers_described.ts';
import type { Bytes } from './quantities.ts';

/** What a rank of the timeline can be. */
export type Band = NonNullable<BlockAnswer['details']>;

export function isBlock(band: Band | undefined): band is BlockDetails {
  return band !== undefined && band.kind !== 'envelope' && band.kind !== 'segment';
}
export function sizeOf(band: Band): Bytes {
  if (band.kind === 'envelope') return band.capacity;
  return band.kind === 'segment' ? band.piece : band.requested_size;
}

/** Of StateRects. */
export const stateKinds = ['segment', 'block', 'rounding', 'pending', 'gap'] as const;
export type StatePart = (typeof stateKinds)[number];

/** Pixels of the address map that are no rank of the timeline. */
export const mapPixels = { nothing: -1, free: -2, unranked: -3 } as const;
