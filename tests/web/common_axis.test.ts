// Devices on one axis and one scale of bytes.
import assert from 'node:assert/strict';
import test from 'node:test';
import { commonAxis, levelIn, ownColumns } from '../../web/src/model/common_axis.ts';

const recorded = (
  first: number | null,
  lasts: number | null,
  { events = 10, bytes = 8, reserved = 10, capacity = null as number | null } = {},
) => ({
  events,
  extent: { event: events, time_us: lasts },
  first_time_us: first,
  peak: { bytes, event: 0 },
  reserved_peak: reserved,
  capacity,
});

test('by the clock: from the first event of any to the last of all', () => {
  // 1,000 to 1,100 and 1,040 to 1,200: 200 in all, the second begins 40 in. One without events begins nowhere.
  const axis = commonAxis([
    recorded(1000, 100),
    recorded(1040, 160),
    recorded(null, null, { events: 0, reserved: 30 }),
  ]);
  assert.deepEqual(axis, { axis: 'time', extent: 200, starts: [0, 40, 0], top: 30 });
});

test('one that has events and no clock: all are by their own events', () => {
  const axis = commonAxis([recorded(1000, 100, { events: 7 }), recorded(null, null, { events: 12 })]);
  assert.deepEqual(axis, { axis: 'event', extent: 12, starts: [0, 0], top: 10 });
});

test('the scale is that of the highest level, with the device itself if it is near', () => {
  const top = (capacity: number): number =>
    commonAxis([recorded(0, 5, { bytes: 20, reserved: 0 }), recorded(0, 5, { capacity })]).top;
  assert.equal(top(30), 30); // 1.5 times the highest level
  assert.equal(top(31), 20);
});

test('columns that one recording has of those wanted, to the nearest column', () => {
  // Begins at 40 and lasts 60: columns of 10 are its own 0 to 5 at places 4 to 9.
  const wanted = { axis: 'time', first: 2, width: 10, count: 20 } as const;
  assert.deepEqual(ownColumns(wanted, 40, 60), {
    own: { axis: 'time', first: 0, width: 10, count: 6 },
    before: 2,
    after: 8,
  });
  assert.deepEqual(ownColumns({ ...wanted, first: 6, count: 3 }, 40, 60), {
    own: { axis: 'time', first: 2, width: 10, count: 3 },
    before: 0,
    after: 3,
  });
  assert.deepEqual(ownColumns(wanted, 36, 60).own?.first, 0); // 3.6 columns in: the fourth
  assert.equal(ownColumns({ ...wanted, first: 10 }, 40, 60).own, undefined); // it has ended
  assert.equal(ownColumns({ ...wanted, first: 0, count: 3 }, 40, 60).own, undefined); // not begun
});

test('before it begins nothing is known; what it ends with stays', () => {
  const part = { own: undefined, before: 1, after: 3 };
  assert.deepEqual([...levelIn(5, part, [7, 8], 8)], [NaN, 7, 8, 8, 8]);
});
