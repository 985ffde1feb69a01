// A table of few rows: columns and rows as data. A long list is a sheet (sheet.ts). Its look is `tableStyles`.
import { html, nothing, type TemplateResult } from 'lit';
import { formatBytes, formatCount, formatExactBytes, formatSigned } from '../base/format.ts';
import type { Bytes } from '../base/units.ts';
import { withData, type Data } from './data.ts';

type Content = string | TemplateResult | typeof nothing;
export interface TableCell {
  text: Content;
  /** The number to the last digit, or why there is none. */
  says?: string | undefined;
  look?: string;
  style?: string;
  data?: Data;
  /** Over so many columns, whose own cells are left out. */
  span?: number;
}
export interface TableColumn<Row> {
  /** Empty: a column without a head. */
  name: string;
  /** What it is, as a sentence. */
  says?: string;
  /** Of its head and cells: `number`, `name`. */
  look?: string;
  /** Columns of one group stand beside each other, its name above theirs. */
  group?: string;
  /** Its cells name the rows. */
  names?: boolean;
  cell: (row: Row, at: number) => TableCell | Content;
}
export interface Table<Row> {
  columns: readonly (TableColumn<Row> | false)[];
  row?: (row: Row, at: number) => { look?: string | undefined; data?: Data };
  /** Of the table. */
  data?: Data;
  /** Of the box that it is scrolled in; without it there is no box. */
  label?: string;
  /** Below the rows. */
  foot?: TemplateResult;
  /** With a frame, the heads staying in sight. */
  framed?: boolean;
}

/** `more` after the exact number; null = not known. */
export function bytesCell(
  bytes: Bytes | null,
  { more = '', signed = false }: { more?: string; signed?: boolean } = {},
): TableCell {
  if (bytes === null) return { text: '–' };
  return {
    text: signed ? formatSigned(bytes) : formatBytes(bytes),
    says: `${formatExactBytes(bytes)}${more}`,
  };
}

export const bytesColumn = <Row>(
  name: string,
  of: (row: Row) => Bytes | null,
  more: (row: Row) => string = () => '',
): TableColumn<Row> => ({ name, look: 'number', cell: (row) => bytesCell(of(row), { more: more(row) }) });

export const countColumn = <Row>(name: string, of: (row: Row) => number): TableColumn<Row> => ({
  name,
  look: 'number',
  cell: (row) => formatCount(of(row)),
});

export function tableOf<Row>(
  rows: readonly Row[],
  { columns, row, data = {}, label, framed, foot }: Table<Row>,
): TemplateResult {
  const shown = columns.filter((column) => column !== false);
  const table = html`<table ${withData(data)}>
    <thead>
      ${headsOf(shown)}
    </thead>
    <tbody>
      ${rows.map((one, at) => {
        const { look, data: of = {} } = row?.(one, at) ?? {};
        return html`<tr class=${look ?? nothing} ${withData(of)}>
          ${cellsOf(shown, one, at)}
        </tr>`;
      })}
    </tbody>
    ${foot}
  </table>`;
  return label === undefined
    ? table
    : html`<div class="scroll ${framed ? 'framed' : ''}" tabindex="0" role="group" aria-label=${label}>
        ${table}
      </div>`;
}

function headsOf<Row>(columns: readonly TableColumn<Row>[]): TemplateResult {
  const grouped = columns.some(({ group }) => group !== undefined);
  const head = ({ name, says, look }: TableColumn<Row>, rows?: number): TemplateResult =>
    name === ''
      ? html`<td rowspan=${rows ?? nothing}></td>`
      : html`<th scope="col" class=${look ?? nothing} title=${says ?? nothing} rowspan=${rows ?? nothing}>
          ${name}
        </th>`;
  if (!grouped)
    return html`<tr>
      ${columns.map((column) => head(column))}
    </tr>`;
  const above = columns.map((column, at) => {
    const { group } = column;
    if (group === undefined) return head(column, 2);
    if (columns[at - 1]?.group === group) return nothing;
    const count = columns.filter((one) => one.group === group).length;
    return html`<th colspan=${count} scope="colgroup" class=${column.look ?? nothing}>${group}</th>`;
  });
  return html`<tr>
      ${above}
    </tr>
    <tr>
      ${columns.filter(({ group }) => group !== undefined).map((column) => head(column))}
    </tr>`;
}

function cellsOf<Row>(columns: readonly TableColumn<Row>[], row: Row, at: number): TemplateResult[] {
  const cells: TemplateResult[] = [];
  for (let column = 0; column < columns.length;) {
    const { cell, look, names } = columns[column]!;
    const is = cell(row, at);
    const of: TableCell = typeof is === 'object' && 'text' in is ? is : { text: is };
    const looks = [look, of.look].filter((one) => one !== undefined).join(' ') || nothing;
    cells.push(
      names
        ? html`<th scope="row" class=${looks} title=${of.says ?? nothing} ${withData(of.data ?? {})}>
            ${of.text}
          </th>`
        : html`<td
            class=${looks}
            title=${of.says ?? nothing}
            colspan=${of.span ?? nothing}
            .style=${of.style ?? ''}
            ${withData(of.data ?? {})}>
            ${of.text}
          </td>`,
    );
    column += of.span ?? 1;
  }
  return cells;
}
