// The fields by which the list of events is filtered, as people fill them in, and as the engine takes them.
import { sizeOf } from '../../base/sizes.ts';
import type { EventFilter } from '../../../engine/index.ts';

export interface EventFields {
  /** A key of `actionGroups`; empty = all. */
  actions: string;
  /** Part of an address, or a name b'..., s'... */
  address: string;
  /** Part of file:line:name. */
  frame: string;
  leastSize: string;
  mostSize: string;
  stream: string;
}
export const noFields: EventFields = {
  actions: '',
  address: '',
  frame: '',
  leastSize: '',
  mostSize: '',
  stream: '',
};

const actions = [
  'alloc',
  'free_requested',
  'free_completed',
  'segment_alloc',
  'segment_free',
  'segment_map',
  'segment_unmap',
  'oom',
  'snapshot',
  'annotate',
] as const;

/** What one chooses, and the actions that it means. */
export const actionGroups: Readonly<Record<string, readonly string[]>> = {
  blocks: ['alloc', 'free_requested', 'free_completed'],
  segments: ['segment_alloc', 'segment_free', 'segment_map', 'segment_unmap'],
  markers: ['oom', 'snapshot', 'annotate'],
  ...Object.fromEntries(actions.map((action) => [action, [action]])),
};

/** The filter, or the field that cannot be meant so. */
export function filterOf(fields: EventFields): { filter: EventFilter } | { wrong: keyof EventFields } {
  const filter: EventFilter = {};
  const meant = actionGroups[fields.actions];
  if (meant) filter.actions = [...meant];
  if (fields.address.trim() !== '') filter.address = fields.address.trim();
  if (fields.frame.trim() !== '') filter.frame = fields.frame.trim();
  for (const name of ['leastSize', 'mostSize'] as const) {
    if (fields[name].trim() === '') continue;
    const size = sizeOf(fields[name]);
    if (size === undefined) return { wrong: name };
    filter[name] = size;
  }
  const stream = fields.stream.trim();
  if (stream !== '') {
    if (!/^\d{1,9}$/.test(stream)) return { wrong: 'stream' };
    filter.stream = Number(stream);
  }
  return { filter };
}

export function isEmpty(fields: EventFields): boolean {
  return Object.values(fields).every((text: string) => text.trim() === '');
}
