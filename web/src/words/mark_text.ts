// A region and a marker in words.
import { formatBytes, formatCount, formatDuration, formatMoment, plural } from '../base/format.ts';
import type { Microseconds } from '../base/units.ts';
import type { Marks } from '../../engine/index.ts';

type Region = Marks['regions'][number];
type Marker = Marks['markers'][number];

/** Name, where it lies, how long it took, what was allocated in it. `firstTime`: of the recording. */
export function regionLines(region: Region, firstTime: Microseconds | null): string[] {
  const { name, from_event, to_event, from_us, to_us, cut_start, cut_end } = region;
  const events = to_event - from_event;
  const lines = [name === '' ? '(no name)' : name];
  if (events > 0) {
    const last = to_event - 1;
    const range = `${formatCount(from_event)} to ${formatCount(last)}`;
    lines.push(
      events === 1 ? `event ${formatCount(from_event)}` : `events ${range} (${formatCount(events)})`,
    );
  } else {
    lines.push('no event of this device');
  }
  const moment = (time: Microseconds): string => formatMoment(time - (firstTime ?? 0));
  if (from_us !== null && to_us !== null)
    lines.push(`${moment(from_us)} to ${moment(to_us)}: ${formatDuration(to_us - from_us)}`);
  else if (from_us !== null) lines.push(`from ${moment(from_us)}`);
  else if (to_us !== null) lines.push(`until ${moment(to_us)}`);
  if (cut_start) lines.push('It began before the first event.');
  if (cut_end) lines.push('Its end was not recorded.');
  lines.push(`${formatBytes(region.allocated_bytes)} allocated in ${plural(region.allocations, 'block')}`);
  return lines;
}

const titles = { oom: 'Out of memory', snapshot: 'Snapshot taken', annotate: 'Note' } as const;

export function markerLines(marker: Marker, firstTime: Microseconds | null): string[] {
  const { kind, event, time_us, text } = marker;
  const title = titles[kind];
  const lines: string[] = [title];
  const said = text.startsWith('out of memory: ') ? text.slice('out of memory: '.length) : text;
  if (said !== '' && said !== title.toLowerCase()) lines.push(said);
  const time = time_us === null ? '' : ` · ${formatMoment(time_us - (firstTime ?? 0))}`;
  lines.push(`event ${formatCount(event)}${time}`);
  return lines;
}
