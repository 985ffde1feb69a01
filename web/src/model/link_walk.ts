// Where the page stands in its address and in the browser's history, and how it goes to a place that they say.
import type { Shown } from './link.ts';
import type { OpenFile, OpenFiles } from './open_files.ts';
import type { Viewport } from './viewport.ts';

/** Where a page keeps what is shown: its address, and the browser's history of it (page/address_bar.ts). */
export interface Address {
  /** What it says now. From here on `went` is told what the reader goes to: back, forward, or by hand. */
  connect(went: (shown: Shown) => void): Shown | undefined;
  disconnect(): void;
  /** Soon, in place of the entry that is there. */
  replace(shown: () => Shown | undefined): void;
  /** Now, as a new entry behind that of `before`. */
  push(before: Shown | undefined, shown: Shown): void;
  /** A link to it. */
  linkTo(shown: Shown): string;
}

/** The viewer, as far as links go. */
export interface LinkTarget {
  requestUpdate(): void;
  readonly updateComplete: Promise<unknown>;
  /** What it shows; undefined = nothing that a link could tell. */
  shown(): Shown | undefined;
  /** Shows what makes sense for any file: axis, colour, filter, panel. */
  take(shown: Shown): void;
  /** Shows the rest; the file and device are there and drawn. */
  arrive(shown: Shown, file: OpenFile, isCurrent: () => boolean): Promise<void>;
}

export class LinkWalk {
  /** The link that was opened, until its file is there. */
  wanted: Shown | undefined;
  private going = 0;
  private address: Address | undefined;

  constructor(
    private readonly page: LinkTarget,
    private readonly files: OpenFiles,
  ) {}

  /** Begins with what the address says. Without one (an element inside another page) nothing is remembered. */
  connect(address: Address | undefined): void {
    this.address = address;
    const wanted = address?.connect((shown) => void this.goTo(shown));
    if (!wanted) return;
    this.wanted = wanted;
    this.page.take(wanted);
  }
  disconnect(): void {
    this.address?.disconnect();
    this.address = undefined;
  }

  /** Undefined = this element has no address of its own, or shows nothing. */
  get link(): string | undefined {
    const shown = this.page.shown();
    return shown && this.address?.linkTo(shown);
  }

  forget(): void {
    this.wanted = undefined;
    this.page.requestUpdate();
  }

  /** Soon, in place of the entry that is there. */
  remember(): void {
    if (!this.wanted) this.address?.replace(() => this.page.shown());
  }

  /** Makes a change that one can go back from. */
  step(change: () => void): void {
    const before = this.page.shown();
    change();
    this.stepped(before);
  }
  /** A change was made that one can go back from. */
  stepped(before: Shown | undefined): void {
    const shown = this.page.shown();
    if (shown) this.address?.push(before, shown);
  }

  /** A file is shown; goes on to what the link says of it, and tells the part to show first. */
  opened(file: OpenFile): Viewport | undefined {
    const { wanted } = this;
    if (!wanted || wanted.hash !== file.hash) return undefined;
    this.wanted = undefined;
    void this.goTo(wanted);
    return wanted.view;
  }

  /** The newest wins. */
  private async goTo(shown: Shown): Promise<void> {
    this.going += 1;
    const { going } = this;
    const entry = this.files.entries.find(({ file }) => file?.hash === shown.hash);
    if (!entry?.file) {
      this.wanted = shown;
      this.page.requestUpdate();
      return;
    }
    this.files.show(entry);
    const { file } = entry;
    const isAnother = file.view && (file.view.device !== shown.device || file.view.bands !== shown.bands);
    if (file.snapshot !== shown.snapshot || isAnother) {
      const known = file.contents.snapshots[shown.snapshot]?.devices.some(
        ({ device }) => device === shown.device,
      );
      this.wanted = known ? shown : undefined; // taken up again when the device is there
      if (known) return this.files.openDevice(shown.snapshot, shown.device, shown.bands);
    }
    const { view } = file;
    this.page.take({ ...shown, axis: view?.extent.time_us === null ? 'event' : shown.axis });
    await this.page.updateComplete;
    if (going !== this.going) return;
    await this.page.arrive(shown, file, () => going === this.going && view === file.view);
  }
}
