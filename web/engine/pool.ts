// Engines that are ready before a file is chosen. Script and compiled engine are fetched once; every worker after
// that is made from them, without a request and without a compilation.
import { loadEngineParts } from './assets.ts';
import { Engine } from './engine.ts';
import type { Source } from './transport/transport.ts';
import { WorkerTransport, type EngineParts } from './transport/worker.ts';

export class EnginePool {
  private parts: Promise<EngineParts> | undefined;
  private readonly ready: Promise<Engine>[] = [];
  private users = 0;

  /** A viewer begins to use it: two engines wait, so that opening two files does not even make a worker. */
  enter(): void {
    this.users += 1;
    this.warmUp(2);
  }
  /** When the last one leaves, no engine waits any longer. Script and compiled engine are kept. */
  leave(): void {
    this.users -= 1;
    if (this.users > 0) return;
    for (const engine of this.ready.splice(0)) engine.then((one) => one.close()).catch(() => undefined);
  }

  /** Has `count` engines waiting. The first call causes the page's own requests. */
  warmUp(count = 1): void {
    if (this.users === 0) return;
    this.parts ??= loadEngineParts();
    while (this.ready.length < count) {
      const engine = this.parts.then((parts) => engineOf(parts));
      engine.catch(() => undefined); // told when a file is opened
      this.ready.push(engine);
    }
  }

  /** Has the whole engine: what panels and files that are no snapshots need. Never refused. */
  async loadRest(): Promise<void> {
    try {
      await (await this.parts)?.rest?.load();
    } catch {
      // The engine is not there at all; told when a file is opened.
    }
  }

  /** One for something else than a file, which finds the others waiting as before. */
  async spare(): Promise<Engine> {
    return (await this.ready.pop()) ?? this.another();
  }

  /** One that can read `source`: what a server serves, the engine there. */
  async take(source: Source): Promise<Engine> {
    if ('served' in source) {
      const { HttpTransport } = await import('./transport/http.ts');
      return new Engine(new HttpTransport(source.served.address));
    }
    this.warmUp();
    try {
      const engine = await this.ready.shift();
      if (engine?.alive) return engine;
      return await this.another();
    } catch (error) {
      // Perhaps the connection was gone for a moment: the next file tries again.
      this.parts = undefined;
      this.ready.length = 0;
      throw error;
    }
  }

  private async another(): Promise<Engine> {
    return engineOf(await (this.parts ??= loadEngineParts()));
  }
}

const engineOf = (parts: EngineParts): Engine => new Engine(new WorkerTransport(parts));

/** One for all viewers of a page. */
export const pagePool = new EnginePool();
