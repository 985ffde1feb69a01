// What a server (`gpustrata serve`) says that it serves: engine/answers/clients/served.h.
import type { Bytes, Microseconds } from '../base/units.ts';
import type { Chosen } from './open_files.ts';

export interface ServedList {
  version: string;
  /** Folder or file, as the server names it. */
  served: string;
  left_out: boolean;
  /** Files whose peaks are still being found out. */
  to_examine: number;
  /** The highest peak first. */
  files: {
    name: string;
    bytes: Bytes;
    modified_us: Microseconds;
    peak_bytes: Bytes | null;
    error?: string;
  }[];
}

/** Rejected in words. */
export async function servedFiles(address: string): Promise<ServedList> {
  let response: Response;
  try {
    response = await fetch(`${address}files`);
  } catch {
    throw new Error('The server does not answer. Start `gpustrata serve` again, or the tunnel to it.');
  }
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as ServedList;
}

export function servedFile(address: string, name: string): Chosen {
  return { name: name.slice(name.lastIndexOf('/') + 1), source: { served: { address, name } } };
}
