// What an element hears while it is in the document, and only then: out of it, it keeps nothing alive and takes no answers from
// an element that came after it; put back, it hears again.
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Stop } from '../base/listeners.ts';

export class Hearing implements ReactiveController {
  private stops: readonly Stop[] | undefined;

  /** `subscribe` is called whenever the element comes into the document. */
  constructor(
    host: ReactiveControllerHost,
    private readonly subscribe: () => readonly Stop[],
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    this.stops = this.subscribe();
  }
  hostDisconnected(): void {
    this.stops?.forEach((stop) => stop());
    this.stops = undefined;
  }

  /** What it hears of is another thing now. */
  again(): void {
    if (!this.stops) return;
    this.hostDisconnected();
    this.hostConnected();
  }
}
