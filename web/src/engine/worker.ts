// One engine with one open file, off the page's thread.
//
// A typed array from the engine is a view of its memory and dies with the next call of any method: it is copied
// before anything else happens. JSON answers hold {"error": ...} when the engine refuses.
import type { EngineModule, Session } from 'engine-glue';
import type { Rank } from '../base/units.ts';
import { LabelPlaces, type PlainLabel } from './label_places.ts';
import type {
  Band,
  Bands,
  BlockPlace,
  ColourBy,
  Completions,
  Contents,
  Diagnostic,
  EngineError,
  FilterAnswer,
  Kinds,
  Pick,
  Shares,
  ViewInfo,
} from './answers.ts';
import { startEngine } from './module.ts';
import type {
  Calls,
  Columns,
  Curves,
  FromWorker,
  Kind,
  Look,
  Phase,
  PictureQuestion,
  ProbeQuestion,
  Request,
  Source,
  ToWorker,
} from './protocol.ts';
import { answerState, forgetRanks } from './state_worker.ts';
import { chunksOf, openSource, SourceFailure } from './source.ts';

const progressEveryMs = 50;
class Refusal extends Error {
  constructor(readonly reason: EngineError) {
    super(reason.message);
  }
}

let engine: Promise<EngineModule> | undefined;
const engineLog: string[] = [];
let session: Session | undefined;

const post = (message: FromWorker, transfer: Transferable[] = []): void => {
  globalThis.postMessage(message, { transfer });
};

globalThis.onmessage = (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if (message.kind === 'start') {
    engine = startEngine(message.module, engineLog);
    engine.then(
      () => post({ kind: 'started' }),
      (error: unknown) => post({ kind: 'died', error: describe(error) }),
    );
    return;
  }
  handle(message).catch((error: unknown) => {
    if (error instanceof Refusal) post({ kind: 'refused', id: message.id, error: error.reason });
    else if (error instanceof SourceFailure)
      post({
        kind: 'refused',
        id: message.id,
        error: { code: 'unreadable', message: error.message, offset: -1 },
      });
    else post({ kind: 'died', error: describe(error) });
  });
};

async function handle(request: Request): Promise<void> {
  switch (request.kind) {
    case 'open':
      return answer(
        request.kind,
        request.id,
        await open(request.id, request.args.source, request.args.budget),
      );
    case 'view': {
      labelPlaces.forget();
      forgetRanks();
      const { snapshot, device, bands } = request.args;
      const view = openBands(opened(), snapshot, device, bands);
      forgetColours();
      return answer(request.kind, request.id, { view, diagnostics: diagnosticsOf(opened()) });
    }
    case 'peaks':
      return answer(request.kind, request.id, peaks());
    case 'picture':
      return picture(request.id, request.args);
    case 'labels': {
      const { columns, leastColumns, leastRows } = request.args;
      const text = opened().labels(grid(columns), leastColumns, leastRows);
      const leastForPlace = 2.5 * leastColumns * columns.width;
      return answer(
        request.kind,
        request.id,
        labelPlaces.add(parse<PlainLabel[]>(text), leastForPlace, (rank) => opened().labelFrames(rank)),
      );
    }
    case 'probe':
      return probe(request.id, request.args);
    case 'block': {
      const { rank, axis } = request.args;
      return answer(request.kind, request.id, {
        details: bandOf(opened(), rank),
        place: parse<BlockPlace | null>(opened().blockPlace(rank, axisNumber(axis))),
      });
    }
    case 'outline': {
      const edges = edgesOf(opened(), request.args.rank, request.args.columns);
      return answer(request.kind, request.id, edges, [edges.lower.buffer, edges.upper.buffer]);
    }
    case 'highest':
      return answer(request.kind, request.id, opened().highestLevel(grid(request.args.columns)));
    case 'position': {
      const axis = axisNumber(request.args.axis);
      return answer(
        request.kind,
        request.id,
        request.args.events.map((event) => opened().position(axis, event)),
      );
    }
    case 'filter':
      return answer(request.kind, request.id, filter(request.args.text));
    case 'complete': {
      const { text, cursor } = request.args;
      const found = parse<Completions>(opened().completeFilter(text, bytesBefore(text, cursor)));
      return answer(request.kind, request.id, { ...found, from: unitsBefore(text, found.from) });
    }
    case 'kinds':
      return answer(request.kind, request.id, kindsBy(request.args.by));
    case 'shares':
      kindsBy(request.args.by);
      return answer(request.kind, request.id, parse<Shares>(opened().shares(request.args.event)));
    case 'match':
      return answer(request.kind, request.id, opened().match(request.args.index));
    default: {
      const { value, transfer } = answerState(opened(), request, { parse, check, dress });
      return post({ kind: 'answer', id: request.id, answer: value }, transfer);
    }
  }
}

