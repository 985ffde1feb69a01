// A stack as the panel shows it: the user's own frames stand out, runs of library frames fold away.
import type { Frame } from '../engine/answers.ts';

export type Origin = 'own' | 'library' | 'interpreter';

export interface StackRun {
  origin: Origin;
  frames: Frame[];
}

const libraryPath =
  /(^|[/\\])(site-packages|dist-packages|lib[/\\]python\d|torch|torchvision|transformers|nvidia|triton|_inductor)([/\\]|$)|^<(frozen|eval_with_key|string|built-in)|(^|[/\\])(runpy|threading|contextlib|importlib|functools|queue)\.py$/i;
const nativeFile = /\.(c|cc|cpp|cxx|cu|cuh|h|hpp|hh|inl|so|pyx)$|\.so[.\d]*$/i;

/** Whose code a frame is, by its path; C++ without a file counts as library. */
export function originOf(frame: Frame): Origin {
  const { file } = frame;
  // The official filter knows some functions of the interpreter; its other ones have no file either.
  if (frame.hidden || ((file === '' || file === '??') && /^_?Py[A-Z]/.test(frame.name))) return 'interpreter';
  if (file === '' || file === '??' || libraryPath.test(file) || nativeFile.test(file)) return 'library';
  return 'own';
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

/** The frame a reader looks for first: the innermost one of the user's own. */
export function ownFrame(frames: readonly Frame[]): Frame | undefined {
  return frames.find((frame) => originOf(frame) === 'own');
}
