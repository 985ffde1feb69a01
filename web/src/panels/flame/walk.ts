// From rectangle to rectangle of a flame graph by keys. No DOM.
import type { FlameGraph } from '../../../engine/index.ts';

export type Step = 'caller' | 'callee' | 'before' | 'behind';

/** -1 = there is none there. */
export function stepFrom(flame: FlameGraph, rect: number, step: Step): number {
  const { parent, row, frame } = flame.rects;
  const count = row.length;
  if (count === 0) return -1;
  if (rect < 0 || rect >= count) return 0;
  if (step === 'caller') return parent[rect] ?? -1;
  if (step === 'callee') {
    for (let i = rect + 1; i < count; i += 1) if (parent[i] === rect) return i;
    return -1;
  }
  const next = step === 'before' ? rect - 1 : rect + 1;
  return next >= 0 && next < count && row[next] === row[rect] && frame[next] !== undefined ? next : -1;
}

/** Keys from the root's child to the rectangle. */
export function pathTo(flame: FlameGraph, rect: number): number[] {
  const path: number[] = [];
  for (let i = rect; i >= 0; i = flame.rects.parent[i] ?? -1) {
    const frame = flame.frames[flame.rects.frame[i] ?? -1];
    if (frame) path.unshift(frame.key);
  }
  return path;
}
