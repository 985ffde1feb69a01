// gpustrata/engine in browsers: the engine runs in a worker. worker.js, engine.wasm and engine_rest.wasm lie
// beside this file.
import { blobOf, Snapshot } from '../../web/engine/snapshot.ts';
import { WorkerTransport } from '../../web/engine/transport/worker.ts';
import { loadEngineParts } from '../../web/engine/assets.ts';

export * from '../../web/engine/index.ts';

let parts;

/** @type {import('../../web/engine/snapshot.ts').OpenSnapshot} */
export async function openSnapshot(source, options) {
  parts ??= loadEngineParts().catch((error) => {
    parts = undefined; // the next one asks again
    throw error;
  });
  const loaded = await parts;
  const transport = new WorkerTransport(loaded);
  void loaded.rest.load();
  const address = typeof source === 'string' || source instanceof URL;
  return Snapshot.open(
    transport,
    address ? { url: new URL(source, document.baseURI).href } : { file: await blobOf(source) },
    options,
  );
}
