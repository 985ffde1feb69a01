// The words of a band beside the pointer.
import { type TemplateResult } from 'lit';
import { baseName, formatBytes } from '../base/format.ts';
import type { CssPx } from '../base/units.ts';
import { tip } from '../controls/tip.ts';
import { sizeOf, type Band } from '../../engine/index.ts';
import { ownFrame } from '../words/stack_lines.ts';

export function blockTip(band: Band, at: { x: CssPx; y: CssPx }, plot: HTMLElement): TemplateResult {
  const lines = [`${formatBytes(sizeOf(band))}  ${band.name}`];
  const own = band.kind === 'envelope' ? undefined : ownFrame(band.frames);
  if (own) lines.push(`${own.name}  ${baseName(own.file)}:${own.line}`);
  else if (band.kind !== 'envelope' && band.frames.length === 0) lines.push('no stack');
  return tipAt(lines, at, plot);
}

/** Lines beside the pointer. */
export function tipAt(
  lines: readonly string[],
  at: { x: CssPx; y: CssPx },
  plot: HTMLElement,
): TemplateResult {
  // Below the pointer, or above it where there is no room.
  const height = 20 + 18 * lines.length;
  const y = at.y + 16 + height < plot.clientHeight ? at.y + 16 : at.y - height - 8;
  return tip(at.x, plot.clientWidth, y, lines);
}
