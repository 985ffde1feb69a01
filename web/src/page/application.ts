// The page that is there for the viewer alone: its address, its title, its keys and drops, what it remembers.
import { isOneFile } from '../../engine/assets.ts';
import { markPicked } from '../files/choose.ts';
import type { ViewerChange } from '../viewer/application.ts';
import { GpustrataViewer } from '../viewer/viewer.ts';
import { serverOfPage } from './server.ts';
import { AddressBar } from './address_bar.ts';
import { takeEmbeddedSnapshot } from './embedded_snapshot.ts';
import { filesOfAddress } from './files_of_address.ts';
import type { Rehearsal } from './rehearsal.ts';
import { storedSettings } from './stored_settings.ts';

customElements.define('gpustrata-viewer', GpustrataViewer);

export function startApplication(): GpustrataViewer {
  const viewer = new GpustrataViewer();
  const server = serverOfPage();
  viewer.application = {
    events: document,
    address: new AddressBar(),
    settings: storedSettings,
    site: isOneFile() ? undefined : document.baseURI,
    server: server?.address,
  };
  let rehearsal: Rehearsal | undefined;
  let isEmpty = true;
  viewer.addEventListener('first-picture', () => {
    if (performance.getEntriesByName('gpustrata:first-picture').length === 0)
      performance.mark('gpustrata:first-picture');
  });
  viewer.addEventListener('viewer-change', ({ detail }: CustomEvent<ViewerChange>) => {
    isEmpty = detail.state === 'empty';
    if (!isEmpty) rehearsal?.stop();
    document.title = detail.file === undefined ? 'gpustrata' : `${detail.file} · gpustrata`;
    document.documentElement.style.colorScheme = detail.theme;
  });
  document.body.prepend(viewer);

  const embedded = takeEmbeddedSnapshot();
  const wanted = embedded ? { files: [embedded] } : filesOfAddress(new URL(location.href));
  if (wanted) {
    markPicked();
    viewer.receive(wanted);
  } else if (server !== undefined) {
    const { hash } = location;
    import('./served.ts').then(
      ({ beginServed }) => beginServed(viewer, server, hash),
      () => undefined, // then one chooses
    );
  } else {
    const { application } = viewer;
    // Its code comes after the page's.
    import('./rehearsal.ts').then(
      ({ Rehearsal }) => {
        if (isEmpty) rehearsal = new Rehearsal(viewer.renderRoot, new GpustrataViewer(), application);
      },
      () => undefined, // then the first file is the first picture
    );
  }
  return viewer;
}
