// For other pages: `<script type="module" src=".../viewer.js"></script>` and then `<gpustrata-viewer src="a.pickle">`. The
// viewer, with what a page around it may do (element_types.ts).
import type { Stop } from '../base/listeners.ts';
import { element } from '../controls/element.ts';
import { linkOf, shownIn } from '../model/link.ts';
import type { Choice, LoadDetail, OpenOptions, SnapshotSource } from './element_types.ts';
import { HostPage } from './host_page.ts';
import { GpustrataViewer as Viewer } from './viewer.ts';

export type * from './element_types.ts';
export type { ViewerChange } from './application.ts';

export class GpustrataViewer extends Viewer {
  private readonly host = new HostPage(this);

  open(source: SnapshotSource, options?: OpenOptions): Promise<LoadDetail> {
    return this.host.open(source, options);
  }

  async select(what: Choice): Promise<void> {
    const { choices, timeline } = this;
    if (what === null) choices.keep({ block: undefined, thing: undefined, event: undefined });
    else if (what === 'peak') timeline?.goToPeak();
    else if ('block' in what) await choices.showBlock(what.block);
    else {
      const last = Math.max((this.file?.view?.info.events ?? 0) - 1, -1);
      const event = Math.min(Math.max(what.event, -1), last);
      choices.chooseEvent({ event, step: false });
      await timeline?.showEvent(event);
    }
  }

  getState(): string | undefined {
    const shown = this.shown();
    return shown && linkOf(shown);
  }

  setState(state: string): boolean {
    const shown = shownIn(state);
    if (shown) void this.links.goTo(shown);
    return shown !== undefined;
  }

  protected override hears(): Stop[] {
    return [...super.hears(), this.host.watch()];
  }

  override dispose(): void {
    super.dispose();
    this.host.dispose();
  }

  protected override filesChanged(): void {
    super.filesChanged();
    this.host.filesChanged();
  }
}

element('gpustrata-viewer')(GpustrataViewer);
