// What panels remember of each view, whether they are open or not.
import type { EngineView } from '../../engine/index.ts';
import type { Kept } from './panel.ts';

const all = new WeakMap<EngineView, Map<string, object>>();

function of(view: EngineView): Map<string, object> {
  const known = all.get(view) ?? new Map<string, object>();
  all.set(view, known);
  return known;
}

/** The panel's own view of it; what it keeps itself makes no new object. */
export function keptOf<S extends object>(view: EngineView, id: string, initial: S): Kept<S> {
  const kept = {
    value: { ...initial, ...(of(view).get(id) as Partial<S> | undefined) },
    keep(change: Partial<S>) {
      kept.value = { ...kept.value, ...change };
      of(view).set(id, kept.value);
    },
  };
  return kept;
}

/** From outside: the panel begins anew with what is told here, the rest as at first. */
export function beginWith(view: EngineView, id: string, memory: object): void {
  of(view).set(id, memory);
}
