// What the fields above the list of events mean.
import assert from 'node:assert/strict';
import test from 'node:test';
import { sizeOf } from '../../web/src/base/sizes.ts';
import { filterOf, noFields } from '../../web/src/panels/events/event_fields.ts';

const MiB = 1024 ** 2;

test('fields of the list mean what they say', () => {
  assert.equal(sizeOf('1.5 MiB'), 1.5 * MiB);
  assert.equal(sizeOf('512k'), 512 * 1024);
  assert.equal(sizeOf('2048'), 2048);
  assert.equal(sizeOf('1 apple'), undefined);
  assert.deepEqual(filterOf({ ...noFields, actions: 'blocks', leastSize: '1k', stream: '3' }), {
    filter: { actions: ['alloc', 'free_requested', 'free_completed'], leastSize: 1024, stream: 3 },
  });
  assert.deepEqual(filterOf({ ...noFields, stream: '-1' }), { wrong: 'stream' });
});
