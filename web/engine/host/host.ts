// One engine with one open file, beside it: in a worker, in Node. Reads bytes and hands them over, copies answers out.
// It decides nothing.
//
// A typed array from the engine is a view of its memory and dies with the next call of any method: it is copied
// before anything else happens.
import type { EngineModule, Session } from 'engine-glue';
import type { EngineError } from '../protocol/answers.ts';
import type { Bytes } from '../protocol/wire.ts';
import { EngineFailure, type Phase, type Progress, type Source } from '../transport/transport.ts';
import { chunksOf, openSource } from './source.ts';

const progressEveryMs = 50;

export class Host {
  private session: Session | undefined;

  constructor(private readonly engine: EngineModule) {}

  async read(source: Source, budget: number, progress: (progress: Progress) => void): Promise<void> {
    const input = await openSource(source);
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
    for await (const chunk of chunksOf(input.stream)) {
      for (let from = 0; from < chunk.length;) {
        const room = session.writable(); // a fresh view: the heap may have grown
        const size = Math.min(room.length, chunk.length - from);
        if (size === 0) throw outOfMemory(bytes);
        room.set(chunk.subarray(from, from + size));
        check(session.commit(size));
        from += size;
      }
      bytes += chunk.length;
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

function outOfMemory(offset: number): EngineFailure {
  return new EngineFailure({ code: 'limit_exceeded', message: 'No memory is left to read on.', offset });
}

function check(status: string): void {
  if (status !== '') throw new EngineFailure(JSON.parse(status) as EngineError);
}
