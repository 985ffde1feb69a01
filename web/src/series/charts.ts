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

const bad = ['critical', 'fw_bw_boundary'];

export function chartsOf(engine: Engine, part: SeriesPart): SeriesChart[] {
  const charts = [...new Set(part.curves.map(({ chart }) => chart))].filter((chart) => chart >= 0);
  return charts
    .sort((a, b) => a - b)
    .map((chart) => {
      const curves = part.curves.filter((curve) => curve.chart === chart);
      const stacked = part.of === 'categories';
      const device = curves[0]?.device ?? null;
      return {
        chart,
        of: courseOf(engine, part, curves, stacked),
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
  stacked: boolean,
): Course {
  return {
    axis: has_clock ? 'time' : 'event',
    extent,
    engine,
    samples: async ({ first, width, count }) => {
      const stretch = { first, width, count };
      if (stacked) {
        const { levels } = await engine.ask('seriesAreas', { part, stretch });
        return { values: [[], ...levels] };
      }
      const series = curves.map((curve) => curve.series);
      const found = (await engine.ask('seriesPicture', { part, series, stretch })).curves;
      return { values: found.map(({ highest }) => highest), lowest: found.map(({ lowest }) => lowest) };
    },
  };
}
