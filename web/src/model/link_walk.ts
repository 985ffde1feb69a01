// Where the page stands in its address and in the browser's history, and how it goes to a place that they say.
import type { Shown } from './link.ts';
import { isShown, type OpenFile, type OpenFiles } from './open_files.ts';
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

const togetherMs = 1000;

export class LinkWalk {
  /** The link that was opened, until its file is there. */
  wanted: Shown | undefined;
  /** Where it is on the way to; the file is there. */
  private heading: Shown | undefined;
  private address: Address | undefined;
  private last = { at: -Infinity, name: '' };

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
    if (!this.wanted && !this.heading) this.address?.replace(() => this.page.shown());
  }

  /** Makes a change that one can go back from. `name`: with the one before it is one step, if that was just now. */
  step(change: () => void, name: string): void {
    const { last } = this;
    const now = performance.now();
    const joins = now - last.at < togetherMs && (name === 'view' || (name !== '' && name === last.name));
    // A step that moves what is seen moves on while it glides there.
    this.last = { at: now, name: joins ? last.name : name };
    if (joins || this.heading) {
      change();
      return this.remember();
    }
    const before = this.page.shown();
    change();
    this.stepped(before);
  }
  /** A change was made that one can go back from. */
  stepped(before: Shown | undefined): void {
    const shown = this.page.shown();
    if (shown) this.address?.push(before, shown);
  }

  /** A file or device is shown; goes on to what the link says of it, and tells the part to show first. */
  opened(file: OpenFile): Viewport | undefined {
    const { wanted } = this;
    if (wanted?.hash === file.hash) void this.goTo(wanted);
    const { heading } = this;
    return heading && isShown(file, heading) ? heading.view : undefined;
  }

  /** Shows it, as soon as its file is there. The newest wins. */
  async goTo(shown: Shown): Promise<void> {
    const file = this.files.entries.find((entry) => entry.file?.hash === shown.hash)?.file;
    this.heading = file && shown;
    this.wanted = file ? undefined : shown;
    this.page.requestUpdate();
    if (!file) return;
    await this.walk(file, shown);
    if (this.heading === shown) this.heading = undefined;
    this.last = { at: performance.now(), name: 'view' };
    this.page.requestUpdate();
  }

  private async walk(file: OpenFile, shown: Shown): Promise<void> {
    const isNewest = (): boolean => this.heading === shown;
    const entry = this.files.entries.find((one) => one.file === file);
    if (entry) this.files.show(entry);
    const { snapshot, device, bands, only } = shown;
    const known = file.contents.snapshots[snapshot]?.devices.some((one) => one.device === device);
    // A device that the file does not have: the rest of the link is shown of the one that is there.
    if (known && (!isShown(file, shown) || file.switching)) {
      const opened = await this.files.openDevice(file, { snapshot, device, bands, only });
      if (!opened || !isNewest()) return;
    }
    const { view } = file;
    this.page.take({ ...shown, axis: view?.info.extent.time_us === null ? 'event' : shown.axis });
    await this.page.updateComplete;
    if (isNewest()) await this.page.arrive(shown, file, () => isNewest() && view === file.view);
  }
}
