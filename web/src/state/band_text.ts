// What is known of a band, whatever it is, as rows for the panel and as text for the clipboard. Blocks: block_text.ts.
import { formatBytes, formatCount, formatExactBytes, plural } from '../base/format.ts';
import {
  sizeOf,
  type Band,
  type EnvelopeDetails,
  type SegmentDetails,
  type ViewInfo,
} from '../engine/answers.ts';
import { factsOf, kindNote, textOf, type Fact } from './block_text.ts';

const bytes = (label: string, value: number): Fact => ({
  label,
  value: formatBytes(value),
  more: formatExactBytes(value),
});

/** One sentence about what it is, where that does not go without saying. */
export function bandNote(band: Band): string | undefined {
  switch (band.kind) {
    case 'envelope':
      return 'A private pool. It counts with the most that it ever held, as its blocks and segments come and go inside.';
    case 'segment':
      return band.begin < 0
        ? 'Device memory that the allocator had before the recording began.'
        : 'Device memory that the allocator got during the recording.';
    default:
      return kindNote(band);
  }
}

export function bandFacts(band: Band, info: ViewInfo): Fact[] {
  switch (band.kind) {
    case 'envelope':
      return envelopeFacts(band);
    case 'segment':
      return segmentFacts(band);
    default:
      return factsOf(band, info);
  }
}

export function bandTextOf(band: Band, info: ViewInfo): string {
  if (band.kind !== 'envelope' && band.kind !== 'segment') return textOf(band, info);
  const size = sizeOf(band);
  const lines = [`${band.name}  ${formatBytes(size)} (${formatExactBytes(size)})`];
  const note = bandNote(band);
  if (note) lines.push(note);
  for (const { label, value, more } of bandFacts(band, info))
    lines.push(`${label}: ${value}${more === undefined ? '' : ` (${more})`}`);
  const frames = band.kind === 'segment' ? band.frames.filter(({ hidden }) => !hidden) : [];
  if (frames.length > 0) lines.push('', 'Needed for:', ...frames.map(({ text }) => `  ${text}`));
  return `${lines.join('\n')}\n`;
}

function envelopeFacts(pool: EnvelopeDetails): Fact[] {
  return [
    bytes('Capacity', pool.capacity),
    bytes('In blocks at most', pool.peak_active),
    bytes('In blocks at the end', pool.active_final),
    bytes('Reserved at the end', pool.reserved_final),
    { label: 'Blocks', value: formatCount(pool.blocks), more: 'that were ever in it' },
    {
      label: 'Since',
      value: pool.born_event < 0 ? 'before the recording' : `event ${formatCount(pool.born_event)}`,
    },
    ...placeFacts(pool),
  ];
}

function segmentFacts(segment: SegmentDetails): Fact[] {
  const { begin, end, begin_action, end_action } = segment;
  return [
    bytes('In blocks', segment.active),
    bytes('Free', segment.free),
    ...(segment.rounding > 0 ? [bytes('Lost to rounding', segment.rounding)] : []),
    {
      label: 'Blocks',
      value: `${plural(segment.blocks, 'block')}, ${formatCount(segment.free_blocks)} free`,
      more: begin < 0 ? 'before the first event' : `after event ${formatCount(begin)}`,
    },
    {
      label: 'Appeared',
      value: begin < 0 ? 'before the recording' : `event ${formatCount(begin)}`,
      ...(begin_action === null ? {} : { more: begin_action }),
    },
    {
      label: 'Gone',
      value: end < 0 ? 'never, within the recording' : `event ${formatCount(end)}`,
      ...(end_action === null ? {} : { more: end_action }),
    },
    ...(segment.expandable ? [{ label: 'Kind', value: 'expandable', more: 'mapped piece by piece' }] : []),
    ...placeFacts(segment),
    { label: 'Address', value: segment.address },
  ];
}

function placeFacts({
  stream,
  stream_handle,
  pool,
}: {
  stream: number;
  stream_handle: string;
  pool: [number, number] | null;
}): Fact[] {
  const handle = stream_handle !== '' && stream_handle !== String(stream);
  return [
    { label: 'Stream', value: String(stream), ...(handle ? { more: `handle ${stream_handle}` } : {}) },
    { label: 'Pool', value: pool ? `(${pool[0]}, ${pool[1]})` : 'unknown' },
  ];
}
