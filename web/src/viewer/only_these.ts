// Only what the filter means, stacked from zero: another view of the device, which follows the filter for as long as one
// wants it.
import type { Stop } from '../base/listeners.ts';
import type { Bands } from '../../engine/index.ts';
import type { Workspace } from '../model/workspace.ts';
import type { BandsSwitch } from './bands_switch.ts';

export class OnlyThese {
  /** It goes on when the filter or the device changes; ends with the filter. */
  wished = false;
  private following = false;

  constructor(
    private readonly workspace: Workspace,
    private readonly bands: BandsSwitch,
  ) {}

  watch(): Stop {
    return this.workspace.watch(['filter'], () => void this.follow(false));
  }

  /** False = there is no filter that means anything. */
  toggle(): boolean {
    if (!this.wished && this.workspace.get('filter').highlight === '') return false;
    this.wished = !this.wished;
    void this.follow(true);
    return true;
  }

  private get shown(): string | undefined {
    return this.workspace.get('view')?.shown.only;
  }

  /** The filter whose blocks are to be shown alone, empty = all blocks; undefined = it is not known yet. */
  private get wanted(): string | undefined {
    const { text, found, error, highlight } = this.workspace.get('filter');
    if (text === '') this.wished = false;
    if (!this.wished) return '';
    // What is wrong on the way to another filter leaves what is shown.
    return found && !error ? highlight : undefined;
  }

  private async follow(asked: boolean): Promise<void> {
    if (this.following) return;
    this.following = true;
    try {
      for (;;) {
        const { shown, wanted } = this;
        if (shown === undefined || wanted === undefined || shown === wanted) return;
        const bands: Bands = this.workspace.get('view')?.info.bands ?? 'blocks';
        if (bands === 'pools' && !asked) {
          this.wished = false; // chosen meanwhile
          return;
        }
        await this.bands.to(bands === 'pools' ? 'blocks' : bands, { only: wanted, step: asked });
        if (this.shown !== wanted) return;
      }
    } finally {
      this.following = false;
    }
  }
}
