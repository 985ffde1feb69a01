// What lies beside the recording that is shown: found among the open files, and told to its engine when it is drawn; the ops
// of blocks. Loaded when there is a second file or a trace (beside_run.ts).
import { besideInLink, changed, filesBeside, restored, sameFiles } from '../model/beside/choices.ts';
import { noFiles, type BesideChange, type BesideFiles, type BesideInLink } from '../model/beside/files.ts';
import { MadeIn, type TraceOfRun } from '../model/beside/made_in.ts';
import { tellOps, toldOps, type Telling, type ToldOps } from '../model/beside/op_attribution.ts';
import type { OpenFiles } from '../model/open_files.ts';
import type { Workspace } from '../model/workspace.ts';
import { withOps } from '../words/made_in_text.ts';
import type { BlockDetails, RunningOps } from '../../engine/index.ts';

/** The viewer, as far as this goes. */
export interface BesideTarget {
  readonly files: OpenFiles;
  readonly filter: { again(): void };
  requestUpdate(): void;
}

export class RunTogether {
  private lastFiles: BesideFiles = noFiles;
  private lastTrace: TraceOfRun | undefined;
  private readonly madeIn = new MadeIn(() => this.page.requestUpdate());
  /** Of the last link. */
  private inLast: readonly BesideInLink[] = [];
  private lastOf = '';
  /** Those that were not open then: when one opens, the file of the link is shown with it. */
  private awaited: readonly string[] = [];
  private telling: Telling | undefined;
  /** How many allocations of the recording have an op; undefined = not known yet. */
  told: ToldOps | undefined;

  constructor(
    private readonly workspace: Workspace,
    private readonly page: BesideTarget,
  ) {}

  /** The same object as long as they are the same. */
  get files(): BesideFiles {
    const { files } = this.page;
    const open = files.entries.flatMap(({ file }) => file ?? []);
    const now = filesBeside(files.file, open, this.workspace.get('beside'));
    if (!sameFiles(now, this.lastFiles)) this.lastFiles = now;
    return this.lastFiles;
  }

  /** That names the op of a block: beside the recording, or what is shown itself. The same object for the same trace. */
  private get trace(): TraceOfRun | undefined {
    const shown = this.workspace.get('view');
    const { trace } = this.files;
    const view = shown?.info.has_ops ? shown : trace?.view;
    if (!shown || !view) return undefined;
    const now = { view, nudge: view === shown ? 0 : (trace?.nudge ?? 0), device: shown.info.device };
    const last = this.lastTrace;
    if (last?.view !== now.view || last.nudge !== now.nudge || last.device !== now.device)
      this.lastTrace = now;
    return this.lastTrace;
  }

  /** What lies there, and what a link says should. */
  opsOf(block: BlockDetails): readonly RunningOps[] | undefined {
    const { trace } = this;
    return trace && this.madeIn.of(block, trace);
  }
  readonly withOps = withOps;

  get inLink(): BesideInLink[] {
    return [...besideInLink(this.files), ...this.missing];
  }
  /** What the link of the file that is shown names, and is not open. */
  get missing(): readonly BesideInLink[] {
    const { entries, file } = this.page.files;
    if (this.inLast.length === 0 || file?.hash !== this.lastOf) return [];
    return this.inLast.filter(({ hash }) => entries.every((entry) => entry.file?.hash !== hash));
  }
  private isOpen(hash: string): boolean {
    return this.page.files.entries.some(({ file }) => file?.hash === hash);
  }
  /** Files were opened or closed. */
  filesChanged(): void {
    const { entries, active } = this.page.files;
    const arrived = this.awaited.filter((hash) => this.isOpen(hash));
    if (arrived.length === 0) return;
    this.awaited = this.awaited.filter((hash) => !arrived.includes(hash));
    const main = entries.find(({ file }) => file?.hash === this.lastOf);
    if (main && arrived.includes(active?.file?.hash ?? '')) this.page.files.show(main);
  }
  /** They are wanted no more. */
  forgetMissing(): void {
    this.inLast = [];
    this.awaited = [];
    this.page.requestUpdate();
  }
  /** `of`: content hash of the file that the link is of. */
  restore(of: string, files: readonly BesideInLink[]): void {
    this.lastOf = of;
    this.inLast = files;
    this.awaited = files.map(({ hash }) => hash).filter((hash) => !this.isOpen(hash));
    if (files.length > 0) this.workspace.change({ beside: restored(this.workspace.get('beside'), files) });
  }

  change(change: BesideChange): void {
    // Which threads are open is no step.
    this.workspace.change({ beside: changed(this.workspace.get('beside'), change) }, !change.threads);
  }

  /** Called when what is shown may have changed, and its first picture was drawn. */
  tell(): void {
    const recording = this.workspace.get('view');
    const { trace } = this.files;
    if (!recording?.alive || !trace?.view.alive || recording.info.events === 0) {
      this.telling = undefined;
      this.told = undefined;
      return;
    }
    const now: Telling = { recording, trace: trace.view, nudge: trace.nudge };
    const before = this.telling;
    if (before?.recording === now.recording && before.trace === now.trace && before.nudge === now.nudge)
      return;
    this.telling = now;
    void this.run(now);
  }

  private async run(now: Telling): Promise<void> {
    const isWanted = (): boolean => this.telling === now;
    this.told = undefined;
    const known = await toldOps(now).catch(() => undefined);
    if (!isWanted()) return;
    this.told = known;
    if (!known) {
      // An engine is gone, or refuses: the details still name ops.
      const found = await tellOps(now, isWanted).catch(() => undefined);
      if (!isWanted()) return;
      this.told = found;
      this.page.filter.again();
    }
    this.page.requestUpdate();
  }
}
