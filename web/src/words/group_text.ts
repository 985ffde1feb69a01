// A group of the stack in words.
import { formatBytes, formatCount, formatShare, plural } from '../base/format.ts';
import type { GroupAt, Kinds } from '../../engine/index.ts';
import type { Bytes } from '../base/units.ts';

/** What private pools keep and no block uses. */
export const unusedName = 'kept by pools, unused';

/** As people say it: "optimizer state". Filters have the category. */
export const categoryName = (category: string): string => category.replaceAll('_', ' ');

export function kindName(kinds: Kinds | undefined, kind: number): string | undefined {
  const label = kinds?.kinds[kind]?.label;
  return label !== undefined && kinds?.by === 'category' ? categoryName(label) : label;
}

export function groupName({ kind }: GroupAt, kinds: Kinds | undefined): string {
  return kindName(kinds, kind) ?? unusedName;
}

/** `level`: of the whole stack. */
export function groupLines(group: GroupAt, kinds: Kinds | undefined, level: Bytes): string[] {
  const { bytes, blocks, matched } = group;
  const isUnused = group.kind >= (kinds?.kinds.length ?? 0);
  const lines = [
    groupName(group, kinds),
    `${formatBytes(bytes)}  ${formatShare(bytes, level)}${isUnused ? '' : `  ${plural(blocks, 'block')}`}`,
  ];
  if (matched)
    lines.push(
      `${formatBytes(matched.bytes)} of it meant by the filter, ${formatCount(matched.blocks)} blocks`,
    );
  return lines;
}
