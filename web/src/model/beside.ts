// Files of one run that are open together: a profiler's trace and counters lie beside the recording that is shown, by the
// clock. Which trace, how far each clock is off and which threads are open belongs to the page, and to its links.
import type { Microseconds } from '../base/units.ts';
import type { Engine, EngineView } from '../../engine/index.ts';
import type { OpenFile } from './open_file.ts';

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

const firstThread: readonly number[] = [0];

/** Both were recorded at the same time, as far as their clocks tell; `nudge` is added to the recording's times. */
export function meet(
  { first_us: first, last_us: last }: Span,
  recording: { first_time_us: Microseconds | null; last_time_us: Microseconds | null },
  nudge: Microseconds,
): boolean {
  const { first_time_us: from, last_time_us: to } = recording;
  if (from === null || to === null || first === null || last === null) return false;
  return to + nudge >= first && from + nudge <= last;
}
/** On a clock, since 1970; null = there is none. */
export interface Span {
  first_us: Microseconds | null;
  last_us: Microseconds | null;
}
export const spanOf = ({ info }: EngineView): Span => ({
  first_us: info.first_time_us,
  last_us: info.last_time_us,
});

/** What of `files` lies beside one of them. */
export function filesBeside(
  shown: OpenFile | undefined,
  files: readonly OpenFile[],
  chosen: Beside,
): BesideFiles {
  const { view } = shown ?? {};
  if (!shown || !view) return noFiles;
  const others = files.filter((file) => file !== shown && file.engine.alive);
  const common = ({ name, hash }: OpenFile): BesideFile => ({
    name,
    hash,
    nudge: chosen.nudges.get(hash) ?? 0,
  });
  const traces = view.info.has_ops
    ? []
    : others.flatMap((file) => (file.view?.info.has_ops ? [{ ...common(file), view: file.view }] : []));
  const trace =
    traces.find(({ hash }) => hash === chosen.trace) ??
    traces.find((one) => meet(spanOf(one.view), view.info, one.nudge)) ??
    traces[0];
  return {
    trace: trace && {
      ...trace,
      threads: chosen.threads.get(trace.hash) ?? firstThread,
      all: traces.map(({ name, hash }) => ({ name, hash })),
    },
    counters: others
      .filter(({ view: own, contents }) => !own && contents.series > 0)
      .map((file) => ({ ...common(file), engine: file.engine })),
  };
}

export function changed(before: Beside, { hash, nudge, threads, trace }: BesideChange): Beside {
  return {
    trace: trace ? hash : before.trace,
    nudges: nudge === undefined ? before.nudges : new Map(before.nudges).set(hash, nudge),
    threads: threads === undefined ? before.threads : new Map(before.threads).set(hash, threads),
  };
}

/** For a link. */
export const besideInLink = ({ trace, counters }: BesideFiles): BesideInLink[] => [
  ...(trace ? [{ name: trace.name, hash: trace.hash, nudge: trace.nudge, threads: trace.threads }] : []),
  ...counters.map(({ name, hash, nudge }) => ({ name, hash, nudge, threads: undefined })),
];

/** As a link has it; files that it does not name keep what they have. */
export function restored(before: Beside, files: readonly BesideInLink[]): Beside {
  return files.reduce<Beside>(
    (all, { hash, nudge, threads }) =>
      changed(all, { hash, nudge, ...(threads && { threads, trace: true }) }),
    before,
  );
}

/** The same object for the same files. */
export function sameFiles(a: BesideFiles, b: BesideFiles): boolean {
  const told = ({ trace, counters }: BesideFiles): unknown[] =>
    [trace, ...counters].flatMap((file) =>
      file ? [file.hash, file.name, file.nudge, 'view' in file ? file.view : file.engine] : [undefined],
    );
  const [one, other] = [told(a), told(b)];
  return (
    one.length === other.length &&
    one.every((value, at) => value === other[at]) &&
    a.trace?.threads === b.trace?.threads &&
    a.trace?.all.length === b.trace?.all.length
  );
}
