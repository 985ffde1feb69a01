// The WebAssembly build, loaded in Node, and the native tool to compare it with.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const casesFolder = join(root, 'tests', 'golden', 'torch_snapshot');

export const goldenCases = readdirSync(casesFolder).filter((name) =>
  existsSync(join(casesFolder, name, 'input.pickle')),
);

/** The newest of the given paths that exists, or undefined. */
export function newest(paths) {
  const found = paths.map((path) => join(root, path)).filter(existsSync);
  return found.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
}

export const enginePath =
  process.env.MEMSTRATA_ENGINE ??
  newest(['build/wasm/bin/engine.js', 'build/site/engine.js', 'build/wasm/engine.js']);
export const toolPath =
  process.env.MEMSTRATA_TOOL ??
  newest(['build/native-release/bin/memstrata', 'build/native-debug/bin/memstrata']);

/** Reason for skipping the tests of the module, or false. */
export const noEngine =
  enginePath === undefined && 'there is no WebAssembly build: cmake --build --preset wasm';
export const noTool =
  toolPath === undefined && 'there is no command line tool: cmake --build --preset native-release';

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

/** The text of `memstrata summary --json`, byte by byte. */
export function summaryText(session, file) {
  return headOf(session, { ask: 'summary', args: { file } }).slice('{"answer":'.length, -1);
}
