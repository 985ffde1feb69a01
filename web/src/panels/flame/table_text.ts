// The table of frames as text: for a spreadsheet, exact numbers. No DOM.
import type { FrameRows } from '../../../engine/index.ts';

/** A cell as CSV has it; nothing in it is taken for a formula by a spreadsheet. */
function cell(text: string, separator: string): string {
  const safe = /^[=+@\t\r-]/.test(text) && !/^-?\d/.test(text) ? `'${text}` : text;
  return safe.includes('"') || safe.includes('\n') || safe.includes('\r') || safe.includes(separator)
    ? `"${safe.replaceAll('"', '""')}"`
    : safe;
}

export function tableText({ unit, rows }: FrameRows, differs: boolean, separator: ',' | '\t'): string {
  const numbers = differs ? ['change', 'grew', 'shrank', 'blocks'] : ['self', 'total', 'blocks'];
  const lines = [
    [...numbers.map((name) => (name === 'blocks' ? name : `${name} (${unit})`)), 'function', 'file', 'line'],
  ];
  for (const row of rows) {
    const shrank = row.weight - row.grew;
    const values = differs
      ? [row.grew - shrank, row.grew, shrank, row.blocks]
      : [row.self, row.weight, row.blocks];
    lines.push([
      ...values.map(String),
      row.name === '' && row.file === '' ? row.label : row.name,
      row.file,
      row.line > 0 ? String(row.line) : '',
    ]);
  }
  return lines.map((line) => `${line.map((text) => cell(text, separator)).join(separator)}\n`).join('');
}
