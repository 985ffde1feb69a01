// What came of a fit, in words and tables.
import { html, nothing, type TemplateResult } from 'lit';
import { formatBytes, formatCount, formatExactBytes, plural } from '../../base/format.ts';
import { bytesCell, bytesColumn, countColumn, tableOf } from '../../controls/table.ts';
import type { Fit, Foretold } from '../../../engine/index.ts';
import type { Point } from './curve.ts';
import type { Asked } from './fields.ts';

/** What came of a fit; the curve follows the answer. */
export interface Found {
  asked: Asked;
  fit: Fit;
  /** Values of all parameters but the first on the curve. */
  held: readonly number[];
  curve: Fit | undefined;
}

/** Rows of a table; more are a sum, or left to the command. */
export const mostTerms = 30;

/** The first sentence is the answer, what follows is its limits. */
export function answerOf({ answer, largest }: Fit): TemplateResult {
  const end = answer.search(/\.(?= [A-Z]|$)/) + 1;
  return html`<p class="answer" data-answer data-largest=${largest ?? nothing}>
    <strong>${answer.slice(0, end)}</strong>${answer.slice(end)}
  </p>`;
}

export const heldText = ({ parameters }: Fit, held: readonly number[]): string =>
  held.map((value, at) => `${parameters[at + 1]} is ${formatCount(value)}`).join(', ');

/** Recorded runs that lie on the curve. */
export function pointsOf({ fit, held, asked }: Found): Point[] {
  return fit.recordings.flatMap(({ requested_peak_bytes, reserved_peak_bytes }, at) => {
    const [value = 1, ...others] = asked.recordings[at]?.values ?? [];
    return others.every((other, i) => other === held[i])
      ? [{ value, requested: requested_peak_bytes, reserved: reserved_peak_bytes }]
      : [];
  });
}
export function otherPoints(found: Found): string {
  const count = found.fit.recordings.length - pointsOf(found).length;
  return count === 0
    ? ''
    : `${plural(count, 'recording has', 'recordings have')} other values and no point on it.`;
}

export function needs(one: Foretold, capacity: number | undefined): TemplateResult {
  const { low, high, fits, first_failure } = one;
  const size = (bytes: number): TemplateResult =>
    html`<strong title=${formatExactBytes(bytes)}>${formatBytes(bytes)}</strong>`;
  // With the smallest and the largest sizes; what is reserved may be more with the smaller ones.
  const range = (one: number, other: number, is: number): TemplateResult =>
    one === other
      ? size(is)
      : html`${size(is)} (${formatBytes(Math.min(one, other))} to ${formatBytes(Math.max(one, other))})`;
  return html`Peak requested
  ${range(low.requested_peak_bytes, high.requested_peak_bytes, one.requested_peak_bytes)}, reserved
  ${range(low.reserved_peak_bytes, high.reserved_peak_bytes, one.reserved_peak_bytes)} where all
  fits.${
    capacity === undefined
      ? nothing
      : fits === true
        ? html` It fits
          ${formatBytes(capacity)}${one.reserved_peak_bytes > capacity ? ', once what is cached is given back' : ''}.`
        : fits === false
          ? html` It does not fit
            ${formatBytes(capacity)}${first_failure ? `: ${formatBytes(first_failure.requested_bytes)} requested by ${first_failure.who ?? 'code without a stack'} cannot be allocated` : ''}.`
          : html` Whether it fits ${formatBytes(capacity)} is not known: sizes that are not explained decide.`
  }`;
}

export function sureness({ sure, exact, recordings, parameters, repeats, unexplained }: Fit): TemplateResult {
  const isChecked = recordings.some(({ foretold_peak_bytes }) => foretold_peak_bytes !== null);
  return html`<section data-exact=${exact}>
    <h2>How sure</h2>
    <p class="says" data-sure>${sure}</p>
    ${tableOf(recordings, {
      label: 'Recordings',
      row: ({ file, requested_peak_bytes }) => ({ data: { recording: file, bytes: requested_peak_bytes } }),
      columns: [
        { name: 'Recorded', names: true, cell: ({ file }) => file },
        ...parameters.map((name) => ({
          name,
          look: 'number',
          cell: ({ values }: Fit['recordings'][number]) => formatCount(values[name] ?? 0),
        })),
        bytesColumn('Peak requested', ({ requested_peak_bytes }) => requested_peak_bytes),
        isChecked && {
          name: 'Told from the others',
          look: 'number',
          cell: ({ foretold_peak_bytes: told, requested_peak_bytes: is }) =>
            told === is ? { text: 'to the byte' } : bytesCell(told),
        },
        bytesColumn('Peak reserved', ({ reserved_peak_bytes }) => reserved_peak_bytes),
        { name: 'Repeats exactly', cell: ({ exact: repeats }) => (repeats ? 'yes' : 'no') },
      ],
    })}
    ${isChecked ? nothing : html`<p class="dim">No recording is left to check it with: that takes one more.</p>`}
    ${
      repeats.length === 0
        ? nothing
        : html`<details>
            <summary>
              ${plural(repeats.length, 'part is', 'parts are')} repeated as often as the parameters say
            </summary>
            ${tableOf(repeats.slice(0, mostTerms), {
              label: 'What is repeated',
              columns: [
                { name: 'From', names: true, cell: ({ who }) => who ?? 'code without a stack' },
                countColumn('Requests each time', ({ requests }) => requests),
                ...recordings.map(({ file }, at) =>
                  countColumn<Fit['repeats'][number]>(`times in ${file}`, ({ times }) => times[at] ?? 0),
                ),
                { name: 'Changes with', cell: ({ grows }) => html`<code>${grows}</code>` },
              ],
            })}
          </details>`
    }
    ${
      unexplained.length === 0
        ? nothing
        : html`<details>
            <summary>${plural(unexplained.length, 'size is', 'sizes are')} not explained</summary>
            ${tableOf(unexplained, {
              label: 'Sizes that are not explained',
              columns: [
                {
                  name: 'Requested by',
                  names: true,
                  cell: ({ who }) => who ?? 'code without a stack',
                },
                ...recordings.map(({ file }, at) => ({
                  name: file,
                  look: 'number',
                  cell: ({ recorded_bytes }: Fit['unexplained'][number]) =>
                    recorded_bytes[at] === 0 ? 'not requested' : bytesCell(recorded_bytes[at] ?? null),
                })),
              ],
            })}
          </details>`
    }
  </section>`;
}
