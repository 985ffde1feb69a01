// Whose code the frames of a stack are: the user's own, a library's, the interpreter's.
import type { Frame } from './frame.ts';

export type Origin = 'own' | 'library' | 'interpreter';

const installed = /(^|[/\\])(site-packages|dist-packages)[/\\]/;
/** Packages below everybody's code; the others installed beside them may be the program itself. */
const foundation =
  /[/\\](site-packages|dist-packages)[/\\](torch|functorch|triton|numpy|nvidia|apex|lightning_fabric)[/\\.]/;
const library =
  /(^|[/\\])(lib[/\\]python\d|torchinductor_|torch[/\\](nn|_\w+|utils|autograd|optim|distributed|cuda|fx|func)[/\\])|^<|(^|[/\\])(runpy|threading|contextlib|functools|queue)\.py$/;
const native = /\.(c|cc|cpp|cxx|cu|cuh|h|hpp|hh|inl|pyx)$|\.so[.\d]*$/i;

type Place = Origin | 'package';

type Named = Pick<Frame, 'file' | 'name' | 'hidden'>;

function placeOf({ file, name, hidden }: Named): Place {
  const none = file === '' || file === '??';
  // The official filter knows some functions of the interpreter; its other ones have no file either.
  if (hidden || (none && /^_?Py[A-Z]/.test(name))) return 'interpreter';
  if (none || native.test(file) || foundation.test(file)) return 'library';
  if (installed.test(file)) return 'package';
  return library.test(file) ? 'library' : 'own';
}

/** Whose code each frame is. A program that is itself an installed package counts as the user's own. */
export function originsOf(frames: readonly Named[]): Origin[] {
  const places = frames.map(placeOf);
  const package_ = places.includes('own') ? 'library' : 'own';
  return places.map((place) => (place === 'package' ? package_ : place));
}

/** The frame a reader looks for first: the innermost one of the user's own. */
export function ownFrame<F extends Named>(frames: readonly F[]): F | undefined {
  const index = originsOf(frames).indexOf('own');
  return index < 0 ? undefined : frames[index];
}
