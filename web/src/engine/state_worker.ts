// The worker's side of state_calls.ts: each question is one call of the engine's Session.
import type { Session } from 'engine-glue';
import type { Rank } from '../base/units.ts';
import type {
  BlockRow,
  EventDetails,
  EventRow,
  Marks,
  Regions,
  StateBlock,
  StateInfo,
  StatePick,
  StatePlace,
  StateSegment,
  StateTotals,
} from './state_answers.ts';
import type { Look } from './protocol.ts';
import {
  regionOrders,
  stateKinds,
  type RegionOrder,
  type StateCalls,
  type StateRects,
} from './state_calls.ts';

const segmentKind = stateKinds.indexOf('segment');

export type StateKind = keyof StateCalls;
export type StateRequest = {
  [K in StateKind]: { kind: K; id: number; args: StateCalls[K]['args'] };
}[StateKind];

/** Ranks of blocks, found once each: those from before the recording are searched for. */
let ranks = new Map<BlockRow, Rank>();
/** Another device is the view. */
export function forgetRanks(): void {
  ranks = new Map();
}
function rankOf(session: Session, block: BlockRow): Rank {
  let rank = ranks.get(block);
  if (rank === undefined) {
    rank = session.rankOfBlock(block);
    ranks.set(block, rank);
  }
  return rank;
}

/** How the worker reads a JSON answer, and how it refuses on an error. */
export interface Reading {
  parse: <T>(json: string) => T;
  check: (status: string) => void;
  /** Tells the engine the colours; true if some blocks are dimmed. */
  dress: (look: Look) => boolean;
}

/** The answer, and what of it can be moved to the page. */
export function answerState(
  session: Session,
  request: StateRequest,
  { parse, check, dress }: Reading,
): { value: StateCalls[StateKind]['answer']; transfer: Transferable[] } {
  const plain = (value: StateCalls[StateKind]['answer']) => ({ value, transfer: [] });
  switch (request.kind) {
    case 'states':
      return plain(parse<StateInfo | null>(session.openState()));
    case 'filterEvents': {
      const { actions, leastSize, mostSize, stream, address, frame } = request.args;
      const count = session.filterEvents(
        (actions ?? []).join(','),
        leastSize ?? 0,
        mostSize ?? Infinity,
        stream ?? -1,
        address ?? '',
        frame ?? '',
      );
      return plain(parse<number | null>(count) ?? 0);
    }
    case 'eventRows':
      return plain(parse<EventRow[] | null>(session.eventRows(request.args.first, request.args.count)) ?? []);
    case 'rowOfEvent':
      return plain(session.rowOfEvent(request.args.event));
    case 'event':
      return plain(parse<EventDetails | null>(session.eventDetails(request.args.event)));
    case 'findEvent':
      return plain(session.findEvent(request.args.kind, request.args.from, request.args.backwards));
    case 'totals':
      return plain(parse<StateTotals>(session.stateTotals(request.args.event)));
    case 'layout': {
      const { event, window } = request.args;
      const views = session.stateLayout(event, window);
      const rects: StateRects = {
        x: views.x.slice(),
        y: views.y.slice(),
        width: views.width.slice(),
        height: views.height.slice(),
        kind: views.kind.slice(),
        row: views.row.slice(),
        rank: new Int32Array(views.row.length).fill(-1),
      };
      check(session.lastError());
      rects.row.forEach((row, i) => {
        if (row >= 0 && rects.kind[i] !== segmentKind) rects.rank[i] = rankOf(session, row);
      });
      const totals = parse<StateTotals>(session.stateTotals(event));
      const transfer = [rects.x, rects.y, rects.width, rects.height, rects.kind, rects.row, rects.rank].map(
        (column) => column.buffer,
      );
      return { value: { rects, totals }, transfer };
    }
    case 'statePick': {
      const { event, window, x, y } = request.args;
      return plain(parse<StatePick | null>(session.statePick(event, window, x, y)));
    }
    case 'stateBlock':
      return plain(parse<StateBlock | null>(session.stateBlock(request.args.event, request.args.block)));
    case 'stateSegment':
      return plain(
        parse<StateSegment | null>(session.stateSegment(request.args.event, request.args.segment)),
      );
    case 'statePlace': {
      const { event, block, window } = request.args;
      return plain(parse<StatePlace | null>(session.statePlace(event, block, window)));
    }
    case 'regions': {
      const { order, first, count } = request.args;
      return plain(parse<Regions | null>(session.regions(orderNumber(order), first, count)));
    }
    case 'addressMap': {
      const { order, columns, first, count, height } = request.args;
      const grid = { ...columns, axis: columns.axis === 'event' ? 0 : 1 } as const;
      const dimOthers = dress(request.args);
      const ranks = session.addressMap(orderNumber(order), grid, first, count, height).slice();
      check(session.lastError());
      const colours = session.addressMapColours(dimOthers);
      const pixels = new Uint8ClampedArray(ranks.length * 4);
      new Uint32Array(pixels.buffer).set(colours);
      check(session.lastError());
      return { value: { ranks, pixels }, transfer: [ranks.buffer, pixels.buffer] };
    }
    case 'regionOfBlock':
      return plain(session.regionOfBlock(orderNumber(request.args.order), request.args.block));
    case 'marks':
      return plain(parse<Marks | null>(session.marks()));
    case 'blockOfRank':
      return plain(session.blockOfRank(request.args.rank));
    case 'rankOfBlock':
      return plain(session.rankOfBlock(request.args.block));
  }
}

function orderNumber(order: RegionOrder): 0 | 1 | 2 {
  return regionOrders.indexOf(order) as 0 | 1 | 2;
}
