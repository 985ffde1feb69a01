// What panels remember of each view, whether they are open or not: all of it here, and as texts in the workspace what links,
// Back and a reload bring back.
import type { EngineView } from '../../engine/index.ts';
import type { PanelTexts } from '../model/workspace.ts';
import type { LinkField } from './link_field.ts';
import type { Kept, LoadedPanel } from './panel.ts';

const all = new WeakMap<object, Map<string, object>>();

function of({ run }: EngineView): Map<string, object> {
  const known = all.get(run) ?? new Map<string, object>();
  all.set(run, known);
  return known;
}

type Fields = [string, LinkField<unknown>][];
const fieldsOf = ({ linked }: LoadedPanel): Fields => Object.entries(linked ?? {}) as Fields;

/** Those of one panel, the same for the same choices. */
export function textsOf(texts: PanelTexts, id: string): string {
  const own = Object.entries(texts).filter(([name]) => name.startsWith(`${id}.`));
  return JSON.stringify(own.sort());
}

/** The panel's own view of it; what it keeps itself makes no new object. `told` hears all texts when some of this panel changed. */
export function keptOf(
  view: EngineView,
  id: string,
  panel: LoadedPanel,
  texts: PanelTexts,
  told: (change: PanelTexts) => void,
): Kept<object> & { readonly texts: string } {
  const fields = fieldsOf(panel);
  const initial = panel.initial as Readonly<Record<string, unknown>>;
  const linked = Object.fromEntries(
    fields.map(([name, field]) => [name, field.value(texts[`${id}.${name}`] ?? '') ?? initial[name]]),
  );
  const kept = {
    value: { ...initial, ...of(view).get(id), ...linked } as Readonly<Record<string, unknown>>,
    texts: textsOf(texts, id),
    keep(change: object) {
      kept.value = { ...kept.value, ...change };
      of(view).set(id, kept.value);
      const now = Object.fromEntries(
        fields
          .filter(([name, field]) => field.text(kept.value[name]) !== field.text(initial[name]))
          .map(([name, field]) => [`${id}.${name}`, field.text(kept.value[name])]),
      );
      const before = kept.texts;
      kept.texts = textsOf(now, id);
      if (kept.texts !== before) told(now);
    },
  };
  return kept;
}
