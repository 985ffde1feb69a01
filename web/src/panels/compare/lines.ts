// The rows of a comparison by line: stacks that end in the same line are one.
import type { ComparedRow, StackFacts, WhoOfStack } from '../../../engine/index.ts';
import type { Bytes } from '../../base/units.ts';

/** Who asked; null where the side has no stack. */
export type Told = WhoOfStack | { [K in keyof WhoOfStack]: null };

export interface LineRow extends Pick<
  ComparedRow,
  'change' | 'before_bytes' | 'after_bytes' | 'before_blocks' | 'after_blocks'
> {
  who: string;
  /** Its stacks are the same but for numbers of lines. */
  moved: boolean;
  /** What grew or shrank most first. */
  stacks: readonly { row: ComparedRow; told: Told }[];
}

export const growthOf = (row: { before_bytes: Bytes; after_bytes: Bytes }): Bytes =>
  row.after_bytes - row.before_bytes;

/** What changed most in the direction of `growth` comes first; where that is 0, what changed most. */
export function linesOf(rows: readonly ComparedRow[], facts: StackFacts, growth: Bytes): LineRow[] {
  const lines = new Map<string, LineRow & { stacks: { row: ComparedRow; told: Told }[] }>();
  for (const row of rows) {
    const told: Told = row.change === 'gone' && row.before !== null ? (facts.parts[row.before] ?? row) : row;
    const who = told.who ?? 'no stack';
    const line = lines.get(who);
    if (!line) {
      const { change, before_bytes, after_bytes, before_blocks, after_blocks } = row;
      const sums = { before_bytes, after_bytes, before_blocks, after_blocks };
      lines.set(who, { who, change, ...sums, moved: row.matched === 'functions', stacks: [{ row, told }] });
      continue;
    }
    line.stacks.push({ row, told });
    line.before_bytes += row.before_bytes;
    line.after_bytes += row.after_bytes;
    line.before_blocks += row.before_blocks;
    line.after_blocks += row.after_blocks;
    line.moved ||= row.matched === 'functions';
    if (line.change !== row.change) line.change = changeOf(line);
  }
  const sign = Math.sign(growth);
  const order = (row: { before_bytes: Bytes; after_bytes: Bytes }): number =>
    sign === 0 ? Math.abs(growthOf(row)) : sign * growthOf(row);
  const found = [...lines.values()].sort((a, b) => order(b) - order(a));
  for (const line of found) line.stacks.sort((a, b) => order(b.row) - order(a.row));
  return found;
}

function changeOf(line: LineRow): LineRow['change'] {
  const growth = growthOf(line) || line.after_blocks - line.before_blocks;
  return growth > 0 ? 'grew' : growth < 0 ? 'shrank' : 'same';
}
