// What is odd among files and ranks; tests/fleet/sql_test.py asks the SQL of engine/fleet about the same numbers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { FleetFacts } from '../../web/src/model/fleet_facts.ts';
import { readFleet } from '../../web/src/model/fleet_file.ts';
import { compare, leastOfShares, shareBeyond } from '../../web/src/model/outliers.ts';

const cases = JSON.parse(readFileSync('tests/data/odd.json', 'utf8')) as {
  why: string;
  mib: number[];
  odd: number[];
}[];
const mib = 2 ** 20;
const marked = (odd: Iterable<number | boolean>): number[] =>
  [...odd].flatMap((one, at) => (one ? [at] : []));

/** Ranks of one run with these peaks; `stages`: of each the name of its pipeline stage; `damaged`: those whose file is. */
function fleetOf(
  peaks: readonly (number | null)[],
  stages: readonly string[] = [],
  damaged: readonly number[] = [],
): FleetFacts {
  const column = (name: string, unit: string, values: readonly unknown[]) => ({ name, unit, values });
  const groups = [...new Set(stages)].map((name) => ({
    kind: 'pp',
    name,
    rows_of: stages.flatMap((one, row) => (one === name ? [row] : [])),
  }));
  const columns = [
    column('rank', 'count', [...peaks.keys()]),
    column(
      'damaged',
      'count',
      peaks.map((_, row) => (damaged.includes(row) ? 1 : 0)),
    ),
    column(
      'peak_requested',
      'bytes',
      peaks.map((peak) => (peak === null ? null : peak * mib)),
    ),
  ];
  return new FleetFacts(
    readFleet(new TextEncoder().encode(JSON.stringify({ gpustrata_fleet: 1, columns, groups }))),
  );
}
function oddRanks(facts: FleetFacts): number[] {
  return marked(facts.spreadOf(facts.column('peak_requested')!).odd);
}

for (const { why, mib: sizes, odd } of cases)
  test(`files and ranks agree: ${why}`, () => {
    const compared = compare(sizes.map((size) => size * mib));
    assert.deepEqual(marked(compared.odd), odd);
    assert.deepEqual(oddRanks(fleetOf(sizes)), odd);
  });

test('what is not known is neither a peer nor odd', () => {
  const { median, count, odd } = compare([undefined, 4 * mib, null, 8 * mib]);
  assert.deepEqual([median, count, marked(odd)], [6 * mib, 2, []]);
  assert.deepEqual(compare([]), { median: null, count: 0, odd: [], scale: 0 });
  assert.deepEqual(oddRanks(fleetOf([8, null, 8, 8, 20])), [4]); // four are known
});

test('a rank whose file is damaged is neither a peer nor odd', () => {
  assert.deepEqual(oddRanks(fleetOf([8, 8, 40, 8, 8])), [2]);
  const facts = fleetOf([8, 9, 40, 8, 9], [], [2]);
  assert.deepEqual(oddRanks(facts), []);
  assert.equal(facts.spreadOf(facts.column('peak_requested')!).median, 8.5 * mib); // with the damaged one 9
});

test('shares have a scale of their own', () => {
  // Median 0.1, mad 0: 0.01 is the scale; 0.02 is 8 below, 0.15 is 5 above.
  assert.deepEqual(marked(compare([0.1, 0.1, 0.1, 0.02, 0.15], leastOfShares).odd), [3]);
  assert.equal(shareBeyond(14, 7), 1);
});

test('peers are of one pipeline stage', () => {
  // Two stages of four ranks, 10 and 40 MiB. Together nobody is odd (mad 15 MiB); among 40 MiB 60 is.
  const peaks = [10, 10, 10, 10, 40, 40, 40, 60];
  assert.deepEqual(oddRanks(fleetOf(peaks)), []);
  assert.deepEqual(oddRanks(fleetOf(peaks, ['0', '0', '0', '0', '1', '1', '1', '1'])), [7]);
});
