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

test('a failure of a device that is not shown is not told beside the peak of the one that is', () => {
  const device = (device: number, count: number): object => ({ device, oom: { count, first_time_us: null } });
  const entry = (shown: number): Entry =>
    ({
      name: 'a',
      file: {
        peak: 7,
        snapshot: 1,
        view: { info: { device: shown } },
        contents: {
          snapshots: [
            { name: 'a', devices: [device(0, 0)] },
            { name: 'b', devices: [device(0, 0), device(1, 2)] },
          ],
        },
      },
    }) as unknown as Entry;
  const told = (shown: number): unknown =>
    barsOfFiles([entry(shown)], undefined).map((bar) => [bar.failed, bar.failedOn]);
  assert.deepEqual(told(0), [[true, 'Device 1']]);
  assert.deepEqual(told(1), [[true, undefined]]);
  // Device 1 of the other snapshot is not the one that failed.
  const other = entry(1);
  if (other.file) other.file.snapshot = 0;
  assert.equal(barsOfFiles([other], undefined)[0]?.failedOn, 'b');
});
