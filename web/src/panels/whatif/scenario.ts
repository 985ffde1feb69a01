// The fields of the form, as people fill them in, and the scenario that the engine takes.
import { formatBytes, formatCount } from '../../base/format.ts';
import { sizeOf } from '../../base/sizes.ts';
import type { EngineError, Rehearsal, RunNumbers, Scenario } from '../../../engine/index.ts';
import type { Tried } from '../runs.ts';

export interface Fields {
  conf: string;
  /** A size; empty = as recorded, `all` = room for all. */
  capacity: string;
  /** Blocks that it means are left out, or scaled by `factor`. */
  filter: string;
  factor: string;
  /** A size that is taken at the chosen moment and kept. */
  take: string;
  empty: boolean;
  uncached: boolean;
}
export type FieldName = keyof Fields;

export const fieldsOf = ({ conf }: Rehearsal): Fields => ({
  conf,
  capacity: '',
  filter: '',
  factor: '0',
  take: '',
  empty: false,
  uncached: false,
});

/** What is wrong with a field; `at`: the UTF-16 unit of its text where that is known. */
export interface Wrong {
  field: FieldName;
  message: string;
  at: number;
}

/** `event`: the chosen moment. */
export function scenarioOf(
  fields: Fields,
  { conf }: Rehearsal,
  event: number,
): { scenario: Scenario } | { wrong: Wrong } {
  const scenario: Scenario = {};
  if (fields.conf.trim() !== conf) scenario.conf = fields.conf;
  const capacity = fields.capacity.trim();
  if (capacity.toLowerCase() === 'all') scenario.capacity = 0;
  else if (capacity !== '') {
    const bytes = sizeOf(capacity);
    if (bytes === undefined || bytes <= 0)
      return wrong('capacity', 'Write a size as 40 GiB, or "all" for a device with room for all.');
    scenario.capacity = bytes;
  }
  if (fields.filter.trim() !== '') {
    const factor = Number(fields.factor);
    if (fields.factor.trim() === '' || !(factor >= 0 && factor <= 1e6))
      return wrong('factor', 'Write a number from 0 (left out) to 1,000,000.');
    scenario.changes = [{ filter: fields.filter, factor }];
  }
  if (fields.take.trim() !== '') {
    const bytes = sizeOf(fields.take);
    if (bytes === undefined || bytes <= 0) return wrong('take', 'Write a size as 4 GiB.');
    scenario.extra = [{ after: event, bytes }];
  }
  if (fields.empty) scenario.emptyCacheAfter = [event];
  if (fields.uncached) scenario.caching = false;
  return { scenario };
}

const wrong = (field: FieldName, message: string): { wrong: Wrong } => ({
  wrong: { field, message, at: -1 },
});

/** The field that the engine refuses; undefined = it is none of a field. */
export function wrongOf({ message, offset, inside }: EngineError): Wrong | undefined {
  const field = ({ conf: 'conf', capacity: 'capacity', changes: 'filter' } as const)[inside ?? ''];
  return field && { field, message, at: offset };
}

/** Of a run, for the row of files and for lists. */
export function nameOf({ conf, capacity, changes, extra, emptyCacheAfter, caching }: Scenario): string {
  const parts = [
    ...(conf === undefined ? [] : [conf === '' ? 'no settings' : conf]),
    ...(capacity === undefined ? [] : [capacity === 0 ? 'room for all' : formatBytes(capacity)]),
    ...(changes ?? []).map(({ filter, factor }) =>
      factor === 0 ? `without ${filter}` : `${filter} × ${factor}`,
    ),
    ...(extra ?? []).map(({ bytes, after }) => `${formatBytes(bytes)} more at ${formatCount(after)}`),
    ...(emptyCacheAfter ?? []).map((event) => `cache emptied at ${formatCount(event)}`),
    ...(caching === false ? ['no cache'] : []),
  ];
  return parts.length === 0 ? 'as recorded' : parts.join(', ');
}

export const callsOf = ({ device_allocs, device_frees }: RunNumbers): number => device_allocs + device_frees;

/** As the command ranks them: least out of memory, then least reserved, then fewest calls to the device. */
export function ranked(tried: readonly Tried[]): Tried[] {
  return [...tried].sort(
    ({ numbers: a, conf }, { numbers: b, conf: other }) =>
      a.ooms - b.ooms ||
      a.peak_reserved_bytes - b.peak_reserved_bytes ||
      callsOf(a) - callsOf(b) ||
      (conf < other ? -1 : 1),
  );
}
