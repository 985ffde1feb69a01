// A snapshot with a private pool whose numbers are known.
import { MiB, pickled } from './pickle.ts';

const memory = 0x7f0000000000;
const pool = 0x7f1000000000;

const places = { A: memory, B: memory + 4 * MiB, X: pool, Y: pool + 3 * MiB, Z: pool } as const;
const sizes = { A: 4 * MiB, B: 2 * MiB, X: 3 * MiB, Y: 2 * MiB, Z: MiB } as const;
type Letter = keyof typeof places;

/**
 * Eleven events on device 0. Pool (0, 1) has a segment of 8 MiB, the default pool one of 20 MiB. In MiB:
 *   event            0   1    2    3     4      5       6       7      8      9      10
 *   what           20+  A+   8+   B+    X+     Y+      X-?     X-     Z+     B-?    B-
 *   blocks           0   4    4    6     9     11      11       8      9      9       7     peak 11
 *   with the pool    0   4   12   14    14     14      14      14     14     14      12     peak 14
 *   unused in it             8    8     5      3       3       6      5      5       5
 * From the bottom, as blocks at event 5: A B X Y; with the pool: A, in the pool X Y and 3 unused, then B.
 * Ranks: A 0, B 1, X 2, Y 3, Z 4; the pool 5.
 */
export function poolSnapshot(): Buffer {
  const frames = (letter: string) => [{ filename: 'train.py', line: 10, name: `make_${letter}` }];
  const of = (action: string, letter: Letter) => ({
    action,
    addr: places[letter],
    size: sizes[letter],
    stream: 0,
    frames: frames(letter),
  });
  const segment = (addr: number, size: number) => ({
    action: 'segment_alloc',
    addr,
    size,
    stream: 0,
    frames: frames('segment'),
  });
  const events = [
    segment(memory, 20 * MiB),
    of('alloc', 'A'),
    segment(pool, 8 * MiB),
    of('alloc', 'B'),
    of('alloc', 'X'),
    of('alloc', 'Y'),
    of('free_requested', 'X'),
    of('free_completed', 'X'),
    of('alloc', 'Z'),
    of('free_requested', 'B'),
    of('free_completed', 'B'),
  ];
  const start = 1_700_000_000_000_000;
  const used = (size: number) => ({ size, requested_size: size, state: 'active_allocated', frames: [] });
  const free = (size: number) => ({ size, requested_size: 0, state: 'inactive', frames: [] });
  const held = (address: number, total_size: number, segment_pool_id: number[], blocks: object[]) => ({
    device: 0,
    address,
    total_size,
    segment_pool_id,
    allocated_size: 0,
    active_size: 0,
    requested_size: 0,
    stream: 0,
    segment_type: 'large',
    is_expandable: false,
    frames: [],
    blocks: blocks as never,
  });
  return pickled({
    segments: [
      held(memory, 20 * MiB, [0, 0], [used(4 * MiB), free(16 * MiB)]),
      held(pool, 8 * MiB, [0, 1], [used(MiB), free(2 * MiB), used(2 * MiB), free(3 * MiB)]),
    ],
    device_traces: [events.map((event, index) => ({ ...event, time_us: start + index * 1000 }))],
  });
}

/**
 * Six events, in MiB. 10 are there before. An expandable segment is mapped in three pieces of 2, the third of which is
 * unmapped again; a segment of 20 comes and goes:
 *   event      0    1    2    3    4    5
 *   reserved  12   14   16   14   34   14
 */
export function segmentSnapshot(): Buffer {
  const expandable = 0x7f2000000000;
  const event = (action: string, addr: number, size: number, name: string) => ({
    action,
    addr,
    size,
    stream: 0,
    frames: [{ filename: 'train.py', line: 20, name }],
  });
  const start = 1_700_000_000_000_000;
  const events = [
    event('segment_map', expandable, 2 * MiB, 'first'),
    event('segment_map', expandable + 2 * MiB, 2 * MiB, 'second'),
    event('segment_map', expandable + 4 * MiB, 2 * MiB, 'third'),
    event('segment_unmap', expandable + 4 * MiB, 2 * MiB, 'third'),
    event('segment_alloc', pool, 20 * MiB, 'large'),
    event('segment_free', pool, 20 * MiB, 'large'),
  ];
  const held = (address: number, total_size: number, is_expandable: boolean) => ({
    device: 0,
    address,
    total_size,
    segment_pool_id: [0, 0],
    allocated_size: 0,
    active_size: 0,
    requested_size: 0,
    stream: 0,
    segment_type: 'large',
    is_expandable,
    frames: [],
    blocks: [{ size: total_size, requested_size: 0, state: 'inactive', frames: [] }],
  });
  return pickled({
    segments: [held(memory, 10 * MiB, false), held(expandable, 4 * MiB, true)],
    device_traces: [events.map((one, index) => ({ ...one, time_us: start + index * 1000 }))],
  });
}

/**
 * 300 segments of 2 MiB, number 150 of 4 MiB, every 4 MiB one (number 151 begins where 150 ends). Event i allocates 1 MiB
 * at the start of segment i.
 */
export function manySegments(): Buffer {
  const at = (index: number) => memory + index * 4 * MiB;
  const events = Array.from({ length: 300 }, (_, index) => ({
    action: 'alloc',
    addr: at(index),
    size: MiB,
    stream: 0,
    time_us: 1_700_000_000_000_000 + index,
    frames: [],
  }));
  const segments = events.map(({ addr }, index) => ({
    device: 0,
    address: addr,
    total_size: (index === 150 ? 4 : 2) * MiB,
    segment_pool_id: [0, 0],
    allocated_size: 0,
    active_size: 0,
    requested_size: 0,
    stream: 0,
    segment_type: 'large',
    is_expandable: false,
    frames: [],
    blocks: [
      { size: MiB, requested_size: MiB, state: 'active_allocated', frames: [] },
      { size: (index === 150 ? 3 : 1) * MiB, requested_size: 0, state: 'inactive', frames: [] },
    ],
  }));
  return pickled({ segments, device_traces: [events] });
}
