// Engines that are ready before a file is chosen. Script and compiled engine are fetched once; every worker after
// that is made from them, without a request and without a compilation.
import { EngineClient, type EngineParts } from './client.ts';
import { loadEngineParts } from './parts.ts';

export class EnginePool {
  private parts: Promise<EngineParts> | undefined;
  private readonly ready: Promise<EngineClient>[] = [];

  /** Has `count` engines waiting. The first call causes the page's own requests. */
  warmUp(count = 1): void {
    this.parts ??= loadEngineParts();
    while (this.ready.length < count) {
      const engine = this.parts.then((parts) => new EngineClient(parts));
      engine.catch(() => undefined); // told when a file is opened
      this.ready.push(engine);
    }
  }

  /** One for something else than a file, which finds the others waiting as before. */
  async spare(): Promise<EngineClient> {
    return (await this.ready.pop()) ?? this.another();
  }

  async take(): Promise<EngineClient> {
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

  private async another(): Promise<EngineClient> {
    return new EngineClient(await (this.parts ??= loadEngineParts()));
  }
}
