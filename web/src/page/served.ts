// What a page does first that a server sent; its code comes after the page's.
import { markPicked } from '../files/choose.ts';
import { shownIn } from '../model/link.ts';
import { servedFile, servedFiles } from '../model/served_file.ts';
import type { GpustrataViewer } from '../viewer/viewer.ts';
import { Follower } from './live/follower.ts';
import { readerBadge } from './reader_badge.ts';
import type { PageServer } from './server.ts';

export function beginServed(viewer: GpustrataViewer, { address, isLive }: PageServer, hash: string): void {
  if (isLive) return new Follower(viewer, address).begin();
  const { application } = viewer;
  if (application)
    application.served = { badge: () => readerBadge(viewer.file), isFollowing: false, goOn: () => false };
  void openServed(viewer, address, hash);
}

/** The only file that is served, or the one that a link names; else one chooses. */
async function openServed(viewer: GpustrataViewer, server: string, hash: string): Promise<void> {
  const list = await servedFiles(server).catch(() => undefined); // the list of files says why
  const named = shownIn(hash)?.file;
  const names = list?.files.map(({ name }) => name) ?? [];
  const linked = names.find((name) => name === named || name.endsWith(`/${named}`));
  const only = names.length === 1 && !list?.left_out ? names[0] : undefined;
  const wanted = linked ?? only;
  if (wanted === undefined || viewer.files.state !== 'empty') return;
  markPicked();
  viewer.receive({ files: [servedFile(server, wanted)] });
}
