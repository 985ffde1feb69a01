// The script of a worker: one engine off the page's thread.
import type { EngineError } from '../protocol/answers.ts';
import { EngineFailure } from '../transport/transport.ts';
import { Host } from './host.ts';
import type { FromWorker, ToWorker } from './messages.ts';
import { startEngine } from './module.ts';

const log: string[] = [];
let host: Promise<Host> | undefined;
let rest: WebAssembly.Module | undefined;

const post = (message: FromWorker, transfer: Transferable[] = []): void => {
  globalThis.postMessage(message, { transfer });
};
const died = (error: unknown): void => post({ kind: 'died', error: describe(error) });

globalThis.onmessage = (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if (!(message instanceof Uint8Array) && message.kind === 'start') {
    const { module, rest: address } = message;
    host = startEngine(module, log, () => (rest ??= fetchNow(address))).then((engine) => new Host(engine));
    host.catch(died);
    return;
  }
  if (!(message instanceof Uint8Array) && message.kind === 'rest') {
    rest = message.module;
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
        const answer = started.ask(message.question);
        post({ kind: 'read', answer }, [answer.buffer]);
      } catch (error) {
        if (error instanceof EngineFailure) post({ kind: 'refused', error: error.reason });
        else died(error);
      }
    },
    () => undefined, // told above
  );
};

/** The engine's call that needs it cannot be left and entered again, so the worker waits as well. */
function fetchNow(address = ''): WebAssembly.Module {
  const request = new XMLHttpRequest();
  request.open('GET', address, false);
  request.responseType = 'arraybuffer';
  try {
    request.send();
  } catch {
    // told below, as an answer without the module
  }
  if (request.status !== 200) throw new Error('A part of the engine could not be fetched.');
  return new WebAssembly.Module(request.response as ArrayBuffer);
}

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
