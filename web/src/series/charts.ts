// The charts of a part of a file, as levels; those of another file may lie over them.
import type { Columns, Engine, SeriesCurve, SeriesPart } from '../../engine/index.ts';
import type { Bytes } from '../base/units.ts';
import { colorOfSeries } from '../draw/areas.ts';
import type { Theme } from '../draw/colors.ts';
import { levelIn, ownColumns } from '../model/common_axis.ts';
import { markText, nameOfDevice, nameOfSeries } from '../words/series_text.ts';
import type { ChartMark, Course, Level, Samples } from './chart.ts';

/** A part of a file. */
export interface PartOfFile {
  engine: Engine;
  part: SeriesPart;
}

/** Whose curves lie over those of the same name and device; both begin at the left. */
export interface Over extends PartOfFile {
  name: string;
}

export interface SeriesChart {
  chart: number;
  of: Course;
  /** The first of categories is their sum. */
  curves: readonly SeriesCurve[];
  /** Of the other file, where it has one; each stands for that of `curves` at `at`. */
  over: readonly { at: number; curve: SeriesCurve; text: string }[];
  stacked: boolean;
  marks: readonly ChartMark[];
  device: number | null;
  label: string;
}

const mostLow = 6; // curves
const bad = ['critical', 'fw_bw_boundary'];

const parts = new WeakMap<Engine, Promise<SeriesPart[]>>();
/** The parts of a file, asked for once. */
export function seriesOf(engine: Engine): Promise<SeriesPart[]> {
  const known = parts.get(engine) ?? engine.ask('series', {});
  parts.set(engine, known);
  known.catch(() => parts.delete(engine));
  return known;
}

/** For low plots beside a timeline, by the clock: few curves, in the order of the file; of categories their total. */
export function lowChartsOf(engine: Engine, part: SeriesPart): SeriesChart[] {
  if (!part.has_clock || part.of === 'operators') return [];
  const total = part.of === 'categories' ? part.curves.slice(0, 1) : part.curves;
  const first = ({ curves }: SeriesChart): number => curves[0]?.series ?? 0;
  const low: SeriesPart = { ...part, of: 'counters', curves: total, marks: [] };
  return chartsOf({ engine, part: low }, undefined, mostLow).sort((a, b) => first(a) - first(b));
}

/** The part of another file that is like this one; undefined = it has none. */
export const likeIn = (others: readonly SeriesPart[], part: SeriesPart): SeriesPart | undefined => {
  const like = others.filter((one) => one.of === part.of && one.has_clock === part.has_clock);
  return like.find(({ name }) => name === part.name) ?? like[0];
};

export function chartsOf({ engine, part }: PartOfFile, over?: Over, most = Infinity): SeriesChart[] {
  const charts = [...new Set(part.curves.map(({ chart }) => chart))].filter((chart) => chart >= 0);
  return charts
    .sort((a, b) => a - b)
    .map((chart) => {
      const curves = part.curves.filter((curve) => curve.chart === chart).slice(0, most);
      const stacked = part.of === 'categories';
      const device = curves[0]?.device ?? null;
      const otherCurves = over ? curvesOver(stacked ? curves.slice(0, 1) : curves, over) : [];
      return {
        chart,
        of: courseOf({ engine, part }, curves, over, otherCurves),
        curves,
        over: otherCurves,
        stacked,
        marks: part.marks
          .filter((mark) => mark.device === null || mark.device === device)
          .map((mark) => ({
            position: mark.position,
            text: nameOfSeries(mark.name),
            says: markText(mark),
            look: bad.includes(mark.name) ? 'bad' : mark.name === 'warning' ? 'warning' : 'plain',
          })),
        device,
        label: [nameOfDevice(device), curves.map(({ name }) => nameOfSeries(name)).join(', ')]
          .filter((text) => text !== '')
          .join(': '),
      };
    });
}

function curvesOver(curves: readonly SeriesCurve[], { name, part }: Over): SeriesChart['over'] {
  return curves.flatMap((own, at) => {
    const curve = part.curves.find((one) => one.name === own.name && one.device === own.device);
    return curve ? [{ at, curve, text: `${nameOfSeries(own.name)}, ${name}` }] : [];
  });
}

export const levelsOf = ({ curves, over, stacked }: SeriesChart, theme: Theme): Level[] =>
  inTurn(
    curves.map(({ name, highest, lowest }, index): Level => ({
      name,
      text: nameOfSeries(name),
      color: colorOfSeries(name, index, theme),
      look: !stacked ? 'line' : index === 0 ? 'sum' : 'stacked',
      highest,
      lowest,
    })),
    over.map(({ at, curve, text }): Level => ({
      name: `over ${curve.name}`,
      text,
      // No category has the colour of their sum.
      color: colorOfSeries(stacked ? 'allocated' : curve.name, at, theme),
      look: 'line',
      highest: curve.highest,
      lowest: curve.lowest,
      ...(!stacked && { isOver: true }),
    })),
    over,
  );

/** What there is of each curve, and behind it what there is of the one over it. */
function inTurn<T>(own: readonly T[], other: readonly T[], over: SeriesChart['over']): T[] {
  return own.flatMap((one, index) => [one, ...other.filter((_, i) => over[i]?.at === index)]);
}

function courseOf(
  { engine, part }: PartOfFile,
  curves: readonly SeriesCurve[],
  other: Over | undefined,
  over: SeriesChart['over'],
): Course {
  const isAlone = !other || over.length === 0;
  return {
    axis: part.has_clock ? 'time' : 'event',
    extent: Math.max(part.extent, isAlone ? 0 : other.part.extent),
    engine,
    samples: async (columns) => {
      const own = await levelsIn({ engine, part }, curves, columns);
      if (isAlone) return own;
      const others = over.map(({ curve }) => curve);
      const { values, lowest } = await levelsIn(other, others, columns);
      return {
        values: inTurn(own.values, values, over),
        lowest: inTurn(own.lowest, lowest, over),
      };
    },
  };
}

/** Nothing beyond its end. */
async function levelsIn(
  { engine, part: { part, extent } }: PartOfFile,
  curves: readonly SeriesCurve[],
  columns: Columns,
): Promise<Required<Omit<Samples, 'columns'>>> {
  const within = ownColumns(columns, 0, extent);
  if (!within.own) return { values: curves.map(() => []), lowest: curves.map(() => []) };
  const { first, width, count } = within.own;
  const stretch = { first, width, count };
  const series = curves.map((curve) => curve.series);
  const { levels } = await engine.ask('seriesLevels', { part, series, stretch });
  const all = (of: ArrayLike<Bytes>): Float64Array => levelIn(columns.count, within, of, Number.NaN);
  return {
    values: levels.map(({ highest }) => all(highest)),
    lowest: levels.map(({ lowest }) => all(lowest)),
  };
}
