// Numbers and ticks as the page writes them.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  formatBytes,
  formatBytesAt,
  formatBytesTick,
  formatCount,
  formatDuration,
  formatMoment,
  formatMomentTick,
  formatNeeded,
  formatOffset,
  formatWallClock,
  unbroken,
} from '../../web/src/base/format.ts';
import { byteTicks, decimalTicks } from '../../web/src/base/ticks.ts';

const GiB = 1024 ** 3;
const MiB = 1024 ** 2;

test('sizes have one decimal, as in the sentences of the engine, and never reach 1024 of a unit', () => {
  assert.deepEqual([0, 1, 1023, 1024, 1536, 1024 ** 2 - 1, 71.2 * GiB, 512 * MiB, 9.999 * GiB].map(formatBytes), [
    '0 B', '1 B', '1023 B', '1.0 KiB', '1.5 KiB', '1.0 MiB', '71.2 GiB', '512.0 MiB', '10.0 GiB',
  ]); // prettier-ignore
});

test('ticks of a ruler share unit and places', () => {
  assert.deepEqual(
    [0.5, 1, 1.5].map((value) => formatBytesTick(value * GiB, 512 * MiB)),
    ['0.5 GiB', '1.0 GiB', '1.5 GiB'],
  );
  assert.equal(formatBytesTick(7376 * MiB, 8 * MiB), '7,376 MiB');
  assert.equal(formatBytesTick(0, GiB), '0');
  assert.equal(formatBytesTick(1.25 * GiB, 256 * MiB), '1.25 GiB');
});

test('a pixel of 1 MiB deserves four places of a GiB', () => {
  assert.equal(formatBytesAt(7.19342 * GiB, MiB), '7.1934 GiB');
});

test('what is needed at least is never rounded down', () => {
  assert.equal(formatNeeded(9.31 * GiB), '9.4 GiB');
  assert.equal(formatNeeded(9.4 * GiB), '9.4 GiB');
  assert.equal(formatNeeded(80 * GiB), '80.0 GiB');
  assert.equal(formatNeeded(1000), '1000 B');
  assert.equal(formatNeeded(0), '0 B');
});

test('a sentence breaks nowhere between a number and its unit', () => {
  assert.equal(
    unbroken('3 Blocks of 3.9 GiB, 8 B each (11 %).'),
    '3 Blocks of 3.9\u00a0GiB, 8\u00a0B each (11\u00a0%).',
  );
});

test('what rounds up to the next unit is told in that unit', () => {
  assert.equal(formatBytes(1024 * 1024 - 50), '1.0 MiB');
  assert.equal(formatBytes(1023.94 * 1024), '1023.9 KiB');
  // 1 MiB - 1 B at 100 B a pixel has two places of a KiB: 1024.00 KiB.
  assert.equal(formatBytesAt(MiB - 1, 100), '1.00000 MiB');
  const durations: [number, string][] = [
    [9.97, '10 µs'],
    [999.4, '999 µs'],
    [999.6, '1 ms'],
    [999_940, '999.9 ms'],
    [999_960, '1.000 s'],
    [59_999_400, '59.999 s'],
    [59_999_600, '1 min 00.0 s'],
    [299_960_000, '5 min 00.0 s'],
    [299_940_000, '4 min 59.9 s'],
    [3_599_960_000, '1 h 00 min'],
    [7_199_000_000, '2 h 00 min'],
    [-999_960, '−1.000 s'],
  ];
  assert.deepEqual(
    durations.map(([us]) => formatDuration(us)),
    durations.map(([, text]) => text),
  );
});

test('counts, times and offsets', () => {
  assert.equal(formatCount(1234567), '1,234,567');
  assert.equal(formatDuration(412), '412 µs');
  assert.equal(formatDuration(12_345_000), '12.345 s');
  assert.equal(formatDuration(245_200_000), '4 min 05.2 s');
  assert.equal(formatMoment(12_345_678), '+12.345678 s');
  assert.equal(formatMomentTick(10_000_000, 5_000_000), '+10 s');
  assert.equal(formatMomentTick(1_500_000, 500_000), '+1.5 s');
  assert.equal(formatOffset(500), 'byte 0x1f4 (500)');
});

test('rulers step in powers of two for bytes and 1-2-5 for events', () => {
  assert.deepEqual(byteTicks(0, 10 * GiB, 6), {
    step: 2 * GiB,
    values: [0, 2, 4, 6, 8, 10].map((n) => n * GiB),
  });
  assert.deepEqual(decimalTicks(0, 1000, 5, 1), { step: 200, values: [0, 200, 400, 600, 800, 1000] });
  assert.deepEqual(decimalTicks(3.2, 7.8, 10, 1).values, [4, 5, 6, 7]);
});

test('the wall clock is in UTC and says so, to the millisecond', () => {
  const at = Date.UTC(2026, 10, 4, 9, 5, 7, 89);
  assert.equal(formatWallClock(at * 1000 + 999), '2026-11-04 09:05:07.089 UTC');
  assert.equal(formatWallClock(Number.NaN), 'unknown');
});
