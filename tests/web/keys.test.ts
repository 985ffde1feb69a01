// The table of keys against the actions.
import assert from 'node:assert/strict';
import test from 'node:test';
import { actionOf, actions, keyText } from '../../web/src/viewer/actions.ts';

test('every key of the table means its action, and no two mean the same', () => {
  const press = (key: string): KeyboardEvent => {
    const parts = key.split(' ');
    const last = parts.at(-1)!;
    const shiftKey = parts.includes('Shift');
    const code = /^(Key|Arrow)/.test(last)
      ? last
      : last.length === 1 && /[a-z]/.test(last)
        ? `Key${last.toUpperCase()}`
        : '';
    const typed = /^Key/.test(last) ? last.slice(3).toLowerCase() : last === 'Space' ? ' ' : last;
    return {
      code,
      key: shiftKey ? typed.toUpperCase() : typed,
      shiftKey,
      ctrlKey: parts.includes('Ctrl'),
      metaKey: false,
      altKey: false,
    } as KeyboardEvent;
  };
  const seen = new Set<string>();
  for (const action of actions) {
    assert.ok(action.movement ?? action.run, action.id);
    for (const key of action.keys) {
      assert.equal(actionOf(press(key))?.id, action.id, key);
      assert.equal(seen.has(key), false, key);
      seen.add(key);
    }
  }
  assert.equal(actionOf({ ...press('f'), altKey: true }), undefined);
  assert.equal(actionOf(press('Ctrl f')), undefined);
  assert.equal(keyText('Shift KeyW'), 'Shift W');
});
