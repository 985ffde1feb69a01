// The ways to stack what is in use.
import type { ColourBy } from '../../engine/index.ts';

/** `groups`: blocks of one kind of the colours lie together, the first kind below; `blocks`: the oldest block below. */
export type Stacking = 'blocks' | 'groups';

export const stackingNames: Record<Stacking, string> = { groups: 'Groups', blocks: 'By age' };
export const stackingWays = Object.keys(stackingNames) as Stacking[];

/** How the timeline looks, for all views of it. */
export interface Look {
  colour: ColourBy;
  stacking: Stacking;
}

/** What was stored or linked, as it can be. */
export function stackingOf(said: unknown, colour: ColourBy): Stacking {
  return said === 'groups' && colour !== 'allocation' ? 'groups' : 'blocks';
}

/** What a reader changed, as it can be: where each block has a colour of its own there are no groups. */
export function lookWith(old: Look, change: Partial<Look>): Look {
  const look = { ...old, ...change };
  if (look.stacking === 'blocks' || look.colour !== 'allocation') return look;
  return change.stacking === 'groups' ? { ...look, colour: 'stack' } : { ...look, stacking: 'blocks' };
}
