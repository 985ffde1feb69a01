// Rectangles of the allocator's state, as they are drawn.
import assert from 'node:assert/strict';
import test from 'node:test';
import { drawState } from '../../web/src/draw/state_rects.ts';
import { themes } from '../../web/src/draw/colors.ts';
import type { StateRects } from '../../web/engine/index.ts';

test('a segment, its frame and its block are drawn, and nothing else', () => {
  const filled: string[] = [];
  const ctx = {
    canvas: { width: 100, height: 50 },
    fillStyle: '',
    fillRect(...place: number[]) {
      filled.push(`${this.fillStyle} ${place.join(' ')}`);
    },
  };
  // A segment of 80 x 10 with a block in its first half, in an older window that lay 5 further left and 3 lower.
  const rects: StateRects = {
    x: Float32Array.of(10, 10),
    y: Float32Array.of(20, 20),
    width: Float32Array.of(80, 40),
    height: Float32Array.of(10, 10),
    kind: Uint8Array.of(0, 1),
    row: Int32Array.of(0, 0),
    rank: Int32Array.of(-1, 0),
    free: Float32Array.of(0.5, 0),
  };
  drawState(
    ctx as unknown as Parameters<typeof drawState>[0],
    rects,
    { scale: 1, x: 5, y: -3 },
    themes.light,
    1,
  );
  assert.deepEqual(filled, [
    '#f5f6f8 0 0 100 50',
    '#8b97a5 14 16 82 12', // one pixel around 15, 17, 80 x 10
    '#ffffff 15 17 80 10',
    '#8696aa 15 17 40 10',
  ]);
});
