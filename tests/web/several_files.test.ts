// Many files: the odd one among them, and which of them a rank was recorded in.
import assert from 'node:assert/strict';
import test from 'node:test';
import { compare } from '../../web/src/model/odd_one.ts';
import { pathOf } from '../../web/src/model/rank_files.ts';
import type { RankFile } from '../../web/src/model/fleet_facts.ts';

test('the odd one of several peaks is found by median and deviation', () => {
  // Median 100; deviations 0 0 1 1 900: MAD 1, so 1000 lies at 0.6745 * 900.
  assert.deepEqual(compare([100, 99, 101, 100, 1000]).odd, [undefined, undefined, undefined, undefined, 9]);
  // All alike but for one that differs by less than 5 %.
  assert.deepEqual(compare([100, 100, 104]).odd, [undefined, undefined, undefined]);
  assert.deepEqual(compare([100, 100, 94]).odd, [undefined, undefined, -0.06]);
  // Spread evenly: nobody is odd. Median 30, MAD 10, the furthest at 0.6745 * 2.
  assert.equal(
    compare([10, 20, 30, 40, 50]).odd.every((one) => one === undefined),
    true,
  );
  assert.deepEqual(compare([1, 1000]).odd, [undefined, undefined]);
  assert.equal(compare([undefined, 4, undefined, 8]).median, 6);
  assert.deepEqual(compare([]), { median: 0, count: 0, odd: [] });
});

test('of several files of one name the folders tell which a rank is', () => {
  const rank = (run: string, host: string, file = 'rank3.pickle'): RankFile => ({
    row: 0, file, run, host, rank: 3, snapshot: '', device: 0, unique: false,
  }); // prettier-ignore
  const paths = [
    'run=a/host=x/rank3.pickle',
    'run=a/host=y/rank3.pickle',
    'b/rank3.pickle',
    'run=a/rank30.pickle',
  ];
  assert.deepEqual(pathOf(paths, rank('a', 'y')), { path: paths[1] });
  assert.deepEqual(pathOf(paths, rank('b', '')), { path: paths[2] });
  assert.equal(pathOf(paths, rank('a', '')), 'several');
  assert.equal(pathOf(paths, rank('a', '', 'rank4.pickle')), 'none');
  assert.deepEqual(pathOf(['rank3.pickle'], rank('a', 'x')), { path: 'rank3.pickle' });
  // A folder that says another run is not it, even if there is no other.
  assert.equal(pathOf(['run=a/rank3.pickle'], rank('c', '')), 'none');
});
