// The allocator in WebAssembly: the reference cases, and byte for byte what the command line tool says.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { root, tool } from '../built.mjs';
import { loadSimulate } from './engine.mjs';

const cases = readFileSync(join(root, 'tests', 'data', 'alloc', 'reference_cases.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => ({ ...JSON.parse(line), line }));

/** What the tool writes to standard output, whatever its exit code. */
function native(script, device, conf) {
  const options = ['simulate', '-', '--device', String(device), '--conf', conf, '--json'];
  return execFileSync(tool, options, { input: script, maxBuffer: 1 << 28, encoding: 'utf8' });
}

test('all reference cases are there', () => assert.equal(cases.length, 78));

test('reference cases: the same text up to the statistics', async (t) => {
  const { simulate } = await loadSimulate();
  for (const one of cases) {
    await t.test(`${one.id} ${one.what}`, () => {
      const expected = `{${one.line.slice(one.line.indexOf('"trace":'), -1)},"stats":`;
      const got = simulate(one.ops, one.device, one.conf);
      assert.equal(got.slice(0, expected.length), expected);
    });
  }
});

test('native and WebAssembly give identical text', async () => {
  const { simulate } = await loadSimulate();
  for (const { ops, device, conf } of cases)
    assert.equal(`${simulate(ops, device, conf)}\n`, native(ops, device, conf));
});

test('a long script gives identical text', async () => {
  let state = 20261121;
  const below = (n) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) % n;
  const live = [];
  const lines = [];
  for (let i = 0; i < 3000; ++i) {
    if (live.length > 0 && below(5) < 2) {
      const [name] = live.splice(below(live.length), 1);
      if (below(4) === 0) lines.push(`rs ${name} ${below(3)}`);
      lines.push(`f ${name}`);
    } else {
      live.push(`b${i}`);
      lines.push(`m b${i} ${1 + below(1 << (4 + below(22)))} ${below(3)}`);
    }
    if (below(50) === 0) lines.push(`done ${below(3)}`);
    if (below(200) === 0) lines.push('empty');
    if (below(300) === 0) lines.push(`conf expandable_segments:${below(2) === 0 ? 'True' : 'False'}`);
  }
  const { simulate } = await loadSimulate();
  const script = lines.join('\n');
  assert.equal(`${simulate(script, 2 ** 30, '')}\n`, native(script, 2 ** 30, ''));
});

test('a wrong step names its line, wrong settings and devices are errors', async () => {
  const { simulate } = await loadSimulate();
  const { error } = JSON.parse(simulate('m a 1\nf b', 2 ** 30, ''));
  assert.deepEqual(error, { code: 'wrong_usage', message: "line 2: 'b' is not allocated", offset: 6 });
  assert.match(JSON.parse(simulate('', 2 ** 30, 'foo:1')).error.message, /unknown key 'foo'/);
  for (const device of [0, -1, NaN, Infinity, 2 ** 60])
    assert.equal(JSON.parse(simulate('', device, '')).error.code, 'wrong_usage');
});
