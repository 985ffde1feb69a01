// What is known of an event, or of a block or segment in the state after one, in words.
import {
  formatBytes,
  formatCount,
  formatExactBytes,
  formatMoment,
  formatWallClock,
  plural,
} from '../base/format.ts';
import type { Bytes } from '../base/units.ts';
import type { EventDetails, StateBlock, StateSegment, ViewInfo } from '../../engine/index.ts';
import {
  isOfFree,
  poolText,
  savedNote,
  streamFact,
  withOfFree,
  type Described,
  type Fact,
  type Way,
} from './described.ts';
import { keyOf, type Thing } from '../model/detail_subject.ts';

export function describeThing(thing: Thing, info: ViewInfo): Described {
  switch (thing.kind) {
    case 'event':
      return describeEvent(thing.event, keyOf(thing), info);
    case 'state-block':
      return describeStateBlock(thing.block, thing.at, keyOf(thing), info);
    case 'segment':
      return describeSegment(thing.segment, thing.at, keyOf(thing), info);
  }
}

const sizeFact = (label: string, bytes: Bytes): Fact => ({
  label,
  value: formatBytes(bytes),
  more: formatExactBytes(bytes),
});

/** To the events of a block, but not to `own`. */
function waysToEvents(
  events: Pick<EventDetails, 'alloc_event' | 'free_requested_event' | 'free_completed_event'>,
  own: number,
): Way[] {
  return (
    [
      ['alloc', events.alloc_event],
      ['free_requested', events.free_requested_event],
      ['free_completed', events.free_completed_event],
    ] as const
  ).flatMap(([label, event]) =>
    event < 0 || event === own ? [] : [{ label, goal: { to: 'event', event } as const }],
  );
}

function momentText(event: number, { has_history }: ViewInfo): string {
  if (!has_history) return 'when it was saved';
  return event < 0 ? 'before the first event' : `after event ${formatCount(event)}`;
}

function describeEvent(event: EventDetails, key: string, info: ViewInfo): Described {
  const { action, rank, block, segment, time_us } = event;
  const facts: Fact[] = [];
  const add = (label: string, value: string | null | undefined, more?: string): void => {
    if (value !== null && value !== undefined && value !== '')
      facts.push(more === undefined ? { label, value } : { label, value, more });
  };
  add('Event', formatCount(event.event));
  if (time_us !== null)
    add(
      'Time',
      info.first_time_us === null ? formatWallClock(time_us) : formatMoment(time_us - info.first_time_us),
      info.first_time_us === null ? undefined : formatWallClock(time_us),
    );
  if (event.device_free !== null) facts.push(sizeFact('Free on the device', event.device_free));
  facts.push(streamFact(event));
  if (event.pool) add('Pool', poolText(event.pool));
  if (event.name !== '') add('Address', event.address);
  add('Compile context', event.compile_context);
  add('User metadata', event.user_metadata);
  event.annotations.forEach((text, index) => add(index === 0 ? 'Annotations' : '', text));
  for (const [name, value] of Object.entries(event.extras)) add(name, value);
  const ways = waysToEvents(event, event.event);
  if (rank >= 0) ways.push({ label: 'block', goal: { to: 'rank', rank } });
  else if (block >= 0) ways.push({ label: 'block', goal: { to: 'block', block, at: event.event } });
  if (segment >= 0) ways.push({ label: 'segment', goal: { to: 'segment', segment, at: event.event } });
  if (event.name !== '') ways.push({ label: 'its events', goal: { to: 'events', address: event.name } });
  return {
    key,
    name: event.name,
    title: action === 'oom' ? 'Out of memory' : action,
    bytes: action === 'snapshot' ? undefined : event.size,
    note:
      action === 'oom'
        ? 'The size that was requested and could not be given.'
        : action === 'snapshot'
          ? 'The moment at which a snapshot was taken.'
          : undefined,
    facts,
    stackTitle: 'Stack of the event',
    ofFree: false,
    frames: event.frames,
    reasons: event.no_stack_reasons,
    forward: event.forward_frames,
    ways,
  };
}

