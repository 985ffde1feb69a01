// The WebAssembly build, loaded in Node.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { engine as enginePath, golden, root } from '../built.mjs';

export const casesFolder = join(root, 'tests', 'golden', 'torch_snapshot');
export const goldenCases = readdirSync(casesFolder).filter((name) => existsSync(golden(name)));

async function load(path) {
  // The glue is built for pages and workers only; both know `self` and a location.
  globalThis.self ??= globalThis;
  globalThis.location ??= { href: pathToFileURL(path).href };
  globalThis.WorkerGlobalScope ??= Object;
  globalThis.importScripts ??= () => {};
  const { default: create } = await import(pathToFileURL(path).href);
  return create({ wasmBinary: readFileSync(path.replace(/\.js$/, '.wasm')) });
}
let engine, simulate;
export const loadEngine = () => (engine ??= load(enginePath));
/** The allocator's module, beside the engine. */
export const loadSimulate = () => (simulate ??= load(join(dirname(enginePath), 'simulate.js')));

export const gibibyte = 2 ** 30;

/**
 * Reads all of `data` in pieces of `chunk` bytes, also what follows the end of the snapshot (a client may stop when
 * done() says so, and then knows less of the rest). The session must be deleted.
 * @returns {{session: object, error: object | undefined}}
 */
export function open(engine, data, chunk = 1 << 20) {
  const session = new engine.Session(gibibyte);
  session.expect(data.length);
  let failed = '';
  for (let at = 0; at < data.length && failed === '';) {
    const buffer = session.writable();
    const size = Math.min(chunk, buffer.length, data.length - at);
    buffer.set(data.subarray(at, at + size));
    failed = session.commit(size);
    at += size;
  }
  if (failed === '') failed = session.finish();
  return { session, error: failed === '' ? undefined : JSON.parse(failed) };
}

const encoder = new TextEncoder();

/** The head of the answer, as text. */
function headOf(session, asked) {
  const head = encoder.encode(JSON.stringify(asked));
  const frame = session.question(24 + head.length);
  const header = new DataView(frame.buffer, frame.byteOffset, 24);
  for (const [index, number] of [0x5154534d, 1, 1, head.length, 0, 0].entries())
    header.setUint32(4 * index, number, true);
  frame.set(head, 24);
  const answer = session.ask().slice();
  const length = new DataView(answer.buffer).getUint32(12, true);
  return new TextDecoder().decode(answer.subarray(24, 24 + length)).trimEnd();
}

/** The answer to a question, its columns left out; throws the engine's error. `view` 0 = about the file. */
export function ask(session, name, view = 0, args = {}) {
  const { answer, error } = JSON.parse(headOf(session, { ask: name, ...(view > 0 && { view }), args }));
  if (error) throw Object.assign(new Error(error.message), error);
  return answer;
}

/** The text of `gpustrata summary --json`, byte by byte. */
export function summaryText(session, file) {
  return headOf(session, { ask: 'summary', args: { file } }).slice('{"answer":'.length, -1);
}
