// Makes the npm package: the element, and the engine for programs.
//
//   node site/package.mjs [--site build/site] [--engine build/wasm/bin] [--out build/package]
//
// `npm pack build/package` then makes the file to publish. The element, the worker and the engine are those of the site.
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { spawnSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { versionOf } from './version.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '..');
const { values: options } = parseArgs({
  options: {
    site: { type: 'string', default: join(root, 'build/site') },
    engine: { type: 'string', default: join(root, 'build/wasm/bin') },
    out: { type: 'string', default: join(root, 'build/package') },
  },
});
const [site, engine, out] = [options.site, options.engine, options.out].map((path) => resolve(path));
const require = createRequire(join(root, 'web/package.json')); // the packages are installed in web/
const esbuild = require('esbuild');

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
for (const name of ['viewer.js', 'worker.js', 'engine.wasm', 'engine_rest.wasm'])
  await cp(join(site, name), join(out, name));
for (const name of ['README.md', 'viewer.d.ts', 'engine.d.ts'])
  await cp(join(here, 'package', name), join(out, name));
await cp(join(root, 'LICENSE'), join(out, 'LICENSE'));

for (const [entry, name, more] of [
  ['engine_browser.mjs', 'engine.js', { platform: 'browser' }],
  [
    'engine_node.mjs',
    'engine.node.js',
    { platform: 'node', inject: [join(here, 'package/node_globals.mjs')] },
  ],
])
  await esbuild.build({
    entryPoints: [join(here, 'package', entry)],
    outfile: join(out, name),
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    alias: { 'engine-glue': join(engine, 'engine.js') },
    ...more,
  });

// Types. Those of the element are written by hand, those of the engine are the sources' own.
const tsc = spawnSync(
  process.execPath,
  [
    require.resolve('typescript/bin/tsc'),
    ...['-p', join(root, 'web'), '--noEmit', 'false', '--declaration', '--emitDeclarationOnly'],
    ...['--rootDir', root, '--outDir', join(out, '.types')],
  ],
  { stdio: 'inherit' },
);
if (tsc.status !== 0) process.exit(1);
/** Declarations name each other with .ts, and the engine's module by its alias. */
const declaration = async (from, to, glue) => {
  const text = await readFile(from, 'utf8');
  await mkdir(dirname(to), { recursive: true });
  await writeFile(
    to,
    text.replace(/(['"])(\.[^'"]*)\.ts\1/g, '$1$2.js$1').replaceAll("'engine-glue'", `'${glue}'`),
  );
};
const made = join(out, '.types/web');
for (const folder of ['.', 'protocol', 'transport', 'host'])
  for (const name of await readdir(join(made, 'engine', folder)))
    if (name.endsWith('.d.ts'))
      await declaration(
        join(made, 'engine', folder, name),
        join(out, 'types/engine', folder, name),
        folder === '.' ? './glue.js' : '../glue.js',
      );
await cp(join(root, 'wasm/engine.d.ts'), join(out, 'types/engine/glue.d.ts'));
await declaration(join(made, 'src/viewer/element_types.d.ts'), join(out, 'element_types.d.ts'), '');
await rm(join(out, '.types'), { recursive: true });

await writeFile(
  join(out, 'package.json'),
  `${JSON.stringify(
    {
      name: 'gpustrata',
      version: await versionOf(root),
      description: 'Viewer of PyTorch memory snapshots as a custom element, and its engine for programs',
      keywords: ['pytorch', 'cuda', 'memory', 'profiler', 'snapshot'],
      license: 'Apache-2.0',
      type: 'module',
      engines: { node: '>=20.19' },
      sideEffects: ['./viewer.js'],
      exports: {
        '.': { types: './viewer.d.ts', default: './viewer.js' },
        './engine': { types: './engine.d.ts', node: './engine.node.js', default: './engine.js' },
        './worker.js': './worker.js',
        './engine.wasm': './engine.wasm',
        './engine_rest.wasm': './engine_rest.wasm',
        './package.json': './package.json',
      },
      types: './viewer.d.ts',
    },
    null,
    2,
  )}\n`,
);
console.log(out);
