// What one should know first of a recording, in words with numbers: what it came to, why it ended, what is missing.
import { baseName, formatBytes, formatCount, formatExactBytes, plural } from '../base/format.ts';
import type { Bytes } from '../base/units.ts';
import type { EventDetails, Overview, StateTotals, ViewInfo } from '../../engine/index.ts';
import type { Goal, Way } from './described.ts';
import { ownFrame } from './stack_lines.ts';

export interface Finding {
  id: string;
  title: string;
  /** The number that it is about, and its bytes. */
  value: string;
  bytes?: Bytes;
  /** Something went wrong. */
  bad?: true;
  says: string[];
  /** Where it is seen. */
  ways: Way[];
  /** What it is made of, the largest first; they and the rest add up to it. */
  parts?: FindingPart[];
  rest?: string;
  /** A line of Python that records it the next time, or a setting that may help. */
  code?: string;
}

export interface FindingPart {
  who: string;
  bytes: Bytes;
  blocks: number;
  /** Of the whole, 0 to 1. */
  share: number;
  goal: Goal;
}

/** The last out-of-memory event, and the state it met. */
export interface OomMet {
  event: EventDetails;
  totals: StateTotals | undefined;
}

/** The most telling one first. What the engine found out (`overview`) comes later than what the view knows. */
export function findingsOf(info: ViewInfo, oom: OomMet | undefined, overview?: Overview): Finding[] {
  const parts = info.bands === 'blocks' ? partsOf(overview) : undefined;
  const findings =
    info.events === 0
      ? [{ ...saved(info), ...parts }, unused(info)]
      : [outOfMemory(info, oom), { ...peak(info), ...parts }, reserved(info), grown(info), before(info)];
  const lacking = overview ? notRecorded(overview) : missing(info);
  return [...findings, ...lacking].filter((one) => one !== undefined);
}

function partsOf(overview: Overview | undefined): Pick<Finding, 'parts' | 'rest'> | undefined {
  const peak = overview?.findings.find((one) => one.kind === 'peak');
  if (!peak || peak.parts.length === 0 || (peak.parts.length === 1 && peak.parts[0]?.who === null))
    return undefined;
  return {
    parts: peak.parts.map(({ who, bytes, blocks, rank, filter }) => ({
      who: who ?? 'no stack',
      bytes,
      blocks,
      share: peak.bytes ? bytes / peak.bytes : 0,
      goal: filter ? { to: 'filter', text: filter } : { to: 'rank', rank },
    })),
    ...(peak.rest.lines > 0 ? { rest: peak.rest.text } : {}),
  };
}

function notRecorded({ findings }: Overview): Finding[] {
  return findings.flatMap((one) =>
    one.kind === 'not_recorded'
      ? [
          {
            id: `no-${one.what.replace('_', '-')}`,
            title: 'Not recorded',
            value: missingNames[one.what],
            says: [one.text],
            ways: [],
            code: one.python,
          },
        ]
      : [],
  );
}
const missingNames = {
  history: 'History',
  stacks: 'Stacks of events',
  frames: 'Frames of stacks',
  some_stacks: 'Some stacks',
  times: 'Times',
  oldest_events: 'The oldest events',
} as const;

function outOfMemory(info: ViewInfo, met: OomMet | undefined): Finding | undefined {
  const last = info.oom_events.at(-1);
  if (last === undefined) return undefined;
  const times = info.oom_events.length;
  const event = met?.event;
  const says = times > 1 ? [`${plural(times, 'time')}; this is the last one.`] : [];
  if (event) {
    const own = ownFrame(event.frames);
    if (own) says.push(`${own.name} asked for it, ${baseName(own.file)}:${own.line}.`);
    says.push(...verdict(event, met.totals));
  }
  const finding: Finding = {
    id: 'oom',
    title: 'Out of memory',
    value: event ? formatBytes(event.size) : plural(times, 'time'),
    bad: true,
    says,
    ways: [
      { label: `event ${formatCount(last)}`, goal: { to: 'event', event: last } },
      { label: 'the state it met', goal: { to: 'panel', panel: 'state', event: last } },
    ],
  };
  if (event) finding.bytes = event.size;
  const split = event && met.totals && fits(event, met.totals) === 'in pieces';
  if (split && !expandable(info.settings)) finding.code = 'PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True';
  return finding;
}

/** Whether what is free would be enough. */
function fits({ size, device_free }: EventDetails, { free }: StateTotals): 'no' | 'in pieces' | 'unknown' {
  if (device_free === null) return free >= size ? 'in pieces' : 'unknown';
  return device_free + free >= size ? 'in pieces' : 'no';
}

function verdict(event: EventDetails, totals: StateTotals | undefined): string[] {
  const { device_free } = event;
  const onDevice = device_free === null ? [] : [`${formatBytes(device_free)} on the device`];
  if (!totals) return onDevice.map((free) => `Free then: ${free}.`);
  const gap = totals.free > 0 ? ` (largest gap ${formatBytes(totals.largest_free)})` : '';
  const where = [...onDevice, `${formatBytes(totals.free)} inside segments${gap}`].join(', ');
  const together = formatBytes(totals.free + (device_free ?? 0));
  switch (fits(event, totals)) {
    case 'no':
      return [`Only ${together} were free: ${where}. The device was full.`];
    case 'in pieces':
      return [`${together} were free, but not in one piece: ${where}.`];
    case 'unknown':
      return [`Free then: ${where}.`];
  }
}

