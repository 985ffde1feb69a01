// A stack as the details show it: runs of library frames fold away.
import type { Frame } from '../engine/answers.ts';
import { originsOf, type Origin } from '../engine/origins.ts';

export interface StackRun {
  origin: Origin;
  frames: Frame[];
}

/** Neighbours of one origin together; interpreter frames are left out unless asked for. */
export function runsOf(frames: readonly Frame[], withInterpreter: boolean): StackRun[] {
  const runs: StackRun[] = [];
  const origins = originsOf(frames);
  frames.forEach((frame, index) => {
    const origin = origins[index] ?? 'library';
    if (origin === 'interpreter' && !withInterpreter) return;
    const last = runs.at(-1);
    if (last?.origin === origin) last.frames.push(frame);
    else runs.push({ origin, frames: [frame] });
  });
  return runs;
}
