// memstrata/engine in Node: the engine runs in this thread. engine.wasm and engine_rest.wasm lie beside this file.
import { readFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
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

/** A file, read into the buffers that the engine brings. The stream of a Blob comes in small pieces: twice the time. */
async function fileOf(path) {
  const handle = await open(path);
  const about = await handle.stat();
  if (about.isDirectory()) {
    await handle.close();
    throw new Error('it is a folder');
  }
  const stream = () =>
    new ReadableStream({
      type: 'bytes',
      async pull(controller) {
        const { byobRequest } = controller;
        const { bytesRead } = await handle.read(byobRequest.view, 0, byobRequest.view.byteLength);
        if (bytesRead === 0) controller.close();
        byobRequest.respond(bytesRead);
      },
    });
  return { file: { size: about.size, stream }, close: () => handle.close() };
}
