// A browser compiles WebAssembly twice: quickly at first, well once it has run a while, for all workers that share the
// module. A made-up recording read while nobody waits moves that before the first file.
import type { EngineModule } from 'engine-glue';

const rounds = 4000; // about 4 MB, some ten milliseconds
const budget = 256 * 1024 ** 2;

/** Reads a made-up recording and draws it once. */
export function warmUp(module: EngineModule): void {
  const session = new module.Session(budget);
  try {
    const recording = madeUpRecording();
    session.expectBytes(recording.length);
    for (let from = 0; from < recording.length;) {
      const room = session.writable();
      const size = Math.min(room.length, recording.length - from);
      if (size === 0) return;
      room.set(recording.subarray(from, from + size));
      if (session.commit(size) !== '') return;
      from += size;
    }
    if (session.finish() !== '') return;
    session.openView(0, 0);
    const columns = { axis: 0 as const, first: 0, width: 16, count: 600 };
    session.setPalette(new Uint32Array([0xffffffff]), 0, 0, 0);
    session.picture(columns, { bottom: 0, bytesPerRow: 64, count: 300 }, false);
    session.curves(columns);
  } finally {
    session.delete();
  }
}

/** A pickle of protocol 4 with one device, whose events repeat a few stacks. */
export function madeUpRecording(): Uint8Array {
  const head: number[] = [];
  let slots = 0;
  const store = (to: number[]): number => {
    to.push(0x94); // MEMOIZE
    slots += 1;
    return slots - 1;
  };
  const text = (to: number[], value: string): number => {
    to.push(0x8c, value.length, ...[...value].map((char) => char.charCodeAt(0))); // SHORT_BINUNICODE
    return store(to);
  };
  const get = (slot: number): number[] => [0x6a, slot & 255, slot >> 8, 0, 0]; // LONG_BINGET

  head.push(0x80, 4, 0x5d, 0x28); // PROTO 4, a list of what is referred to later
  const words = Object.fromEntries(
    [
      'action',
      'addr',
      'size',
      'stream',
      'time_us',
      'frames',
      'alloc',
      'free_completed',
      'name',
      'filename',
      'line',
    ].map((word) => [word, text(head, word)]),
  ) as Record<string, number>;
  const word = (name: string): number[] => get(words[name]!);
  const frames: number[] = [];
  for (let line = 0; line < 40; line += 1) {
    head.push(0x7d); // EMPTY_DICT
    frames.push(store(head));
    head.push(0x28, ...word('name'), ...word('alloc'), ...word('filename'), ...word('size'));
    head.push(...word('line'), 0x4b, line, 0x75); // BININT1, SETITEMS
  }
  head.push(0x65, 0x30, 0x7d, 0x28); // APPENDS, POP; the snapshot
  text(head, 'device_traces');
  head.push(0x5d, 0x28, 0x5d, 0x28); // lists of lists of events

  const round: number[] = [];
  for (const [action, block, stack] of [
    ['alloc', 1, 0],
    ['alloc', 2, 3],
    ['free_completed', 1, 7],
    ['free_completed', 2, 1],
  ] as const) {
    round.push(0x7d, 0x94, 0x28, ...word('action'), ...word(action)); // EMPTY_DICT MEMOIZE MARK
    round.push(...word('addr'), 0x8a, 6, 0, block, 0, 0, 0, 0x7f); // LONG1
    round.push(...word('size'), 0x4d, 0, 2, ...word('stream'), 0x4b, 0); // BININT2, BININT1
    round.push(...word('time_us'), 0x8a, 7, 0, 0, 0, 0, 0, 0, 6, ...word('frames'), 0x5d, 0x94, 0x28);
    for (let i = 0; i < frames.length; i += 1) round.push(...get(frames[(i * (stack + 1)) % frames.length]!));
    round.push(0x65, 0x75); // APPENDS SETITEMS
  }
  const tail = [0x65, 0x65, 0x75, 0x2e]; // the lists, the snapshot, STOP
  const made = new Uint8Array(head.length + rounds * round.length + tail.length);
  made.set(head);
  for (let i = 0; i < rounds; i += 1) made.set(round, head.length + i * round.length);
  made.set(tail, made.length - tail.length);
  return made;
}
