// An op of a profiler's trace in words.
import { formatBytes, formatCount, formatDuration, formatMoment, plural } from '../base/format.ts';
import type { Microseconds } from '../base/units.ts';
import type { Axis, LaneThread, SpanDetails, ViewInfo } from '../../engine/index.ts';
import type { Span } from '../model/beside/choices.ts';
import type { ToldOps } from '../model/beside/op_attribution.ts';

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

/** How what lies beside a recording lies to it; `what`: "Ops of trace.json"; `nudge` is added to the recording's times. */
export function besideLine(
  what: string,
  { first_us: first, last_us: last }: Span,
  recording: ViewInfo,
  nudge: Microseconds,
  axis: Axis,
): string {
  if (first === null || last === null) return `${what} cannot be drawn here: no point has a time of the day.`;
  if (recording.first_time_us === null || recording.last_time_us === null)
    return `${what} cannot be drawn here: this recording has no times.`;
  const from = recording.first_time_us + nudge;
  const to = recording.last_time_us + nudge;
  if (to < first)
    return `${what}, by the clock: they begin ${formatDuration(first - to)} after this recording ends. If they are of one run, nudge.`;
  if (from > last)
    return `${what}, by the clock: they end ${formatDuration(from - last)} before this recording begins. If they are of one run, nudge.`;
  return axis === 'time' ? `${what}, by the clock.` : `${what} lie on the axis of time: choose Time (E).`;
}

/** Of how many allocations the op is known, and why not of the others. */
export function toldLine(told: ToldOps): string {
  const { allocations, inNoOp, onSeveralThreads, outside, withoutTime } = told;
  const others = (
    [
      [outside, 'before or after the trace'],
      [inNoOp, 'in no op'],
      [onSeveralThreads, 'while several threads ran ops'],
      [withoutTime, 'without a time'],
    ] as const
  ).flatMap(([count, why]) => (count > 0 ? [`${formatCount(count)} ${why}`] : []));
  const rest = others.length === 0 ? '' : ` (${others.join(', ')})`;
  return `${formatCount(told.told)} of ${plural(allocations, 'allocation')} have their op${rest}.`;
}
