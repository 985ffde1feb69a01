// What a server (`gpustrata serve`) says that it serves: engine/answers/clients/served.h.
import type { ServedFiles } from '../../engine/index.ts';
import type { Chosen } from './open_files.ts';

/** Rejected in words. */
export async function servedFiles(address: string): Promise<ServedFiles> {
  let response: Response;
  try {
    response = await fetch(`${address}files`);
  } catch {
    throw new Error('The server does not answer. Start `gpustrata serve` again, or the tunnel to it.');
  }
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as ServedFiles;
}

export function servedFile(address: string, name: string): Chosen {
  return { name: name.slice(name.lastIndexOf('/') + 1), source: { served: { address, name } } };
}
