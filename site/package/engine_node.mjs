// gpustrata/engine in Node: the engine runs in this thread. engine.wasm and engine_rest.wasm lie beside this file.
import { readFileSync, readSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startEngine } from '../../web/engine/host/module.ts';
import { EngineFailure } from '../../web/engine/index.ts';
import { blobOf, Snapshot } from '../../web/engine/snapshot.ts';
import { DirectTransport } from '../../web/engine/transport/direct.ts';

export * from '../../web/engine/index.ts';

let compiled, compiledRest;
const rest = () =>
  (compiledRest ??= new WebAssembly.Module(readFileSync(new URL('./engine_rest.wasm', import.meta.url))));

/** @type {import('../../web/engine/snapshot.ts').OpenSnapshot} */
export async function openSnapshot(source, options) {
  compiled ??= readFile(new URL('./engine.wasm', import.meta.url)).then((bytes) =>
    WebAssembly.compile(bytes),
  );
  const engine = await startEngine(await compiled, [], rest);
  const { close, ...from } = await sourceOf(source);
  try {
    return await Snapshot.open(new DirectTransport(engine), from, options);
  } finally {
    await close?.(); // all of it was read, or will not be
  }
}

async function sourceOf(source) {
  if (typeof source !== 'string' && !(source instanceof URL)) return { file: await blobOf(source) };
  if (/^https?:/i.test(String(source))) return { url: String(source) };
  const path = /^file:/i.test(String(source)) ? fileURLToPath(source) : source;
  try {
    return await fileOf(path);
  } catch (error) {
    throw new EngineFailure({ code: 'unreadable', message: `${path}: ${error.message}`, offset: -1 });
  }
}

/** A file, read into the engine's own memory; every 50 ms the program has its turn. */
async function fileOf(path) {
  const handle = await open(path);
  const about = await handle.stat();
  if (about.isDirectory()) {
    await handle.close();
    throw new Error('it is a folder');
  }
  const unreadable = (error) =>
    new EngineFailure({ code: 'unreadable', message: `${path}: ${error.message}`, offset: -1 });
  let turned = performance.now();
  return {
    total: about.size,
    read(room) {
      try {
        return readSync(handle.fd, room);
      } catch (error) {
        throw unreadable(error);
      }
    },
    async turn() {
      if (performance.now() - turned < 50) return;
      await setImmediate();
      turned = performance.now();
    },
    close: () => handle.close(),
  };
}
