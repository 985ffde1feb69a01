// What lies beside the recording that is shown, for who shows it: nothing, until there is a second file or a trace and
// run_together.ts is loaded.
import { noFiles, type BesideChange, type BesideFiles, type BesideInLink } from '../model/beside/files.ts';
import type { ToldOps } from '../model/beside/op_attribution.ts';
import type { Workspace } from '../model/workspace.ts';
import type { Described } from '../words/described.ts';
import type { BlockDetails, RunningOps } from '../../engine/index.ts';
import type { BesideTarget, RunTogether } from './run_together.ts';

export class BesideRun {
  private run: RunTogether | undefined;
  private loading = false;
  /** Of a link that came before. */
  private waiting: { of: string; files: readonly BesideInLink[] } | undefined;

  constructor(
    private readonly workspace: Workspace,
    private readonly page: BesideTarget,
  ) {}

  /** The same object as long as they are the same. */
  get files(): BesideFiles {
    return this.run?.files ?? noFiles;
  }
  /** How many allocations of the recording have an op; undefined = not known yet. */
  get told(): ToldOps | undefined {
    return this.run?.told;
  }
  get inLink(): readonly BesideInLink[] {
    return this.run?.inLink ?? this.waiting?.files ?? [];
  }
  /** What the link of the file that is shown names, and is not open. */
  get missing(): readonly BesideInLink[] {
    return this.run?.missing ?? [];
  }
  /** They are wanted no more. */
  forgetMissing(): void {
    this.waiting = undefined;
    this.run?.forgetMissing();
  }
  /** `of`: content hash of the file that the link is of. */
  restore(of: string, files: readonly BesideInLink[]): void {
    if (this.run) this.run.restore(of, files);
    else this.waiting = { of, files };
    if (files.length > 0) this.load();
  }
  change(change: BesideChange): void {
    this.run?.change(change);
  }

  /** What a block was made in, thread by thread; undefined = not known, or there is no trace. */
  opsOf(block: BlockDetails): readonly RunningOps[] | undefined {
    return this.run?.opsOf(block);
  }
  withOps(described: Described, ops: readonly RunningOps[]): Described {
    return this.run?.withOps(described, ops) ?? described;
  }

  /** Files were opened or closed, or another one is shown. */
  filesChanged(): void {
    const { entries, file } = this.page.files;
    if (entries.length > 1 || file?.view?.info.has_ops) this.load();
    this.run?.filesChanged();
  }
  /** The first picture of what is shown was drawn. */
  tell(): void {
    this.run?.tell();
  }

  load(): void {
    if (this.loading) return;
    this.loading = true;
    import('./run_together.ts').then(
      ({ RunTogether: Run }) => {
        this.run = new Run(this.workspace, this.page);
        const { waiting } = this;
        if (waiting) this.run.restore(waiting.of, waiting.files);
        this.waiting = undefined;
        this.page.requestUpdate();
      },
      () => (this.loading = false), // once more with the next file
    );
  }
}
