// Counters of one file: asks its engine which there are once, and for what is seen of their curves with a margin to either
// side.
import { reasonOf } from '../../base/reason.ts';
import { Listeners } from '../../base/listeners.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import type { Bytes, DevicePx } from '../../base/units.ts';
import { visibleColumns, type Projection } from '../../draw/plot.ts';
import type {
  Columns,
  Engine,
  SeriesCurve,
  SeriesMoment,
  SeriesPart,
  SeriesPicture,
} from '../../../engine/index.ts';

/** What is drawn of a part in one plot. */
export interface CountersPart {
  part: SeriesPart;
  curves: readonly SeriesCurve[];
  /** Of the curves; at most 0 and at least 1. */
  lowest: Bytes;
  highest: Bytes;
  /** What is known of the curves. */
  picture: { columns: Columns; curves: SeriesPicture['curves'] } | undefined;
}
interface Question {
  of: CountersPart;
  columns: Columns;
}

const mostCurves = 6; // of a plot that is this low
const mostColumns = 16384;
const margin = 0.5; // of what is seen, on either side

const kept = new WeakMap<Engine, CountersTrack>();
/** Of a file, the same whenever it is asked for. */
export function countersOf(engine: Engine): CountersTrack {
  const track = kept.get(engine) ?? new CountersTrack(engine);
  kept.set(engine, track);
  return track;
}

export class CountersTrack {
  /** Those with a clock. */
  parts: readonly CountersPart[] | undefined;
  problem: string | undefined;
  readonly answers = new Listeners();
  private asked = false;
  private readonly asking = new Map<CountersPart, LatestOnly<Question, SeriesPicture>>();
  private readonly last = new Map<CountersPart, Columns>();

  constructor(private readonly engine: Engine) {}

  findParts(): void {
    if (this.asked) return;
    this.asked = true;
    this.engine.ask('series', {}).then(
      (parts) => {
        this.parts = parts.flatMap(partsOf);
        this.answers.tell();
      },
      (error: unknown) => {
        if (!this.engine.alive) return;
        this.problem = reasonOf(error);
        this.answers.tell();
      },
    );
  }

  /** True if what is known is what is wanted. */
  want(of: CountersPart, at: Projection): boolean {
    const seen = visibleColumns(at, 'time', { extent: of.part.extent, fitTop: 1, top: 1 });
    if (covers(of.picture?.columns, seen)) return true;
    if (covers(this.last.get(of), seen)) return false;
    const room = Math.ceil(seen.count * margin);
    const first = Math.max(0, seen.first - room);
    const count = Math.min(seen.first + seen.count + room - first, mostColumns);
    const columns = { ...seen, first, count };
    this.last.set(of, columns);
    const asking = this.asking.get(of) ?? this.askingOf(of);
    this.asking.set(of, asking);
    asking.request({ of, columns });
    return false;
  }

  async momentAt(of: CountersPart, at: Projection, x: DevicePx): Promise<SeriesMoment | undefined> {
    const { width } = visibleColumns(at, 'time', { extent: of.part.extent, fitTop: 1, top: 1 });
    const last = Math.floor((of.part.extent - 1) / width);
    const column = Math.floor(at.units(x) / width);
    if (column < 0 || column > last) return undefined;
    return this.engine.ask('seriesMoment', { part: of.part.part, column, width }).catch(() => undefined);
  }

  private askingOf(of: CountersPart): LatestOnly<Question, SeriesPicture> {
    return new LatestOnly<Question, SeriesPicture>(
      ({ columns: { first, width, count } }) =>
        this.engine.ask('seriesPicture', {
          part: of.part.part,
          series: of.curves.map(({ series }) => series),
          stretch: { first, width, count },
        }),
      ({ curves }, { columns }) => {
        of.picture = { columns, curves };
        this.answers.tell();
      },
      (error) => {
        if (!this.engine.alive) return;
        this.problem = reasonOf(error);
        this.answers.tell();
      },
    );
  }
}

function covers(known: Columns | undefined, seen: Columns): boolean {
  return (
    known?.width === seen.width &&
    known.first <= seen.first &&
    known.first + known.count >= seen.first + seen.count
  );
}

/** A plot for each chart; of categories their total. */
export function partsOf(part: SeriesPart): CountersPart[] {
  if (!part.has_clock || part.of === 'operators') return [];
  const charts = new Map<number, SeriesCurve[]>();
  const drawn = part.of === 'categories' ? part.curves.slice(0, 1) : part.curves;
  for (const curve of drawn)
    if (curve.chart >= 0) charts.set(curve.chart, [...(charts.get(curve.chart) ?? []), curve]);
  return [...charts.values()].map((all) => {
    const curves = all.slice(0, mostCurves);
    return {
      part,
      curves,
      lowest: Math.min(0, ...curves.map(({ lowest }) => lowest ?? 0)),
      highest: Math.max(1, ...curves.map(({ highest }) => highest ?? 0)),
      picture: undefined,
    };
  });
}
