// A thing as the details pane and the clipboard tell it.
import { formatBytes, formatExactBytes } from '../base/format.ts';
import type { Bytes, Rank } from '../base/units.ts';
import type { BlockDetails, BlockRow, Frame, Proof, RunningOps, SegmentRow } from '../../engine/index.ts';

export interface Fact {
  label: string;
  value: string;
  /** Exact or longer form. */
  more?: string;
}

/** Where a button of the details leads. */
export type Goal =
  | { to: 'event'; event: number }
  /** A block of the timeline. */
  | { to: 'rank'; rank: Rank }
  | { to: 'block'; block: BlockRow; at: number }
  | { to: 'segment'; segment: SegmentRow; at: number }
  | { to: 'segment-of'; rank: Rank; at: number }
  /** The events whose address or name has this part. */
  | { to: 'events'; address: string }
  | { to: 'peak' }
  /** The op of the trace in its lane. */
  | { to: 'op'; op: RunningOps }
  /** Blocks that a filter means (engine/analysis/filters/filter_syntax.h). */
  | { to: 'filter'; text: string }
  /** A panel (panels/registry.ts), after this event if one is named. */
  | { to: 'panel'; panel: string; event?: number }
  /** All that proves a sentence: the filter is set, the block or else the event is shown, the panel that tells more is opened. */
  | ({ to: 'proof' } & Proof);

export interface Way {
  label: string;
  goal: Goal;
}

export interface Described {
  /** Equal keys = the same thing. */
  key: string;
  name: string;
  /** Before the size; empty = the size says enough. */
  title: string;
  bytes: Bytes | undefined;
  note: string | undefined;
  facts: Fact[];
  stackTitle: string;
  /** The stack came with its free, and may be of who freed it: who allocated it is not known. */
  ofFree: boolean;
  frames: readonly Frame[];
  /** Why there are no frames. */
  reasons: readonly string[];
  forward: string | null;
  ways: Way[];
}

export function textOf({
  name,
  title,
  bytes,
  note,
  facts,
  stackTitle,
  frames,
  reasons,
  forward,
}: Described): string {
  const size = bytes === undefined ? '' : `${formatBytes(bytes)} (${formatExactBytes(bytes)})`;
  const lines = [[name, title, size].filter((part) => part !== '').join('  ')];
  if (note) lines.push(note);
  for (const { label, value, more } of facts)
    lines.push(`${label}: ${value}${more === undefined ? '' : ` (${more})`}`);
  lines.push('', `${stackTitle}:`);
  for (const frame of frames) {
    if (frame.hidden) continue;
    lines.push(`  ${frame.text}${frame.repeats > 1 ? `  ×${frame.repeats}` : ''}`);
    for (const line of frame.fx) lines.push(`    ${line}`);
  }
  for (const reason of reasons) lines.push(`  ${reason}`);
  if (forward) lines.push('', 'Forward pass:', forward);
  return `${lines.join('\n')}\n`;
}

/** Where free events have the stack of the allocation, it is known who that was. */
export const isOfFree = ({ stack_of, who }: Pick<BlockDetails, 'stack_of' | 'who'>): boolean =>
  stack_of === 'free' && who === null;
/** What is said of a block, and that its stack came with its free. */
export function withOfFree(note: string | undefined, ofFree: boolean): string | undefined {
  if (!ofFree) return note;
  return `${note === undefined ? '' : `${note} `}The stack came with its free: who allocated it is not known.`;
}
export const savedNote = 'It was there when the snapshot was saved.';

export const streamFact = ({ stream, stream_handle }: { stream: number; stream_handle: string }): Fact => ({
  label: 'Stream',
  value: String(stream),
  ...(stream_handle !== '' && stream_handle !== String(stream) ? { more: `handle ${stream_handle}` } : {}),
});

export const poolText = (pool: [number, number] | null): string =>
  pool ? `(${pool[0]}, ${pool[1]})` : 'unknown';
