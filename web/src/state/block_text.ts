// What is known of a block, as rows for the panel and as text for the clipboard.
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatExactBytes,
  formatMoment,
  formatWallClock,
  plural,
} from '../base/format.ts';
import type { BlockDetails, ViewInfo } from '../engine/answers.ts';

export interface Fact {
  label: string;
  value: string;
  /** Exact or longer form. */
  more?: string;
}

const stackTitles = {
  alloc: 'Allocated at',
  free: 'Freed at',
  block: 'Stack kept with the block',
} as const;

export function stackTitle(block: BlockDetails): string {
  return block.stack_of ? stackTitles[block.stack_of] : 'Stack';
}

/** One sentence for blocks whose allocation is not in the history. */
export function kindNote(block: BlockDetails): string | undefined {
  switch (block.kind) {
    case 'traced':
      return undefined;
    case 'freed_only':
      return 'Existed before the recording began; known by its free.';
    case 'final_only':
      return 'Existed before the recording began and was still there at its end.';
  }
}

export function factsOf(block: BlockDetails, info: ViewInfo): Fact[] {
  const facts: Fact[] = [];
  const add = (label: string, value: string | undefined, more?: string): void => {
    if (value !== undefined && value !== '')
      facts.push(more === undefined ? { label, value } : { label, value, more });
  };
  const start = info.first_time_us;
  const moment = (event: number | null, time: number | null): string | undefined => {
    if (event === null) return undefined;
    const at = time !== null && start !== null ? ` · ${formatMoment(time - start)}` : '';
    return `event ${formatCount(event)}${at}`;
  };
  if (block.block_size !== null && block.block_size !== block.requested_size)
    add('Block size', formatBytes(block.block_size), formatExactBytes(block.block_size));
  add(
    'Allocated',
    block.born_event < 0 ? 'before the recording' : moment(block.born_event, block.born_time_us),
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
  add('Lived', plural(block.lifetime_events, 'event') + life);
  if (block.total_after !== null)
    add('Total after it', formatBytes(block.total_after), formatExactBytes(block.total_after));
  add('State at the end', block.state ?? undefined);
  add(
    'Stream',
    String(block.stream),
    block.stream_handle && block.stream_handle !== String(block.stream)
      ? `handle ${block.stream_handle}`
      : undefined,
  );
  add(
    'Pool',
    block.pool ? `(${block.pool[0]}, ${block.pool[1]})` : 'unknown',
    block.pool_from === 'segment' ? 'from its segment' : undefined,
  );
  add('Address', block.address, `use ${block.version}`);
  add('Compile context', block.compile_context ?? undefined);
  add('User metadata', block.user_metadata ?? undefined);
  block.annotations.forEach((text, index) => add(index === 0 ? 'Annotations' : '', text));
  for (const [key, value] of Object.entries(block.extras)) add(key, value);
  return facts;
}

export function textOf(block: BlockDetails, info: ViewInfo): string {
  const lines = [
    `${block.name}  ${formatBytes(block.requested_size)} (${formatExactBytes(block.requested_size)})`,
  ];
  const note = kindNote(block);
  if (note) lines.push(note);
  for (const { label, value, more } of factsOf(block, info))
    lines.push(`${label}: ${value}${more === undefined ? '' : ` (${more})`}`);
  lines.push('', `${stackTitle(block)}:`);
  for (const frame of block.frames) {
    if (frame.hidden) continue;
    lines.push(`  ${frame.text}${frame.repeats > 1 ? `  ×${frame.repeats}` : ''}`);
    for (const line of frame.fx) lines.push(`    ${line}`);
  }
  for (const reason of block.no_stack_reasons) lines.push(`  ${reason}`);
  if (block.forward_frames) lines.push('', 'Forward pass:', block.forward_frames);
  return `${lines.join('\n')}\n`;
}
