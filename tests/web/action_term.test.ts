import assert from 'node:assert/strict';
import test from 'node:test';
import { actionOf, withAction } from '../../web/src/panels/events/action_term.ts';

test('the chosen action is a term of the filter', () => {
  assert.equal(actionOf(''), '');
  assert.equal(actionOf('action:alloc size>1MiB'), 'alloc');
  assert.equal(actionOf('stack:action:alloc'), '');
  assert.equal(actionOf('action:alloc or action:oom'), '');
  assert.equal(withAction('', 'blocks'), 'action:blocks');
  assert.equal(withAction('size>1MiB', 'oom'), 'action:oom size>1MiB');
  assert.equal(withAction('action:alloc size>1MiB', 'oom'), 'action:oom size>1MiB');
  assert.equal(withAction('size>1MiB action:alloc', ''), 'size>1MiB');
  assert.equal(withAction('stack:a or stack:b', 'alloc'), 'action:alloc (stack:a or stack:b)');
});
