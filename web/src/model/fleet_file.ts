// The reduced file of a fleet ("The reduced file, version 1" in engine/fleet/README.md): the text that the engine kept, parsed
// and checked. A row is a rank's snapshot of a device: an index into `values` of each column and into both curves.
//
// Refused in words: what is no JSON, another version, columns of different length, curves that are not rows x buckets bytes.
// What is not as it should be otherwise is null, 0 or left out, and counted; unknown keys are passed by. No DOM: it runs in Node.

export class FleetRefused extends Error {}

/** What was found out so far. */
interface Reading {
  rows: number;
  leftOut: number;
}
type Read<T> = (value: unknown, reading: Reading) => T;

/** null and what is missing are not known; anything else that it is not counts. */
function orElse<T, Else>(
  is: (value: unknown, reading: Reading) => value is T,
  otherwise: Else,
): Read<T | Else> {
  return (value, reading) => {
    if (is(value, reading)) return value;
    if (value !== null && value !== undefined) reading.leftOut += 1;
    return otherwise;
  };
}
const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const text = orElse(isText, null);
const number = orElse(isNumber, null);
const count = orElse(isNumber, 0);
const flag = orElse((value): value is boolean => typeof value === 'boolean', false);
const row = orElse(
  (value, { rows }): value is number => Number.isInteger(value) && Number(value) >= 0 && Number(value) < rows,
  null,
);
function word<const Words extends readonly string[], const Else>(words: Words, otherwise: Else) {
  return orElse((value): value is Words[number] => words.includes(value as string), otherwise);
}
const array = orElse((value): value is unknown[] => Array.isArray(value), []);
function list<T>(item: Read<T | null>): Read<T[]> {
  return (value, reading) =>
    array(value, reading)
      .map((each) => item(each, reading))
      .filter((each) => each !== null);
}
type Members = Readonly<Record<string, Read<unknown>>>;
type Of<Shape extends Members> = { [Name in keyof Shape]: ReturnType<Shape[Name]> };
function object<Shape extends Members>(shape: Shape): Read<Of<Shape> | null> {
  const members = Object.entries(shape);
  const record = orElse(
    (value): value is Record<string, unknown> => typeof value === 'object' && value !== null,
    null,
  );
  return (value, reading) => {
    const given = record(value, reading);
    if (!given) return null;
    return Object.fromEntries(members.map(([name, read]) => [name, read(given[name], reading)])) as Of<Shape>;
  };
}

const coverage = object({
  run: text,
  rows: count,
  ranks: count,
  lowest_rank: number,
  highest_rank: number,
  world_size: number,
  duplicates: count,
  without_rank: count,
  damaged: count,
  without_times: count,
  first_us: number,
  last_us: number,
  /** "3, 7 to 9" */
  missing: text,
});
const group = object({
  run: text,
  kind: text,
  name: text,
  rows: count,
  median_peak: number,
  least_peak: number,
  most_peak: number,
  most_row: row,
  ooms: count,
  rows_of: list(row),
});
const kinds = ['oom', 'outlier', 'leak', 'fragmentation', 'drift', 'run', 'group', 'coverage'] as const;
const finding = object({
  kind: word(kinds, 'unknown'),
  title: text,
  text,
  rows: list(row),
  stacks: list(object({ stack: text, who: text, value: number, median: number })),
  /** Something that should not be. */
  bad: flag,
});
/** A stack at the peaks of a run; `share` of all of them. */
const stack = object({
  run: text,
  stack: text,
  who: text,
  rows: count,
  total: count,
  share: number,
  median: number,
  most: number,
  most_row: row,
});
const whole = object({
  title: text,
  coverage: list(coverage),
  /** What is not as it should be, in sentences. */
  says: list(text),
  unreadable: list(object({ file: text, message: text })),
  unreadable_count: count,
  groups: list(group),
  /** The most important first. */
  findings: list(finding),
  stacks: list(stack),
});

const units = ['bytes', 'count', 'us', 'share', 'text'] as const;
export type FleetUnit = (typeof units)[number];
export type FleetCoverage = NonNullable<ReturnType<typeof coverage>>;
export type FleetFinding = NonNullable<ReturnType<typeof finding>>;

