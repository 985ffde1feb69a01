// The words of a marker beside it.
import { type TemplateResult } from 'lit';
import { formatCount } from '../base/format.ts';
import type { CssPx, Microseconds } from '../base/units.ts';
import type { Projection } from '../draw/plot.ts';
import { markerLines } from '../words/mark_text.ts';
import type { PlacedMarker, PlacedMarks } from './tracks/marks_track.ts';
import { tip } from '../controls/tip.ts';

/** Above the ruler for what lies there, below the cross of an OOM. */
export function markerTip(
  marker: PlacedMarker,
  { markers, markersLeftOut }: PlacedMarks,
  firstTime: Microseconds | null,
  at: Projection,
  width: CssPx,
): TemplateResult {
  const { area } = at;
  const lines = markerLines(marker, firstTime);
  if (markersLeftOut > 0 && marker === markers.at(-1))
    lines.push(`${formatCount(markersLeftOut)} later markers are not shown.`);
  const low = marker.kind !== 'oom';
  const y = low ? area.top + area.height - (lines.length * 17 + 30) * area.ratio : area.top + 4 * area.ratio;
  return tip(at.x(marker.at) / area.ratio, width, Math.max(y / area.ratio, 0), lines);
}
