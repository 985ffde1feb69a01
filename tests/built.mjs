// What the tests in JavaScript test, each build by its name and never the newest that lies about, and what they test it with.
// A build that is missing is a failure, not a skip: the tests that need it say so.
//
//   GPUSTRATA_TOOL      another command than build/native-checked/bin/gpustrata
//   GPUSTRATA_ANSWERS   another session_answers than the one beside that
//   GPUSTRATA_SITE      another page than build/site
//   GPUSTRATA_ENGINE    another WebAssembly engine than build/wasm/bin/engine.js
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const root = join(import.meta.dirname, '..');
/** The page, as `node site/build.mjs` makes it. */
export const site = process.env.GPUSTRATA_SITE ?? join(root, 'build/site');
/** The npm package, as `node site/package.mjs` makes it. */
export const npmPackage = join(root, 'build/package');
export const tool = process.env.GPUSTRATA_TOOL ?? join(root, 'build/native-checked/bin/gpustrata');
export const answers = process.env.GPUSTRATA_ANSWERS ?? join(dirname(tool), 'session_answers');
export const engine = process.env.GPUSTRATA_ENGINE ?? join(root, 'build/wasm/bin/engine.js');

/** The samples that the page offers, as they lie in the repository. */
export const samples = join(root, 'site/samples');
/** A golden snapshot by the name of its case. */
export const golden = (name) => join(root, 'tests/golden/torch_snapshot', name, 'input.pickle');

/**
 * A folder of large real files beside the repository, or undefined where it is not: skip the test then.
 * @returns {string | undefined}
 */
export function realFiles(name) {
  const folder = join(root, '../shared/data', name);
  return existsSync(folder) ? folder : undefined;
}

/** What the command prints. It must end well. */
export const command = (...args) =>
  execFileSync(tool, args, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] });