/** A fact of all rows: texts or numbers, as `unit` says; null = not known. */
export interface FleetColumn {
  name: string;
  title: string | null;
  unit: FleetUnit;
  values: (number | string | null)[];
}
export interface FleetCurves {
  /** each: the clocks do not overlap, so each row runs from its own beginning, 0, to its end. */
  clock: 'common' | 'each';
  from_us: number | null;
  to_us: number | null;
  buckets: number;
  /** What a byte of 255 stands for. */
  scale: number;
  /** Rows x buckets, row after row: the most of its time, rounded up; empty = not known. */
  allocated: Uint8Array;
  reserved: Uint8Array;
}
export interface Fleet extends NonNullable<ReturnType<typeof whole>> {
  columns: FleetColumn[];
  curves: FleetCurves;
  /** How many values were not as they should be. */
  leftOut: number;
}

const version = 1;
const buckets = 128;
const mostColumns = 256;

const column = object({ name: text, title: text, unit: text, values: array });
function columnsOf(given: unknown, reading: Reading): FleetColumn[] {
  const columns: FleetColumn[] = [];
  for (const one of list(column)(given, reading)) {
    const { name, title } = one;
    const unit = units.find((known) => known === one.unit);
    const isNew = name !== null && !columns.some((other) => other.name === name);
    if (!isNew || unit === undefined || columns.length === mostColumns) {
      reading.leftOut += 1;
      continue;
    }
    if (columns.length > 0 && one.values.length !== reading.rows)
      throw new FleetRefused(
        `The column "${name.slice(0, 60)}" of the fleet has ${one.values.length} values, the one before it ${reading.rows}.`,
      );
    reading.rows = one.values.length;
    const read = unit === 'text' ? text : number;
    columns.push({ name, title, unit, values: one.values.map((value) => read(value, reading)) });
  }
  return columns;
}

const ofCurves = object({
  clock: word(['common', 'each'], 'common'),
  from_us: number,
  to_us: number,
  buckets: number,
  scale: count,
  allocated: text,
  reserved: text,
});
function curvesOf(given: unknown, reading: Reading): FleetCurves {
  const curves = ofCurves(given ?? {}, reading) ?? ofCurves({}, reading)!;
  if ((curves.buckets ?? buckets) !== buckets)
    throw new FleetRefused(`The curves of the fleet have ${curves.buckets} buckets instead of ${buckets}.`);
  const bytes = (base64: string | null): Uint8Array => {
    let letters: string;
    try {
      letters = atob(base64 ?? '');
    } catch {
      throw new FleetRefused('The curves of the fleet are no base64.');
    }
    if (letters !== '' && letters.length !== reading.rows * buckets)
      throw new FleetRefused(
        `The curves of the fleet have ${letters.length} bytes; ${reading.rows} rows of ${buckets} are ${reading.rows * buckets}.`,
      );
    const values = new Uint8Array(letters.length);
    for (let at = 0; at < letters.length; at += 1) values[at] = letters.charCodeAt(at);
    return values;
  };
  const { allocated, reserved, scale } = curves;
  return {
    ...curves,
    buckets,
    scale: Math.max(scale, 0),
    allocated: bytes(allocated),
    reserved: bytes(reserved),
  };
}

/** Error: FleetRefused. */
export function readFleet(bytes: Uint8Array): Fleet {
  let given: Record<string, unknown>;
  try {
    given = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as typeof given;
  } catch (error) {
    throw new FleetRefused(`The file of the fleet is damaged: ${(error as Error).message}`);
  }
  const told = given['gpustrata_fleet'];
  if (typeof told === 'number' && told > version)
    throw new FleetRefused(
      `This is a reduced fleet of version ${told}; the page reads version ${version}. A newer gpustrata opens it.`,
    );
  if (told !== version)
    throw new FleetRefused('This is no reduced fleet: "gpustrata_fleet" is not its version.');
  const reading: Reading = { rows: 0, leftOut: 0 };
  const columns = columnsOf(given['columns'], reading);
  const curves = curvesOf(given['curves'], reading);
  return { ...whole(given, reading)!, columns, curves, leftOut: reading.leftOut };
}
