// Files that were chosen together with one that names them, such as the snapshots of a fleet's ranks: known, and opened only
// when asked for. No DOM: it runs in Node.
import type { RankFile } from './fleet_facts.ts';
import type { Chosen } from './open_files.ts';

export interface NamedFile {
  /** With the folders it lies in, as far as they are known: `facts/run=a/rank3.pickle`. */
  path: string;
  chosen: Chosen;
}

/** A fleet by its name, among files that are chosen together. */
export const isFleetName = (name: string): boolean => /\.fleet\.json(\.gz|\.zst|\.zip)?$/i.test(name);

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/**
 * The path that a rank's facts were made of: the one of that name; of several the one whose folders tell its run and host.
 * `several`: more than one could be it.
 */
export function pathOf(
  paths: readonly string[],
  { file, run, host }: RankFile,
): { path: string } | 'none' | 'several' {
  const isOther = (path: string, key: string, value: string): boolean =>
    value !== '' &&
    path.split('/').some((folder) => folder.startsWith(`${key}=`) && folder !== `${key}=${value}`);
  const named = paths.filter(
    (path) => nameOf(path) === file && !isOther(path, 'run', run) && !isOther(path, 'host', host),
  );
  const tells = (path: string, key: string, value: string): number =>
    value !== '' && path.split('/').some((folder) => folder === value || folder === `${key}=${value}`)
      ? 1
      : 0;
  const score = (path: string): number => tells(path, 'run', run) * 2 + tells(path, 'host', host);
  const best = Math.max(...named.map(score));
  const [path, other] = named.filter((one) => score(one) === best);
  if (path === undefined) return 'none';
  return other === undefined ? { path } : 'several';
}

export class RankFiles {
  private readonly files = new Map<string, Chosen>();

  add(files: readonly NamedFile[]): void {
    for (const { path, chosen } of files) this.files.set(path, chosen);
  }
  clear(): void {
    this.files.clear();
  }
  find(wanted: RankFile): Chosen | 'none' | 'several' {
    const found = pathOf([...this.files.keys()], wanted);
    if (typeof found === 'string') return found;
    return this.files.get(found.path) ?? 'none';
  }
}
