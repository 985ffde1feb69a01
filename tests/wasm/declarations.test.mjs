// wasm/*.d.ts are written by hand; here their names are compared with those of the modules.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { root } from '../built.mjs';
import { loadEngine, loadSimulate } from './engine.mjs';

const declarations = ['engine.d.ts', 'simulate.d.ts']
  .map((name) => readFileSync(join(root, 'wasm', name), 'utf8'))
  .join('');

/** Members of an interface: methods as name -> number of parameters, others as name -> undefined. */
function members(name) {
  const body = new RegExp(`interface ${name} \\{\\n(.*?)\\n\\}`, 's').exec(declarations)[1];
  const withoutComments = body.replace(/\/\*\*.*?\*\//gs, '').replace(/\/\/.*/g, '');
  const found = new Map();
  for (const [, member, parameters] of withoutComments.matchAll(/^ {2}(\w+)\??(?:\((.*?)\))?:/gms)) {
    found.set(member, parameters === undefined ? undefined : (parameters.match(/\w+\??:/g) ?? []).length);
  }
  return found;
}

test('the declarations are read', () => {
  assert.equal(members('Session').get('question'), 1);
  assert.equal(members('Progress').size, 3);
});

test('engine.d.ts names exactly the methods of Session', async () => {
  const engine = await loadEngine();
  // What Embind adds to every class by itself.
  const own = new Set(['constructor', 'isAliasOf', 'clone', 'deleteLater', 'isDeleted']);
  const names = new Set();
  for (
    let at = engine.Session.prototype;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at)
  ) {
    for (const name of Object.getOwnPropertyNames(at)) if (!own.has(name)) names.add(name);
  }
  assert.deepEqual([...names].sort(), [...members('Session').keys()].sort());
});

test('engine.d.ts names exactly the fields of what progress() returns', async () => {
  const engine = await loadEngine();
  const session = new engine.Session(2 ** 26);
  try {
    assert.deepEqual(Object.keys(session.progress()).sort(), [...members('Progress').keys()].sort());
  } finally {
    session.delete();
  }
});

test('the modules export what EngineModule and SimulateModule declare', async () => {
  const engine = await loadEngine();
  for (const name of members('EngineModule').keys()) assert.ok(name in engine, name);
  const allocator = await loadSimulate();
  for (const name of members('SimulateModule').keys()) assert.ok(name in allocator, name);
});
