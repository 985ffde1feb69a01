// Calls as rectangles in rows, with their names.
//
// Colours say whose code a frame is; of a difference what grew is red and what shrank is blue. What the filter does not
// mean is pale, what was looked for is purple.
import type { CssPx } from '../base/units.ts';
import type { FlameGraph } from '../../engine/index.ts';
import type { Theme, ThemeName } from './colors.ts';
import type { Context } from './plot.ts';

export const rowHeight: CssPx = 19;

type Rgb = readonly [number, number, number];
interface Look {
  own: Rgb;
  package: Rgb;
  library: Rgb;
  interpreter: Rgb;
  none: Rgb;
  root: Rgb;
  grew: Rgb;
  shrank: Rgb;
  hit: Rgb;
  surface: Rgb;
  text: string;
  hitText: string;
  outline: string;
  filtered: string;
}
const looks: Record<ThemeName, Look> = {
  light: {
    own: [120, 172, 226],
    package: [126, 200, 190],
    library: [199, 194, 226],
    interpreter: [218, 222, 228],
    none: [224, 211, 180],
    root: [226, 231, 237],
    grew: [236, 138, 126],
    shrank: [122, 168, 230],
    hit: [203, 120, 214],
    surface: [255, 255, 255],
    text: '#16202b',
    hitText: '#16202b',
    outline: '#0b1118',
    filtered: '#1f63c8',
  },
  dark: {
    own: [45, 92, 148],
    package: [33, 104, 98],
    library: [72, 65, 118],
    interpreter: [50, 58, 68],
    none: [92, 78, 44],
    root: [38, 46, 56],
    grew: [146, 56, 48],
    shrank: [44, 88, 152],
    hit: [128, 52, 140],
    surface: [17, 21, 26],
    text: '#e6ebf1',
    hitText: '#ffffff',
    outline: '#ffffff',
    filtered: '#7aaeff',
  },
};

const css = (rgb: Rgb): string => `rgb(${rgb.map(Math.round).join(' ')})`;
const mixed = (a: Rgb, b: Rgb, share: number): Rgb => [
  a[0] + (b[0] - a[0]) * share,
  a[1] + (b[1] - a[1]) * share,
  a[2] + (b[2] - a[2]) * share,
];

function lookOf({ name, own }: Theme): Look {
  const { text } = own;
  return text ? { ...looks[name], text } : looks[name];
}

/** What the colours mean. */
export function flameLegend(theme: Theme, differs: boolean): { name: string; color: string }[] {
  const look = lookOf(theme);
  if (differs)
    return [
      { name: 'grew', color: css(look.grew) },
      { name: 'shrank', color: css(look.shrank) },
    ];
  return [
    { name: 'own code', color: css(look.own) },
    { name: 'package', color: css(look.package) },
    { name: 'library', color: css(look.library) },
    { name: 'interpreter', color: css(look.interpreter) },
  ];
}

export interface FlameView {
  /** Pixels of the rows above the canvas. */
  scrolled: CssPx;
  height: CssPx;
  /** The root at the bottom. */
  upwards: boolean;
  differs: boolean;
  /** The blocks that the filter means are lit. */
  faded: boolean;
  /** Rectangles: pointed at; reached by keys; -1 = none. */
  pointed: number;
  current: number;
  /** The filter that is in force. */
  filter: string;
}

/** Top of a row, in pixels of all rows. */
export function topOf(row: number, rows: number, upwards: boolean): CssPx {
  return (upwards ? rows - 1 - row : row) * rowHeight;
}

export function drawFlame(
  ctx: Context,
  flame: FlameGraph,
  view: FlameView,
  theme: Theme,
  ratio: number,
): void {
  const { rects, frames } = flame;
  const look = lookOf(theme);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  ctx.font = '12px system-ui, sans-serif';
  ctx.textBaseline = 'middle';
  const letter = ctx.measureText('abcdefghijklmnopqrstuvwxyz._:0123').width / 33;
  for (let i = 0; i < rects.row.length; i += 1) {
    const y = topOf(rects.row[i] ?? 0, flame.rows, view.upwards) - view.scrolled;
    if (y > view.height || y + rowHeight < 0) continue;
    const left = rects.left[i] ?? 0;
    const width = (rects.right[i] ?? 0) - left;
    const frame = frames[rects.frame[i] ?? -1];
    const hit = rects.hit[i] === 1;
    ctx.fillStyle = css(colourOf(flame, i, look, view));
    // A line of the surface between neighbours.
    ctx.fillRect(left, y, Math.max(0.5, width - (width > 3 ? 1 : 0.25)), rowHeight - 1);
    if (frame?.filter !== undefined && frame.filter === view.filter) {
      ctx.fillStyle = look.filtered;
      ctx.fillRect(left, y + rowHeight - 3, Math.max(0.5, width - 1), 2);
    }
    const room = Math.floor((width - 8) / letter);
    if (room < 3) continue;
    const label = frame?.label ?? 'all';
    ctx.fillStyle = hit ? look.hitText : look.text;
    const text = label.length > room ? `${label.slice(0, Math.max(1, room - 1))}…` : label;
    ctx.fillText(text, left + 4, y + rowHeight / 2 - 0.5, width - 6);
  }
  for (const [rect, wide] of [
    [view.pointed, 1],
    [view.current, 2],
  ] as const) {
    if (rect < 0 || rect >= rects.row.length) continue;
    ctx.strokeStyle = look.outline;
    ctx.lineWidth = wide;
    const left = rects.left[rect] ?? 0;
    const y = topOf(rects.row[rect] ?? 0, flame.rows, view.upwards) - view.scrolled;
    ctx.strokeRect(
      left + wide / 2,
      y + wide / 2,
      Math.max(1, (rects.right[rect] ?? 0) - left - 1 - wide),
      rowHeight - 1 - wide,
    );
  }
}

function colourOf(flame: FlameGraph, i: number, look: Look, view: FlameView): Rgb {
  const { rects, frames } = flame;
  const weight = rects.weight[i] ?? 0;
  const frame = frames[rects.frame[i] ?? -1];
  let colour: Rgb;
  if (view.differs) {
    colour = mixed(look.shrank, look.grew, weight > 0 ? (rects.grew[i] ?? 0) / weight : 0);
  } else if (!frame) {
    colour = look.root;
  } else {
    colour = frame.from === null ? look.none : look[frame.from];
    // Neighbours of one kind differ a little.
    colour = mixed(colour, look.surface, ((Math.imul(frame.key + 1, 0x9e3779b1) >>> 28) / 15) * 0.28);
  }
  if (rects.hit[i] === 1) colour = look.hit;
  if (view.faded && !view.differs) {
    const lit = weight > 0 ? (rects.lit[i] ?? 0) / weight : 0;
    colour = mixed(colour, look.surface, 0.78 * (1 - lit));
  }
  return colour;
}

/** The rectangle at a point of the canvas, -1 = none. */
export function rectAt(flame: FlameGraph, view: FlameView, x: CssPx, y: CssPx): number {
  const { rects } = flame;
  const line = Math.floor((y + view.scrolled) / rowHeight);
  const row = view.upwards ? flame.rows - 1 - line : line;
  for (let i = 0; i < rects.row.length; i += 1)
    if (rects.row[i] === row && x >= (rects.left[i] ?? 0) && x < (rects.right[i] ?? 0)) return i;
  return -1;
}
