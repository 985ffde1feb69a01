// How numbers over time are said.
import { formatCount, formatDuration, formatMoment, formatWallClock } from '../base/format.ts';
import type { AxisUnits } from '../base/units.ts';
import type { SeriesMark, SeriesMoment, SeriesPart } from '../../engine/index.ts';

const names: Readonly<Record<string, string>> = {
  total: 'In all',
  device_used: 'Used on the device',
  device_free: 'Free on the device',
  device_total: 'Size of the device',
  call_before: 'Before calls',
  call_peak: 'Peak of calls',
  call_after: 'After calls',
  call_net: 'Kept by calls',
  fw_start: 'Forward begins',
  fw_bw_boundary: 'Backward begins',
};

/** `OPTIMIZER_STATE` as `Optimizer state`. */
export function nameOfSeries(name: string): string {
  const known = names[name];
  if (known !== undefined) return known;
  const words = name.replaceAll('_', ' ').toLowerCase();
  return /^[a-zA-Z_ ]+$/.test(name) ? words.charAt(0).toUpperCase() + words.slice(1) : name;
}

export function nameOfDevice(device: number | null): string {
  if (device === null) return '';
  return device < 0 ? 'CPU' : `Device ${device}`;
}

export const titleOfPart = ({ of: are, name }: SeriesPart): string =>
  [
    {
      counters: 'Counters of the allocator',
      categories: 'Memory by category',
      operators: 'Memory by operator',
    }[are],
    ...(name === '' ? [] : [name]),
  ].join(' · ');

/** What it is, in numbers. */
export function extentOfPart(part: SeriesPart): string {
  const points = Math.max(0, ...part.curves.map((curve) => curve.points));
  if (part.of === 'operators') return `${formatCount(points)} operator calls`;
  if (!part.has_clock) return `${formatCount(points)} printed snapshots`;
  const since = part.first_us === null ? '' : `, from ${formatWallClock(part.first_us)}`;
  return `${formatCount(points)} points in ${formatDuration(Math.max(part.extent - 1, 0))}${since}`;
}

/** A place on the axis. */
export function placeOf(part: SeriesPart, position: AxisUnits): string {
  if (part.has_clock) return formatMoment(position);
  return `${part.of === 'operators' ? 'Operator' : 'Snapshot'} ${formatCount(part.first_step + position)}`;
}

/** What happened at a place. */
export function happenedAt(part: SeriesPart, { label, note }: SeriesMoment): string {
  if (part.of === 'categories' && label !== null && note !== null)
    return `${nameOfSeries(label)}: ${note.toLowerCase().replaceAll('_', ' ')}`;
  return [label, note].filter((text) => text !== null && text !== '').join(': ');
}

export const markText = ({ name, note }: SeriesMark): string =>
  note === '' ? nameOfSeries(name) : `${nameOfSeries(name)}: ${note}`;