function answer<K extends Kind>(
  _kind: K,
  id: number,
  value: Calls[K]['answer'],
  transfer: Transferable[] = [],
): void {
  post({ kind: 'answer', id, answer: value }, transfer);
}

async function open(id: number, source: Source, budget: number): Promise<Calls['open']['answer']> {
  if (!engine) throw new Error('The engine was not started.');
  const module = await engine;
  const input = await openSource(source);
  session?.delete();
  const reading = new module.Session(budget);
  session = reading;
  lastPalette = '';
  forgetColours();
  labelPlaces.forget();
  reading.expectBytes(input.total);

  let bytes = 0;
  let lastReport = 0;
  const report = (phase: Phase): void => {
    lastReport = performance.now();
    const { events } = parse<{ events: number }>(reading.progress());
    post({ kind: 'progress', id, progress: { phase, bytes, total: input.total, events } });
  };
  for await (const chunk of chunksOf(input.stream)) {
    for (let from = 0; from < chunk.length;) {
      const room = reading.writable(); // a fresh view: the heap may have grown
      const size = Math.min(room.length, chunk.length - from);
      if (size === 0)
        throw new Refusal({
          code: 'limit_exceeded',
          message: 'No memory is left to read on.',
          offset: bytes,
        });
      room.set(chunk.subarray(from, from + size));
      check(reading.commit(size));
      from += size;
    }
    bytes += chunk.length;
    if (performance.now() - lastReport >= progressEveryMs) report('reading');
    if (reading.done()) break;
  }
  report('finishing');
  check(reading.finish());
  const contents = parse<Contents>(reading.contents());
  report('indexing');
  const start = contents.default;
  const view = start ? openBands(reading, start.snapshot, start.device, 'blocks') : undefined;
  return { contents, view, diagnostics: diagnosticsOf(reading), hash: reading.contentHash() };
}

let lastPalette = '';
const labelPlaces = new LabelPlaces();

// What the current view is coloured by; the engine keeps one way at a time.
let kinds: Kinds | undefined;
let litKind = -1;

function forgetColours(): void {
  kinds = undefined;
  litKind = -1;
}

function kindsBy(by: ColourBy): Kinds {
  if (kinds?.by === by) return kinds;
  kinds = parse<Kinds>(opened().colourBy(by));
  litKind = -1;
  return kinds;
}

interface Summary {
  snapshots: { devices: { device: number; peak: { requested_bytes: number } }[] }[];
}

function peaks(): Calls['peaks']['answer'] {
  const { snapshots } = parse<Summary>(opened().summary(''));
  return snapshots.map(({ devices }) =>
    devices.map(({ device, peak }) => ({ device, bytes: peak.requested_bytes })),
  );
}

/** A wrong filter is refused with a place in bytes of UTF-8; the page counts in UTF-16. */
function filter(text: string): FilterAnswer {
  try {
    return parse<FilterAnswer>(opened().filter(text));
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason.offset < 0) throw error;
    throw new Refusal({ ...error.reason, offset: unitsBefore(text, error.reason.offset) });
  }
}

function bytesBefore(text: string, units: number): number {
  return new TextEncoder().encode(text.slice(0, units)).length;
}
function unitsBefore(text: string, bytes: number): number {
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, bytes)).length;
}

/** Tells the engine the colours; true if some blocks are dimmed. */
function dress({ palette, dimOthers, colourBy, kind }: Look): boolean {
  const from = opened();
  kindsBy(colourBy);
  if (kind !== litKind) from.lightKind(kind);
  litKind = kind;
  const paletteKey = [...palette.bands, palette.nothing, palette.dimmedTowards, palette.envelope].join();
  if (paletteKey !== lastPalette) {
    from.setPalette(palette.bands, palette.nothing, palette.dimmedTowards, palette.envelope);
    lastPalette = paletteKey;
  }
  return dimOthers || kind >= 0;
}

