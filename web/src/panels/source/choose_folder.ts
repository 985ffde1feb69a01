// A folder of source that is chosen or dropped.
import { SourceFolder, type SourceFile } from '../../model/source_folder.ts';

const mostFiles = 20_000;
const deepest = 12;
const left = new Set(['.git', 'node_modules', '__pycache__', '.venv', 'venv']);
const isSource = /\.(py|pyx|pxd|pyi|cpp|cc|cxx|cu|cuh|h|hpp|c|rs|jl)$/i;

const of = (file: File, path: string): SourceFile => ({ path, size: file.size, text: () => file.text() });

/** Of an <input webkitdirectory>. */
export function folderOfFiles(files: readonly File[]): SourceFolder {
  const source = files.filter(({ name }) => isSource.test(name)).slice(0, mostFiles);
  const name = files[0]?.webkitRelativePath.split('/')[0] ?? 'source';
  return new SourceFolder(
    name,
    source.map((file) => of(file, file.webkitRelativePath || file.name)),
  );
}

/** Of what was dropped; the entries must be taken during the event. Undefined = no folder. */
export function folderOfDrop(event: DragEvent): Promise<SourceFolder> | undefined {
  const entries = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry());
  const folder = entries.find((entry) => entry?.isDirectory);
  return folder ? filesBelow(folder as FileSystemDirectoryEntry) : undefined;
}

async function filesBelow(root: FileSystemDirectoryEntry): Promise<SourceFolder> {
  const found: SourceFile[] = [];
  const walk = async (folder: FileSystemDirectoryEntry, depth: number): Promise<void> => {
    const reader = folder.createReader();
    for (;;) {
      const batch = await new Promise<FileSystemEntry[]>((resolve) =>
        reader.readEntries(resolve, () => resolve([])),
      );
      if (batch.length === 0 || found.length >= mostFiles) return;
      for (const entry of batch) {
        if (entry.isDirectory) {
          if (depth > 0 && !left.has(entry.name)) await walk(entry as FileSystemDirectoryEntry, depth - 1);
        } else if (isSource.test(entry.name)) {
          const file = await new Promise<File | undefined>((resolve) =>
            (entry as FileSystemFileEntry).file(resolve, () => resolve(undefined)),
          );
          if (file) found.push(of(file, entry.fullPath.slice(1)));
        }
      }
    }
  };
  await walk(root, deepest);
  return new SourceFolder(root.name, found);
}
