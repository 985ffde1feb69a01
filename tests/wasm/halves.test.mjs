// The page's engine in its two modules: a first picture needs one, both together answer as the whole does.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';

import { engine as enginePath, root, site } from '../built.mjs';
import { casesFolder, loadEngine } from './engine.mjs';
import { budget, loadRoom } from './room.mjs';

const read = (name) => readFileSync(join(site, name));
const golden = (name) => readFileSync(join(casesFolder, name, 'input.pickle'));

/** web/engine/host/module.ts, which puts the two together. */
async function startEngine(...args) {
  await loadEngine(); // prepares this process for the glue
  const { outputFiles } = await createRequire(join(root, 'web/package.json'))('esbuild').build({
    entryPoints: [join(root, 'web/engine/host/module.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    logLevel: 'error',
    alias: { 'engine-glue': enginePath },
  });
  const code = Buffer.from(outputFiles[0].contents).toString('base64');
  return (await import(`data:text/javascript;base64,${code}`)).startEngine(...args);
}

/** An engine of both; `asked()` = how often the rest was asked for. */
async function halves() {
  const { DirectTransport, Engine } = await loadRoom();
  const rest = new WebAssembly.Module(read('engine_rest.wasm'));
  let count = 0;
  const module = await startEngine(new WebAssembly.Module(read('engine.wasm')), [], () => {
    count += 1;
    return rest;
  });
  return { engine: new Engine(new DirectTransport(module)), asked: () => count };
}
async function whole() {
  const { DirectTransport, Engine } = await loadRoom();
  return new Engine(new DirectTransport(await loadEngine()));
}
const source = (data) => ({ file: new Blob([data]) });

test('what a first picture waits for is at most 400 KB, packed', () => {
  const page = read('index.html').toString();
  const preloaded = [...page.matchAll(/rel="modulepreload" href="([^"]+)"/g)].map(([, name]) => name);
  const names = ['index.html', 'page.css', 'main.js', ...preloaded, 'worker.js', 'engine.wasm'];
  const sizes = names.map((name) => gzipSync(read(name), { level: 9 }).length);
  const sum = sizes.reduce((one, other) => one + other, 0);
  assert.ok(sum <= 400_000, names.map((name, at) => `${name} ${sizes[at]}`).join(', '));
});

test('a snapshot and its timeline need the first module only', async () => {
  const { engine, asked } = await halves();
  // Not among the files that were tried out when the engine was halved.
  const text = `{"device_traces": [[{"action": "alloc", "addr": 7, "size": 512, "stream": 0, "frames": []}]], "segments": []}`;
  for (const data of [golden('protocol4'), golden('gzipped'), text]) {
    const { view } = await engine.open(source(data), budget);
    await view.ask('marks', {});
    await view.ask('filter', { text: 'size>1KiB' });
    assert.equal(asked(), 0);
  }
  engine.close();
});

test('a panel and a file of another kind bring the rest, once, and answer as the whole engine', async () => {
  const timeline = JSON.stringify([
    [1, 2],
    [
      [0, 512],
      [0, 1024],
    ],
  ]);
  const answers = async (engine) => {
    const got = [];
    const { view } = await engine.open(source(golden('era3_expandable_and_oom')), budget);
    for (const [kind, args] of [
      ['states', {}],
      ['totals', { event: 1 }],
      ['report', {}],
      ['eventRows', { filter: '', first: 0, count: 50 }],
    ])
      got.push(await view.ask(kind, args));
    got.push(await engine.read(source(golden('zip_with_zstd')), budget, 'contents', {}));
    got.push(await engine.read(source(timeline), budget, 'contents', {}).catch(({ reason }) => reason));
    got.push(await engine.ask('summary', { file: 'x' }).catch(({ reason }) => reason));
    return got;
  };
  const { engine, asked } = await halves();
  assert.deepEqual(await answers(engine), await answers(await whole()));
  assert.equal(asked(), 1);
  engine.close();
});

test('whatever a file is and wherever it ends, the first module alone says what the whole engine says', async () => {
  const same = await whole();
  let [told, withoutRest] = [0, 0];
  for (const name of readdirSync(casesFolder)) {
    const data = golden(name);
    for (const part of [data, data.subarray(0, data.length >> 1), data.subarray(0, 40)]) {
      const { engine, asked } = await halves(); // one that has the rest already would have all texts
      const said = (one) => one.read(source(part), budget, 'first', {}).catch(({ reason }) => reason);
      assert.deepEqual(await said(engine), await said(same), name);
      told += 1;
      withoutRest += Number(asked() === 0);
      engine.close();
    }
  }
  assert.ok(withoutRest > told / 2, `${withoutRest} of ${told} files needed the first module only`);
  same.close();
});

test('an engine whose rest cannot be had says so', async () => {
  const { DirectTransport, Engine } = await loadRoom();
  const module = await startEngine(new WebAssembly.Module(read('engine.wasm')), [], () => {
    throw new Error('A part of the engine could not be fetched.');
  });
  const engine = new Engine(new DirectTransport(module));
  const { view } = await engine.open(source(golden('protocol4')), budget);
  await assert.rejects(view.ask('report', {}), /could not be fetched/);
  assert.equal(engine.alive, false);
});
