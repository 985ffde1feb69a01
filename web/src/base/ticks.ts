// Where the lines of a ruler go.

/** Multiples of `step` in [from, to]. */
export interface Ticks {
  step: number;
  values: number[];
}

/** Byte values: powers of two up to one unit's 512, so that GiB and MiB read as whole numbers. */
export function byteTicks(from: number, to: number, wanted: number): Ticks {
  const raw = (to - from) / Math.max(wanted, 1);
  const step = raw <= 1 ? 1 : 2 ** Math.ceil(Math.log2(raw));
  return { step, values: multiples(from, to, step) };
}

/** Decimal values, 1-2-5; never below `smallest`. */
export function decimalTicks(from: number, to: number, wanted: number, smallest: number): Ticks {
  const raw = Math.max((to - from) / Math.max(wanted, 1), smallest);
  const power = 10 ** Math.floor(Math.log10(raw) + 1e-9);
  const step =
    [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= raw * (1 - 1e-9)) ?? 10 * power;
  return { step, values: multiples(from, to, step) };
}

function multiples(from: number, to: number, step: number): number[] {
  const values: number[] = [];
  const first = Math.ceil(from / step);
  for (let k = first; k * step <= to && values.length < 1000; k += 1) values.push(k * step);
  return values;
}
