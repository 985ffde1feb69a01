// What node:assert lacks. Nothing here waits by the clock.
import assert from 'node:assert/strict';

/** Equal but for what floating point loses, or for `within`. */
export function closeTo(value: number, expected: number, within = 0.005): void {
  assert.ok(Math.abs(value - expected) < within, `${value} is not ${expected}`);
}

/** Every member of `expected` is in `value`, deeply; lists are of one length. `value` may have more members. */
export function like(value: unknown, expected: unknown): void {
  assert.deepEqual(within(value, expected), expected);
}

/** `value` without the members that `expected` does not name. */
function within(value: unknown, expected: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(expected))
    return value.map((item: unknown, at) => within(item, (expected as unknown[])[at]));
  if (!isObject(value) || !isObject(expected)) return value;
  return Object.fromEntries(Object.keys(expected).map((key) => [key, within(value[key], expected[key])]));
}
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Lets run what waits for promises only. */
export const settle = (): Promise<void> => new Promise((done) => setImmediate(done));
