// An op of a profiler's trace in words.
import { formatBytes, formatCount, formatDuration, formatMoment, plural } from '../base/format.ts';
import type { LaneThread, SpanDetails } from '../../engine/index.ts';

/** Name; category, thread, time; what it did with memory; where it lies. */
export function opLines(op: SpanDetails): string[] {
  const lines = [op.name ?? '(no name)'];
  const thread = op.thread_name ?? (op.thread === null ? '' : `thread ${op.thread}`);
  lines.push([op.category ?? op.kind, thread].filter((one) => one !== '').join(' · '));
  const took = op.duration_us < 0 ? 'its end is missing' : formatDuration(op.duration_us);
  lines.push(`${formatMoment(op.start_us)}: ${took}`);
  const records = op.allocs + op.frees;
  lines.push(
    records === 0
      ? 'no memory record of this device'
      : `net ${formatBytes(op.net)} · allocated ${formatBytes(op.gross)} · peak ${formatBytes(op.peak)} · ${plural(records, 'record')}`,
  );
  if (op.module !== null) lines.push(`module ${op.module}`);
  if (op.around.length > 0) lines.push(`in ${op.around.slice(0, 3).join(' in ')}`);
  return lines;
}

export function threadName({ process, id, name }: LaneThread): string {
  const number = `thread ${id ?? '?'}`;
  const words =
    name === null || name === '' ? number : name.includes(id ?? '?') ? name : `${name} (${number})`;
  return process === null || process === '' ? words : `${words}, process ${process}`;
}

export function threadLine({ spans, records, deeper }: LaneThread): string {
  const more = deeper > 0 ? `, ${formatCount(deeper)} too deep to be shown` : '';
  return `${plural(spans, 'op')}, ${plural(records, 'memory record')}${more}`;
}
