// Everything that page and worker say to each other; message names exist only here.
import type {
  Axis,
  BandLabel,
  BlockAnswer,
  Bands,
  ColourBy,
  Completions,
  Contents,
  Diagnostic,
  Edges,
  EngineError,
  FilterAnswer,
  Kinds,
  PictureAnswer,
  ProbeAnswer,
  Shares,
  ViewInfo,
} from './answers.ts';
import type { Columns, Look } from './columns.ts';
import type { Rows } from '../../engine/protocol/arguments.ts';
import type { StateCalls } from './state_calls.ts';
import type { AxisUnits, Bytes, Rank } from '../base/units.ts';

export type { Columns, Look, Palette } from './columns.ts';
export type { Rows } from '../../engine/protocol/arguments.ts';
export type { Curves, Edges, PictureAnswer, ProbeAnswer } from '../../engine/protocol/answers.ts';

/** Where the bytes come from. A URL is absolute, http or https. */
export type Source = { file: File } | { url: string };

export interface PictureQuestion extends Look {
  columns: Columns;
  rows: Rows;
}

export interface ProbeQuestion {
  axis: Axis;
  column: number;
  width: AxisUnits;
  bytes: Bytes;
  /** The block whose details the page already has; they are not sent again. */
  known: Rank;
}

/** Questions that are answered once each: arguments and answer by name. */
export interface Calls extends StateCalls {
  open: {
    args: { source: Source; budget: Bytes };
    answer: { contents: Contents; view: ViewInfo | undefined; diagnostics: Diagnostic[]; hash: string };
  };
  view: {
    args: { snapshot: number; device: number; bands: Bands };
    answer: { view: ViewInfo; diagnostics: Diagnostic[] };
  };
  /** Of all devices of all snapshots, whichever is the view; replays every one. Pinned host memory is not among them. */
  peaks: { args: Record<string, never>; answer: { device: number; bytes: Bytes }[][] };
  picture: { args: PictureQuestion; answer: PictureAnswer };
  /** Of the last picture that has these columns. */
  labels: { args: { columns: Columns; leastColumns: number; leastRows: number }; answer: BandLabel[] };
  probe: { args: ProbeQuestion; answer: ProbeAnswer };
  block: { args: { rank: Rank; axis: Axis }; answer: BlockAnswer };
  outline: { args: { rank: Rank; columns: Columns }; answer: Edges };
  highest: { args: { columns: Columns }; answer: Bytes };
  position: { args: { axis: Axis; events: number[] }; answer: number[] };
  /** Refused with the place of what is wrong: offset = UTF-16 units of `text`. */
  filter: { args: { text: string }; answer: FilterAnswer };
  complete: { args: { text: string; cursor: number }; answer: Completions };
  kinds: { args: { by: ColourBy }; answer: Kinds };
  shares: { args: { by: ColourBy; event: number }; answer: Shares };
  /** -1 = there is none. */
  match: { args: { index: number }; answer: Rank };
}
export type Kind = keyof Calls;

/** First message to a worker: the compiled engine. */
export interface Start {
  kind: 'start';
  module: WebAssembly.Module;
}
export type Request = { [K in Kind]: { kind: K; id: number; args: Calls[K]['args'] } }[Kind];
export type ToWorker = Start | Request;

export type Phase = 'reading' | 'finishing' | 'indexing';
export interface Progress {
  phase: Phase;
  bytes: Bytes;
  /** 0 = not known. */
  total: Bytes;
  events: number;
}

export type FromWorker =
  | { kind: 'started' }
  | { kind: 'progress'; id: number; progress: Progress }
  | { kind: 'answer'; id: number; answer: unknown }
  | { kind: 'refused'; id: number; error: EngineError }
  /** The engine cannot be used any more. */
  | { kind: 'died'; error: EngineError };
