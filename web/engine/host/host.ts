// One engine with one open file, beside it: in a worker, in Node. Reads bytes and hands them over, copies answers out.
// It decides nothing.
//
// A typed array from the engine is a view of its memory and dies with the next call of any method: it is copied
// before anything else happens.
import type { EngineModule, Session } from 'engine-glue';
import type { EngineError } from '../protocol/answers.ts';
import type { Bytes } from '../protocol/wire.ts';
import {
  EngineFailure,
  type DirectFile,
  type Phase,
  type Progress,
  type Source,
} from '../transport/transport.ts';
import { chunksOf, openSource, type Input } from './source.ts';

const progressEveryMs = 50;
const pieceBytes = 1024 * 1024;

export class Host {
  private session: Session | undefined;

  constructor(private readonly engine: EngineModule) {}

  async read(source: Source, budget: number, progress: (progress: Progress) => void): Promise<void> {
    const input = 'read' in source ? source : await openSource(source);
    this.close();
    const session = new this.engine.Session(budget);
    this.session = session;
    session.expect(input.total);
    let bytes = 0;
    let lastReport = 0;
    const report = (phase: Phase): void => {
      lastReport = performance.now();
      progress({ phase, bytes, total: input.total, events: session.progress().events });
    };
    for await (const size of 'read' in input ? direct(session, input) : streamed(session, input.stream)) {
      bytes += size;
      if (performance.now() - lastReport >= progressEveryMs) report('reading');
      if (session.done()) break;
    }
    report('finishing');
    check(session.finish());
  }

  /** The answer's frame, the caller's own. */
  ask(question: Uint8Array): Bytes {
    // Without a file the engine itself says so.
    const session = (this.session ??= new this.engine.Session(0));
    session.question(question.length).set(question);
    return session.ask().slice();
  }

  close(): void {
    this.session?.delete();
    this.session = undefined;
  }
}

/** Hands chunk after chunk over; tells how many bytes. */
async function* streamed(session: Session, stream: Input['stream']): AsyncGenerator<number> {
  for await (const chunk of chunksOf(stream)) {
    for (let from = 0; from < chunk.length;) {
      const room = roomOf(session);
      const size = Math.min(room.length, chunk.length - from);
      room.set(chunk.subarray(from, from + size));
      check(session.commit(size));
      from += size;
    }
    yield chunk.length;
  }
}

/** The same without a copy: pieces that stay in the processor's cache while they are parsed. */
async function* direct(session: Session, file: DirectFile): AsyncGenerator<number> {
  for (;;) {
    await file.turn(); // before there is room: whoever has his turn may end the session
    const size = file.read(roomOf(session).subarray(0, pieceBytes));
    if (size === 0) return;
    check(session.commit(size));
    yield size;
  }
}

/** A fresh view: the heap may have grown. */
function roomOf(session: Session): Uint8Array {
  const room = session.writable();
  if (room.length === 0) throw outOfMemory(session.progress().bytes);
  return room;
}

function outOfMemory(offset: number): EngineFailure {
  return new EngineFailure({ code: 'limit_exceeded', message: 'No memory is left to read on.', offset });
}

function check(status: string): void {
  if (status !== '') throw new EngineFailure(JSON.parse(status) as EngineError);
}
