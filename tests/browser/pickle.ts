// Writes small snapshots of known blocks as pickles, so that a test knows what must be on the screen.
export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };

/** Dicts, lists, strings, integers, booleans and None, protocol 4. */
export function pickled(value: Value): Buffer {
  const parts: Buffer[] = [Buffer.from([0x80, 4])];
  write(value, parts);
  parts.push(Buffer.from('.'));
  return Buffer.concat(parts);
}

const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

function write(value: Value, out: Buffer[]): void {
  if (value === null) out.push(Buffer.from('N'));
  else if (typeof value === 'boolean') out.push(Buffer.from([value ? 0x88 : 0x89]));
  else if (typeof value === 'number') {
    const bytes = Buffer.alloc(10);
    bytes[0] = 0x8a; // LONG1
    bytes[1] = 8;
    bytes.writeBigInt64LE(BigInt(value), 2);
    out.push(bytes);
  } else if (typeof value === 'string') {
    const text = Buffer.from(value);
    const head = Buffer.alloc(5);
    head[0] = 'X'.charCodeAt(0);
    head.writeUInt32LE(text.length, 1);
    out.push(head, text);
  } else if (isList(value)) {
    out.push(Buffer.from(']('));
    for (const item of value) write(item, out);
    out.push(Buffer.from('e'));
  } else {
    out.push(Buffer.from('}('));
    for (const [key, item] of Object.entries(value)) {
      write(key, out);
      write(item, out);
    }
    out.push(Buffer.from('u'));
  }
}

const MiB = 1024 * 1024;
const segment = 0x7f0000000000;

/** One event of `knownSnapshot`: a block by letter comes or goes. */
interface Step {
  action: 'alloc' | 'free_requested' | 'free_completed';
  block: 'A' | 'B' | 'C';
}

const sizes = { A: 4 * MiB, B: 2 * MiB, C: 1 * MiB };
const places = { A: 0, B: 4 * MiB, C: 6 * MiB };

export interface KnownOptions {
  times?: boolean;
  stacks?: boolean;
  extra?: number;
  /** Name, stage, microseconds after event 0. */
  annotations?: readonly (readonly [string, 'START' | 'END', number])[];
  changed?: Readonly<Record<number, Readonly<Record<string, Value>>>>;
}

const firstTime = 1_700_000_000_000_000;

/**
 * Ten events on device 0 in a segment of 20 MiB: A (4 MiB) and B (2 MiB) come, C (1 MiB) comes, B goes with
 * events 5 and 6, then C is requested and freed with 8 and 9. Bands, from the bottom:
 *   event 1: A   2: A   3: A B   4: A B C   5: A B C (B waits)   6, 7: A C   8: A C (C waits)   9: A
 * `extra` bytes make B larger, and the peak of 7 MiB with it. Event i comes i * i ms after event 0. `changed`: other
 * members of some events.
 */
export function knownSnapshot(options: KnownOptions = {}): Buffer {
  return pickled(known(options));
}

/** Several of them in one file, as `{"rank0": snapshot, ...}`. */
export function wrapper(snapshots: { readonly [name: string]: KnownOptions }): Buffer {
  return pickled(Object.fromEntries(Object.entries(snapshots).map(([name, one]) => [name, known(one)])));
}

function known({
  times = true,
  stacks = true,
  extra = 0,
  annotations = [],
  changed = {},
}: KnownOptions): Value {
  const steps: (Step | undefined)[] = [
    undefined, // segment_alloc
    { action: 'alloc', block: 'A' },
    undefined, // snapshot
    { action: 'alloc', block: 'B' },
    { action: 'alloc', block: 'C' },
    { action: 'free_requested', block: 'B' },
    { action: 'free_completed', block: 'B' },
    undefined, // snapshot
    { action: 'free_requested', block: 'C' },
    { action: 'free_completed', block: 'C' },
  ];
  const frames = stacks
    ? [
        { filename: '??', line: 0, name: 'at::native::empty_cuda' },
        { filename: '/home/me/train.py', line: 42, name: 'attention' },
      ]
    : [];
  const sizeOf = (name: 'A' | 'B' | 'C'): number => sizes[name] + (name === 'B' ? extra : 0);
  const trace = steps.map((step, index) => ({
    action: step?.action ?? (index === 0 ? 'segment_alloc' : 'snapshot'),
    addr: segment + (step ? places[step.block] : 0),
    size: step ? sizeOf(step.block) : 20 * MiB,
    stream: 0,
    frames,
    ...(times ? { time_us: firstTime + index * index * 1000 } : {}),
    ...changed[index],
  }));
  const block = (address: number, size: number, state: string): Value => ({
    address,
    size,
    requested_size: size,
    state,
    frames,
  });
  return {
    segments: [
      {
        device: 0,
        address: segment,
        total_size: 20 * MiB,
        allocated_size: sizes.A,
        active_size: sizes.A,
        requested_size: sizes.A,
        stream: 0,
        segment_type: 'large',
        segment_pool_id: [0, 0],
        is_expandable: false,
        frames,
        blocks: [
          block(segment, sizes.A, 'active_allocated'),
          block(segment + sizes.A, 20 * MiB - sizes.A, 'inactive'),
        ],
      },
    ],
    device_traces: [trace],
    external_annotations: annotations.map(([name, stage, after]) => ({
      name,
      stage,
      device: 0,
      time_us: firstTime + after,
    })),
  };
}

export { MiB };
