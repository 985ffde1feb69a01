// How files come in: dropped, pasted, chosen, or named by address.
import type { EngineError } from '../../engine/index.ts';
import { isFleetName, type NamedFile } from '../model/rank_files.ts';
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
  {
    name: 'expandable',
    path: 'samples/expandable_segments.pickle.gz',
    label: 'Expandable segments',
    about: 'The same requests in one segment that grows',
  },
  {
    name: 'pools',
    path: 'samples/private_pools.pickle.gz',
    label: 'Private pools',
    about: 'CUDA graphs and a MemPool keep memory of their own',
  },
  {
    name: 'trace',
    path: 'samples/profiler_trace.json.gz',
    label: 'Profiler trace',
    about: 'Three steps of torch.profiler: which op takes memory',
  },
  {
    name: 'ranks',
    path: 'samples/eight_ranks.zip',
    label: 'Eight ranks',
    about: 'One job; one rank is not like the others',
  },
] as const;

/** Files of a choice or a folder, ready to be opened. */
export type ChosenFiles = ({ files: Chosen[] } | { refused: { name: string; error: EngineError } }) & {
  /** All of the choice, to be opened when asked for. */
  beside?: readonly NamedFile[];
  /** One of them is a fleet by its name: it is what opens, the others lie beside it. */
  withFleet?: boolean;
};

/** A file and the path by which it was chosen. */
interface Found {
  file: File;
  path: string;
}

export interface FileReceiver {
  receive(chosen: ChosenFiles): void;
  /** Files are held over the page. */
  dragging(over: boolean): void;
}

const mostFiles = 256; // of a folder; each one that is open holds memory of its own
const deepest = 4; // folders inside a folder
const mostListed = 50_000; // files of a folder that are looked at
/** Names that files with snapshots have. Only to pick from a folder: what a file is, its bytes decide. */
const likely = /\.(pickle|pkl|json|html?|gz|zst|zip|snapshot)$/i;

/** Files that are dropped or pasted on `target`. Returns how to stop. */
export function receiveFiles(target: EventTarget, receiver: FileReceiver): () => void {
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
      // What takes a folder of its own has taken it.
      if (event.composedPath().some((one) => one instanceof Element && one.hasAttribute('data-takes-folder')))
        return;
      const items = [...(event.dataTransfer?.items ?? [])].filter(({ kind }) => kind === 'file');
      // Entries and files must be taken now: after this event there are none.
      const entries = items.map((item) => item.webkitGetAsEntry());
      const files = [...(event.dataTransfer?.files ?? [])];
      const folders = entries.filter((entry) => entry?.isDirectory);
      if (folders.length === 0) {
        if (files.length > 0) receiver.receive(chosenFrom(files.map(foundOf), false));
        return;
      }
      const loose = files.filter((_, index) => !entries[index]?.isDirectory).map(foundOf);
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
    receiver.receive(chosenFrom(files.map(foundOf), false));
  };
  const all = Object.entries({ ...listeners, paste }) as [string, EventListener][];
  for (const [name, listener] of all) target.addEventListener(name, listener);
  return () => {
    for (const [name, listener] of all) target.removeEventListener(name, listener);
  };
}

export const foundOf = (file: File): Found => ({ file, path: file.webkitRelativePath || file.name });

/**
 * Files as they are; of a folder those that may be snapshots, in the order in which people count. With a fleet among them
 * only that is opened: it says which of the others are worth it.
 */
export function chosenFrom(found: readonly Found[], folder: boolean, name = 'folder'): ChosenFiles {
  const chosen = ({ file }: Found): Chosen => ({ name: file.name, source: { file } });
  const beside = found.map((one) => ({ path: one.path, chosen: chosen(one) }));
  const fleets = found.filter(({ file }) => isFleetName(file.name));
  if (fleets.length > 0 && fleets.length <= mostFiles)
    return { files: fleets.map(chosen), beside, withFleet: true };
  const named = found.filter(({ file }) => likely.test(file.name));
  const wanted = folder && named.length > 0 ? named : [...found];
  const refused = (message: string): ChosenFiles => ({
    refused: { name, error: { code: 'folder', message, offset: -1 } },
    beside,
  });
  if (wanted.length === 0) return refused('There is no file in this folder.');
  if (wanted.length > mostFiles)
    return refused(
      `There are ${wanted.length} files; at most ${mostFiles} are opened at once. Of more ranks gpustrata fleet makes one file.`,
    );
  // rank2 before rank10.
  if (folder) wanted.sort((a, b) => a.file.name.localeCompare(b.file.name, 'en', { numeric: true }));
  return { files: wanted.map(chosen), beside };
}

async function filesOf(
  folder: FileSystemDirectoryEntry,
  depth: number,
  path = folder.name,
): Promise<Found[]> {
  const reader = folder.createReader();
  const files: Found[] = [];
  for (;;) {
    // Told in batches; an empty one is the last.
    const batch = await new Promise<FileSystemEntry[]>((resolve) =>
      reader.readEntries(resolve, () => resolve([])),
    );
    if (batch.length === 0 || files.length > mostListed) return files;
    for (const entry of batch) {
      if (entry.isDirectory) {
        const inside = entry as FileSystemDirectoryEntry;
        if (depth > 0) files.push(...(await filesOf(inside, depth - 1, `${path}/${entry.name}`)));
      } else {
        const file = await new Promise<File | undefined>((resolve) =>
          (entry as FileSystemFileEntry).file(resolve, () => resolve(undefined)),
        );
        if (file) files.push({ file, path: `${path}/${entry.name}` });
      }
    }
  }
}

/** From here on the clock runs until the first picture. */
export function markPicked(): void {
  performance.clearMarks('gpustrata:picked');
  performance.clearMarks('gpustrata:first-picture');
  performance.mark('gpustrata:picked');
}

/**
 * Files named by address, as `from` says them (`src`, `?url=`): any http or https address, relative to `base`; the
 * page's Content-Security-Policy has the last word.
 */
export function filesAt(addresses: readonly string[], from: string, base: URL): ChosenFiles {
  const refused = (message: string): ChosenFiles => ({
    refused: { name: addresses.join(' ').slice(0, 200), error: { code: 'address', message, offset: -1 } },
  });
  if (base.protocol === 'file:')
    return refused('A page opened from the disk cannot fetch files. Choose the file or drop it here.');
  if (addresses.length > mostFiles)
    return refused(`${from} names ${addresses.length} files; at most ${mostFiles} are opened at once.`);
  const files: Chosen[] = [];
  for (const wanted of addresses) {
    let url: URL;
    let name: string;
    try {
      url = new URL(wanted, base);
      name = decodeURIComponent(url.pathname.slice(url.pathname.lastIndexOf('/') + 1));
    } catch {
      return refused(`The address after ${from} cannot be read: ${wanted}`);
    }
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      return refused(`${from} takes addresses that begin with http: or https:, not ${url.protocol}`);
    files.push({ name: name || url.host, source: { url: url.href } });
  }
  return { files };
}

function bringsFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') ?? false;
}
