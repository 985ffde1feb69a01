// What is known of a block of the timeline, in words.
import {
  baseName,
  formatBytes,
  formatCount,
  formatDuration,
  formatExactBytes,
  formatMoment,
  formatWallClock,
  plural,
} from '../base/format.ts';
import type { BlockDetails, ViewInfo } from '../../engine/index.ts';
import { ownFrame } from './stack_lines.ts';
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

const stackTitles = {
  alloc: 'Allocated at',
  free: 'Freed at',
  block: 'Stack kept with the block',
} as const;

function stackTitle(block: BlockDetails): string {
  return block.stack_of ? stackTitles[block.stack_of] : 'Stack';
}

/** For blocks whose allocation is not in the history. */
function kindNote({ kind }: BlockDetails, { has_history }: ViewInfo): string | undefined {
  if (!has_history) return savedNote;
  switch (kind) {
    case 'traced':
      return undefined;
    case 'freed_only':
      return 'Existed before the first event; known by its free.';
    case 'final_only':
      return 'Existed before the first event and was still there at the end.';
  }
}

type Add = (label: string, value: string | undefined, more?: string) => void;

/** When it came and when it went. */
function addLife(add: Add, block: BlockDetails, { first_time_us: start }: ViewInfo): void {
  const moment = (event: number | null, time: number | null): string | undefined => {
    if (event === null) return undefined;
    const at = time !== null && start !== null ? ` · ${formatMoment(time - start)}` : '';
    return `event ${formatCount(event)}${at}`;
  };
  add(
    'Allocated',
    block.born_event < 0 ? 'before the first event' : moment(block.born_event, block.born_time_us),
    block.born_time_us !== null ? formatWallClock(block.born_time_us) : undefined,
  );
  if (block.free_requested_event !== null && block.free_requested_event + 1 !== block.freed_event)
    add('Free requested', moment(block.free_requested_event, null));
  add(
    'Freed',
    block.freed_event === null
      ? 'never, within the recording'
      : moment(block.freed_event, block.freed_time_us),
    block.freed_time_us !== null ? formatWallClock(block.freed_time_us) : undefined,
  );
  const life = block.lifetime_us === null ? '' : ` · ${formatDuration(block.lifetime_us)}`;
  const isWhole = block.born_event >= 0 && block.freed_event !== null;
  add('Lived', `${isWhole ? '' : 'at least '}${plural(block.lifetime_events, 'event')}${life}`);
  if (block.total_after !== null)
    add('Total after it', formatBytes(block.total_after), formatExactBytes(block.total_after));
}

function factsOf(block: BlockDetails, info: ViewInfo): Fact[] {
  const facts: Fact[] = [];
  const add: Add = (label, value, more) => {
    if (value !== undefined && value !== '')
      facts.push(more === undefined ? { label, value } : { label, value, more });
  };
  if (block.block_size !== null && block.block_size !== block.requested_size)
    add('Block size', formatBytes(block.block_size), formatExactBytes(block.block_size));
  if (info.has_history) addLife(add, block, info);
  add(info.has_history ? 'State at the end' : 'State when saved', block.state ?? undefined);
  facts.push(streamFact(block));
  add('Pool', poolText(block.pool), block.pool_from === 'segment' ? 'from its segment' : undefined);
  add('Address', block.address, `use ${block.version}`);
  add('Compile context', block.compile_context ?? undefined);
  add('User metadata', block.user_metadata ?? undefined);
  block.annotations.forEach((text, index) => add(index === 0 ? 'Annotations' : '', text));
  for (const [key, value] of Object.entries(block.extras)) add(key, value);
  return facts;
}

export function describeBlock(block: BlockDetails, info: ViewInfo): Described {
  const { rank, name, born_event, free_requested_event, freed_event } = block;
  const ways: Way[] = [];
  const wayTo = (label: string, event: number | null): void => {
    if (event !== null && event >= 0) ways.push({ label, goal: { to: 'event', event } });
  };
  wayTo('alloc', born_event);
  wayTo('free_requested', free_requested_event);
  wayTo('free_completed', freed_event);
  ways.push(
    { label: 'segment', goal: { to: 'segment-of', rank, at: Math.max(born_event, -1) } },
    { label: 'its events', goal: { to: 'events', address: name } },
  );
  const filter = (label: string, text: string): number => ways.push({ label, goal: { to: 'filter', text } });
  const ofFree = isOfFree(block);
  const own = ofFree ? undefined : ownFrame(block.frames);
  if (own && !own.file.includes('"')) filter('all of its line', `stack:"${baseName(own.file)}:${own.line}:"`);
  filter('its size', `size:${block.requested_size}`);
  filter('its stream', `stream:${block.stream}`);
  if (block.pool) filter('its pool', `pool:${block.pool.join(',')}`);
  return {
    key: `rank ${rank}`,
    name,
    title: '',
    bytes: block.requested_size,
    note: withOfFree(kindNote(block, info), ofFree),
    facts: factsOf(block, info),
    stackTitle: stackTitle(block),
    ofFree,
    frames: block.frames,
    reasons: block.no_stack_reasons,
    forward: block.forward_frames,
    ways,
  };
}
