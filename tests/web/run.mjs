// The page's arithmetic, words and models, tested in Node without a page and before anything is compiled:
//
//   node tests/web/run.mjs [NAME ...]     all, or those whose file begins with NAME
//
// Needs web's packages only: esbuild bundles each *.test.ts into build/web-tests (Node 20 reads no TypeScript), node --test runs
// them. Results go to build/test-results/web.xml, too.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';

const here = import.meta.dirname;
const root = join(here, '../..');
const out = join(root, 'build/web-tests');
const results = join(root, 'build/test-results');

const wanted = process.argv.slice(2);
const tests = readdirSync(here)
  .filter((name) => name.endsWith('.test.ts'))
  .filter(
    (name) => wanted.length === 0 || wanted.some((start) => name.startsWith(basename(start, '.test.ts'))),
  );
if (tests.length === 0) {
  console.error(`No test in ${here} begins with ${wanted.join(' or ')}.`);
  process.exit(2);
}

rmSync(out, { recursive: true, force: true });
mkdirSync(results, { recursive: true });
await createRequire(join(root, 'web/package.json'))('esbuild').build({
  entryPoints: tests.map((name) => join(here, name)),
  outdir: out,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  logLevel: 'warning',
  tsconfig: join(root, 'web/tsconfig.json'),
});
const { status } = spawnSync(
  process.execPath,
  [
    ...['--enable-source-maps', '--test'],
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...['--test-reporter=junit', `--test-reporter-destination=${join(results, 'web.xml')}`],
    ...readdirSync(out).map((name) => join(out, name)),
  ],
  { stdio: 'inherit', cwd: root },
);
process.exit(status ?? 1);
