// What panels remember of each view, whether they are open or not.
import type { ViewInfo } from '../engine/answers.ts';
import type { Kept } from './panel.ts';

const all = new WeakMap<ViewInfo, Map<string, object>>();

function of(info: ViewInfo): Map<string, object> {
  const known = all.get(info) ?? new Map<string, object>();
  all.set(info, known);
  return known;
}

/** The panel's own view of it; what it keeps itself makes no new object. */
export function keptOf<S extends object>(info: ViewInfo, id: string, initial: S): Kept<S> {
  const kept = {
    value: { ...initial, ...(of(info).get(id) as Partial<S> | undefined) },
    keep(change: Partial<S>) {
      kept.value = { ...kept.value, ...change };
      of(info).set(id, kept.value);
    },
  };
  return kept;
}

/** From outside: the panel begins anew with what is told here, the rest as at first. */
export function beginWith(info: ViewInfo, id: string, memory: object): void {
  of(info).set(id, memory);
}
