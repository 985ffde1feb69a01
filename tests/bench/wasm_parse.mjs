// Reads a snapshot file with the WebAssembly build in Node and prints what it took, as one line of JSON.
//
//   node wasm_parse.mjs FILE [REPEATS=5]
//
// The median of the later readings: before them the engine's code has been compiled well. Nothing is replayed.
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { loadEngine } from '../wasm/engine.mjs';

const [path, repeats = '5'] = process.argv.slice(2);
const chunkBytes = 4 << 20; // as the page reads
const engine = await loadEngine();

function readOnce() {
  const file = openSync(path, 'r');
  const session = new engine.Session(2 ** 31);
  const start = performance.now();
  session.expect(statSync(path).size);
  for (;;) {
    const room = session.writable(); // a view of the engine's memory
    const bytes = readSync(file, room, 0, Math.min(room.length, chunkBytes));
    if (bytes === 0) break;
    const failed = session.commit(bytes);
    if (failed !== '') throw new Error(failed);
  }
  const failed = session.finish();
  if (failed !== '') throw new Error(failed);
  const seconds = (performance.now() - start) / 1000;
  const { events } = session.progress();
  session.delete();
  closeSync(file);
  return { seconds, events };
}

readOnce();
readOnce();
const readings = Array.from({ length: Number(repeats) }, readOnce);
readings.sort((a, b) => a.seconds - b.seconds);
console.log(JSON.stringify(readings[Math.floor(readings.length / 2)]));
