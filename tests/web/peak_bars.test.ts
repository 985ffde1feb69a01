// Files side by side: what stands for each.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Entry } from '../../web/src/model/open_files.ts';
import { barsOfFiles } from '../../web/src/model/peak_bars.ts';

test('a file that ended early is called damaged, and its peak is none', () => {
  const entry = (name: string, damaged: boolean): Entry =>
    ({ name, file: { peak: 7, contents: { snapshots: [], damaged } } }) as unknown as Entry;
  const files = [entry('whole', false), entry('half', true)];
  assert.deepEqual(
    barsOfFiles(files, undefined).map(({ peak, says }) => [peak, says === 'damaged']),
    [
      [7, false],
      [undefined, true],
    ],
  );
});
