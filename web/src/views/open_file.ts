// How files come in: dropped anywhere, pasted, chosen, or named in the address of the page.
import type { EngineError } from '../engine/answers.ts';
import type { Source } from '../engine/protocol.ts';

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

export interface FileReceiver {
  open(name: string, source: Source): void;
  refuse(name: string, error: EngineError): void;
  /** A file is held over the page. */
  dragging(over: boolean): void;
}

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
      const item = [...(event.dataTransfer?.items ?? [])].find(({ kind }) => kind === 'file');
      const entry = item?.webkitGetAsEntry();
      if (entry?.isDirectory) {
        receiver.refuse(entry.name, {
          code: 'folder',
          message: 'This is a folder. Drop the snapshot file inside it instead.',
          offset: -1,
        });
        return;
      }
      const file = event.dataTransfer?.files[0];
      if (file) receiver.open(file.name, { file });
    },
  };
  const paste = (event: ClipboardEvent): void => {
    const file = event.clipboardData?.files[0];
    if (!file) return;
    markPicked();
    event.preventDefault();
    receiver.open(file.name, { file });
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

/** From here on the clock runs until the first picture. */
export function markPicked(): void {
  performance.clearMarks('memstrata:picked');
  performance.clearMarks('memstrata:first-picture');
  performance.mark('memstrata:picked');
}

/** `?open=samples/x.pickle`: a file of this site; anything else is refused, so a link cannot make the page fetch from elsewhere. */
export function fileOfAddress(
  address: URL,
): { name: string; source: Source } | { error: EngineError } | undefined {
  const wanted = address.searchParams.get('open');
  if (wanted === null || wanted === '') return undefined;
  const refused = (message: string): { error: EngineError } => ({
    error: { code: 'address', message, offset: -1 },
  });
  if (address.protocol === 'file:')
    return refused('A page opened from the disk cannot fetch files. Choose the file or drop it here.');
  let url: URL;
  try {
    url = new URL(wanted, address);
  } catch {
    return refused('The address after ?open= cannot be read.');
  }
  if (url.origin !== address.origin)
    return refused('?open= only takes files of this site. Download it, then drop it here.');
  try {
    const name = decodeURIComponent(url.pathname.slice(url.pathname.lastIndexOf('/') + 1));
    return { name, source: { url: url.href } };
  } catch {
    return refused('The address after ?open= cannot be read: it has a % that stands for nothing.');
  }
}

function bringsFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') ?? false;
}
