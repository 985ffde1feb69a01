// What commands write with --json, against the schemas that the command prints of it. Answers to questions are held against
// theirs in questions.test.mjs.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';

import { command, golden, root, tool } from '../built.mjs';
import { goldenCases } from './engine.mjs';
import { wrong } from './schema.mjs';

const all = JSON.parse(command('schema'));
const folder = mkdtempSync(join(tmpdir(), 'gpustrata-schemas-'));
after(() => rmSync(folder, { recursive: true }));
const profilers = (name) => join(root, 'tests/data/profilers', name);
const sample = (name) => join(root, 'site/samples', name);
const trace = profilers('trace.json');
const tracker = profilers('tracker.pickle');
/** A recording of a program with so large a batch. */
const fitted = (batch) => `${join(root, `tests/data/fit/batch${batch}.pickle.gz`)}:batch=${batch}`;
const numbers = ['telemetry.json', 'functions.json', 'timeline.json'].map(profilers);
const small = goldenCases.map(golden);
const files = [...small, trace, tracker, ...numbers, sample('out_of_memory.pickle.gz')];
const oom = sample('out_of_memory.pickle.gz');

/** A line of many kinds of steps: what is refused, freed, out of memory. */
const script = written(
  'script',
  ['m a 1', 'm b 1048576', 'rs a 1', 'f a', 'm c 99999999999', 'f c'].join('\n'),
);
/** The smallest page that the command takes for the viewer. */
const viewer = written('viewer.html', '<html><body><script>"gpustrata-snapshot"</script></body></html>');
const facts = written('facts.jsonl', run('facts', ...files, sample('leak.pickle.gz')).join('\n'));

function written(name, text) {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}
/** The lines that a command writes, however it ends. */
function run(...args) {
  const { stdout } = spawnSync(tool, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  return stdout.split('\n').filter((line) => line !== '');
}
const ofAll = (name, ...more) => [name, ...files, ...more]; // in one process
const ofEach = (name, ...more) => files.map((file) => [name, file, ...more]);

/** Arguments by the line that they make. */
const lines = {
  'ops --json': ['op', 'path', 'shape', 'module', 'stack'].map((by) => ['ops', trace, '--by', by]),
  'ops --mode pytorch --json': ['op', 'shape'].map((by) => ['ops', trace, '--mode', 'pytorch', '--by', by]),
  'telemetry --json': numbers.map((file) => ['telemetry', file]),
  'tracker --json': [['tracker', tracker]],
  'tracker OTHER --json': [['tracker', tracker, tracker]],
  'top --json': ['stack', 'line', 'function', 'file'].map((by) => ofAll('top', '--by', by)),
  'whatif --json': [
    ...ofEach('whatif'),
    [
      ...['whatif', golden('private_pool'), '--no-caching', '--search', '--smallest'],
      ...['--take', '1MiB@0..1', '--empty-cache', '0'],
    ],
  ],
  'fit --json': [
    ['fit', fitted(2), fitted(4), '--at', 'batch=16', '--capacity', '64MiB'],
    ['fit', fitted(2), fitted(4), fitted(16), '--at', 'batch=3'],
  ],
  'owner --json': files.map((file) => ['owner', '0x7f0000000000', file]),
  'check --json': files.map((file) => [
    ...['check', file, '--max-peak', '1GiB', '--max-reserved', '1', '--no-oom', '--no-leak'],
    ...['--max-fragmentation', '2%', '--baseline', file, '--max-growth', '2%'],
  ]),
  'compare --json': files.flatMap((file, i) => [
    ['compare', file, file, '--by', 'line'],
    ['compare', files[i === 0 ? i : i - 1], file, '--at', 'peak'],
  ]),
  'flamegraph --json': [...ofEach('flamegraph', '--at', 'end'), ...ofEach('flamegraph', '--segments')],
  'convert --json': ['pickle', 'arrow'].flatMap((to) =>
    ofEach('convert', '-o', join(folder, `converted.${to}`)),
  ),
  'anonymize --json': ofEach('anonymize', '-o', join(folder, 'anonymous.pickle')),
  'html --json': ofEach('html', '-o', join(folder, 'page.html'), '--viewer', viewer),
  'simulate --json': [['simulate', script, '--device', '1073741824']],
  'fleet --json': [
    ['fleet', facts],
    ['fleet', oom, golden('private_pool'), join(root, 'tests/wasm')],
  ],
  facts: [ofAll('facts')],
  'report --json': [ofAll('report')],
  'summary --json': [ofAll('summary')],
  failure: ['report', 'top', 'check', 'owner 0', 'compare', 'simulate', 'fleet', 'html', 'convert'].map(
    (name) => [
      ...name.split(' '),
      ...(name === 'compare' ? [oom] : []),
      join(folder, 'nothing'),
      ...(name === 'check' ? ['--no-oom'] : []),
      ...(name === 'convert' ? ['-o', join(folder, 'nothing.csv')] : []),
    ],
  ),
  ...Object.fromEntries(['state', 'stats', 'trace'].map((name) => [`${name} --json`, ofEach(name)])),
};

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
      for (const each of run(...args, ...(line === 'facts' ? [] : ['--json']))) {
        const written = JSON.parse(each);
        // A file may have nothing of the kind.
        const schema = line !== 'facts' && 'error' in written ? all.lines.failure : all.lines[line];
        if (schema === all.lines[line]) tried += 1;
        assert.equal(wrong(schema, written, all.$defs), undefined, args.join(' '));
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
