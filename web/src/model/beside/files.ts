// Files of one run that are open together: a profiler's trace and counters lie beside the recording that is shown, by the
// clock. Which trace, how far each clock is off and which threads are open belongs to the page, and to its links.
import type { Microseconds } from '../../base/units.ts';
import type { Engine, EngineView } from '../../../engine/index.ts';

/** What the reader chose; files by their content hash. */
export interface Beside {
  /** Whose ops are drawn; undefined = the first trace whose clock meets that of the recording. */
  readonly trace: string | undefined;
  /** Added to the recording's times, so that both clocks agree. */
  readonly nudges: ReadonlyMap<string, Microseconds>;
  /** Of a trace: whose rows are shown, if not only those of the first thread. */
  readonly threads: ReadonlyMap<string, readonly number[]>;
}
export const nothingBeside: Beside = { trace: undefined, nudges: new Map(), threads: new Map() };

/** A change of it, as views tell it: `beside-change`. */
export interface BesideChange {
  hash: string;
  nudge?: Microseconds;
  threads?: readonly number[];
  /** Its ops are to be drawn. */
  trace?: true;
}

export interface BesideFile {
  name: string;
  hash: string;
  nudge: Microseconds;
}
export interface BesideTrace extends BesideFile {
  view: EngineView;
  threads: readonly number[];
  /** All that could be drawn, this one among them. */
  all: readonly { name: string; hash: string }[];
}
export interface BesideCounters extends BesideFile {
  engine: Engine;
}
/** What lies beside a recording. */
export interface BesideFiles {
  trace: BesideTrace | undefined;
  counters: readonly BesideCounters[];
}
export const noFiles: BesideFiles = { trace: undefined, counters: [] };

/** A file beside the recording as a link names it. */
export interface BesideInLink extends BesideFile {
  /** Undefined = it is no trace. */
  threads: readonly number[] | undefined;
}
