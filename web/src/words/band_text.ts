// What is known of a band of the timeline, whatever it is, in words.
import { formatBytes, formatCount, formatExactBytes } from '../base/format.ts';
import type { Bytes } from '../base/units.ts';
import type { Band, EnvelopeDetails, SegmentDetails, ViewInfo } from '../../engine/index.ts';
import { describeBlock } from './block_text.ts';
import { poolText, streamFact, type Described, type Fact } from './described.ts';
import { describeThing } from './thing_text.ts';

export function describeBand(band: Band, info: ViewInfo): Described {
  switch (band.kind) {
    case 'envelope':
      return describeEnvelope(band, info);
    case 'segment':
      return describeSegment(band, info);
    default:
      return describeBlock(band, info);
  }
}

const sizeFact = (label: string, bytes: Bytes): Fact => ({
  label,
  value: formatBytes(bytes),
  more: formatExactBytes(bytes),
});

/** As it was when this piece appeared. */
function describeSegment(band: SegmentDetails, info: ViewInfo): Described {
  const told = describeThing({ kind: 'segment', segment: band, at: band.begin }, info);
  if (band.piece === band.size) return told;
  return { ...told, facts: [sizeFact('This piece', band.piece), ...told.facts] };
}

function describeEnvelope(pool: EnvelopeDetails, { has_history }: ViewInfo): Described {
  const { born_event: born } = pool;
  return {
    key: `pool ${pool.rank}`,
    name: pool.name,
    title: 'Capacity',
    bytes: pool.capacity,
    note: 'A private pool counts with the most that it ever held; its blocks come and go inside.',
    facts: [
      sizeFact('In blocks at most', pool.peak_active),
      sizeFact('In blocks at the end', pool.active_final),
      sizeFact('Reserved at the end', pool.reserved_final),
      { label: 'Blocks', value: formatCount(pool.blocks), more: 'that were ever in it' },
      ...(has_history
        ? [
            {
              label: 'Exists',
              value: born < 0 ? 'from before the first event' : `from event ${formatCount(born)}`,
            },
          ]
        : []),
      streamFact(pool),
      { label: 'Pool', value: poolText(pool.pool) },
    ],
    stackTitle: 'Stack',
    ofFree: false,
    frames: [],
    reasons: ['A pool has no stack of its own; its blocks and segments have.'],
    forward: null,
    ways: [],
  };
}
