// offline.js, of the site only: keeps the page for when there is no network, and takes files that the system hands to the
// installed page. Loaded after the page; nothing of it is needed for a first picture.
import type { GpustrataViewer } from '../viewer/viewer.ts';

/** Of browsers that let installed pages handle files. */
interface LaunchQueue {
  setConsumer(consumer: (launched: { files: readonly FileSystemFileHandle[] }) => void): void;
}

const viewer = document.querySelector<GpustrataViewer>('gpustrata-viewer');

function open(files: readonly File[]): void {
  viewer?.receive({ files: files.map((file) => ({ name: file.name, source: { file } })) });
}

const { launchQueue } = globalThis as { launchQueue?: LaunchQueue };
launchQueue?.setConsumer(({ files }) => {
  void Promise.all(files.map((handle) => handle.getFile())).then(open, () => undefined);
});

/** Files that were shared with the page wait in a cache (site/service_worker.js) until they are opened. */
async function openShared(): Promise<void> {
  const cache = await caches.open(`gpustrata shared ${new URL('.', document.baseURI).pathname}`);
  const files: File[] = [];
  for (const request of await cache.keys()) {
    const response = await cache.match(request);
    await cache.delete(request);
    if (!response) continue;
    const name = decodeURIComponent(response.headers.get('x-name') ?? 'snapshot');
    files.push(new File([await response.blob()], name));
  }
  if (files.length > 0 && confirm(questionOf(files))) open(files);
}

/** Any web page can post a form to where shared files arrive, and nothing tells who did: so it is asked. */
function questionOf(files: readonly File[]): string {
  const names = files.slice(0, 5).map(({ name }) => name.slice(0, 100));
  const more = files.length - names.length;
  return `Open ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}? A program or a web page has shared this with gpustrata.`;
}
if (new URLSearchParams(location.search).has('shared')) void openShared().catch(() => undefined);

const register = (): void => {
  navigator.serviceWorker.register('offline_worker.js').catch(() => undefined); // then it is no page for offline
};
if ('serviceWorker' in navigator) {
  if ('requestIdleCallback' in globalThis) requestIdleCallback(register, { timeout: 10_000 });
  else setTimeout(register, 5000); // Safari
}
