// Keeps the page's address telling what is shown, and its history a walk through selections.
import { linkOf, shownIn, type Shown } from '../model/link.ts';

const waitMs = 300; // browsers refuse an address that changes all the time

export class AddressBar {
  private timer = 0;
  private written = '';

  /** `went`: the reader pressed back or forward, or changed the address by hand. */
  constructor(private readonly went: (shown: Shown) => void) {}

  connect(): void {
    addEventListener('popstate', this.moved);
    addEventListener('hashchange', this.moved);
  }
  disconnect(): void {
    removeEventListener('popstate', this.moved);
    removeEventListener('hashchange', this.moved);
    clearTimeout(this.timer);
  }

  /** What the address says now. */
  get shown(): Shown | undefined {
    return shownIn(location.hash);
  }

  /** Soon, in place of the entry that is there. */
  replace(shown: () => Shown | undefined): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(shown(), false), waitMs);
  }

  /** Now, as a new entry. */
  push(before: Shown | undefined, shown: Shown): void {
    clearTimeout(this.timer);
    this.write(before, false); // where one comes back to
    this.write(shown, true);
  }

  private write(shown: Shown | undefined, asNew: boolean): void {
    if (!shown) return;
    const fragment = `#${linkOf(shown)}`;
    if (fragment === this.written) return;
    this.written = fragment;
    try {
      if (asNew) history.pushState(null, '', fragment);
      else history.replaceState(null, '', fragment);
    } catch {
      // Some pages must not change their address; everything else works.
    }
  }

  private readonly moved = (): void => {
    if (location.hash === this.written) return;
    this.written = location.hash;
    clearTimeout(this.timer);
    const shown = this.shown;
    if (shown) this.went(shown);
  };
}