function expandable(settings: unknown): boolean {
  return (settings as { expandable_segments?: unknown } | null)?.expandable_segments === true;
}

function peak(info: ViewInfo): Finding {
  const { bytes, event } = info.peak;
  const what =
    info.bands === 'segments'
      ? 'reserved'
      : info.bands === 'pools'
        ? 'allocated, with private pools'
        : 'allocated';
  const says = [
    event < 0
      ? `It was highest at the start: ${formatExactBytes(bytes)} ${what}.`
      : `The most that was ${what} at one time, after event ${formatCount(event)} of ${formatCount(info.events)}.`,
  ];
  return {
    id: 'peak',
    title: 'Peak',
    value: formatBytes(bytes),
    bytes,
    says,
    ways: [
      { label: 'show it', goal: { to: 'peak' } },
      { label: 'what is alive then', goal: { to: 'filter', text: 'alive@peak' } },
    ],
  };
}

const share = (part: Bytes, whole: Bytes): string => {
  const percent = whole > 0 ? (100 * part) / whole : 0;
  return `${percent > 0 && percent < 9.95 ? percent.toFixed(1) : Math.round(percent)} %`;
};

function reserved({ reserved_peak, peak: { bytes }, bands }: ViewInfo): Finding | undefined {
  if (reserved_peak <= 0 || bands === 'segments') return undefined;
  const more = reserved_peak - bytes;
  return {
    id: 'reserved',
    title: 'Reserved at most',
    value: formatBytes(reserved_peak),
    bytes: reserved_peak,
    says: [
      more > 0
        ? `The allocator took ${formatBytes(more)} (${share(more, reserved_peak)}) more from the device than was ever allocated at one time.`
        : 'No more than was allocated at one time.',
    ],
    ways: [
      { label: 'segments over time', goal: { to: 'panel', panel: 'map' } },
      { label: 'gaps at this moment', goal: { to: 'panel', panel: 'state' } },
    ],
  };
}

/** What is there at the end and was not at the start. */
function grown({ initial_bytes, final_bytes, peak: { bytes }, bands }: ViewInfo): Finding | undefined {
  if (bands === 'segments') return undefined;
  const more = final_bytes - initial_bytes;
  const says =
    more > 0
      ? `${formatBytes(more)} more than at the start.`
      : more < 0
        ? `${formatBytes(-more)} less than at the start.`
        : 'As much as at the start.';
  return {
    id: 'end',
    title: 'At the end',
    value: formatBytes(final_bytes),
    bytes: final_bytes,
    says: [says, ...(more > bytes / 10 ? ['What came and was never freed may be a leak.'] : [])],
    ways:
      more > 0
        ? [{ label: 'came and stayed', goal: { to: 'filter', text: 'freed:never -born:before' } }]
        : [],
  };
}

function before({ initial_bytes, peak: { bytes }, events, bands }: ViewInfo): Finding | undefined {
  if (initial_bytes <= 0 || bands === 'segments') return undefined;
  return {
    id: 'before',
    title: 'From before the recording',
    value: formatBytes(initial_bytes),
    bytes: initial_bytes,
    says: [
      `${share(initial_bytes, bytes)} of the peak was there already when the first event was recorded.`,
      ...(isRound(events)
        ? [`The recording keeps exactly ${formatCount(events)} events: older ones were overwritten.`]
        : ['Begin recording before the model is made to see where it came from.']),
    ],
    ways: [{ label: 'show it', goal: { to: 'filter', text: 'born:before' } }],
    code: isRound(events)
      ? `torch.cuda.memory._record_memory_history(max_entries=${10 * events})`
      : 'torch.cuda.memory._record_memory_history()',
  };
}

/** What people set max_entries to. */
function isRound(events: number): boolean {
  return events >= 1000 && /^[125]0+$/.test(String(events));
}

/** Of a file without history. */
function saved({ peak: { bytes } }: ViewInfo): Finding {
  return {
    id: 'saved',
    title: 'Allocated when it was saved',
    value: formatBytes(bytes),
    bytes,
    says: ['The state of one moment: how it came about was not recorded.'],
    ways: [{ label: 'the state', goal: { to: 'panel', panel: 'state' } }],
  };
}
function unused({ reserved_final, final_bytes }: ViewInfo): Finding | undefined {
  if (reserved_final <= 0) return undefined;
  const more = reserved_final - final_bytes;
  return {
    id: 'reserved',
    title: 'Reserved',
    value: formatBytes(reserved_final),
    bytes: reserved_final,
    says: [
      more > 0
        ? `${formatBytes(more)} (${share(more, reserved_final)}) more than is allocated.`
        : 'All of it is allocated.',
    ],
    ways: [],
  };
}

/** What was not recorded, and how it is the next time. */
function missing(info: ViewInfo): Finding[] {
  const found: Finding[] = [];
  const add = (id: string, value: string, says: string, code: string): void => {
    found.push({ id, title: 'Not recorded', value, says: [says], ways: [], code });
  };
  if (info.events === 0)
    add(
      'no-history',
      'History',
      'Begin recording before the work to see what came and went.',
      'torch.cuda.memory._record_memory_history(max_entries=1_000_000)',
    );
  else if (!info.has_stacks)
    add(
      'no-stacks',
      'Stacks of events',
      'Without them nobody knows which line of code asked for a block.',
      'torch.cuda.memory._record_memory_history(stacks="all")',
    );
  return found;
}
