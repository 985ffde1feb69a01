// Which of several numbers are far from the others: one rule for open files, for snapshots of a file and for the ranks of a
// fleet, that of engine/fleet/outliers.sql and stragglers.sql ("Peers" in engine/fleet/README.md, which has its reasons).
// tests/data/odd.json holds both to the same numbers. No DOM: it runs in Node.
import type { Bytes } from '../base/units.ts';

/** The least scale: what differs by less is as good as alike. */
export const leastOfBytes: Bytes = 2 ** 20;
export const leastOfShares = 0.01;

const far = 6; // scales
/** Of fewer none can be told to be the odd one. */
export const fewest = 4;
const normal = 1.4826; // times the median deviation: the standard deviation of what is spread normally
const ofMedian = 0.01;

export interface Compared {
  /** Of the values that are known; null = none is. */
  median: number | null;
  count: number;
  /** What differs by less than six of these is not odd. */
  scale: number;
  odd: readonly boolean[];
}

/** null and undefined = not known (yet). */
export function compare(
  values: readonly (number | null | undefined)[],
  least: number = leastOfBytes,
): Compared {
  const known = values.filter((value) => typeof value === 'number');
  const median = medianOf(known);
  if (median === null || known.length < fewest)
    return { median, count: known.length, scale: 0, odd: values.map(() => false) };
  const mad = medianOf(known.map((value) => Math.abs(value - median))) ?? 0;
  const scale = Math.max(normal * mad, ofMedian * median, least);
  return {
    median,
    count: known.length,
    scale,
    odd: values.map((value) => typeof value === 'number' && Math.abs((value - median) / scale) >= far),
  };
}

/** The mean of the two in the middle, if there are two. */
export function medianOf(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}

/** What a number is above the median, as a share of it: -0.5 = half of it. */
export const shareBeyond = (value: number, median: number): number => (value - median) / median;
