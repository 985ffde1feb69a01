// Ranks of a fleet and their facts, in words.
import {
  formatBytes,
  formatCount,
  formatExactBytes,
  formatShare,
  formatWallClock,
  plural,
} from '../base/format.ts';
import type { FleetFacts } from '../model/fleet_facts.ts';
import type { FleetColumn, FleetCoverage, FleetUnit } from '../model/fleet_file.ts';

/** `Rank 613 of run a`, or its file where no rank is known. */
export function rankName(facts: FleetFacts, row: number): string {
  const [rank, run, file] = [facts.number('rank', row), facts.text('run', row), facts.text('file', row)];
  const name = rank === null ? file || `Row ${formatCount(row + 1)}` : `Rank ${rank}`;
  return run !== '' && facts.runs > 1 ? `${name} of ${run}` : name;
}

/** `47 ranks`; rows where a rank has several, or none is known. */
export function countOfRanks({ fleet, count }: FleetFacts, some: number): string {
  const ranks = fleet.coverage.reduce((sum, { ranks: ofRun }) => sum + ofRun, 0);
  return plural(some, ranks === count ? 'rank' : 'row');
}

/** What tells it from others: `node0076 · rank613.pickle`. */
export function rankPlace(facts: FleetFacts, row: number): string {
  return [facts.text('host', row), facts.text('file', row)].filter((text) => text !== '').join(' · ');
}

export const columnTitle = ({ title, name }: FleetColumn): string => title ?? name ?? '';

export function factText(unit: FleetUnit, value: number | string | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'string') return value;
  if (unit === 'bytes') return formatBytes(value);
  if (unit === 'share') return formatShare(value, 1);
  if (unit === 'us') return formatWallClock(value);
  return formatCount(Math.round(value));
}
/** With all its digits, for who points at it. */
export function factExactly(unit: FleetUnit, value: number | string | null | undefined): string {
  if (unit === 'bytes' && typeof value === 'number') return formatExactBytes(value);
  return unit === 'count' && typeof value === 'number' ? String(value) : factText(unit, value);
}

/** `1,000 of 1,024 ranks, 1,000 rows; missing: 3, 7 to 9` */
export function coverageText({ ranks, world_size, rows, missing }: FleetCoverage): string {
  const of = world_size !== null && world_size !== ranks ? `${formatCount(ranks)} of ` : '';
  const count = world_size !== null && world_size !== ranks ? world_size : ranks;
  const same = rows === ranks ? '' : `, ${plural(rows, 'row')}`;
  return `${of}${plural(count, 'rank')}${same}${missing ? `; missing: ${missing}` : ''}`;
}
