// A stack as the details show it: runs of library frames fold away. Whose code a frame is, the engine says.
import type { Frame } from '../../engine/index.ts';

export type Origin = 'own' | 'library' | 'interpreter';

export interface StackRun {
  origin: Origin;
  frames: Frame[];
}

export function originOf({ own, hidden }: Frame): Origin {
  if (own) return 'own';
  return hidden ? 'interpreter' : 'library';
}

/** The frame a reader looks for first: the innermost one of the user's own. */
export function ownFrame(frames: readonly Frame[]): Frame | undefined {
  return frames.find(({ own }) => own);
}

/** Neighbours of one origin together; interpreter frames are left out unless asked for. */
export function runsOf(frames: readonly Frame[], withInterpreter: boolean): StackRun[] {
  const runs: StackRun[] = [];
  for (const frame of frames) {
    const origin = originOf(frame);
    if (origin === 'interpreter' && !withInterpreter) continue;
    const last = runs.at(-1);
    if (last?.origin === origin) last.frames.push(frame);
    else runs.push({ origin, frames: [frame] });
  }
  return runs;
}
