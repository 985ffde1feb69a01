// The script of a worker: one engine off the page's thread.
import type { EngineError } from '../protocol/answers.ts';
import { EngineFailure } from '../transport/transport.ts';
import { Host } from './host.ts';
import type { FromWorker, ToWorker } from './messages.ts';
import { startEngine } from './module.ts';

const log: string[] = [];
let host: Promise<Host> | undefined;

const post = (message: FromWorker, transfer: Transferable[] = []): void => {
  globalThis.postMessage(message, { transfer });
};
const died = (error: unknown): void => post({ kind: 'died', error: describe(error) });

globalThis.onmessage = (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if (!(message instanceof Uint8Array) && message.kind === 'start') {
    host = startEngine(message.module, log).then((engine) => new Host(engine));
    host.catch(died);
    return;
  }
  void host?.then(
    async (started) => {
      try {
        if (message instanceof Uint8Array) {
          const answer = started.ask(message);
          return post(answer, [answer.buffer]);
        }
        await started.read(message.source, message.budget, (progress) =>
          post({ kind: 'progress', progress }),
        );
        post({ kind: 'read' });
      } catch (error) {
        if (error instanceof EngineFailure) post({ kind: 'refused', error: error.reason });
        else died(error);
      }
    },
    () => undefined, // told above
  );
};

/** An abort or a trap: the engine's memory cannot be trusted any more. */
function describe(error: unknown): EngineError {
  const text = error instanceof Error ? error.message : String(error);
  const lines = log.filter((line) => line.trim() !== '' && !line.includes(text)).slice(-3);
  // "memory access out of bounds" is a defect, too.
  const outOfMemory = [text, ...log].some((line) => /out of memory|allocation failed/i.test(line));
  return {
    code: outOfMemory ? 'out_of_memory' : 'internal',
    message: [text, ...lines].join(' · '),
    offset: -1,
  };
}
