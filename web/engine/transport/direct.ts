// An engine in this very thread: Node, tests, a server.
import type { EngineModule } from 'engine-glue';
import { Host } from '../host/host.ts';
import type { EngineError } from '../protocol/answers.ts';
import type { Bytes } from '../protocol/wire.ts';
import type { Progress, Source, Transport } from './transport.ts';

export class DirectTransport implements Transport {
  private readonly host: Host;
  private open = true;
  private answered: (answer: Bytes) => void = () => undefined;
  private closed: (why: EngineError) => void = () => undefined;

  constructor(engine: EngineModule) {
    this.host = new Host(engine);
  }

  async read(
    source: Source,
    budget: number,
    question: Bytes,
    progress: (progress: Progress) => void,
  ): Promise<Bytes> {
    await this.host.read(source, budget, progress);
    return this.host.ask(question);
  }

  send(question: Bytes): void {
    // Later, as every other transport answers.
    queueMicrotask(() => {
      if (!this.open) return;
      try {
        this.answered(this.host.ask(question));
      } catch (error) {
        this.close();
        this.closed({ code: 'internal', message: String(error), offset: -1 });
      }
    });
  }

  listen(answered: (answer: Bytes) => void, closed: (why: EngineError) => void): void {
    this.answered = answered;
    this.closed = closed;
  }

  close(): void {
    this.open = false;
    this.host.close();
  }
}
