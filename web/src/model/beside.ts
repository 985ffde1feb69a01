// Files that were chosen together with one that names them, such as the snapshots of a fleet's ranks: known, and opened only
// when asked for. No DOM: it runs in Node.
import type { Chosen } from './open_files.ts';

export interface Beside {
  /** With the folders it lies in, as far as they are known: `facts/run=a/rank3.pickle`. */
  path: string;
  chosen: Chosen;
}

/** A fleet by its name, among files that are chosen together. */
export const isFleetName = (name: string): boolean => /\.fleet\.json(\.gz|\.zst|\.zip)?$/i.test(name);
