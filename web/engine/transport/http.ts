// An engine behind an address: POST read with a file's bytes, POST ask with a question's frame. The server answers both
// with a frame; what cannot be read is an error in one.
import type { EngineError } from '../protocol/answers.ts';
import { decodeAnswer, type Bytes } from '../protocol/wire.ts';
import { EngineFailure, type Progress, type Source, type Transport } from './transport.ts';

export class HttpTransport implements Transport {
  private readonly stopped = new AbortController();
  private last: Promise<void> = Promise.resolve();
  private answered: (answer: Bytes) => void = () => undefined;
  private closed: (why: EngineError) => void = () => undefined;

  /** `address` ends with a slash. */
  constructor(private readonly address: string) {}

  async read(source: Source, budget: number, progress: (progress: Progress) => void): Promise<void> {
    const body = 'file' in source ? source.file : await (await fetch(source.url)).blob();
    progress({ phase: 'reading', bytes: 0, total: body.size, events: 0 });
    const answer = decodeAnswer(await this.post(`read?budget=${budget}`, body));
    if ('error' in answer) throw new EngineFailure(answer.error);
  }

  /** One after another: answers come in the order of the questions, as from a worker. */
  send(question: Bytes): void {
    this.last = this.last.then(async () => {
      try {
        const answer = await this.post('ask', question);
        if (!this.stopped.signal.aborted) this.answered(answer);
      } catch (error) {
        if (this.stopped.signal.aborted) return;
        this.close();
        this.closed({ code: 'unreadable', message: `The server is gone (${String(error)}).`, offset: -1 });
      }
    });
  }

  listen(answered: (answer: Bytes) => void, closed: (why: EngineError) => void): void {
    this.answered = answered;
    this.closed = closed;
  }

  close(): void {
    this.stopped.abort();
  }

  private async post(path: string, body: Blob | Bytes): Promise<Bytes> {
    const response = await fetch(this.address + path, { method: 'POST', body, signal: this.stopped.signal });
    if (!response.ok) throw new Error(`The server answered ${response.status}.`);
    return new Uint8Array(await response.arrayBuffer());
  }
}