function picture(id: number, question: PictureQuestion): void {
  const { columns, rows } = question;
  const from = opened();
  const drawn = from.picture(grid(columns), rows, dress(question));
  if (drawn.length !== columns.count * rows.count) {
    check(from.lastError());
    throw new Refusal({ code: 'internal', message: 'The picture is not complete.', offset: -1 });
  }
  const pixels = new Uint8ClampedArray(drawn.length * 4);
  new Uint32Array(pixels.buffer).set(drawn);
  const lines = from.curves(grid(columns));
  const curves: Curves = {
    event: lines.event.slice(),
    highest: lines.highest.slice(),
    lowest: lines.lowest.slice(),
    allocated: lines.allocated.slice(),
    reserved: lines.reserved.slice(),
  };
  answer('picture', id, { pixels, curves }, [
    pixels.buffer,
    curves.event.buffer,
    curves.highest.buffer,
    curves.lowest.buffer,
    curves.allocated.buffer,
    curves.reserved.buffer,
  ] as ArrayBuffer[]);
}

function probe(id: number, question: ProbeQuestion): void {
  const from = opened();
  const pick = parse<Pick | null>(
    from.pick(axisNumber(question.axis), question.column, question.width, question.bytes),
  );
  const rank = pick?.rank ?? -1;
  const details = rank >= 0 && rank !== question.known ? bandOf(from, rank) : null;
  const outline = rank >= 0 && question.columns ? edgesOf(from, rank, question.columns) : undefined;
  const transfer = outline ? [outline.lower.buffer, outline.upper.buffer] : [];
  answer('probe', id, { pick, details: details ?? undefined, outline }, transfer);
}

let shownBands: Bands = 'blocks';
let blocks = 0;

function openBands(from: Session, snapshot: number, device: number, bands: Bands): ViewInfo {
  const open = { blocks: 'openView', pools: 'openPools', segments: 'openSegments' } as const;
  const view = { ...parse<ViewInfo>(from[open[bands]](snapshot, device)), bands };
  shownBands = bands;
  blocks = view.blocks;
  return view;
}

/** null = there is no such rank. */
function bandOf(from: Session, rank: Rank): Band | null {
  const found = parse<Omit<Band, 'kind' | 'rank'> | null>(from.blockDetails(rank));
  if (!found) return null;
  if (shownBands === 'segments') {
    const piece = parse<BlockPlace>(from.blockPlace(rank, 0)).size;
    return { ...found, kind: 'segment', rank, piece } as Band;
  }
  if (shownBands === 'pools' && rank >= blocks) return { ...found, kind: 'envelope', rank } as Band;
  return found as Band;
}

function edgesOf(
  from: Session,
  rank: Rank,
  columns: Columns,
): { lower: Float64Array<ArrayBuffer>; upper: Float64Array<ArrayBuffer> } {
  const both = from.outline(rank, grid(columns));
  const count = both.length / 2;
  return { lower: both.slice(0, count), upper: both.slice(count) };
}

function opened(): Session {
  if (!session) throw new Error('No file is open.');
  return session;
}

function axisNumber(axis: 'event' | 'time'): 0 | 1 {
  return axis === 'event' ? 0 : 1;
}

function grid({ axis, first, width, count }: Columns): {
  axis: 0 | 1;
  first: number;
  width: number;
  count: number;
} {
  return { axis: axisNumber(axis), first, width, count };
}

function parse<T>(json: string): T {
  const value = JSON.parse(json) as T | { error: EngineError };
  if (typeof value === 'object' && value !== null && 'error' in value && value.error)
    throw new Refusal(value.error);
  return value as T;
}

function diagnosticsOf(from: Session): Diagnostic[] {
  return parse<Diagnostic[]>(from.diagnostics());
}

function check(status: string): void {
  if (status !== '') throw new Refusal(JSON.parse(status) as EngineError);
}

/** An abort or a trap: the engine's memory cannot be trusted any more. */
function describe(error: unknown): EngineError {
  const text = error instanceof Error ? error.message : String(error);
  const lines = engineLog.filter((line) => line.trim() !== '' && !line.includes(text)).slice(-3);
  // "memory access out of bounds" is a defect, too.
  const outOfMemory = [text, ...engineLog].some((line) => /out of memory|allocation failed/i.test(line));
  return {
    code: outOfMemory ? 'out_of_memory' : 'internal',
    message: [text, ...lines].join(' · '),
    offset: -1,
  };
}
