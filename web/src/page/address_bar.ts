// Keeps the page's address telling what is shown, and its history a walk through selections.
import { linkOf, shownIn, type Shown } from '../model/link.ts';
import type { Address } from '../model/link_walk.ts';

const waitMs = 300; // browsers refuse an address that changes all the time

export class AddressBar implements Address {
  private timer = 0;
  private written = '';
  private went: ((shown: Shown) => void) | undefined;

  connect(went: (shown: Shown) => void): Shown | undefined {
    this.went = went;
    addEventListener('popstate', this.moved);
    addEventListener('hashchange', this.moved);
    return this.shown;
  }
  disconnect(): void {
    removeEventListener('popstate', this.moved);
    removeEventListener('hashchange', this.moved);
    clearTimeout(this.timer);
  }

  private get shown(): Shown | undefined {
    return shownIn(location.hash);
  }

  replace(shown: () => Shown | undefined): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(shown(), false), waitMs);
  }

  push(before: Shown | undefined, shown: Shown): void {
    clearTimeout(this.timer);
    this.write(before, false); // where one comes back to
    this.write(shown, true);
  }

  linkTo(shown: Shown): string {
    const url = new URL(location.href);
    url.hash = linkOf(shown);
    return url.href;
  }

  private write(shown: Shown | undefined, asNew: boolean): void {
    if (!shown) return;
    const fragment = `#${linkOf(shown)}`;
    if (fragment === this.written) return;
    this.written = fragment;
    try {
      if (asNew) history.pushState(history.state, '', fragment);
      else history.replaceState(history.state, '', fragment); // what a router keeps there stays
    } catch {
      // Some pages must not change their address; everything else works.
    }
  }

  private readonly moved = (): void => {
    if (location.hash === this.written) return;
    this.written = location.hash;
    clearTimeout(this.timer);
    const shown = this.shown;
    if (shown) this.went?.(shown);
  };
}
