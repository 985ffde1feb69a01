// The engine in two modules, so that a first picture waits for less: engine.wasm holds what opening a snapshot and its
// timeline run, engine_rest.wasm all else; the first calls into the rest when it first needs it (web/engine/host/rest.ts).
//
//   node site/split_engine.mjs --engine build/wasm/bin --out FOLDER
//
// What runs is not guessed but tried: an engine that counts its functions opens the snapshots of tests/golden and is asked
// what the timeline asks; wasm-split (of binaryen, which Emscripten needs anyway) then moves whatever never ran. The code of
// a new panel's question or of another kind of file goes into the rest without being listed anywhere. Its texts, too
// (split_data.mjs).
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { splitData } from './split_data.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const { values: options } = parseArgs({
  options: {
    engine: { type: 'string', default: join(root, 'build/wasm/bin') },
    out: { type: 'string' },
  },
});
const glue = join(resolve(options.engine), 'engine.js');
const whole = join(resolve(options.engine), 'engine.wasm');
const out = resolve(options.out ?? '.');
const budget = 2 ** 30;

const scratch = mkdtempSync(join(tmpdir(), 'gpustrata-split-'));
const binaryen = (program, ...args) => {
  const { status, stderr, error } = spawnSync(program, ['--all-features', ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program}: ${error?.message ?? stderr}`);
};
const split = (...args) => binaryen('wasm-split', ...args);

/** A module of the page, for this process. */
async function imported(path) {
  const require = createRequire(join(root, 'web/package.json'));
  const { outputFiles } = await require('esbuild').build({
    entryPoints: [join(root, path)],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    logLevel: 'error',
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

/** The engine that counts, and the module's own instance. */
async function counting(path) {
  // The glue is built for pages and workers only; both know `self` and a location.
  globalThis.self ??= globalThis;
  globalThis.location ??= { href: pathToFileURL(glue).href };
  globalThis.WorkerGlobalScope ??= Object;
  globalThis.importScripts ??= () => {};
  const { default: create } = await import(pathToFileURL(glue).href);
  const module = await WebAssembly.compile(readFileSync(path));
  let instance;
  const engine = await create({
    instantiateWasm: (imports, received) => {
      instance = new WebAssembly.Instance(module, imports);
      received(instance, module);
      return {};
    },
  });
  return { engine, instance };
}

const look = {
  palette: {
    bands: Array.from({ length: 12 }, (_, i) => 0xff2b8ef2 - 97 * i),
    nothing: 0,
    dimmedTowards: 0xffffffff,
    envelope: 0xff808080,
  },
  colourBy: 'stack',
  filter: '',
  kind: -1,
};
// Not by category, which a reader chooses at the earliest when the rest is there: its rules are large.
const colours = ['allocation', 'stack', 'size', 'stream', 'pool', 'lifetime', 'age'];

/** What the timeline and what stands around it ask of a view: `askedFirst` in web/engine/engine.ts. */
function* questions({ events, peak, extent }) {
  const rows = { bottom: 0, bytesPerRow: Math.max(1, peak.bytes) / 77.7, count: 80 };
  for (const axis of extent.time_us === null ? ['event'] : ['event', 'time']) {
    const width = Math.max(1, Math.ceil((axis === 'time' ? extent.time_us : events) / 50));
    const columns = { axis, first: 0, width, count: 50 };
    for (const colourBy of colours) {
      yield ['picture', { columns, rows, look: { ...look, colourBy, kind: 1 } }];
      yield ['kinds', { by: colourBy }];
      yield ['shares', { by: colourBy, event: peak.event, filter: 'size>1KiB' }];
    }
    yield ['picture', { columns, rows, look: { ...look, filter: 'size>1KiB' } }];
    const zoomed = {
      axis,
      first: Math.floor(events / 3),
      width: Math.max(1, Math.ceil(width / 60)),
      count: 700,
    };
    const low = { bottom: peak.bytes / 3, bytesPerRow: Math.max(1, peak.bytes / 1e4), count: 250 };
    yield ['picture', { columns: zoomed, rows: low, look }];
    yield ['labels', { columns: zoomed, rows: low, leastColumns: 20, leastRows: 9 }];
    yield ['labels', { columns, rows, leastColumns: 2, leastRows: 4 }];
    yield ['highest', { columns }];
    yield ['position', { axis, events: [-1, 0, peak.event] }];
    for (const column of [0, 10, 40])
      yield ['probe', { axis, column: column * width, width, bytes: peak.bytes / 2, known: -1 }];
    for (const rank of [0, 1, 2, 10])
      yield* [
        ['block', { rank, axis }],
        ['outline', { rank, columns }],
      ];
  }
  yield* [
    ['marks', {}],
    ['filter', { text: 'alive@peak size>1KiB' }],
    ['match', { filter: 'alive@peak', index: 0 }],
  ];
}

/** Few snapshots come so; what unpacks them is large. */
const packed = /^(zstd|zip|html|nested)_/;

async function tryAll(module) {
  const { DirectTransport, Engine, EngineFailure } = await imported('web/engine/index.ts');
  const { madeUpRecording } = await imported('web/src/page/made_up_recording.ts');
  const tried = join(root, 'tests/golden/torch_snapshot');
  const files = readdirSync(tried)
    .filter((name) => !packed.test(name))
    .map((name) => join(tried, name, 'input.pickle'));
  for (const name of readdirSync(join(root, 'site/samples')))
    if (/\.pickle(\.gz)?$/.test(name)) files.push(join(root, 'site/samples', name));
  // The others are too small for what grows and is sorted.
  for (const data of [madeUpRecording(12_000), ...files.map((file) => readFileSync(file))]) {
    const engine = new Engine(new DirectTransport(module));
    try {
      const { contents, view: first } = await engine.open({ file: new Blob([data]) }, budget);
      first?.release();
      await engine.ask('peaks', {});
      for (const [snapshot, { devices }] of contents.snapshots.entries())
        for (const { device } of devices)
          for (const bands of ['blocks', 'pools', 'segments']) {
            const view = await engine.view({ snapshot, device, bands });
            for (const [kind, args] of questions(view.info))
              await view.ask(kind, args).catch((error) => {
                if (!(error instanceof EngineFailure)) throw error;
              });
            view.release();
          }
    } catch (error) {
      if (!(error instanceof EngineFailure)) throw error; // a file that is refused
    }
    engine.close();
  }
}

try {
  const counted = join(scratch, 'counting.wasm');
  split('--instrument', whole, '-o', counted);
  const { engine, instance } = await counting(counted);
  await tryAll(engine);
  const memory = Object.values(instance.exports).find((one) => one instanceof WebAssembly.Memory);
  const place = 4096; // nothing runs in this memory any more
  const length = instance.exports.__write_profile(place, memory.buffer.byteLength - place);
  const profile = join(scratch, 'profile');
  writeFileSync(profile, new Uint8Array(memory.buffer, place, length));
  mkdirSync(out, { recursive: true });
  const [first, rest] = ['engine.wasm', 'engine_rest.wasm'].map((name) => join(out, name));
  split(whole, `--profile=${profile}`, '--export-prefix=%', '-o1', first, '-o2', rest);
  const text = join(scratch, 'first.wat');
  binaryen('wasm-dis', first, '-o', text);
  splitData(first, rest, readFileSync(text, 'utf8'));
} finally {
  rmSync(scratch, { recursive: true });
}
