// A recording that nobody made, for a rehearsal (rehearsal.ts): events as PyTorch writes them, in a pickle of
// protocol 4 with one device.

const liveBlocks = 200;
const stacks = 8;
const framesOfAll = 40;

/** `rounds` allocations of about half a KB each in the file; each block is freed 200 rounds after it was allocated. */
export function madeUpRecording(rounds: number): Uint8Array<ArrayBuffer> {
  const head: number[] = [];
  let slots = 0;
  const store = (): number => {
    head.push(0x94); // MEMOIZE
    slots += 1;
    return slots - 1;
  };
  const text = (value: string): number => {
    head.push(0x8c, value.length, ...[...value].map((char) => char.charCodeAt(0))); // SHORT_BINUNICODE
    return store();
  };
  const get = (slot: number): number[] => [0x6a, slot & 255, slot >> 8, 0, 0]; // LONG_BINGET

  head.push(0x80, 4, 0x5d, 0x28); // PROTO 4, a list of what is referred to later
  const words = new Map(
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
    ].map((word) => [word, get(text(word))]),
  );
  const word = (name: string): number[] => words.get(name) ?? [];
  const frames: number[][] = [];
  for (let line = 0; line < framesOfAll; line += 1) {
    head.push(0x7d); // EMPTY_DICT
    frames.push(get(store()));
    head.push(0x28, ...word('name'), ...word('alloc'), ...word('filename'), ...word('size'));
    head.push(...word('line'), 0x4b, line, 0x75); // BININT1, SETITEMS
  }
  head.push(0x65, 0x30, 0x7d, 0x28); // APPENDS, POP; the snapshot
  text('device_traces');
  head.push(0x5d, 0x28, 0x5d, 0x28); // lists of lists of events

  const event = (action: string, block: number): Uint8Array => {
    const bytes = [0x7d, 0x94, 0x28, ...word('action'), ...word(action)]; // EMPTY_DICT MEMOIZE MARK
    bytes.push(...word('addr'), 0x8a, 6, 0, block, 0, 0, 0, 0x7f); // LONG1
    bytes.push(...word('size'), 0x4d, 0, 2 + (block % 32), ...word('stream'), 0x4b, 0); // BININT2, BININT1
    bytes.push(...word('time_us'), 0x8a, 7, 0, 0, 0, 0, 0, 0, 6, ...word('frames'), 0x5d, 0x94, 0x28);
    for (let i = 0; i < framesOfAll; i += 1)
      bytes.push(...(frames[(i * (1 + (block % stacks))) % framesOfAll] ?? []));
    bytes.push(0x65, 0x75); // APPENDS SETITEMS
    return Uint8Array.from(bytes);
  };
  const allocations = Array.from({ length: liveBlocks }, (_, block) => event('alloc', block));
  const frees = Array.from({ length: liveBlocks }, (_, block) => event('free_completed', block));

  const parts: Uint8Array[] = [Uint8Array.from(head)];
  for (let round = 0; round < rounds; round += 1) {
    const block = round % liveBlocks;
    if (round >= liveBlocks) parts.push(frees[block]!);
    parts.push(allocations[block]!);
  }
  parts.push(Uint8Array.of(0x65, 0x65, 0x75, 0x2e)); // the lists, the snapshot, STOP
  const made = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    made.set(part, at);
    at += part.length;
  }
  return made;
}
