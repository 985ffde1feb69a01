// An engine behind an address: `gpustrata serve` (engine/serve/server.h). Files lie there; a question's frame is posted and
// answered by one.
import type { EngineError, ServedReading, ServedRefusal, ServedSession } from '../protocol/answers.ts';
import type { Bytes } from '../protocol/wire.ts';
import { EngineFailure, type Progress, type Source, type Transport } from './transport.ts';

/** Questions under way at the same time; the server answers those of a file one after another. */
const mostAtOnce = 4;
/** Answers of that many bytes tell how quick the connection is; one slower than this (bytes/ms) is worth packing for. */
const telling = 1 << 18;
const slow = 20_000;

/** Before each further try (ms). */
const pauses = [100, 500, 2000];

export class HttpTransport implements Transport {
  private readonly stopped = new AbortController();
  private session: string | undefined;
  private readonly queue: Bytes[] = [];
  private atOnce = 0;
  private packed = false;
  private answered: (answer: Bytes) => void = () => undefined;
  private closed: (why: EngineError) => void = () => undefined;

  /** Of the server, with its token; ends with a slash. `opening`: what opens a file there. */
  constructor(
    private readonly address: string,
    private readonly opening = 'open',
  ) {}

  /** The server reads the file once more, for that engine alone: what it runs there keeps nobody waiting. */
  beside(): HttpTransport | undefined {
    return this.session === undefined
      ? undefined
      : new HttpTransport(this.address, `sessions/${this.session}/again`);
  }

  /** The server's own limit counts, not `budget`. */
  async read(
    source: Source,
    _budget: number,
    question: Bytes,
    progress: (progress: Progress) => void,
  ): Promise<Bytes> {
    if (!('served' in source))
      throw failure('wrong_usage', 'A server reads the files that it serves, no others.');
    this.leave();
    // Not to be cancelled: what is open there must be closed.
    const opened = await this.fetched(this.opening, {
      method: 'POST',
      body: source.served.name,
      signal: null,
    });
    const said = await opened.text();
    const isJson = opened.headers.get('content-type')?.startsWith('application/json');
    const { session, error } = (isJson ? JSON.parse(said) : {}) as Partial<ServedSession & ServedRefusal>;
    if (error) throw new EngineFailure(error);
    if (session === undefined) throw failure('unreadable', said || `The server answered ${opened.status}.`);
    this.session = session;
    if (typeof addEventListener === 'function') addEventListener('pagehide', this.hidden);
    if (this.stopped.signal.aborted) {
      this.leave();
      throw failure('cancelled', 'Cancelled.');
    }
    // Waits there until the file is read. What stands between may not wait so long: then it is asked once more.
    const answer = this.askOnce(question).catch(() => undefined);
    for (;;) {
      const response = await this.fetched(`sessions/${session}`);
      if (!response.ok) throw failure('unreadable', await response.text());
      const { ready, error: wrong, ...reading } = (await response.json()) as ServedReading;
      progress({ phase: reading.bytes < reading.total ? 'reading' : 'finishing', ...reading });
      if (wrong) throw new EngineFailure(wrong);
      if (ready) return (await answer) ?? this.ask(question);
    }
  }

  send(question: Bytes): void {
    this.queue.push(question);
    this.sendNext();
  }

  listen(answered: (answer: Bytes) => void, closed: (why: EngineError) => void): void {
    this.answered = answered;
    this.closed = closed;
  }

  close(): void {
    this.leave();
    this.stopped.abort();
  }

  private sendNext(): void {
    if (this.atOnce >= mostAtOnce || this.stopped.signal.aborted) return;
    const question = this.queue.shift();
    if (!question) return;
    this.atOnce += 1;
    this.ask(question)
      .then(
        (answer) => !this.stopped.signal.aborted && this.answered(answer),
        (error: unknown) => {
          if (this.stopped.signal.aborted) return;
          this.close();
          this.closed(reasonOf(error));
        },
      )
      .finally(() => {
        this.atOnce -= 1;
        this.sendNext();
      });
  }

  private ask(body: Bytes): Promise<Bytes> {
    return this.tried(() => this.askOnce(body));
  }
  private async askOnce(body: Bytes): Promise<Bytes> {
    const { signal } = this.stopped;
    const path = `sessions/${this.session}/ask${this.packed ? '?pack=1' : ''}`;
    const response = await fetch(this.address + path, { method: 'POST', body, signal });
    if (!response.ok)
      throw failure('unreadable', (await response.text()) || `The server answered ${response.status}.`);
    const since = performance.now();
    const answer = new Uint8Array(await response.arrayBuffer());
    if (answer.length >= telling && !this.packed)
      this.packed = answer.length / (performance.now() - since) < slow;
    return answer;
  }

  /** A page that may be shown again goes on. */
  private readonly hidden = ({ persisted }: PageTransitionEvent): void => {
    if (!persisted) this.leave();
  };

  /** The server may forget the file when nobody else looks at it. */
  private leave(): void {
    if (this.session === undefined) return;
    if (typeof removeEventListener === 'function') removeEventListener('pagehide', this.hidden);
    void fetch(`${this.address}sessions/${this.session}/close`, { method: 'POST', keepalive: true }).catch(
      () => undefined,
    );
    this.session = undefined;
  }

  private fetched(path: string, request: RequestInit = {}): Promise<Response> {
    return this.tried(() => fetch(this.address + path, { signal: this.stopped.signal, ...request }));
  }

  /** What is lost on the way is asked again: asked twice, a question has the same answer. */
  private async tried<T>(act: () => Promise<T>): Promise<T> {
    for (let time = 0; ; time += 1) {
      try {
        return await act();
      } catch (error) {
        if (error instanceof EngineFailure) throw error;
        if (this.stopped.signal.aborted) throw failure('cancelled', 'Cancelled.');
        const pause = pauses[time];
        if (pause === undefined)
          throw failure(
            'unreadable',
            `The server does not answer (${error instanceof Error ? error.message : String(error)}). ` +
              'It may have ended, or the tunnel to it; start `gpustrata serve` again.',
          );
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }
}

function failure(code: string, message: string): EngineFailure {
  return new EngineFailure({ code, message: message.trim(), offset: -1 });
}

function reasonOf(error: unknown): EngineError {
  return error instanceof EngineFailure ? error.reason : failure('unreadable', String(error)).reason;
}
