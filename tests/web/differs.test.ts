// What is made anew whenever it is asked for, and says the same.
import assert from 'node:assert/strict';
import test from 'node:test';
import { differs } from '../../web/src/base/differs.ts';

test('lists of plain things differ if one of them does', () => {
  const tabs = (key: string) => [
    { id: 'state', key, lacks: undefined },
    { id: 'map', key: '3' },
  ];
  assert.equal(differs(tabs('2'), tabs('2')), false);
  assert.equal(differs(tabs('2'), tabs('4')), true);
  assert.equal(differs(tabs('2'), tabs('2').slice(1)), true);
  assert.equal(differs([{ a: 1 }], [{ a: 1, b: undefined }]), true);
  assert.equal(differs([Number.NaN, 'x'], [Number.NaN, 'x']), false);
  assert.equal(differs(undefined, []), true);
});

test('other things differ unless they are the same', () => {
  const [one, other] = [new Map(), new Map()];
  assert.equal(differs([one], [other]), true);
  assert.equal(differs([one], [one]), false);
});
