// A comparison by line, and which of two files comes first.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ComparedRow, StackFacts } from '../../web/engine/index.ts';
import { formatRatio } from '../../web/src/base/format.ts';
import { mayMeet } from '../../web/src/model/beside/choices.ts';
import { linesOf } from '../../web/src/panels/compare/lines.ts';
import { sidesOf } from '../../web/src/panels/compare/sides.ts';
import type { PanelFile, PanelPage } from '../../web/src/panels/panel.ts';

const row = (
  who: string | null,
  before: number,
  after: number,
  more: Partial<ComparedRow> = {},
): ComparedRow => ({
  change: before === 0 ? 'new' : after === 0 ? 'gone' : after > before ? 'grew' : 'shrank',
  before: null,
  before_bytes: before,
  after_bytes: after,
  before_blocks: before > 0 ? 1 : 0,
  after_blocks: after > 0 ? 1 : 0,
  matched: null,
  who,
  stack: [],
  filter: null,
  rank: null,
  ...more,
});
const facts = {
  parts: [{ who: 'forward model.py:340', stack: null, filter: null, rank: 0 }],
} as unknown as StackFacts;
const told = (rows: ComparedRow[], growth: number): unknown[] =>
  linesOf(rows, facts, growth).map(({ who, change, before_bytes, after_bytes, stacks }) => [
    who,
    change,
    before_bytes,
    after_bytes,
    stacks.length,
  ]);

test('stacks that end in one line are one row, what is gone among them', () => {
  // forward: 7 + 0 grew to 10 + 4; one stack of 3 is gone, which only the other side names. 10 -> 14.
  const rows = [
    row('forward model.py:340', 0, 4),
    row('forward model.py:340', 7, 10),
    row('loss loss.py:22', 5, 6),
    row(null, 3, 0, { before: 0 }),
  ];
  assert.deepEqual(told(rows, 5), [
    ['forward model.py:340', 'grew', 10, 14, 3],
    ['loss loss.py:22', 'grew', 5, 6, 1],
  ]);
});

test('what follows the sum most comes first: what shrank, where the sum does', () => {
  const rows = [row('a', 1, 7), row('b', 9, 8), row('c', 20, 2)];
  assert.deepEqual(
    linesOf(rows, facts, -13).map(({ who }) => who),
    ['c', 'b', 'a'],
  );
  assert.deepEqual(
    linesOf(rows, facts, 3).map(({ who }) => who),
    ['a', 'b', 'c'],
  );
});

test('blocks without a stack are one row', () => {
  assert.deepEqual(told([row(null, 2, 3), row(null, 1, 1)], 1), [['no stack', 'grew', 3, 4, 2]]);
});

test('a ratio has two or three figures', () => {
  assert.equal(formatRatio(2.0513), '×2.1');
  assert.equal(formatRatio(0.4821), '×0.48');
  assert.equal(formatRatio(12.345), '×12.3');
  assert.equal(formatRatio(0.0123), '×0.0123');
});

const at2026 = 1_767_225_600e6;
const hour = 3600e6;
const file = (
  name: string,
  first_time_us: number | null,
  peak = 100,
  engine: object = {},
  oom_events: number[] = [],
): PanelFile =>
  ({
    name,
    view: { engine, info: { first_time_us, peak: { bytes: peak, event: 3 }, events: 9, oom_events } },
  }) as unknown as PanelFile;
const sides = (shown: PanelFile, ...files: PanelFile[]): string[] => {
  const page = { files, view: shown.view, info: shown.view.info, event: 3 } as unknown as PanelPage;
  const none = { file: undefined, moment: undefined };
  const { before, after } = sidesOf(page, none, none);
  return [before.name, after.name];
};

test('the file that was made first is the side before, whichever is shown', () => {
  const [early, late] = [file('z.pickle', at2026), file('a.pickle', at2026 + hour)];
  assert.deepEqual(sides(early, late, early), ['z.pickle', 'a.pickle']);
  assert.deepEqual(sides(late, late, early), ['z.pickle', 'a.pickle']);
  // Times that do not count from 1970 say nothing; names do, their numbers as numbers.
  const [ten, two] = [file('run10.pickle', 5), file('run2.pickle', 7)];
  assert.deepEqual(sides(ten, ten, two), ['run2.pickle', 'run10.pickle']);
});

test('devices of one file are not runs that follow each other: the one that is shown, from start to end', () => {
  const engine = {};
  const [one, other] = [0, 1].map((device) => file(`a.pickle/Device ${device}`, at2026, 100, engine));
  assert.deepEqual(sides(other!, one!, other!), [other!.name, other!.name]);
});

test('of devices of one file the fullest that did not fail is compared with the one that did', () => {
  const engine = {};
  const device = (number: number, peak: number, ooms: number[] = []): PanelFile =>
    file(`a.pickle/Device ${number}`, at2026, peak, engine, ooms);
  const [small, failed, full] = [device(0, 10), device(1, 90, [7]), device(2, 30)];
  const expected = [full.name, failed.name];
  assert.deepEqual(sides(failed, small, failed, full), expected);
  assert.deepEqual(sides(small, small, failed, full), expected);
  // Where all failed there is none to compare with.
  const other = device(3, 20, [4]);
  assert.deepEqual(sides(failed, failed, other), [failed.name, failed.name]);
});

test('of many files a typical one is compared with the odd one', () => {
  const MiB = 2 ** 20;
  const ranks = [100, 101, 100, 300].map((peak, rank) => file(`rank${rank}.pickle`, null, peak * MiB));
  assert.deepEqual(sides(ranks[0]!, ...ranks), ['rank0.pickle', 'rank3.pickle']);
});

test('a trace of another day is not one of the recording', () => {
  const recording = { first_time_us: at2026, last_time_us: at2026 + hour };
  const span = (first: number): { first_us: number; last_us: number } => ({
    first_us: first,
    last_us: first + hour,
  });
  assert.equal(mayMeet(span(at2026 - 3692 * hour), recording, 0), false);
  assert.equal(mayMeet(span(at2026 - 5 * hour), recording, 0), true); // a clock of another zone
  assert.equal(mayMeet(span(17), recording, 0), true); // it counts from elsewhere
  assert.equal(mayMeet(span(at2026 - 3692 * hour), recording, 1), true); // nudged: somebody said so
});
