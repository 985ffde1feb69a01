// The facts of a fleet as its views read them: columns by name, which values are far from their peers, rows in order. No
// DOM: it runs in Node.
import type { FleetChoice } from './fleet_choice.ts';
import type { Fleet, FleetColumn } from './fleet_file.ts';
import { compare, leastOfBytes, leastOfShares, medianOf } from './outliers.ts';

/** A count or a word is odd that so many others of its run do not have, if they all have the same. */
const nearlyAll = 0.9;
const fewestAlike = 10;
/** They tell ranks apart. */
const names = new Set(['run', 'rank', 'host', 'device', 'file']);

export interface Spread {
  /** Of all rows; null = none is known, or it would say nothing. */
  median: number | null;
  /** 1 = unlike its peers. */
  odd: Uint8Array;
}
/** Rows that stand together. */
export interface RowGroup {
  name: string;
  /** Place of the first in the order, and how many. */
  first: number;
  count: number;
}
export interface Ordered {
  rows: Int32Array;
  /** Empty if rows do not stand together. */
  groups: readonly RowGroup[];
}
/** Which file a row was made of. */
export interface RankFile {
  row: number;
  file: string;
  run: string;
  host: string;
  rank: number | null;
  snapshot: string;
  device: number | null;
  /** No rank of another run or host has a file of this name. */
  unique: boolean;
}

export class FleetFacts {
  readonly count: number;
  /** Those of which a value is known. */
  readonly columns: readonly FleetColumn[];
  private readonly spreads = new Map<FleetColumn, Spread>();
  private ordered: { key: string; ordered: Ordered } | undefined;

  constructor(readonly fleet: Fleet) {
    this.count = fleet.columns[0]?.values.length ?? 0;
    this.columns = fleet.columns.filter(({ values }) =>
      values.some((value) => value !== null && value !== ''),
    );
  }

  column(name: string): FleetColumn | undefined {
    return this.fleet.columns.find((one) => one.name === name);
  }
  text(name: string, row: number): string {
    const value = this.column(name)?.values[row];
    return value === null || value === undefined ? '' : String(value);
  }
  number(name: string, row: number): number | null {
    const value = this.column(name)?.values[row];
    return typeof value === 'number' ? value : null;
  }
  fileOf(row: number): RankFile {
    return {
      row,
      file: this.text('file', row),
      run: this.text('run', row),
      host: this.text('host', row),
      rank: this.number('rank', row),
      snapshot: this.text('snapshot', row),
      device: this.number('device', row),
      unique: this.isUnique(row),
    };
  }
  private isUnique(row: number): boolean {
    const [file, run, host] = [this.column('file'), this.column('run'), this.column('host')];
    const same = (column: FleetColumn | undefined, other: number): boolean =>
      column?.values[other] === column?.values[row];
    return !(file?.values ?? []).some(
      (_, other) => same(file, other) && !(same(run, other) && same(host, other)),
    );
  }
  get runs(): number {
    return new Set(this.column('run')?.values ?? []).size;
  }
  /** Ways to put rows together. */
  get kinds(): readonly string[] {
    const several = (name: string): boolean => new Set(this.column(name)?.values ?? []).size > 1;
    const kinds = new Set(this.fleet.groups.flatMap(({ kind }) => (kind === null ? [] : [kind])));
    return [...['run', 'host'].filter(several), ...kinds];
  }

  spreadOf(column: FleetColumn): Spread {
    const known = this.spreads.get(column);
    if (known) return known;
    const spread = this.newSpread(column);
    this.spreads.set(column, spread);
    return spread;
  }

  private newSpread({ name, unit, values }: FleetColumn): Spread {
    if (names.has(name ?? '') || unit === 'us') return { median: null, odd: new Uint8Array(this.count) };
    // Of a damaged file no number is whole.
    const whole = values.map((value, row) => (this.number('damaged', row) ? null : value));
    const known = whole.filter((value) => typeof value === 'number');
    if (unit === 'bytes' || unit === 'share') {
      const least = unit === 'bytes' ? leastOfBytes : leastOfShares;
      return { median: medianOf(known), odd: farOff(whole, this.peers(this.stages()), least) };
    }
    return { median: unit === 'count' ? medianOf(known) : null, odd: unlikeMost(values, this.peers()) };
  }

  /** Names of rows; of several the first. */
  private stages(): Map<number, string> {
    const stages = new Map<number, string>();
    for (const { kind, name, rows_of } of this.fleet.groups) {
      if (kind !== 'pp' || name === null) continue;
      for (const row of rows_of) {
        const known = stages.get(row);
        if (known === undefined || name < known) stages.set(row, name);
      }
    }
    return stages;
  }
  /** Rows of a run, and of one stage if stages are given. */
  private peers(stages?: ReadonlyMap<number, string>): Iterable<readonly number[]> {
    const peers = new Map<string, number[]>();
    for (let row = 0; row < this.count; row += 1) {
      const key = JSON.stringify([this.text('run', row), stages?.get(row) ?? '']);
      const rows = peers.get(key);
      if (rows) rows.push(row);
      else peers.set(key, [row]);
    }
    return peers.values();
  }

