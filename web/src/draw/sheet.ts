// The picture to take along: a title, the plot, the legend; as PNG or as SVG.
//
// In the SVG everything is drawn as shapes and text but the bands: those are pixels that the engine painted, set in as
// an image, one pixel of the screen each.
import { formatBytes, formatBytesTick, formatCount, formatMomentTick } from '../base/format.ts';
import { byteTicks, decimalTicks } from '../base/ticks.ts';
import type { AxisUnits, Bytes, CssPx } from '../base/units.ts';
import type { Axis, Columns, Curves } from '../../engine/index.ts';
import type { TimelineColors } from './colors.ts';
import { gapsIn, hatchStep } from './gap.ts';
import type { Projection } from './plot.ts';

export interface Sheet {
  title: string;
  subtitle: string;
  at: Projection;
  axis: Axis;
  colors: TimelineColors;
  /** The plot as it is on the screen, device pixels. */
  canvas: HTMLCanvasElement;
  /** The bands alone, and where they lie. */
  bands: { canvas: HTMLCanvasElement; columns: Columns; bottom: Bytes; top: Bytes; curves: Curves };
  /** What is reserved and in no block is hatched. */
  gap: boolean;
  /** Its line is drawn. */
  reserved: boolean;
  peak: { x: AxisUnits; bytes: Bytes } | undefined;
  ooms: readonly AxisUnits[];
  legend: readonly { color: string; text: string }[];
}

const head: CssPx = 56;
const legendLine: CssPx = 22;
const legendColumn: CssPx = 300;
const family = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

interface Layout {
  width: CssPx;
  height: CssPx;
  plotHeight: CssPx;
  legend: { color: string; text: string; x: CssPx; y: CssPx }[];
}

function layoutOf({ canvas, at, legend }: Sheet): Layout {
  const { ratio } = at.area;
  const width = canvas.width / ratio;
  const plotHeight = canvas.height / ratio;
  const columns = Math.max(1, Math.floor((width - 32) / legendColumn));
  const lines = Math.ceil(legend.length / columns);
  return {
    width,
    plotHeight,
    height: head + plotHeight + (lines > 0 ? lines * legendLine + 16 : 0),
    legend: legend.map((entry, index) => ({
      ...entry,
      x: 16 + (index % columns) * legendColumn,
      y: head + plotHeight + 8 + Math.floor(index / columns) * legendLine,
    })),
  };
}

/** At the resolution of the screen. */
export async function sheetAsPng(sheet: Sheet): Promise<Blob> {
  const { ratio } = sheet.at.area;
  const { colors } = sheet;
  const layout = layoutOf(sheet);
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(layout.width * ratio);
  canvas.height = Math.round(layout.height * ratio);
  const ctx = canvas.getContext('2d');
  if (!ctx) throw new Error('The browser has no memory for the picture.');
  ctx.fillStyle = colors.background;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(sheet.canvas, 0, Math.round(head * ratio));
  ctx.scale(ratio, ratio);
  const text = (words: string, x: number, y: number, font: string, color: string): void => {
    ctx.font = `${font} ${family}`;
    ctx.fillStyle = color;
    ctx.fillText(words, x, y, layout.width - x - 16);
  };
  text(sheet.title, 16, 26, '600 16px', colors.peak);
  text(sheet.subtitle, 16, 46, '13px', colors.text);
  for (const { color, text: words, x, y } of layout.legend) {
    ctx.fillStyle = color;
    ctx.fillRect(x, y + 5, 10, 10);
    ctx.font = `12px ${family}`;
    ctx.fillStyle = colors.text;
    ctx.fillText(words, x + 16, y + 14, legendColumn - 24);
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error('The browser could not write the picture.'))),
      'image/png',
    ),
  );
}

