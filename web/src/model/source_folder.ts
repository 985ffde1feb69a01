// The reader's own source: a folder of files that are read when a line of theirs is shown. Nothing is kept of it but names.

export interface SourceFile {
  /** From the folder on, with slashes. */
  path: string;
  text(): Promise<string>;
  size: number;
}

const largest = 8 * 1024 ** 2; // bytes of a file that is read
const partsOf = (path: string): string[] =>
  path
    .replaceAll('\\', '/')
    .split('/')
    .filter((one) => one !== '');

export class SourceFolder {
  private readonly byName = new Map<string, SourceFile[]>();
  private readonly read = new Map<SourceFile, Promise<string[] | undefined>>();

  constructor(
    readonly name: string,
    readonly files: readonly SourceFile[],
  ) {
    for (const file of files) {
      const name = partsOf(file.path).at(-1) ?? '';
      const same = this.byName.get(name);
      if (same) same.push(file);
      else this.byName.set(name, [file]);
    }
  }

  /** The file that ends in most of the same folders as a recorded path; undefined = none, or it cannot be told which. */
  find(recorded: string): SourceFile | undefined {
    const wanted = partsOf(recorded);
    let best: { file: SourceFile; same: number; alone: boolean } | undefined;
    for (const file of this.byName.get(wanted.at(-1) ?? '') ?? []) {
      const parts = partsOf(file.path);
      let same = 0;
      while (same < parts.length && same < wanted.length && parts.at(-1 - same) === wanted.at(-1 - same))
        same += 1;
      if (!best || same > best.same) best = { file, same, alone: true };
      else if (same === best.same) best.alone = false;
    }
    return best?.alone ? best.file : undefined;
  }

  /** Undefined = there is no such file, or it cannot be read. */
  lines(recorded: string): Promise<string[] | undefined> {
    const file = this.find(recorded);
    if (!file || file.size > largest) return Promise.resolve(undefined);
    const known = this.read.get(file);
    if (known) return known;
    const lines = file.text().then(
      (text) => text.split(/\r\n|\n|\r/),
      () => undefined,
    );
    this.read.set(file, lines);
    return lines;
  }
}
