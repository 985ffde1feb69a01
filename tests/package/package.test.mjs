// The npm package as others get it: packed, installed into an empty folder, imported, its types used.
//
//   node site/package.mjs && node --test tests/package/*.test.mjs
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { npmPackage, root, samples } from '../built.mjs';

const sample = join(samples, 'training_run.pickle');

let folder;
const run = (command, ...args) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
};
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpustrata-package-'));
  const [{ filename }] = JSON.parse(run('npm', 'pack', '--json', '--pack-destination', folder, npmPackage));
  writeFileSync(join(folder, 'package.json'), '{"name":"user","private":true,"type":"module"}');
  run('npm', 'install', '--offline', '--no-audit', '--no-fund', join(folder, filename));
});
after(() => folder && rmSync(folder, { recursive: true }));

test('holds what it must and nothing else, and is of the version of the project', () => {
  const about = JSON.parse(readFileSync(join(folder, 'node_modules/gpustrata/package.json'), 'utf8'));
  const [, version] = /gpustrata VERSION (\S+)/.exec(readFileSync(join(root, 'CMakeLists.txt'), 'utf8'));
  assert.equal(about.version, version);
  assert.equal(about.dependencies, undefined);
  const [{ files }] = JSON.parse(run('npm', 'pack', '--json', '--dry-run', npmPackage));
  const names = files.map(({ path }) => path).filter((path) => !path.startsWith('types/'));
  assert.deepEqual(names.sort(), [
    'LICENSE',
    'README.md',
    'element_types.d.ts',
    'engine.d.ts',
    'engine.js',
    'engine.node.js',
    'engine.wasm',
    'engine_rest.wasm',
    'package.json',
    'viewer.d.ts',
    'viewer.js',
    'worker.js',
  ]);
});

test('Node: a snapshot is opened from path, URL, bytes, Blob and stream, and answers', () => {
  writeFileSync(
    join(folder, 'use.mjs'),
    `import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { openSnapshot, EngineFailure } from 'gpustrata/engine';
const before = Object.keys(globalThis).join();
const path = process.argv[2];
const bytes = await readFile(path);
const sources = [path, pathToFileURL(path), bytes, new Blob([bytes]), new Blob([bytes]).stream()];
const peaks = [];
let summary;
for (const source of sources) {
  const snapshot = await openSnapshot(source);
  const view = await snapshot.view();
  peaks.push([view.info.peak.bytes, view.info.peak.event]);
  const report = await view.ask('report', {});
  if (!Array.isArray(report.findings)) throw new Error('no findings');
  const columns = { axis: 'event', first: 0, width: 10, count: 100 };
  const rows = { bottom: 0, bytesPerRow: 2 ** 24, count: 50 };
  const palette = { bands: [0xff0000ff], nothing: 0, dimmedTowards: 0, envelope: 0 };
  const { pixels } = await view.ask('picture', { columns, rows, look: { palette, colourBy: 'stack', filter: '', kind: -1 } });
  if (pixels.length === 0) throw new Error('no pixels');
  summary = await snapshot.summary('x');
  snapshot.close();
}
const refused = [];
for (const source of [new Blob(['no snapshot']), 'not/there.pickle'])
  await openSnapshot(source).catch((error) => refused.push(error instanceof EngineFailure && error.reason.code));
if (Object.keys(globalThis).join() !== before) throw new Error('globals were changed');
console.log(JSON.stringify({ peaks, refused, device: summary.snapshots[0].devices[0] }));
`,
  );
  const { peaks, refused, device } = JSON.parse(run(process.execPath, 'use.mjs', sample));
  // As Python's `_memory_viz.py` and the README have it.
  assert.deepEqual(peaks, Array(5).fill([2_814_816_256, 1017]));
  assert.equal(device.peak.requested_bytes, 2_814_816_256);
  assert.equal(device.events, 3168);
  assert.deepEqual(refused, ['invalid_format', 'unreadable']);
});

test('types: a program that uses them compiles, one that misuses them does not', () => {
  const tsc = createRequire(join(root, 'web/package.json')).resolve('typescript/bin/tsc');
  const check = (text) => {
    writeFileSync(join(folder, 'use.ts'), text);
    const options = [
      '--noEmit',
      '--strict',
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--lib',
      'es2023,dom,dom.iterable',
    ];
    return spawnSync(process.execPath, [tsc, ...options, 'use.ts'], { cwd: folder, encoding: 'utf8' });
  };
  const right = check(`import 'gpustrata';
import type { ViewerElement } from 'gpustrata';
import { openSnapshot, type Snapshot } from 'gpustrata/engine';
const viewer: ViewerElement = document.querySelector('gpustrata-viewer')!;
viewer.addEventListener('load', ({ detail }) => detail.file.length);
viewer.addEventListener('error', ({ detail }) => detail.offset + 1);
const { file } = await viewer.open(new URL('https://host/a.pickle'), { name: 'a' });
await viewer.select({ event: 3 });
const state: string | undefined = viewer.getState();
const snapshot: Snapshot = await openSnapshot('a.pickle', { budget: 2 ** 30, progress: ({ bytes }) => bytes });
const view = await snapshot.view({ device: 0 });
const level: number = await view.ask('highest', { columns: { axis: 'event', first: 0, width: 1, count: 1 } });
export { file, state, level };
`);
  assert.equal(right.status, 0, right.stdout);
  const wrong = check(`import { openSnapshot } from 'gpustrata/engine';
const snapshot = await openSnapshot('a.pickle');
await (await snapshot.view()).ask('highest', {});
export {};
`);
  assert.notEqual(wrong.status, 0);
  assert.match(wrong.stdout, /columns/);
});
