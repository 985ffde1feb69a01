// The form of a fit: what names of files tell, what is asked, where the curve is looked at.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { EngineView } from '../../web/engine/index.ts';
import { askedOf, stepOf, tableField, tableFor, valuesOfCurve } from '../../web/src/panels/fit/fields.ts';
import { parametersIn, parametersOf } from '../../web/src/panels/fit/names.ts';

const read = (name: string): Record<string, number> => Object.fromEntries(parametersIn(name));
const view = {} as EngineView;
const files = (...names: string[]): { name: string; view: EngineView }[] =>
  names.map((name) => ({ name, view }));

test('names tell batch and length', () => {
  for (const name of [
    'b4',
    'bs=4',
    'bs4',
    'B4',
    'batch_size=4',
    'batch8/run-b4',
    'batch-size-4',
    'batch4',
    'mbs_4',
  ])
    assert.equal(read(`${name}.pickle.gz`)['batch'], name.startsWith('batch8/') ? undefined : 4, name);
  for (const name of [
    'seq512',
    's512',
    'len=512',
    'seq_len512',
    'seqlen=512',
    'sequence-length_512',
    'ctx512',
  ])
    assert.deepEqual(read(`${name}.pkl`), { seq: 512 }, name);
  assert.deepEqual(read('run-b4-s128.pickle'), { batch: 4, seq: 128 });
  assert.deepEqual(read('gpt2_bs=16,hidden=1024.json'), { batch: 16, hidden: 1024 });
  assert.deepEqual(read('C:\\runs\\batch_2\\snapshot.pickle'), { batch: 2 });
});

test('what a name does not say plainly is not read', () => {
  // Other words, parts of numbers and of words, one letter with a sign that is none of a value, numbers that no parameter has.
  for (const name of [
    'step100',
    'gpt2',
    'rank-s-1',
    'b1.5',
    'seq4k',
    'web4',
    'b4x',
    'b0',
    'b99999999999',
    'b',
    '4',
  ])
    assert.deepEqual(read(`${name}.pickle`), {}, name);
  assert.deepEqual(read('b4-b8-s2.pickle'), { seq: 2 }); // which of the two?
});

test('of several names, what differs between them', () => {
  const told = parametersOf(['b4-s128-rank=0.pickle', 'b8-s128-rank=0.pickle', 'end.pickle']);
  assert.deepEqual(told.parameters, ['batch']);
  assert.deepEqual(told.values, [[4], [8], [undefined]]);
  assert.deepEqual(parametersOf(['a', 'b']).parameters, []);
  const half = parametersOf(['run-b2-s8.pickle', 'another-s8.pickle']);
  assert.deepEqual([half.parameters, half.values], [['batch'], [[2], [undefined]]]);
});

test('a table has a row for each open file, and keeps what was typed', () => {
  const first = tableFor(undefined, files('b4', 'b8'));
  assert.deepEqual(
    first.rows.map(({ values }) => values),
    [['4'], ['8']],
  );
  const typed = { ...first, rows: first.rows.map((row) => ({ ...row, values: ['5'] })) };
  const later = tableFor(typed, files('b4', 'b16'));
  assert.deepEqual(
    later.rows.map(({ file, values }) => [file, ...values]),
    [
      ['b4', '5'],
      ['b16', '16'],
    ],
  );
  assert.deepEqual(tableField.value(tableField.text(typed)), typed);
  for (const text of ['', 'x', '1', '[[]]', '[["a","b","c","d","e"]]', '{}'])
    assert.equal(tableField.value(text), undefined, text);
});

test('the recording with the largest values comes last, whatever their order', () => {
  const table = {
    parameters: ['batch', 'seq'],
    rows: [
      { file: 'c', included: true, values: ['8', '16'] },
      { file: 'a', included: true, values: ['4', '32'] },
      { file: 'b', included: true, values: ['8', '8'] },
      { file: 'd', included: false, values: ['', ''] },
    ],
  };
  const found = askedOf(table, files('a', 'b', 'c', 'd'), '64 MiB', undefined);
  assert.ok('asked' in found);
  assert.deepEqual(
    found.asked.recordings.map(({ name }) => name),
    ['a', 'b', 'c'],
  );
  assert.equal(found.asked.capacity, 64 * 2 ** 20);
});

test('what is missing is said at its field', () => {
  const wrong = (parameters: string[], values: string[], capacity = ''): string => {
    const rows = values.map((value, at) => ({
      file: `f${at}`,
      included: true,
      values: parameters.map(() => value),
    }));
    const found = askedOf({ parameters, rows }, files('f0', 'f1'), capacity, undefined);
    return 'wrong' in found ? `${found.wrong.field}: ${found.wrong.message}` : '';
  };
  assert.match(wrong(['batch'], ['4', '']), /^value-1-0: Write the batch of f1,/);
  assert.match(wrong(['batch'], ['4', '2.5']), /^value-1-0/);
  assert.match(wrong(['batch'], ['4']), /^: Two recordings/);
  assert.match(wrong(['batch', 'batch'], ['4', '8']), /^parameter-1: Two parameters are called batch/);
  assert.match(wrong([' '], ['4', '8']), /^parameter-0/);
  assert.match(wrong(['batch'], ['4', '8'], 'much'), /^capacity/);
  assert.equal(wrong(['batch'], ['4', '8'], '80 GiB'), '');
});

test('a curve has values that can be told, the recorded ones among them', () => {
  assert.deepEqual(valuesOfCurve(6, [4, 8]), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(valuesOfCurve(100, [7, 33], { most: 3 }), [1, 7, 33, 51, 100]);
  // Turns of 4: from 2 on each fourth.
  assert.deepEqual(valuesOfCurve(20, [6, 14], { step: 4, from: 6 }), [2, 6, 10, 14, 18]);
  // Batches of 4, 8 and 20 with a part that is repeated: each fourth is surely told.
  assert.equal(stepOf([4, 8, 20], true), 4);
  assert.equal(stepOf([4, 8, 20], false), 1);
});
