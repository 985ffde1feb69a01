// What is chosen of each device that was shown, shared by all views: a block and a moment.
import type { ReactiveControllerHost } from 'lit';
import type { Band } from '../engine/answers.ts';

export interface Chosen {
  /** The pinned block, or whatever else is a band. */
  block: Band | undefined;
  /** The state after this event is shown, -1 = before the first; undefined = none was chosen yet. */
  event: number | undefined;
}

const nothing: Chosen = { block: undefined, event: undefined };

export class Selection {
  private readonly kept = new WeakMap<object, Chosen>();
  /** A ViewInfo: one device of one file. */
  private device: object | undefined;

  constructor(private readonly host: ReactiveControllerHost) {}

  show(device: object | undefined): void {
    this.device = device;
  }

  get chosen(): Chosen {
    return (this.device && this.kept.get(this.device)) ?? nothing;
  }

  keep(change: Partial<Chosen>): void {
    if (!this.device) return;
    this.kept.set(this.device, { ...this.chosen, ...change });
    this.host.requestUpdate();
  }
}
