// Which of many paths is the file that a rank's facts were made of. No DOM: it runs in Node.
import type { RankFile } from './fleet_facts.ts';

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
