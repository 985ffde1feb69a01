// What the details can show besides a block of the timeline: an event, or a block or segment in the state after one.
import type { EventDetails, StateBlock, StateSegment } from '../engine/state_answers.ts';

export type Thing =
  | { kind: 'event'; event: EventDetails }
  /** `at`: the event after which it is so. */
  | { kind: 'state-block'; block: StateBlock; at: number }
  | { kind: 'segment'; segment: StateSegment; at: number };

/** Equal keys = the same thing, whatever is known of it. */
export function keyOf(thing: Thing | undefined): string {
  switch (thing?.kind) {
    case undefined:
      return '';
    case 'event':
      return `event ${thing.event.event}`;
    case 'state-block':
      return `block ${thing.block.row}`;
    case 'segment':
      return `segment ${thing.segment.row}`;
  }
}
