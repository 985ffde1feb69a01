// From a rank to its snapshot: a file that is open, one that was chosen with the fleet or from its folder, one of the
// server's, or one that lies beside it on the same site.
import { reasonOf } from '../base/reason.ts';
import { markPicked } from '../files/open_file.ts';
import type { RankFile } from '../model/fleet_facts.ts';
import type { Chosen, Entry, OpenFile } from '../model/open_files.ts';
import { pathOf } from '../model/rank_files.ts';
import { servedFile, servedFiles } from '../model/served.ts';
import type { ViewerParts } from './parts.ts';

/** Undefined = it is open now, or on its way; else why not, in words. */
export async function openRank(page: ViewerParts, of: OpenFile, rank: RankFile): Promise<string | undefined> {
  if (/^\.*$/.test(rank.file)) return 'The facts do not tell its name.';
  const beside = page.rankFiles.find(rank);
  if (beside === 'several')
    return `Several of the files that were chosen are called so, and their folders do not tell which is meant.`;
  if (beside !== 'none') return show(page, beside, rank);
  const isOpen = page.files.entries.find(({ name, file }) => name === rank.file && file !== of);
  if (isOpen && rank.unique) return go(page, isOpen, rank);
  const server = 'served' in of.source ? of.source.served.address : page.application?.server;
  if (server !== undefined) return openServed(page, server, rank);
  if ('url' in of.source)
    return show(page, { name: rank.file, source: { url: neighbour(of.source.url, rank.file) } }, rank);
  return 'It is not among the files that this page knows: choose it, or the folder that it lies in.';
}

/** In the same folder; a name never leads out of it. */
function neighbour(url: string, name: string): string {
  return new URL(`./${encodeURIComponent(name)}`, url).href;
}

async function openServed(page: ViewerParts, server: string, rank: RankFile): Promise<string | undefined> {
  try {
    const { files, left_out } = await servedFiles(server);
    const found = pathOf(
      files.map(({ name }) => name),
      rank,
    );
    if (found === 'several')
      return 'The server has several files of this name, and their folders do not tell which is meant.';
    if (found === 'none')
      return left_out
        ? 'It is not among the files that the server lists; it has more than it lists.'
        : 'The server does not have it in its folder.';
    return show(page, servedFile(server, found.path), rank);
  } catch (error) {
    return reasonOf(error);
  }
}

/** A file that is open already is not opened again. */
function show(page: ViewerParts, wanted: Chosen, rank: RankFile): undefined {
  const key = (source: Chosen['source']): unknown =>
    'file' in source ? source.file : 'url' in source ? source.url : JSON.stringify(source);
  const find = (): Entry | undefined =>
    page.files.entries.findLast(({ source }) => source && key(source) === key(wanted.source));
  if (!find()) {
    markPicked();
    page.receive({ files: [wanted] });
  }
  const entry = find();
  return entry && go(page, entry, rank);
}

/** To the rank's own snapshot and device, if the file has several, as soon as it is read. */
function go(page: ViewerParts, entry: Entry, { snapshot, device }: RankFile): undefined {
  page.files.show(entry);
  const arrive = (): void => {
    if (entry.loading) return void requestAnimationFrame(arrive);
    const { file } = entry;
    if (!file?.view || file !== page.file || device === null) return;
    const { snapshots } = file.contents;
    const named = snapshots.findIndex(({ name }) => name === snapshot);
    const choice = { snapshot: named < 0 ? file.snapshot : named, device };
    const isThere = snapshots[choice.snapshot]?.devices.some((one) => one.device === device);
    if (isThere && (choice.snapshot !== file.snapshot || device !== file.view.info.device))
      page.showDevice(choice);
  };
  arrive();
}
