// The answers about a device, asked for once and kept with its view: overview, out of memory and leaks tell parts of them.
import type { EngineView, Report } from '../../engine/index.ts';

const kept = new WeakMap<EngineView, Promise<Report>>();

/** Of a long recording it takes a second: other questions come in between. */
async function inParts(view: EngineView): Promise<Report> {
  for (let part = 1, parts = 1; part <= parts; part += 1) {
    await view.engine.urgent;
    parts = await view.ask('prepareReport', { part });
  }
  return view.ask('report', {});
}

export function reportOf(view: EngineView): Promise<Report> {
  const known = kept.get(view);
  if (known) return known;
  const asked = inParts(view);
  kept.set(view, asked);
  asked.catch(() => kept.delete(view)); // asked again when the device is shown again
  return asked;
}