const states = {
  active_allocated: 'allocated',
  active_pending_free: 'freed, but waiting for another stream (record_stream)',
} as const;

/** For blocks whose allocation is not in the history. */
function originNote({ alloc_event }: StateBlock, { has_history }: ViewInfo): string | undefined {
  if (!has_history) return savedNote;
  return alloc_event < 0 ? 'Existed before the first event.' : undefined;
}

function describeStateBlock(block: StateBlock, at: number, key: string, info: ViewInfo): Described {
  const facts: Fact[] = [];
  const add = (label: string, value: string | null): void => {
    if (value !== null && value !== '') facts.push({ label, value });
  };
  facts.push({
    label: 'State',
    value: block.state ? states[block.state] : 'does not exist',
    more: momentText(at, info),
  });
  facts.push(sizeFact('Block size', block.size));
  if (block.rounding > 0) facts.push(sizeFact('Lost to rounding', block.rounding));
  facts.push(streamFact(block));
  add('Pool', poolText(block.pool));
  add('Address', block.address);
  add('Compile context', block.compile_context);
  add('User metadata', block.user_metadata);
  block.annotations.forEach((text, index) => add(index === 0 ? 'Annotations' : '', text));
  const ways = waysToEvents(block, -1);
  if (block.rank >= 0) ways.push({ label: 'block', goal: { to: 'rank', rank: block.rank } });
  if (block.segment >= 0)
    ways.push({ label: 'segment', goal: { to: 'segment', segment: block.segment, at } });
  ways.push({ label: 'its events', goal: { to: 'events', address: block.name } });
  const ofFree = isOfFree(block);
  return {
    key,
    name: block.name,
    title: '',
    bytes: block.requested_size,
    note: withOfFree(originNote(block, info), ofFree),
    facts,
    stackTitle:
      block.stack_of === 'free'
        ? 'Freed at'
        : block.stack_of === 'alloc'
          ? 'Allocated at'
          : 'Stack kept with the block',
    ofFree,
    frames: block.frames,
    reasons: [],
    forward: null,
    ways,
  };
}

function describeSegment(segment: StateSegment, at: number, key: string, info: ViewInfo): Described {
  const existed = segment.begin < 0;
  const facts: Fact[] = [
    { label: 'Moment', value: momentText(at, info) },
    sizeFact('Allocated', segment.allocated),
    ...(segment.active === segment.allocated ? [] : [sizeFact('Active', segment.active)]),
    {
      ...sizeFact('Free', segment.free),
      more: `${formatExactBytes(segment.free)} in ${plural(segment.free_blocks, 'gap')}`,
    },
    sizeFact('Lost to rounding', segment.rounding),
    { label: 'Blocks', value: formatCount(segment.blocks) },
    {
      label: 'Kind',
      value: segment.expandable ? 'expandable: grows and shrinks by mapping' : 'of a fixed size',
    },
    streamFact(segment),
    { label: 'Pool', value: poolText(segment.pool) },
    { label: 'Address', value: segment.address },
    ...(info.has_history
      ? [
          {
            label: 'Exists',
            value: existed ? 'from before the first event' : `from event ${formatCount(segment.begin)}`,
            more: segment.end < 0 ? 'to the end' : `to event ${formatCount(segment.end)}`,
          },
        ]
      : []),
  ];
  const ways: Way[] = [];
  if (!existed && segment.begin_action)
    ways.push({ label: segment.begin_action, goal: { to: 'event', event: segment.begin } });
  if (segment.end >= 0 && segment.end_action)
    ways.push({ label: segment.end_action, goal: { to: 'event', event: segment.end } });
  ways.push({ label: 'its events', goal: { to: 'events', address: segment.name } });
  return {
    key,
    name: segment.name,
    title: 'Segment',
    bytes: segment.size,
    note: undefined,
    facts,
    stackTitle: 'Asked for at',
    ofFree: false,
    frames: segment.frames,
    reasons: [],
    forward: null,
    ways,
  };
}
