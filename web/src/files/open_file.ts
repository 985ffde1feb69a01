// How files come in: dropped anywhere, pasted, chosen, or named by address.
import type { EngineError } from '../engine/answers.ts';
import type { Chosen } from '../model/open_files.ts';

/** Snapshots of the site, made by site/samples/make_samples.py. */
export const samples = [
  {
    name: 'training',
    path: 'samples/training_run.pickle',
    label: 'Training run',
    about: 'Four steps: parameters, activations, gradients, optimizer state',
  },
  {
    name: 'oom',
    path: 'samples/out_of_memory.pickle.gz',
    label: 'Out of memory',
    about: 'A longer batch that did not fit',
  },
  {
    name: 'leak',
    path: 'samples/leak.pickle.gz',
    label: 'Leak',
    about: 'Every step leaves a little behind',
  },
  {
    name: 'fragmentation',
    path: 'samples/fragmentation.pickle.gz',
    label: 'Fragmentation',
    about: 'Almost ten times more reserved than allocated',
  },
] as const;

/** Files of a choice or a folder, ready to be opened. */
export type ChosenFiles = { files: Chosen[] } | { refused: { name: string; error: EngineError } };

export interface FileReceiver {
  receive(chosen: ChosenFiles): void;
  /** Files are held over the page. */
  dragging(over: boolean): void;
}

const mostFiles = 256; // of a folder; each one that is open holds memory of its own
const deepest = 4; // folders inside a folder
/** Names that files with snapshots have. Only to pick from a folder: what a file is, its bytes decide. */
const likely = /\.(pickle|pkl|json|html?|gz|zst|zip|snapshot)$/i;

/** Listens on the whole page. Returns how to stop. */
export function receiveFiles(receiver: FileReceiver): () => void {
  let depth = 0;
  const over = (change: number): void => {
    depth = Math.max(0, depth + change);
    receiver.dragging(depth > 0);
  };
  const listeners: { [K in 'dragenter' | 'dragleave' | 'dragover' | 'drop']: (event: DragEvent) => void } = {
    dragenter: (event) => {
      if (!bringsFiles(event)) return;
      event.preventDefault();
      over(1);
    },
    dragleave: (event) => {
      if (bringsFiles(event)) over(-1);
    },
    dragover: (event) => {
      if (!bringsFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = 'copy';
    },
    drop: (event) => {
      markPicked();
      if (!bringsFiles(event)) return;
      event.preventDefault();
      depth = 0;
      receiver.dragging(false);
      const items = [...(event.dataTransfer?.items ?? [])].filter(({ kind }) => kind === 'file');
      // Entries and files must be taken now: after this event there are none.
      const entries = items.map((item) => item.webkitGetAsEntry());
      const files = [...(event.dataTransfer?.files ?? [])];
      const folders = entries.filter((entry) => entry?.isDirectory);
      if (folders.length === 0) {
        if (files.length > 0) receiver.receive(chosenFrom(files, false));
        return;
      }
      const loose = files.filter((_, index) => !entries[index]?.isDirectory);
      void Promise.all(folders.map((folder) => filesOf(folder as FileSystemDirectoryEntry, deepest))).then(
        (found) => receiver.receive(chosenFrom([...loose, ...found.flat()], true, folders[0]?.name)),
      );
    },
  };
  const paste = (event: ClipboardEvent): void => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0) return;
    markPicked();
    event.preventDefault();
    receiver.receive(chosenFrom(files, false));
  };
  for (const [name, listener] of Object.entries(listeners))
    document.addEventListener(name as 'drop', listener);
  document.addEventListener('paste', paste);
  return () => {
    for (const [name, listener] of Object.entries(listeners))
      document.removeEventListener(name as 'drop', listener);
    document.removeEventListener('paste', paste);
  };
}

/** Files as they are; of a folder those that may be snapshots, in the order in which people count. */
export function chosenFrom(files: readonly File[], folder: boolean, name = 'folder'): ChosenFiles {
  const named = files.filter((file) => likely.test(file.name));
  const wanted = folder && named.length > 0 ? named : [...files];
  const refused = (message: string): ChosenFiles => ({
    refused: { name, error: { code: 'folder', message, offset: -1 } },
  });
  if (wanted.length === 0) return refused('There is no file in this folder.');
  if (wanted.length > mostFiles)
    return refused(`There are ${wanted.length} files; at most ${mostFiles} are opened at once.`);
  // rank2 before rank10.
  if (folder) wanted.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
  return { files: wanted.map((file) => ({ name: file.name, source: { file } })) };
}

async function filesOf(folder: FileSystemDirectoryEntry, depth: number): Promise<File[]> {
  const reader = folder.createReader();
  const files: File[] = [];
  for (;;) {
    // Told in batches; an empty one is the last.
    const batch = await new Promise<FileSystemEntry[]>((resolve) =>
      reader.readEntries(resolve, () => resolve([])),
    );
    if (batch.length === 0 || files.length > mostFiles) return files;
    for (const entry of batch) {
      if (entry.isDirectory) {
        if (depth > 0) files.push(...(await filesOf(entry as FileSystemDirectoryEntry, depth - 1)));
      } else {
        const file = await new Promise<File | undefined>((resolve) =>
          (entry as FileSystemFileEntry).file(resolve, () => resolve(undefined)),
        );
        if (file) files.push(file);
      }
    }
  }
}

/** From here on the clock runs until the first picture. */
export function markPicked(): void {
  performance.clearMarks('memstrata:picked');
  performance.clearMarks('memstrata:first-picture');
  performance.mark('memstrata:picked');
}

/**
 * Files named by address: `?open=` and `?url=` of the page (several are allowed), and the host page's `src` attribute
 * of the element, whose addresses stand apart by white space.
 *
 * `?open=` is for links: it only takes files of this site, so that a link cannot make the page fetch from elsewhere.
 * `?url=` and `src` take any http(s) address, but the page's Content-Security-Policy has the last word; the site as
 * built allows its own (site/build.mjs, `--connect` names more).
 */
export function filesOfAddress(address: URL, src: string | null): ChosenFiles | undefined {
  const own = address.searchParams.getAll('open').filter((one) => one !== '');
  const any = [
    ...address.searchParams.getAll('url').filter((one) => one !== ''),
    ...(src?.split(/\s+/).filter((one) => one !== '') ?? []),
  ];
  if (own.length + any.length === 0) return undefined;
  const refused = (message: string): ChosenFiles => ({
    refused: { name: address.search || (src ?? ''), error: { code: 'address', message, offset: -1 } },
  });
  if (address.protocol === 'file:')
    return refused('A page opened from the disk cannot fetch files. Choose the file or drop it here.');
  const files: Chosen[] = [];
  for (const [index, wanted] of [...own, ...any].entries()) {
    const parameter = index < own.length ? '?open=' : src?.includes(wanted) ? 'src' : '?url=';
    let url: URL;
    let name: string;
    try {
      url = new URL(wanted, address);
      name = decodeURIComponent(url.pathname.slice(url.pathname.lastIndexOf('/') + 1));
    } catch {
      return refused(`The address after ${parameter} cannot be read: ${wanted}`);
    }
    if (index < own.length && url.origin !== address.origin)
      return refused('?open= only takes files of this site. Download it, then drop it here.');
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      return refused(`${parameter} takes addresses that begin with http: or https:, not ${url.protocol}`);
    files.push({ name: name || url.host, source: { url: url.href } });
  }
  return { files };
}

function bringsFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') ?? false;
}
