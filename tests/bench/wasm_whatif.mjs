// wasm_whatif.mjs FILE CONF...: a recording run again under each of the settings, in one engine, as the page's workers do
// it. One line of JSON: seconds to open the file, of the rehearsal, and of each run with the bytes that it reserves.
import { openAsBlob } from 'node:fs';

import { loadEngine } from '../wasm/engine.mjs';
import { loadRoom } from '../wasm/room.mjs';

const [file, ...confs] = process.argv.slice(2);
const { DirectTransport, Engine } = await loadRoom();

async function timed(work) {
  const start = performance.now();
  const answer = await work();
  return { seconds: (performance.now() - start) / 1e3, answer };
}

const engine = new Engine(new DirectTransport(await loadEngine()));
const source = { file: await openAsBlob(file) };
const opened = await timed(() => engine.open(source, 3 * 2 ** 30));
const { view } = opened.answer;
const rehearsal = await timed(() => view.ask('rehearsal', {}));
if (!rehearsal.answer.exact) throw new Error('the recording was not repeated exactly');
const runs = [];
for (const conf of confs) {
  const { seconds, answer } = await timed(() => view.ask('whatIf', { scenario: { conf }, columns: 0 }));
  runs.push({ conf, seconds, reserved: answer.simulated.peak_reserved_bytes });
}
console.log(JSON.stringify({ opened: opened.seconds, rehearsal: rehearsal.seconds, runs }));
engine.close();
