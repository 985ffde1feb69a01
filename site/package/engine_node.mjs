// memstrata/engine in Node: the engine runs in this thread. engine.wasm and engine_rest.wasm lie beside this file.
import { openAsBlob, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
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
  return Snapshot.open(new DirectTransport(engine), await sourceOf(source), options);
}

async function sourceOf(source) {
  if (typeof source !== 'string' && !(source instanceof URL)) return { file: await blobOf(source) };
  if (/^https?:/i.test(String(source))) return { url: String(source) };
  const path = /^file:/i.test(String(source)) ? fileURLToPath(source) : source;
  try {
    return { file: await openAsBlob(path) };
  } catch (error) {
    throw new EngineFailure({ code: 'unreadable', message: `${path}: ${error.message}`, offset: -1 });
  }
}
