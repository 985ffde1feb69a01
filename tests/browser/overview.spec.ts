// What the overview says: numbers by hand.
import { expect, test } from '@playwright/test';
import type { Overview, ViewInfo } from '../../web/engine/index.ts';
import { findingsOf, type OomMet } from '../../web/src/words/overview_text.ts';

const GiB = 1024 ** 3;
const MiB = 1024 ** 2;

const device = (change: Partial<ViewInfo>): ViewInfo => ({
  bands: 'blocks',
  device: 0,
  events: 3274,
  blocks: 100,
  from_start: 0,
  peak: { bytes: 34 * GiB, event: 3260 },
  initial_bytes: 0,
  final_bytes: 0,
  reserved_peak: 38 * GiB,
  reserved_final: 38 * GiB,
  extent: { event: 3274, time_us: 1000 },
  first_time_us: 0,
  last_time_us: 1000,
  oom_events: [],
  has_stacks: true,
  segments: 10,
  settings: { expandable_segments: false },
  ...change,
});
const met = (size: number, deviceFree: number, free: number, largest: number): OomMet =>
  ({
    event: {
      size,
      device_free: deviceFree,
      frames: [
        {
          text: '',
          name: 'loss',
          file: '/home/me/loss.py',
          line: 21,
          repeats: 1,
          hidden: false,
          own: true,
          fx: [],
        },
      ],
    },
    totals: { free, largest_free: largest },
  }) as unknown as OomMet;
const said = (info: ViewInfo, oom?: OomMet) => new Map(findingsOf(info, oom).map((one) => [one.id, one]));

test('an OOM that free memory in one piece would have met says so, and which setting joins it', () => {
  // 4 GiB asked; 3.75 on the device and 0.75 inside segments are 4.5.
  const oom = said(device({ oom_events: [3273] }), met(4 * GiB, 3.75 * GiB, 0.75 * GiB, 112 * MiB)).get(
    'oom',
  );
  expect(oom?.value).toBe('4 GiB');
  expect(oom?.says).toEqual([
    'loss asked for it, loss.py:21.',
    '4.5 GiB were free, but not in one piece: 3.75 GiB on the device, 768 MiB inside segments (largest gap 112 MiB).',
  ]);
  expect(oom?.code).toBe('PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True');
});

test('an OOM on a full device says that it was full', () => {
  const oom = said(device({ oom_events: [3273] }), met(5 * GiB, 96 * MiB, 128 * MiB, 64 * MiB)).get('oom');
  expect(oom?.says.at(-1)).toBe(
    'Only 224 MiB were free: 96 MiB on the device, 128 MiB inside segments (largest gap 64 MiB). The device was full.',
  );
  expect(oom?.code).toBeUndefined();
});

test('reserved, end and start are told against the peak', () => {
  const found = said(device({ initial_bytes: 17 * GiB, final_bytes: 30 * GiB }));
  expect(found.get('reserved')?.says[0]).toContain('4 GiB (11 %) more');
  expect(found.get('end')?.says[0]).toBe('13 GiB more than at the start.');
  expect(found.get('before')?.says[0]).toContain('50 % of the peak');
  expect([...found.keys()]).toEqual(['peak', 'reserved', 'end', 'before']);
});

test('a recording that is full to the number tells that older events were overwritten', () => {
  const before = said(device({ events: 100_000, initial_bytes: GiB })).get('before');
  expect(before?.says[1]).toContain('exactly 100,000 events');
  expect(before?.code).toContain('max_entries=1000000');
});

test('what was not recorded comes with the line of Python that records it', () => {
  expect(said(device({ events: 0 })).get('no-history')?.code).toContain('_record_memory_history(');
  expect(said(device({ has_stacks: false })).get('no-stacks')?.code).toContain('stacks="all"');
  expect(said(device({})).has('no-stacks')).toBe(false);
});

test('the peak is told by lines as soon as the engine has found them', () => {
  const overview = {
    device: 0,
    events: 3274,
    findings_left_out: 0,
    findings: [
      {
        kind: 'peak',
        text: '',
        bytes: 34 * GiB,
        event: 3260,
        rank: null,
        filter: 'alive@peak',
        reserved: 38 * GiB,
        time_us: null,
        parts: [
          {
            who: 'loss loss.py:21',
            text: '',
            bytes: 17 * GiB,
            blocks: 3,
            rank: 7,
            filter: 'stack:"loss.py:21:loss"',
          },
          { who: null, text: '', bytes: 9 * GiB, blocks: 1, rank: 9, filter: null },
        ],
        rest: { text: '8 GiB in 4 blocks of 2 other lines', bytes: 8 * GiB, blocks: 4, lines: 2 },
      },
      {
        kind: 'not_recorded',
        text: 'Some have none.',
        bytes: GiB,
        event: 3260,
        rank: null,
        filter: null,
        what: 'some_stacks',
        python: 'record()',
      },
    ],
  } as unknown as Overview;
  const found = new Map(
    findingsOf(device({ has_stacks: false }), undefined, overview).map((one) => [one.id, one]),
  );
  const peak = found.get('peak');
  expect(peak?.parts?.map(({ who, share, goal }) => [who, share, goal])).toEqual([
    ['loss loss.py:21', 0.5, { to: 'filter', text: 'stack:"loss.py:21:loss"' }],
    ['no stack', 9 / 34, { to: 'rank', rank: 9 }],
  ]);
  expect(peak?.rest).toBe('8 GiB in 4 blocks of 2 other lines');
  expect(found.has('no-stacks')).toBe(false); // the engine knows better
  expect(found.get('no-some-stacks')?.code).toBe('record()');
});
