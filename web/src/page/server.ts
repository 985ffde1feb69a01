// A page that `gpustrata serve` sent knows it by a mark that the server put into it (engine/serve/server.cpp).
import { markPicked } from '../files/choose.ts';
import { shownIn } from '../model/link.ts';
import { servedFile, servedFiles } from '../model/served_file.ts';
import type { GpustrataViewer } from '../viewer/viewer.ts';

/** Its address, with the token; undefined = this page was not sent by one. */
export function serverOfPage(): string | undefined {
  const mark = document.querySelector('meta[name=gpustrata-server]');
  return mark ? new URL('.', document.baseURI).href : undefined;
}

/** The only file that is served, or the one that a link names; else one chooses. */
export async function openServed(viewer: GpustrataViewer, server: string, hash: string): Promise<void> {
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
