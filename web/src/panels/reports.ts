// The answers about a device, asked for once and kept with its view: overview, out of memory and leaks tell parts of them.
import type { EngineView, Report } from '../../engine/index.ts';

const kept = new WeakMap<EngineView, Promise<Report>>();

export function reportOf(view: EngineView): Promise<Report> {
  const known = kept.get(view);
  if (known) return known;
  const asked = view.ask('report', {});
  kept.set(view, asked);
  asked.catch(() => kept.delete(view)); // asked again when the device is shown again
  return asked;
}
