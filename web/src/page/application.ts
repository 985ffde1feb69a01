// The page that is there for the viewer alone: its address, its title, its keys and drops, what it remembers.
import { isOneFile } from '../../engine/assets.ts';
import { markPicked } from '../files/open_file.ts';
import type { ViewerChange } from '../viewer/application.ts';
import { MemstrataViewer } from '../viewer/viewer.ts';
import { AddressBar } from './address_bar.ts';
import { takeEmbeddedSnapshot } from './embedded_snapshot.ts';
import { filesOfAddress } from './files_of_address.ts';
import { Rehearsal } from './rehearsal.ts';
import { storedSettings } from './stored_settings.ts';

export function startApplication(): MemstrataViewer {
  const viewer = new MemstrataViewer();
  viewer.application = {
    events: document,
    address: new AddressBar(),
    settings: storedSettings,
    site: isOneFile() ? undefined : document.baseURI,
  };
  let rehearsal: Rehearsal | undefined;
  viewer.addEventListener('first-picture', () => {
    if (performance.getEntriesByName('memstrata:first-picture').length === 0)
      performance.mark('memstrata:first-picture');
  });
  viewer.addEventListener('viewer-change', ({ detail }: CustomEvent<ViewerChange>) => {
    if (detail.state !== 'empty') rehearsal?.stop();
    document.title = detail.file === undefined ? 'memstrata' : `${detail.file} · memstrata`;
    document.documentElement.style.colorScheme = detail.theme;
  });
  document.body.prepend(viewer);

  const embedded = takeEmbeddedSnapshot();
  const wanted = embedded
    ? { files: [{ name: embedded.name, source: { file: embedded } }] }
    : filesOfAddress(new URL(location.href));
  if (wanted) {
    markPicked();
    viewer.receive(wanted);
  } else rehearsal = new Rehearsal(viewer.renderRoot, viewer.application);
  return viewer;
}
