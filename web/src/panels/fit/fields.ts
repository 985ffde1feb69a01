// The form of a fit, as people fill it in, and what the engine is asked.
import { sizeOf } from '../../base/sizes.ts';
import type { Bytes } from '../../base/units.ts';
import type { LinkField } from '../link_field.ts';
import type { PanelFile } from '../panel.ts';
import { largestValue, parametersOf } from './names.ts';

export interface FileRow {
  /** Its name is its own among the open files. */
  file: string;
  included: boolean;
  /** By parameter. */
  values: readonly string[];
}
/** What the table says. Names of files that are not open any more wait for them. */
export interface Table {
  parameters: readonly string[];
  rows: readonly FileRow[];
}

export const mostParameters = 4;

/** Parameters and values as the names of files tell them; `batch`, empty, where they do not. */
export function tableOfNames(files: readonly PanelFile[]): Table {
  const { parameters, values } = parametersOf(files.map(({ name }) => name));
  const names = parameters.length > 0 ? parameters : ['batch'];
  return {
    parameters: names,
    rows: files.map(({ name }, at) => ({
      file: name,
      included: true,
      values: names.map((_, parameter) => String(values[at]?.[parameter] ?? '')),
    })),
  };
}

/** The table with a row for each open file: those it has, and others as their names tell. */
export function tableFor(table: Table | undefined, files: readonly PanelFile[]): Table {
  if (!table) return tableOfNames(files);
  const named = tableOfNames(files);
  return {
    parameters: table.parameters,
    rows: named.rows.map(
      (row) =>
        table.rows.find(({ file }) => file === row.file) ?? {
          ...row,
          values: table.parameters.map((parameter) => row.values[named.parameters.indexOf(parameter)] ?? ''),
        },
    ),
  };
}

/** A line for each file behind that of the parameters; what comes from a link may be any text. */
export const tableField: LinkField<Table | undefined> = {
  text: (table) =>
    table === undefined
      ? ''
      : JSON.stringify([
          table.parameters,
          ...table.rows.map(({ file, included, values }) => [file, included ? 1 : 0, ...values]),
        ]),
  value(text) {
    try {
      const lines: unknown = JSON.parse(text);
      if (!Array.isArray(lines) || !lines.every((line) => Array.isArray(line))) return undefined;
      const [parameters = [], ...rows] = lines.map((line: unknown[]) => line.map(String));
      if (parameters.length < 1 || parameters.length > mostParameters) return undefined;
      return {
        parameters,
        rows: rows.map(([file = '', included, ...values]) => ({
          file,
          included: included === '1',
          values: parameters.map((_, at) => values[at] ?? ''),
        })),
      };
    } catch {
      return undefined;
    }
  },
};

/** A whole number from 1; undefined = it is none. */
export function valueOf(text: string): number | undefined {
  const value = /^\d{1,10}$/.test(text.trim()) ? Number(text) : 0;
  return value >= 1 && value <= largestValue ? value : undefined;
}

export interface FittedFile extends PanelFile {
  values: readonly number[];
}
/** What is fitted, and on which device. */
export interface Asked {
  parameters: readonly string[];
  /** In the order of their values: the last one foretells. */
  recordings: readonly FittedFile[];
  capacity: Bytes | undefined;
  conf: string | undefined;
}
/** Where it is wrong, in words; `field`: of a row its place and that of the parameter. */
export interface Wrong {
  field: string;
  message: string;
}

export function askedOf(
  { parameters, rows }: Table,
  files: readonly PanelFile[],
  capacity: string,
  conf: string | undefined,
): { asked: Asked } | { wrong: Wrong } {
  const names = parameters.map((name) => name.trim());
  for (const [at, name] of names.entries()) {
    if (name === '' || name.length > 40) return wrong(`parameter-${at}`, 'Name the parameter: batch, seq.');
    if (names.indexOf(name) < at) return wrong(`parameter-${at}`, `Two parameters are called ${name}.`);
  }
  const recordings: FittedFile[] = [];
  for (const [at, row] of rows.entries()) {
    const file = files.find(({ name }) => name === row.file);
    if (!row.included || !file) continue;
    const values = row.values.map(valueOf);
    const missing = values.indexOf(undefined);
    if (missing >= 0)
      return wrong(
        `value-${at}-${missing}`,
        `Write the ${names[missing]} of ${row.file}, a whole number from 1, or leave the file out.`,
      );
    recordings.push({ ...file, values: values.map((value) => value ?? 1) });
  }
  if (recordings.length < 2) return wrong('', 'Two recordings of one program are needed at least.');
  recordings.sort((a, b) => {
    const at = a.values.findIndex((value, parameter) => value !== b.values[parameter]);
    return at < 0 ? 0 : (a.values[at] ?? 0) - (b.values[at] ?? 0);
  });
  const bytes = capacity.trim() === '' ? undefined : sizeOf(capacity);
  if (capacity.trim() !== '' && (bytes === undefined || bytes <= 0))
    return wrong('capacity', 'Write a size as 40 GiB, or nothing for the curve alone.');
  return { asked: { parameters: names, recordings, capacity: bytes, conf } };
}

const wrong = (field: string, message: string): { wrong: Wrong } => ({ wrong: { field, message } });

/**
 * From one recorded value to the next that can surely be told: where the program repeats something as often as a parameter says, others
 * may make no whole number of turns.
 */
export function stepOf(recorded: readonly number[], repeats: boolean): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  const differences = recorded.map((value) => Math.abs(value - (recorded[0] ?? 0)));
  return repeats ? differences.reduce(divisor, 0) || 1 : 1;
}

/**
 * Values of the first parameter at which the curve is asked for, up to `last`: each `step` from one that is recorded, some of them where
 * there are many, and those of `also`.
 */
export function valuesOfCurve(
  last: number,
  also: readonly number[],
  { most = 40, step = 1, from = 1 } = {},
): number[] {
  const first = from - Math.floor((from - 1) / step) * step;
  const steps = Math.max(0, Math.floor((last - first) / step));
  const count = Math.min(most, steps + 1);
  const even = Array.from(
    { length: count },
    (_, at) => first + step * (count === 1 ? 0 : Math.round((steps * at) / (count - 1))),
  );
  const all = [...even, ...also.filter((value) => value >= 1 && value <= last)];
  return [...new Set(all)].sort((a, b) => a - b);
}
