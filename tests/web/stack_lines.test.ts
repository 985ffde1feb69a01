// Whose code a frame is.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Frame } from '../../web/engine/index.ts';
import { originOf, ownFrame, runsOf } from '../../web/src/words/stack_lines.ts';

test('own frames stand out from libraries and the interpreter', () => {
  // Whose code it is the engine says: analysis/stacks/own_frame.h, OwnFrames.
  const frame = (name: string, own = false, hidden = false): Frame => ({
    text: name, name, file: 'train.py', line: 1, repeats: 1, hidden, own, fx: [],
  }); // prettier-ignore
  const frames = [
    frame('at::native::empty'),
    frame('_PyEval_EvalFrameDefault', false, true),
    frame('forward'),
    frame('attention', true),
    frame('step', true),
  ];
  assert.deepEqual(frames.map(originOf), ['library', 'interpreter', 'library', 'own', 'own']);
  assert.equal(ownFrame(frames)?.name, 'attention');
  assert.equal(ownFrame(frames.slice(0, 3)), undefined);
  const runs = (all: boolean): unknown[] =>
    runsOf(frames, all).map(({ origin, frames: run }) => [origin, run.length]);
  assert.deepEqual(runs(false), [['library', 2], ['own', 2]]); // prettier-ignore
  assert.deepEqual(runs(true), [['library', 1], ['interpreter', 1], ['library', 1], ['own', 2]]); // prettier-ignore
});
