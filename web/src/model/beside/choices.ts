// Which files lie beside the one that is shown, and how (files.ts says what that is).
import type { Microseconds } from '../../base/units.ts';
import type { EngineView } from '../../../engine/index.ts';
import {
  noFiles,
  type Beside,
  type BesideChange,
  type BesideFile,
  type BesideFiles,
  type BesideInLink,
} from './files.ts';
import type { OpenFile } from '../open_file.ts';

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
const day = 24 * 3600e6;
/** Below it a time does not count from 1970: clocks of two files may begin anywhere. */
const wallClock = 1e15;

/** False: both clocks count from 1970 and more than a day lies between, so that they are of two runs. */
export function mayMeet(
  { first_us: first, last_us: last }: Span,
  recording: { first_time_us: Microseconds | null; last_time_us: Microseconds | null },
  nudge: Microseconds,
): boolean {
  const { first_time_us: from, last_time_us: to } = recording;
  if (from === null || to === null || first === null || last === null) return true;
  if (nudge !== 0 || from < wallClock || first < wallClock) return true;
  return to + day >= first && from - day <= last;
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
    traces.find((one) => mayMeet(spanOf(one.view), view.info, one.nudge));
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
