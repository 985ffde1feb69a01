// Which way to colour tells most of a file's peak apart. Loaded when the first picture is there.
import type { ColourBy, EngineView } from '../../engine/index.ts';
import { reportOf } from '../panels/reports.ts';

/** Ways that are tried, with the share of the peak that may be of nothing known or of what is left over. */
const ways: readonly (readonly [by: ColourBy, unknown: number])[] = [
  ['category', 0.25],
  ['stack', 0.5],
];
const mostOfOne = 0.95; // of the peak: more would be one colour
const nothingKnown: ReadonlySet<string> = new Set(['unknown', 'other', 'no stack']);

async function tells(view: EngineView, by: ColourBy, mostUnknown: number): Promise<boolean> {
  const [{ kinds }, shares] = await Promise.all([
    view.ask('kinds', { by }),
    view.ask('shares', { by, event: view.info.peak.event, filter: '' }),
  ]);
  if (shares.level <= 0) return false;
  let unknown = 0;
  let largest = 0;
  kinds.forEach(({ label, merged }, index) => {
    const share = (shares.kinds[index]?.bytes ?? 0) / shares.level;
    largest = Math.max(largest, share);
    if (nothingKnown.has(label) || merged > 0) unknown += share;
  });
  return unknown <= mostUnknown && largest <= mostOfOne;
}

export async function surestColour(view: EngineView): Promise<ColourBy> {
  await reportOf(view); // in parts; what categories need is there then
  for (const [by, unknown] of ways) if (await tells(view, by, unknown)) return by;
  return 'allocation';
}
