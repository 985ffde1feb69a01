// What page and worker say to each other about events and states of the current view.
import type {
  BlockRow,
  EventDetails,
  EventRow,
  Marks,
  Regions,
  SegmentRow,
  StateBlock,
  StateInfo,
  StatePick,
  StatePlace,
  StateSegment,
  StateTotals,
} from './state_answers.ts';
import type { Columns, Look } from './columns.ts';
import type { MapPicture, Overview, StateLayout } from '../../engine/protocol/answers.ts';
import type { EventFilter, RegionOrder, StateWindow } from '../../engine/protocol/arguments.ts';
import type { Rank } from '../base/units.ts';

export { mapPixels, stateKinds, type MapPicture, type StateRects } from '../../engine/protocol/answers.ts';
export {
  regionOrderWords as regionOrders,
  type EventFilter,
  type RegionOrder,
  type StateWindow,
} from '../../engine/protocol/arguments.ts';

/** Kinds of events that one can jump to: actions, and the event of the highest level. */
export type EventKind = 'peak' | 'oom' | 'snapshot' | 'annotate' | 'segment_alloc' | 'segment_free';

export interface StateCalls {
  regions: { args: { order: RegionOrder; first: number; count: number }; answer: Regions | null };
  /** Regions [first, first + count), each `height` pixels high with a free line below. */
  addressMap: {
    args: { order: RegionOrder; columns: Columns; first: number; count: number; height: number } & Look;
    answer: MapPicture;
  };
  /** -1 = none. */
  regionOfBlock: { args: { order: RegionOrder; block: BlockRow }; answer: number };
  marks: { args: Record<string, never>; answer: Marks | null };
  overview: { args: Record<string, never>; answer: Overview };
  /** Builds the states; later questions do so too if it was not asked. null = no view. */
  states: { args: Record<string, never>; answer: StateInfo | null };
  /** The number of rows. */
  filterEvents: { args: EventFilter; answer: number };
  eventRows: { args: { first: number; count: number }; answer: EventRow[] };
  /** Row in the list, or of the next event listed. */
  rowOfEvent: { args: { event: number }; answer: number };
  event: { args: { event: number }; answer: EventDetails | null };
  /** -1 = none. */
  findEvent: { args: { kind: EventKind; from: number; backwards: boolean }; answer: number };
  totals: { args: { event: number }; answer: StateTotals };
  layout: {
    args: { event: number; window: StateWindow };
    answer: StateLayout;
  };
  statePick: {
    args: { event: number; window: StateWindow; x: number; y: number };
    answer: StatePick | null;
  };
  stateBlock: { args: { event: number; block: BlockRow }; answer: StateBlock | null };
  stateSegment: { args: { event: number; segment: SegmentRow }; answer: StateSegment | null };
  statePlace: { args: { event: number; block: BlockRow; window: StateWindow }; answer: StatePlace | null };
  blockOfRank: { args: { rank: Rank }; answer: BlockRow };
  rankOfBlock: { args: { block: BlockRow }; answer: Rank };
}
