// The project's version; its place is the top CMakeLists.txt.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export async function versionOf(root) {
  const text = await readFile(join(root, 'CMakeLists.txt'), 'utf8');
  const version = /^project\(gpustrata VERSION (\d+\.\d+\.\d+)/m.exec(text)?.[1];
  if (!version) throw new Error('CMakeLists.txt names no version');
  return version;
}