export function sheetAsSvg(sheet: Sheet): string {
  const { at, axis, colors, bands } = sheet;
  const { area, view } = at;
  const { ratio } = area;
  const layout = layoutOf(sheet);
  const px = (device: number): string => String(Math.round((device / ratio) * 100) / 100);
  const [left, top, width, height] = [area.left, area.top, area.width, area.height].map(
    (value) => value / ratio,
  ) as [number, number, number, number];
  const bottom = top + height;
  const parts: string[] = [];
  const add = (text: string): void => void parts.push(text);
  const label = (x: string | number, y: string | number, words: string, more = ''): void =>
    add(`<text x="${x}" y="${y}" ${more}>${escaped(words)}</text>`);

  add(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${layout.width}" height="${layout.height}" ` +
      `viewBox="0 0 ${layout.width} ${layout.height}" font-family='${family}' font-size="11.5" fill="${colors.text}">`,
  );
  add(`<title>${escaped(`${sheet.title}: ${sheet.subtitle}`)}</title>`);
  add(`<rect width="100%" height="100%" fill="${colors.background}"/>`);
  label(16, 26, sheet.title, `font-size="16" font-weight="600" fill="${colors.peak}"`);
  label(16, 46, sheet.subtitle, 'font-size="13"');
  add(`<g transform="translate(0 ${head})">`);
  add(`<clipPath id="plot"><rect x="${left}" y="${top}" width="${width}" height="${height}"/></clipPath>`);

  const bytes = byteTicks(view.y0, view.y1, area.height / (72 * ratio));
  for (const value of bytes.values) {
    const y = px(at.y(value));
    add(`<path d="M${left} ${y}h${width}" stroke="${colors.grid}"/>`);
    label(left - 8, y, formatBytesTick(value, bytes.step), 'text-anchor="end" dominant-baseline="middle"');
  }
  const ticks = decimalTicks(view.x0, view.x1, width / (axis === 'event' ? 84 : 104), 1);
  add(`<path d="M${left} ${bottom}h${width}" stroke="${colors.axis}"/>`);
  for (const value of ticks.values) {
    const x = px(at.x(value));
    add(`<path d="M${x} ${bottom}v4" stroke="${colors.axis}"/>`);
    label(
      x,
      bottom + 17,
      axis === 'event' ? formatCount(value) : formatMomentTick(value, ticks.step),
      'text-anchor="middle"',
    );
  }

  add(
    `<pattern id="gap" width="${hatchStep}" height="${hatchStep}" patternUnits="userSpaceOnUse" ` +
      `patternTransform="rotate(45)"><path d="M0 0v${hatchStep}" stroke="${colors.hatch}"/></pattern>`,
  );
  add('<g clip-path="url(#plot)">');
  const { columns } = bands;
  for (const { from, end } of sheet.gap ? gapsIn(bands.curves, 0, columns.count) : []) {
    const corners: string[] = [];
    const corner = (i: number, values: ArrayLike<number>, column: number): void =>
      void corners.push(`${px(at.x((columns.first + i) * columns.width))} ${px(at.y(values[column] ?? 0))}`);
    for (let i = from; i < end; i += 1) for (const side of [i, i + 1]) corner(side, bands.curves.reserved, i);
    for (let i = end - 1; i >= from; i -= 1)
      for (const side of [i + 1, i]) corner(side, bands.curves.highest, i);
    const path = `M${corners.join('L')}Z`;
    for (const fill of [colors.gap, 'url(#gap)']) add(`<path d="${path}" fill="${fill}"/>`);
  }
  const [x0, x1] = [
    at.x(columns.first * columns.width),
    at.x((columns.first + columns.count) * columns.width),
  ];
  const [y0, y1] = [at.y(bands.top), at.y(bands.bottom)];
  add(
    `<image x="${px(x0)}" y="${px(y0)}" width="${px(x1 - x0)}" height="${px(y1 - y0)}" preserveAspectRatio="none" ` +
      `style="image-rendering:pixelated" href="${bands.canvas.toDataURL('image/png')}"/>`,
  );
  const steps = (values: ArrayLike<number>): string => {
    let path = '';
    let last = Number.NaN;
    for (let i = 0; i < columns.count; i += 1) {
      const value = values[i] ?? Number.NaN;
      const y = px(at.y(value));
      if (Number.isNaN(value)) {
        last = Number.NaN;
        continue;
      }
      if (Number.isNaN(last)) path += `M${px(at.x((columns.first + i) * columns.width))} ${y}`;
      else if (value !== last) path += `H${px(at.x((columns.first + i) * columns.width))}V${y}`;
      last = value;
      if (Number.isNaN(values[i + 1] ?? Number.NaN))
        path += `H${px(at.x((columns.first + i + 1) * columns.width))}`;
    }
    return path;
  };
  add(
    `<path d="${steps(bands.curves.allocated)}" fill="none" stroke="${colors.allocated}" stroke-width="1.25"/>`,
  );
  if (sheet.reserved)
    add(
      `<path d="${steps(bands.curves.reserved)}" fill="none" stroke="${colors.reserved}" stroke-width="1.5"/>`,
    );
  for (const oom of sheet.ooms) add(`<path d="M${px(at.x(oom))} ${top}v${height}" stroke="${colors.oom}"/>`);
  add('</g>');
  if (sheet.peak && sheet.peak.x >= view.x0 && sheet.peak.x <= view.x1) {
    const x = at.x(sheet.peak.x) / ratio;
    const y = Math.min(Math.max(at.y(sheet.peak.bytes) / ratio, top), bottom);
    const anchor = x < left + 60 ? 'start' : x > left + width - 60 ? 'end' : 'middle';
    add(
      `<circle cx="${x.toFixed(2)}" cy="${y.toFixed(2)}" r="3.5" fill="${colors.halo}" stroke="${colors.peak}" stroke-width="2"/>`,
    );
    label(
      x.toFixed(2),
      (y - 9).toFixed(2),
      `Peak ${formatBytes(sheet.peak.bytes)}`,
      `text-anchor="${anchor}" font-size="12" font-weight="600" fill="${colors.peak}"`,
    );
  }
  add('</g>');
  for (const { color, text, x, y } of layout.legend) {
    add(`<rect x="${x}" y="${y + 5}" width="10" height="10" rx="2" fill="${color}"/>`);
    label(x + 16, y + 14, text, 'font-size="12"');
  }
  add('</svg>');
  return `${parts.join('\n')}\n`;
}

/** XML knows neither most control characters nor lone surrogates. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
