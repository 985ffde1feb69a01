// Regions as lanes above the plot: the outer ones on top, words where they fit.
import type { AxisUnits, CssPx, DevicePx } from '../base/units.ts';
import type { TimelineColors } from './colors.ts';
import { font, type Context, type Projection } from './plot.ts';

export const laneHeight: CssPx = 18;
const gap: CssPx = 2; // between lanes
const inset: CssPx = 5; // between a border and the words

export interface LanedRegion {
  name: string;
  from: AxisUnits;
  to: AxisUnits;
  /** Lane, from the top. */
  depth: number;
}

/** In order; those beyond `lanes` are left out. `lit` has an outline. */
export function drawRegions(
  ctx: Context,
  at: Projection,
  regions: readonly LanedRegion[],
  lanes: number,
  lit: LanedRegion | undefined,
  colors: TimelineColors,
): void {
  const { area } = at;
  const { ratio } = area;
  const right = area.left + area.width;
  ctx.fillStyle = colors.background;
  ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  ctx.textBaseline = 'middle';
  ctx.textAlign = 'right';
  ctx.font = font(area, 11);
  ctx.fillStyle = colors.text;
  ctx.fillText('regions', area.left - 8 * ratio, (laneHeight / 2) * ratio);
  ctx.textAlign = 'left';
  const turns = new Array<number>(lanes).fill(0);
  const drawnTo = new Array<DevicePx>(lanes).fill(-Infinity);
  const height = (laneHeight - gap) * ratio;
  for (const region of regions) {
    const { depth, name } = region;
    if (depth >= lanes) continue;
    const turn = turns[depth] ?? 0;
    turns[depth] = 1 - turn;
    const x0 = Math.max(at.x(region.from), area.left);
    const x1 = Math.min(at.x(region.to), right);
    if (x0 > right || x1 < area.left) continue;
    const left = Math.round(x0);
    const width = Math.max(Math.round(x1) - left, Math.max(1, Math.round(ratio)));
    if (region !== lit && left + width <= (drawnTo[depth] ?? 0)) continue; // nothing of it would be seen
    drawnTo[depth] = left + width;
    const top = Math.round((depth * laneHeight + gap / 2) * ratio);
    ctx.fillStyle = (isStep(name) ? colors.steps : colors.regions)[turn] ?? '';
    ctx.fillRect(left, top, width, height);
    ctx.fillStyle = colors.text;
    ctx.fillRect(left, top, Math.max(1, Math.round(ratio)), height);
    const room = width - 2 * inset * ratio;
    const words =
      room < 6 * ratio ? undefined : wordsOf(name).find((text) => ctx.measureText(text).width <= room);
    if (words !== undefined) {
      ctx.fillStyle = colors.regionText;
      ctx.fillText(words, left + inset * ratio, top + height / 2 + ratio / 2);
    }
    if (region === lit) {
      ctx.strokeStyle = colors.boxLine;
      ctx.lineWidth = 2 * ratio;
      ctx.strokeRect(left + ratio, top + ratio, Math.max(width - 2 * ratio, ratio), height - 2 * ratio);
    }
  }
}

/** The region at a point of the canvas, `slack` device pixels about it; undefined = none. */
export function regionAt<T extends LanedRegion>(
  at: Projection,
  regions: readonly T[],
  x: DevicePx,
  y: DevicePx,
  slack: DevicePx,
): T | undefined {
  const lane = Math.floor(y / (laneHeight * at.area.ratio));
  let best: T | undefined;
  let nearest = slack;
  for (const region of regions) {
    if (region.depth !== lane) continue;
    const distance = Math.max(at.x(region.from) - x, x - at.x(region.to), 0);
    if (distance > nearest || (distance === nearest && best && distance > 0)) continue;
    nearest = distance;
    best = region;
  }
  return best;
}

export function isStep(name: string): boolean {
  return name.startsWith('ProfilerStep#');
}

/** From all of it to the least: `Optimizer.step#AdamW.step (timed)`, `Optimizer.step#AdamW.step`, `AdamW.step`. */
function wordsOf(name: string): string[] {
  const plain = name.replace(/ \([^()]*\)$/, '');
  const after = plain.indexOf('#');
  if (isStep(name)) return [name, name.slice(after)];
  return [name, plain, after < 0 ? plain.slice(plain.lastIndexOf('.') + 1) : plain.slice(after + 1)];
}
