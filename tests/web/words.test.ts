// What is said of a block, with and without a history and where only who freed it is known, and of a measured stretch; names cut short.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { BlockDetails, Frame, StateBlock, ViewInfo } from '../../web/engine/index.ts';
import { middle } from '../../web/src/controls/middle.ts';
import { spoken } from '../../web/src/timeline/tracks/ruler_track.ts';
import { describeBlock } from '../../web/src/words/block_text.ts';
import { describeThing } from '../../web/src/words/thing_text.ts';
import { textOf } from '../../web/src/words/described.ts';

const MiB = 1024 ** 2;
const info = (has_history: boolean): ViewInfo =>
  ({ has_history, first_time_us: null, bands: 'blocks' }) as Partial<ViewInfo> as ViewInfo;
const frame: Frame = {
  text: 'entrance.py:100:compress_model', name: 'compress_model', file: 'entrance.py', line: 100,
  repeats: 1, hidden: false, own: true, fx: [],
}; // prettier-ignore
const block = (more: Partial<BlockDetails>): BlockDetails => ({
  rank: 0, name: "b'7f00_0", address: '0x7f00', version: 0, kind: 'final_only', requested_size: MiB,
  block_size: MiB, state: 'active_allocated', stream: 0, stream_handle: '0', pool: null, pool_from: null,
  born_event: -1, free_requested_event: null, freed_event: null, born_time_us: null, freed_time_us: null,
  lifetime_events: 0, lifetime_us: null, total_after: null, compile_context: null, user_metadata: null,
  annotations: [], extras: {}, frames: [frame], stack_of: 'block', who: 'compress_model entrance.py:100',
  forward_frames: null, no_stack_reasons: [], annotations_left_out: 0, extras_left_out: 0, frames_left_out: 0,
  ...more,
}); // prettier-ignore
const stateBlock = (more: Partial<StateBlock>): StateBlock => ({
  row: 0, name: "b'7f00_0", address: '0x7f00', size: MiB, requested_size: MiB, rounding: 0,
  state: 'active_allocated', begin: -1, end: -1, alloc_event: -1, free_requested_event: -1,
  free_completed_event: -1, rank: 0, segment: 0, stream: 0, stream_handle: '0', pool: null,
  compile_context: null, user_metadata: null, annotations: [], frames: [frame], stack_of: 'block', who: null,
  in_dump: true, annotations_left_out: 0, frames_left_out: 0, ...more,
}); // prettier-ignore

test('of a device without a history nothing is said of events', () => {
  const told = describeBlock(block({}), info(false));
  assert.equal(told.note, 'It was there when the snapshot was saved.');
  const state = describeThing({ kind: 'state-block', block: stateBlock({}), at: -1 }, info(false));
  assert.equal(state.note, told.note);
  for (const one of [told, state])
    assert.doesNotMatch(textOf(one), /event|first|never|Lived|recording|at the end/);
  assert.ok(
    told.facts.some(({ label, value }) => label === 'State when saved' && value === 'active_allocated'),
  );
});

test('a block that was there before the first event, with its life as far as it is known', () => {
  const told = describeBlock(block({ lifetime_events: 7 }), info(true));
  assert.equal(told.note, 'Existed before the first event and was still there at the end.');
  assert.match(textOf(told), /Allocated: before the first event\nFreed: never, within the recording\n/);
  assert.match(textOf(told), /Lived: at least 7 events\nState at the end: active_allocated\n/);
  assert.equal(told.ofFree, false);
  assert.ok(told.ways.some(({ label }) => label === 'all of its line'));
});

test('who freed a block is not said to have allocated it', () => {
  const freed = { state: null, stack_of: 'free', who: null } as const;
  const told = describeBlock(block({ ...freed, kind: 'freed_only', freed_event: 4 }), info(true));
  assert.equal(
    told.note,
    'Existed before the first event; known by its free. The stack came with its free: who allocated it is not known.',
  );
  assert.equal(told.ofFree, true);
  assert.equal(told.stackTitle, 'Freed at');
  assert.ok(!told.ways.some(({ label }) => label === 'all of its line'));
  const state = describeThing({ kind: 'state-block', block: stateBlock(freed), at: 2 }, info(true));
  assert.match(state.note ?? '', /who allocated it is not known/);
  // Recorded so that frees have the stack of the allocation.
  const known = describeThing(
    { kind: 'state-block', block: stateBlock({ ...freed, who: 'step train.py:7' }), at: 2 },
    info(true),
  );
  assert.equal(known.ofFree, false);
  assert.equal(known.note, 'Existed before the first event.');
});

test('the ruler does not say that memory grew by its height', () => {
  const measured = { axis: 'event', from: { x: 797, y: 0 }, to: { x: 2238.5, y: 14 * 1024 * MiB } } as const;
  assert.equal(
    spoken({ ...measured, text: '+14.0 GiB · 1,441 events', across: ['1,441 events'] }),
    'From event 797 to event 2,238: a height of 14.0 GiB · 1,441 events',
  );
});

test('a long name is two parts, of which the first has room for an ellipsis', () => {
  const parts = (name: string): readonly unknown[] => middle(name).values;
  assert.deepEqual(parts('train.py:4'), ['train.py:4']);
  assert.deepEqual(parts('trainers.py:444'), ['trai', 'ners.py:444']);
  assert.deepEqual(parts('compress_model entrance.py:100'), ['compress_model e', 'ntrance.py:100']);
});
