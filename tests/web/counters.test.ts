// Which plots the counters of a file are above the timeline.
import assert from 'node:assert/strict';
import test from 'node:test';
import { lowChartsOf } from '../../web/src/series/charts.ts';
import type { Engine, SeriesPart } from '../../web/engine/index.ts';

let series = 0;
const curve = (name: string, chart: number, lowest: number, highest: number) => ({
  series: (series += 1),
  name,
  device: null,
  points: 2,
  lowest,
  highest,
  chart,
});
const part = (of: SeriesPart['of'], ...curves: SeriesPart['curves']): SeriesPart => ({
  part: 0,
  name: '',
  of,
  has_clock: true,
  extent: 10,
  first_step: 0,
  first_us: 0,
  last_us: 9,
  curves,
  curves_left_out: 0,
  marks: [],
  marks_left_out: 0,
  calls: 0,
  timeline: null,
});
const plots = (one: SeriesPart) =>
  lowChartsOf({} as Engine, one).map(({ curves }) => curves.map(({ name }) => name));

test('a plot for each chart, from number 0 on; what has no chart is not drawn', () => {
  const one = part(
    'counters',
    curve('a', 0, 3, 5),
    curve('b', 1, -2, 0),
    curve('c', 0, 0, 9),
    curve('d', -1, 0, 7),
  );
  assert.deepEqual(plots(one), [['a', 'c'], ['b']]);
});

test('the plot of the curve that the file has first comes first', () => {
  const one = part('counters', curve('allocated', 1, 0, 5), curve('device_total', 0, 0, 99));
  assert.deepEqual(plots(one), [['allocated'], ['device_total']]);
});

test('of categories their total, of operators nothing, and nothing without a clock', () => {
  const curves = [curve('total', 0, 0, 8), curve('parameter', 0, 0, 6)];
  assert.deepEqual(plots(part('categories', ...curves)), [['total']]);
  assert.deepEqual(plots(part('operators', ...curves)), []);
  assert.deepEqual(plots({ ...part('counters', ...curves), has_clock: false }), []);
});
