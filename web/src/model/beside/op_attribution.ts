// A trace lies beside a snapshot: the trace's engine is asked in which op each allocation of the snapshot was made, and the
// snapshot's engine is told, so that filters mean ops. A part at a time: other questions come in between.
import { NodesToTell } from './op_path_upload.ts';
import type { Args, Engine, EngineView } from '../../../engine/index.ts';
import type { Microseconds } from '../../base/units.ts';

/** How many allocations have an op, and why the others have none. */
export interface ToldOps {
  allocations: number;
  told: number;
  inNoOp: number;
  onSeveralThreads: number;
  outside: number;
  withoutTime: number;
}

export interface Telling {
  recording: EngineView;
  trace: EngineView;
  nudge: Microseconds;
}

const known = new WeakMap<Engine, Map<string, { of: Telling; found: ToldOps }>>();
const keyOf = ({ recording: { shown } }: Telling): string => `${shown.snapshot},${shown.device}`;
const isSame = (a: Telling, b: Telling): boolean => a.trace === b.trace && a.nudge === b.nudge;

const nothing: Args<'tellMadeIn'> = { anew: false, parents: [], names: [], ops: [], events: [], nodes: [] };

/** What is known of it; undefined = it was not told, something else was, or the engine has forgotten it. */
export async function toldOps(of: Telling): Promise<ToldOps | undefined> {
  const last = known.get(of.recording.engine)?.get(keyOf(of));
  if (!last || !isSame(last.of, of)) return undefined;
  return (await of.recording.ask('tellMadeIn', nothing)) === last.found.told ? last.found : undefined;
}

/** Undefined = it was given up: another one is wanted, or an engine is gone. */
export async function tellOps(of: Telling, isWanted: () => boolean): Promise<ToldOps | undefined> {
  const { recording, trace, nudge } = of;
  known.get(recording.engine)?.delete(keyOf(of));
  const found: ToldOps = {
    allocations: 0,
    told: 0,
    inNoOp: 0,
    onSeveralThreads: 0,
    outside: 0,
    withoutTime: 0,
  };
  const nodes = new NodesToTell(trace);
  const { device } = recording.shown;
  let anew = true;
  for (let from = 0; from < recording.info.events || anew;) {
    const { next, event, time_us, address } = await recording.ask('allocations', { from });
    const timed = [...event.keys()].filter((i) => !Number.isNaN(time_us[i]));
    const { node } = await trace.ask('opsOf', {
      device,
      times: timed.map((i) => (time_us[i] ?? 0) + nudge),
      addresses: timed.map((i) => address[i] ?? -1),
    });
    const made = timed.flatMap((i, at) =>
      (node[at] ?? -1) < 0 ? [] : [{ event: event[i] ?? 0, node: node[at] ?? 0 }],
    );
    for (const part of await nodes.parts(made)) {
      if (!isWanted()) return undefined;
      await recording.ask('tellMadeIn', { anew, ...part });
      anew = false;
    }
    found.allocations += event.length;
    found.told += made.length;
    found.withoutTime += event.length - timed.length;
    for (const code of node) {
      if (code === -1) found.inNoOp += 1;
      if (code === -2) found.onSeveralThreads += 1;
      if (code === -3) found.outside += 1;
    }
    from = next;
    if (!isWanted()) return undefined;
  }
  const all = known.get(recording.engine) ?? new Map<string, { of: Telling; found: ToldOps }>();
  known.set(recording.engine, all.set(keyOf(of), { of, found }));
  return found;
}
