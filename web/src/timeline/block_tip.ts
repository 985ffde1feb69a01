// The words of a band beside the pointer.
import { type TemplateResult } from 'lit';
import { baseName, formatBytes } from '../base/format.ts';
import type { CssPx } from '../base/units.ts';
import { tip } from '../controls/tip.ts';
import { sizeOf, type Band } from '../../engine/index.ts';
import { isOfFree } from '../words/described.ts';
import { ownFrame } from '../words/stack_lines.ts';

interface Place {
  x: CssPx;
  y: CssPx;
  /** Of what holds it: asked of the document it would have to be laid out with each movement. */
  width: CssPx;
  height: CssPx;
}

export function blockTip(band: Band, at: Place): TemplateResult {
  const lines = [`${formatBytes(sizeOf(band))}  ${band.name}`];
  const own = band.kind === 'envelope' ? undefined : ownFrame(band.frames);
  const freed = 'stack_of' in band && isOfFree(band) ? 'with its free: ' : '';
  if (own) lines.push(`${freed}${own.name}  ${baseName(own.file)}:${own.line}`);
  else if (band.kind !== 'envelope' && band.frames.length === 0) lines.push('no stack');
  return tipAt(lines, at);
}

/** Lines beside the pointer: below it, or above where there is no room. */
export function tipAt(lines: readonly string[], { x, y, width, height }: Place): TemplateResult {
  const own = 20 + 18 * lines.length;
  return tip(x, width, y + 16 + own < height ? y + 16 : y - own - 8, lines);
}
