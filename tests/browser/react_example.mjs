// Builds site/examples/react as a program of somebody else: the npm package and React in its node_modules, its own build command.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npmPackage, root } from '../built.mjs';

/** @returns {string} a new folder; its `public` is to be served */
export function buildReactExample() {
  const folder = mkdtempSync(join(tmpdir(), 'gpustrata-react-'));
  cpSync(join(root, 'site/examples/react'), folder, { recursive: true });
  // As `npm install` would put them.
  cpSync(npmPackage, join(folder, 'node_modules/gpustrata'), { recursive: true });
  for (const name of ['react', 'react-dom', 'scheduler'])
    cpSync(join(root, 'tests/node_modules', name), join(folder, 'node_modules', name), { recursive: true });
  const { build } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).scripts;
  const bin = createRequire(join(root, 'web/package.json')).resolve('esbuild/bin/esbuild');
  const built = spawnSync('bash', ['-c', build.replace(/^esbuild/, `"${bin}"`)], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(built.stderr);
  return folder;
}
