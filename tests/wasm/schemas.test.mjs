// What commands write with --json, against the schemas that the command prints of it. Answers to questions are held against
// theirs in questions.test.mjs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { command, golden, root } from '../built.mjs';
import { goldenCases } from './engine.mjs';
import { wrong } from './schema.mjs';

const all = JSON.parse(command('schema'));
const profilers = (name) => join(root, 'tests/data/profilers', name);
const snapshots = goldenCases.map(golden);
const trace = profilers('trace.json');
const tracker = profilers('tracker.pickle');

/** Arguments by the line that they make. */
const lines = {
  'ops --json': ['op', 'path', 'shape', 'module', 'stack'].map((by) => ['ops', trace, '--by', by]),
  'ops --mode pytorch --json': ['op', 'shape'].map((by) => ['ops', trace, '--mode', 'pytorch', '--by', by]),
  'telemetry --json': ['telemetry.json', 'functions.json'].map((name) => ['telemetry', profilers(name)]),
  'tracker --json': [['tracker', tracker]],
  'tracker OTHER --json': [['tracker', tracker, tracker]],
  'top --json': ['stack', 'line', 'function', 'file'].flatMap((by) =>
    snapshots.map((file) => ['top', file, '--by', by]),
  ),
  ...Object.fromEntries(
    ['state', 'stats', 'trace', 'whatif'].map((name) => [
      `${name} --json`,
      snapshots.map((file) => [name, file]),
    ]),
  ),
};
lines['whatif --json'].push([
  ...['whatif', golden('private_pool'), '--no-caching', '--search', '--smallest'],
  ...['--take', '1MiB@0..1', '--empty-cache', '0'],
]);

test('a wrong answer is found', () => {
  const schema = all.$defs.StateTotals;
  const totals = Object.fromEntries(schema.required.map((name) => [name, name === 'text' ? '' : 0]));
  assert.equal(wrong(schema, totals, all.$defs), undefined);
  assert.equal(wrong(schema, { ...totals, more: 1 }, all.$defs), '.more is too many');
  assert.equal(wrong(schema, { ...totals, free: 0.5 }, all.$defs), '.free: 0.5 is no integer');
  const less = { ...totals };
  delete less.free;
  assert.equal(wrong(schema, less, all.$defs), '.free is missing');
});

test('every line that has a schema is tried', () => {
  assert.deepEqual(Object.keys(all.lines).sort(), Object.keys(lines).sort());
});

for (const [line, tries] of Object.entries(lines)) {
  test(`gpustrata ${line}`, () => {
    let tried = 0;
    for (const args of tries) {
      let text;
      try {
        text = command(...args, '--json');
      } catch {
        continue; // refused: the file has nothing of the kind
      }
      for (const each of text.split('\n').filter((one) => one !== '')) {
        tried += 1;
        assert.equal(wrong(all.lines[line], JSON.parse(each), all.$defs), undefined, args.join(' '));
      }
    }
    assert.ok(tried > 0);
  });
}

test('one schema stands by itself', () => {
  const one = JSON.parse(command('schema', 'neverFull'));
  assert.equal(one.allOf[0].$ref, '#/$defs/NeverFull');
  assert.ok('NeverFull' in one.$defs);
  assert.equal(JSON.parse(command('schema', 'ops', '--json')).allOf[0].$ref, '#/$defs/ops --json');
});

test('the types of answers are those of the engine', () => {
  const written = readFileSync(join(root, 'web/engine/protocol/answers_described.ts'), 'utf8');
  const types = command('schema', '--types');
  assert.equal(written, types, 'gpustrata schema --types > web/engine/protocol/answers_described.ts');
});
