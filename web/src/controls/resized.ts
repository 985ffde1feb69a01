// Tells that a part of an element has another size, as long as the element is in a page.
import type { ReactiveController, ReactiveControllerHost } from 'lit';

/** A picture goes to paper as it was drawn for the screen: there is no time to draw it again. */
export const isOnPaper = (): boolean => matchMedia('print').matches;

export class Resized implements ReactiveController {
  private readonly observer: ResizeObserver;
  private observed: Element | undefined;

  /** `part` may not be there before the first update, or be another one after any; `changed` is told of its first size, too. */
  constructor(
    host: ReactiveControllerHost,
    private readonly part: () => Element | null | undefined,
    changed: () => void,
  ) {
    this.observer = new ResizeObserver(() => isOnPaper() || changed());
    host.addController(this);
  }

  hostConnected(): void {
    this.hostUpdated();
  }
  hostUpdated(): void {
    const part = this.part() ?? undefined;
    if (part === this.observed) return;
    this.observer.disconnect();
    this.observed = part;
    if (part) this.observer.observe(part);
  }
  hostDisconnected(): void {
    this.observer.disconnect();
    this.observed = undefined;
  }
}
