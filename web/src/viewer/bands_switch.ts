// Other bands of the same device (blocks, with envelopes of pools, segments): the same stretch of it is seen, at its own
// height, and what is chosen stays.
import { isBlock, type Bands } from '../../engine/index.ts';
import type { LinkTarget, LinkWalk } from '../model/link_walk.ts';
import type { OpenFile, OpenFiles } from '../model/open_files.ts';
import { boundsOf, type Viewport } from '../model/viewport.ts';
import type { Workspace } from '../model/workspace.ts';
import type { Choices, Chosen } from './choices.ts';

export class BandsSwitch {
  /** Of the device whose bands are about to change. */
  private left: { engine: OpenFile['engine']; view: Viewport | undefined; chosen: Chosen } | undefined;

  constructor(
    private readonly workspace: Workspace,
    private readonly page: LinkTarget,
    private readonly files: OpenFiles,
    private readonly links: LinkWalk,
    private readonly choices: Choices,
  ) {}

  /** `only`: a filter, only what it means is shown; `step`: one can go back from it. */
  async to(bands: Bands, { only = '', step = true } = {}): Promise<void> {
    const { page, files } = this;
    const { file } = files;
    if (!file?.view || files.switching) return;
    if (file.view.info.bands === bands && file.view.shown.only === only) return;
    const before = page.shown();
    const { view, engine } = file;
    this.left = { engine, view: this.workspace.get('viewport'), chosen: this.choices.chosen };
    await files.openDevice(file, { snapshot: file.snapshot, device: view.info.device, bands, only });
    await page.updateComplete;
    if (step && file.view !== view) this.links.stepped(before);
    this.left = undefined;
  }

  /** A device was opened; if it is the one that was left, the part of it to show first. */
  carryOn({ engine, view }: OpenFile): Viewport | undefined {
    const { left } = this;
    this.left = undefined;
    if (!view || left?.engine !== engine) return undefined;
    const { block, event } = left.chosen;
    this.choices.keep({ event, block: isBlock(block) && view.info.bands !== 'segments' ? block : undefined });
    const { info } = view;
    const length = info.extent[this.workspace.get('axis') === 'time' ? 'time_us' : 'event'] ?? 1;
    const { fitTop } = boundsOf(length, info);
    return left.view && { ...left.view, y0: 0, y1: fitTop };
  }
}
