// A group of the stack in words.
import { formatBytes, formatCount, plural } from '../base/format.ts';
import type { GroupAt, Kinds } from '../../engine/index.ts';
import type { Bytes } from '../base/units.ts';

/** What private pools keep and no block uses. */
export const unusedName = 'kept by pools, unused';

export function groupName({ kind }: GroupAt, kinds: Kinds | undefined): string {
  return kinds?.kinds[kind]?.label ?? unusedName;
}

/** `34 %`, `3.4 %`, `< 0.1 %`, `0 %`. */
export function shareText(part: Bytes, whole: Bytes): string {
  const percent = whole > 0 ? (part / whole) * 100 : 0;
  if (percent === 0) return '0 %';
  if (percent < 0.1) return '< 0.1 %';
  return percent < 9.95 ? `${percent.toFixed(1)} %` : `${Math.round(percent)} %`;
}

/** `level`: of the whole stack. */
export function groupLines(group: GroupAt, kinds: Kinds | undefined, level: Bytes): string[] {
  const { bytes, blocks, matched } = group;
  const isUnused = group.kind >= (kinds?.kinds.length ?? 0);
  const lines = [
    groupName(group, kinds),
    `${formatBytes(bytes)}  ${shareText(bytes, level)}${isUnused ? '' : `  ${plural(blocks, 'block')}`}`,
  ];
  if (matched)
    lines.push(
      `${formatBytes(matched.bytes)} of it meant by the filter, ${formatCount(matched.blocks)} blocks`,
    );
  return lines;
}
