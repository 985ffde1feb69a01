// What the details can show besides a block of the timeline: an event, or a block or segment in the state after one.
import type { EngineView, EventDetails, StateBlock, StatePick, StateSegment } from '../../engine/index.ts';

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

/** What lies at a place of the state's picture; undefined if it is gone, or the engine is. */
export async function thingAt(
  view: EngineView,
  at: number,
  { block, segment }: Pick<StatePick, 'block' | 'segment'>,
): Promise<Thing | undefined> {
  try {
    if (block >= 0) {
      const found = await view.ask('stateBlock', { event: at, block });
      return { kind: 'state-block', block: found, at };
    }
    const found = await view.ask('stateSegment', { event: at, segment });
    return found ? { kind: 'segment', segment: found, at } : undefined;
  } catch {
    return undefined; // the page says why
  }
}
