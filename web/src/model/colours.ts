// The ways to colour blocks, in the order of the list.
import type { ColourBy } from '../../engine/index.ts';

export const colourNames: Record<ColourBy, string> = {
  allocation: 'Each block',
  stack: 'Stack',
  size: 'Size class',
  stream: 'Stream',
  pool: 'Pool',
  lifetime: 'Lifetime',
  age: 'Age',
  category: 'Category',
};
export const colourWays = Object.keys(colourNames) as ColourBy[];