  /** The rows that are looked for, together and in order. The same object for the same choice. */
  order({ sort, descending, by, find }: FleetChoice): Ordered {
    const key = JSON.stringify([sort, descending, by, find]);
    if (this.ordered?.key !== key) this.ordered = { key, ordered: this.newOrder(sort, descending, by, find) };
    return this.ordered.ordered;
  }

  private newOrder(sort: string, descending: boolean, by: string, find: string): Ordered {
    const rows = this.found(find);
    const values = this.column(sort)?.values;
    const sign = descending ? -1 : 1;
    const compare = (a: number, b: number): number => {
      const [one, other] = [values?.[a] ?? null, values?.[b] ?? null];
      // What is not known comes last, either way.
      if (one === null || other === null) return Number(one === null) - Number(other === null) || a - b;
      if (typeof one === 'number' && typeof other === 'number') return sign * (one - other) || a - b;
      return sign * String(one).localeCompare(String(other), 'en', { numeric: true }) || a - b;
    };
    if (by === '') return { rows: Int32Array.from(values ? rows.sort(compare) : rows), groups: [] };
    const names = this.groupNames(by);
    const together = new Map<string, number[]>();
    for (const row of rows) {
      const name = names[row] ?? '';
      const group = together.get(name);
      if (group) group.push(row);
      else together.set(name, [row]);
    }
    const inOrder = [...together].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
    const groups: RowGroup[] = [];
    const all: number[] = [];
    for (const [name, members] of inOrder) {
      groups.push({ name, first: all.length, count: members.length });
      for (const row of values ? members.sort(compare) : members) all.push(row);
    }
    return { rows: Int32Array.from(all), groups };
  }

  private found(find: string): number[] {
    const wanted = find.trim().toLowerCase();
    const all = Array.from({ length: this.count }, (_, row) => row);
    if (wanted === '') return all;
    const columns = this.columns.filter(({ unit, name }) => unit === 'text' || name === 'rank');
    return all.filter((row) =>
      columns.some(({ name, values }) => {
        const text = String(values[row] ?? '').toLowerCase();
        return name === 'rank' ? text === wanted || `rank ${text}` === wanted : text.includes(wanted);
      }),
    );
  }

  private groupNames(by: string): string[] {
    const names = Array.from({ length: this.count }, () => `no ${by}`);
    if (by === 'run' || by === 'host') return names.map((none, row) => this.text(by, row) || none);
    const several = this.runs > 1;
    for (const group of this.fleet.groups) {
      if (group.kind !== by) continue;
      const name = `${several && group.run ? `${group.run} ` : ''}${by} ${group.name ?? ''}`;
      for (const row of group.rows_of) names[row] = name;
    }
    return names;
  }

  /** 1 = what is chosen lights the row. */
  lit({ lit }: FleetChoice): Uint8Array {
    const rows = new Uint8Array(this.count);
    for (const row of this.rowsOf(lit)) rows[row] = 1;
    return rows;
  }
  rowsOf(lit: FleetChoice['lit']): readonly number[] {
    if (!lit) return [];
    if (lit.of === 'finding') return this.fleet.findings[lit.at]?.rows ?? [];
    if (lit.of === 'group') return this.fleet.groups[lit.at]?.rows_of ?? [];
    const most = this.fleet.stacks[lit.at]?.most_row ?? null;
    return most === null ? [] : [most];
  }
  /** 1 = it ran out of memory. */
  outOfMemory(): Uint8Array {
    return Uint8Array.from({ length: this.count }, (_, row) => ((this.number('ooms', row) ?? 0) > 0 ? 1 : 0));
  }

  /** Comma separated values of rows; texts that a spreadsheet would take for a formula get an apostrophe. */
  csv(rows: Int32Array): string {
    const field = (value: string | number | null): string => {
      if (value === null) return '';
      if (typeof value === 'number') return String(value);
      const safe = /^\s*[=+\-@＝＋－＠]/u.test(value) ? `'${value}` : value;
      return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
    };
    const lines = [this.columns.map(({ name }) => field(name)).join(',')];
    for (const row of rows)
      lines.push(this.columns.map(({ values }) => field(values[row] ?? null)).join(','));
    return `${lines.join('\n')}\n`;
  }
}

type Values = FleetColumn['values'];

function farOff(values: Values, peers: Iterable<readonly number[]>, least: number): Uint8Array {
  const marks = new Uint8Array(values.length);
  for (const rows of peers) {
    const own = rows.map((row) => values[row]);
    const { odd } = compare(
      own.map((value) => (typeof value === 'number' ? value : null)),
      least,
    );
    rows.forEach((row, at) => (marks[row] = odd[at] ? 1 : 0));
  }
  return marks;
}

function unlikeMost(values: Values, peers: Iterable<readonly number[]>): Uint8Array {
  const marks = new Uint8Array(values.length);
  for (const rows of peers) {
    const counts = new Map<number | string | null, number>();
    for (const row of rows) counts.set(values[row] ?? null, (counts.get(values[row] ?? null) ?? 0) + 1);
    const [usual, count] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [null, 0]);
    if (rows.length < fewestAlike || count < nearlyAll * rows.length) continue;
    for (const row of rows) marks[row] = (values[row] ?? null) === usual ? 0 : 1;
  }
  return marks;
}
