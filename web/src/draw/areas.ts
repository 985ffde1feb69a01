// Levels stacked upon each other, a staircase each, and the colours of categories and counters.
import type { Bytes } from '../base/units.ts';
import type { Columns } from '../../engine/index.ts';
import { colorsOf, type Theme, type ThemeName } from './colors.ts';
import type { Context, Projection } from './plot.ts';

/** As PyTorch's plot of a memory timeline has them; on a dark ground lighter, and what is black is pale. */
const official: Record<ThemeName, Readonly<Record<string, string>>> = {
  light: {
    PARAMETER: '#006400',
    OPTIMIZER_STATE: '#daa520',
    INPUT: '#000000',
    TEMPORARY: '#9370db',
    ACTIVATION: '#ff0000',
    GRADIENT: '#0000cd',
    AUTOGRAD_DETAIL: '#4169e1',
    Unknown: '#808080',
  },
  dark: {
    PARAMETER: '#2f9e44',
    OPTIMIZER_STATE: '#daa520',
    INPUT: '#dfe5ec',
    TEMPORARY: '#9f80e6',
    ACTIVATION: '#ff5a4f',
    GRADIENT: '#4f5bff',
    AUTOGRAD_DETAIL: '#6f93f0',
    Unknown: '#808080',
  },
};
const others: Record<ThemeName, readonly string[]> = {
  light: ['#117733', '#88ccee', '#ddcc77', '#aa4499', '#332288', '#999933', '#cc6677', '#6699cc'],
  dark: ['#3f9b5b', '#88ccee', '#ddcc77', '#bf6bb0', '#7a6fd0', '#a8a84a', '#cc6677', '#5f8fc4'],
};
/** As the plot has it: grid and ground shine through. */
const opacity = 0.7;

/** Of the category or counter with that name, the `index`-th of its chart. */
export function colorOfSeries(name: string, index: number, theme: Theme): string {
  const colors = colorsOf(theme);
  if (name === 'allocated' || name === 'call_peak') return colors.allocated;
  if (name === 'reserved') return colors.reserved;
  const list = others[theme.name];
  if (name === 'device_used') return list[1] ?? '#888888'; // away from reserved
  return official[theme.name][name] ?? list[index % list.length] ?? '#888888';
}

/** The first one lies at the bottom. NaN: nothing is there. */
export function drawAreas(
  ctx: Context,
  at: Projection,
  columns: Columns,
  levels: readonly ArrayLike<Bytes>[],
  colors: readonly string[],
): void {
  const from = Math.max(0, Math.floor(at.view.x0 / columns.width) - columns.first - 1);
  const to = Math.min(columns.count, Math.ceil(at.view.x1 / columns.width) - columns.first + 1);
  const below = new Float64Array(columns.count);
  const x = (i: number): number => at.x((columns.first + i) * columns.width);
  ctx.globalAlpha = opacity;
  levels.forEach((level, category) => {
    const path = new Path2D();
    for (let i = from; i < to; i += 1) {
      if (Number.isNaN(level[i] ?? Number.NaN)) continue;
      let end = i;
      while (end < to && !Number.isNaN(level[end] ?? Number.NaN)) end += 1;
      path.moveTo(x(i), at.y(below[i] ?? 0));
      for (let k = i; k < end; k += 1) {
        const top = at.y((below[k] ?? 0) + (level[k] ?? 0));
        path.lineTo(x(k), top);
        path.lineTo(x(k + 1), top);
      }
      for (let k = end - 1; k >= i; k -= 1) {
        const bottom = at.y(below[k] ?? 0);
        path.lineTo(x(k + 1), bottom);
        path.lineTo(x(k), bottom);
        below[k] = (below[k] ?? 0) + (level[k] ?? 0);
      }
      path.closePath();
      i = end;
    }
    ctx.fillStyle = colors[category] ?? '#888888';
    ctx.fill(path);
  });
  ctx.globalAlpha = 1;
}
