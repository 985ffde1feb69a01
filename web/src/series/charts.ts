// The charts of a part of a file, as levels.
import type { Engine, SeriesCurve, SeriesPart } from '../../engine/index.ts';
import { colorOfSeries } from '../draw/areas.ts';
import type { Theme } from '../draw/colors.ts';
import { markText, nameOfDevice, nameOfSeries } from '../words/series_text.ts';
import type { ChartMark, Course, Level } from './chart.ts';

export interface SeriesChart {
  chart: number;
  of: Course;
  /** The first of categories is their sum. */
  curves: readonly SeriesCurve[];
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
  return chartsOf(engine, { ...part, of: 'counters', curves: total, marks: [] }, mostLow).sort(
    (a, b) => first(a) - first(b),
  );
}

export function chartsOf(engine: Engine, part: SeriesPart, most = Infinity): SeriesChart[] {
  const charts = [...new Set(part.curves.map(({ chart }) => chart))].filter((chart) => chart >= 0);
  return charts
    .sort((a, b) => a - b)
    .map((chart) => {
      const curves = part.curves.filter((curve) => curve.chart === chart).slice(0, most);
      const stacked = part.of === 'categories';
      const device = curves[0]?.device ?? null;
      return {
        chart,
        of: courseOf(engine, part, curves),
        curves,
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

export const levelsOf = ({ curves, stacked }: SeriesChart, theme: Theme): Level[] =>
  curves.map(({ name, highest, lowest }, index) => ({
    name,
    text: nameOfSeries(name),
    color: colorOfSeries(name, index, theme),
    look: !stacked ? 'line' : index === 0 ? 'sum' : 'stacked',
    highest,
    lowest,
  }));

function courseOf(
  engine: Engine,
  { part, has_clock, extent }: SeriesPart,
  curves: readonly SeriesCurve[],
): Course {
  return {
    axis: has_clock ? 'time' : 'event',
    extent,
    engine,
    samples: async ({ first, width, count }) => {
      const asked = { part, series: curves.map(({ series }) => series), stretch: { first, width, count } };
      const { levels } = await engine.ask('seriesLevels', asked);
      return {
        values: levels.map(({ highest }) => highest),
        lowest: levels.map(({ lowest }) => lowest),
      };
    },
  };
}
