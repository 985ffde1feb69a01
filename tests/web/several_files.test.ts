// Many files: which of them a rank was recorded in.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pathOf } from '../../web/src/model/rank_files.ts';
import type { RankFile } from '../../web/src/model/fleet_facts.ts';

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
