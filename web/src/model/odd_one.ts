// Which of several peaks is not like the others?
//
// Robust: the median and the median absolute deviation (MAD), which one outlier cannot move. A peak is odd if its
// modified z-score, 0.6745 (x - median) / MAD, lies beyond 3.5 (Iglewicz and Hoaglin, 1993) and it differs by at
// least 5 % from the median: ranks that agree to the byte but for one must not alarm for a few KiB.
import type { Bytes } from '../base/units.ts';

const beyond = 3.5;
const least = 0.05; // of the median
const fewest = 3; // of two nobody can say which one is odd

export interface Comparison {
  /** Of the values that are known. */
  median: Bytes;
  count: number;
  /** Share of the median by which the value differs; undefined = not odd. */
  odd: readonly (number | undefined)[];
}

/** `undefined` = not known (yet). */
export function compare(values: readonly (Bytes | undefined)[]): Comparison {
  const known = values.filter((value) => value !== undefined);
  const median = medianOf(known);
  const mad = medianOf(known.map((value) => Math.abs(value - median)));
  const odd = values.map((value) => {
    if (value === undefined || known.length < fewest || median <= 0) return undefined;
    const share = (value - median) / median;
    if (Math.abs(share) < least) return undefined;
    return mad === 0 || Math.abs((0.6745 * (value - median)) / mad) > beyond ? share : undefined;
  });
  return { median, count: known.length, odd };
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1] ?? 0, sorted[Math.floor(middle)] ?? 0];
  return (low + high) / 2;
}
