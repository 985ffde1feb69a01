// The two canvases of the timeline. Base: what changes with the view. Overlay: what follows the pointer.
import { drawGrid, drawRulers } from '../../draw/axes.ts';
import type { TimelineColors } from '../../draw/colors.ts';
import { drawChosenMoment, drawCursor, type ChosenMoment, type Cursor } from '../../draw/cursor.ts';
import { drawBlockOutline, drawSteps, type LineStyle } from '../../draw/curves.ts';
import {
  drawAbove,
  drawCapacity,
  drawMarkers,
  drawOoms,
  drawPeak,
  markerY,
  type Box,
} from '../../draw/markers.ts';
import { drawGap } from '../../draw/gap.ts';
import { drawRuler, type Ruler } from '../../draw/ruler.ts';
import { clipped, type Context, type PlotArea, type Projection } from '../../draw/plot.ts';
import type { Bytes } from '../../base/units.ts';
import type { ViewInfo } from '../../../engine/index.ts';
import { hasGap, hasReserved } from '../../model/bands.ts';
import type { Point } from '../../controls/gestures.ts';
import type { LabelTrack } from './label_track.ts';
import type { Picture, PictureTrack } from './picture_track.ts';
import type { Outline, Stage } from './stage.ts';
import type { PlacedMarker } from './marks_track.ts';
import type { Landmarks } from './travel.ts';

export interface BaseScene {
  stage: Stage;
  picture: PictureTrack;
  labels: LabelTrack;
  landmarks: Landmarks | undefined;
  /** On the stage's axis. */
  markers: readonly PlacedMarker[];
  /** Of the chosen block. */
  outline: Outline | undefined;
}

export interface OverlayScene {
  outline: Outline | undefined;
  box: { from: Point; to: Point } | undefined;
  cursor: Cursor | undefined;
  chosen: ChosenMoment | undefined;
  ruler: Ruler | undefined;
}

export function drawBase(ctx: Context, at: Projection, scene: BaseScene, colors: TimelineColors): void {
  const { stage, picture, labels, landmarks, markers, outline } = scene;
  ctx.fillStyle = colors.background;
  ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  const words: Box[] = [];
  let above: Bytes | undefined;
  clipped(ctx, at.area, () => {
    drawGrid(ctx, at, colors);
    const { shown } = picture;
    const isHere = shown?.columns.axis === stage.axis;
    if (isHere && hasGap(stage.device)) drawGap(ctx, at, shown.columns, shown.curves, colors);
    picture.draw(ctx, at);
    if (!isHere) return;
    above = drawLevels(ctx, at, shown, colors, stage.info);
    labels.draw(ctx, at, shown);
    if (outline) drawBlockOutline(ctx, at, outline.columns, outline.lower, outline.upper, colors, true);
  });
  if (above !== undefined) {
    const beside = landmarks?.axis === stage.axis ? landmarks.peak : undefined;
    words.push(drawAbove(ctx, at, above, beside, colors));
  }
  const { capacity } = stage;
  const line = capacity === null ? undefined : drawCapacity(ctx, at, capacity, colors);
  if (line) words.push(line);
  if (landmarks?.axis === stage.axis) {
    const peak = stage.info.peak.bytes;
    words.push(...drawOoms(ctx, at, landmarks.ooms, colors));
    if (peak > 0 && stage.info.events > 0)
      drawPeak(ctx, at, { x: landmarks.peak, bytes: peak }, words, colors);
  }
  drawRulers(ctx, at, stage.axis, colors);
  drawMarkers(ctx, at, markers, colors);
}

/** The marker at a point of the canvas; undefined = none. */
export function markerAt(
  at: Projection,
  markers: readonly PlacedMarker[],
  { x, y }: Point,
): PlacedMarker | undefined {
  const { ratio } = at.area;
  let nearest = 7 * ratio;
  let best: PlacedMarker | undefined;
  for (const marker of markers) {
    if (Math.abs(markerY(at, marker.kind) - y) > 8 * ratio) continue;
    const distance = Math.abs(at.x(marker.at) - x);
    if (distance > nearest) continue;
    nearest = distance;
    best = marker;
  }
  return best;
}

export function drawOverlay(ctx: Context, at: Projection, scene: OverlayScene, colors: TimelineColors): void {
  const { outline, box, cursor, chosen, ruler } = scene;
  ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  clipped(ctx, at.area, () => {
    if (outline) drawBlockOutline(ctx, at, outline.columns, outline.lower, outline.upper, colors, false);
    if (box) drawBox(ctx, at.area, box, colors);
    if (ruler) drawRuler(ctx, at, ruler, colors);
  });
  if (chosen) drawChosenMoment(ctx, at, chosen, colors);
  if (cursor && !box) drawCursor(ctx, at, cursor, colors);
}

/** Tells what is reserved at the right edge where that lies above the picture. */
function drawLevels(
  ctx: Context,
  at: Projection,
  { columns, curves }: Picture,
  colors: TimelineColors,
  info: ViewInfo,
): Bytes | undefined {
  const { ratio } = at.area;
  const line = (color: string, width: number): LineStyle => ({ color, width });
  if (columns.width > 1) drawSteps(ctx, at, columns, curves.lowest, line(colors.lowest, ratio));
  if (info.bands !== 'segments')
    drawSteps(ctx, at, columns, curves.allocated, line(colors.allocated, 1.25 * ratio), curves.lowest);
  if (!hasReserved(info)) return undefined;
  drawSteps(ctx, at, columns, curves.reserved, line(colors.reserved, 1.5 * ratio));
  const last = Math.min(Math.ceil(at.view.x1 / columns.width) - columns.first, columns.count) - 1;
  const reserved = curves.reserved[last];
  return reserved !== undefined && reserved > at.view.y1 ? reserved : undefined;
}

function drawBox(
  ctx: Context,
  { ratio }: PlotArea,
  { from, to }: { from: Point; to: Point },
  colors: TimelineColors,
): void {
  const [x, y] = [Math.min(from.x, to.x), Math.min(from.y, to.y)];
  const [width, height] = [Math.abs(from.x - to.x), Math.abs(from.y - to.y)];
  ctx.fillStyle = colors.boxFill;
  ctx.fillRect(x, y, width, height);
  ctx.strokeStyle = colors.boxLine;
  ctx.lineWidth = ratio;
  ctx.strokeRect(x, y, width, height);
}
