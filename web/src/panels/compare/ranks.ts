// Many recordings, such as one per rank: their numbers beside each other, the odd one marked.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes } from '../../base/format.ts';
import type { Bytes } from '../../base/units.ts';
import { bytesCell, countColumn, tableOf, type TableCell, type TableColumn } from '../../controls/table.ts';
import type { EngineView, ViewInfo } from '../../../engine/index.ts';
import { compare, fewest, leastOfBytes, shareBeyond, type Compared } from '../../model/outliers.ts';
import { answerStyles } from '../answer_styles.ts';
import type { PanelFile } from '../panel.ts';

const numbers: readonly { name: string; of: (info: ViewInfo) => Bytes }[] = [
  { name: 'Peak', of: ({ peak }) => peak.bytes },
  { name: 'Peak reserved', of: ({ reserved_peak }) => reserved_peak },
  { name: 'At the start', of: ({ initial_bytes }) => initial_bytes },
  { name: 'At the end', of: ({ final_bytes }) => final_bytes },
];

/** Of a larger scale, what is many times the others' would not be odd. */
const muchOfMedian = 0.1;

/** Tells `choose` with the name of a file to compare with. */
@element('gpustrata-ranks')
export class RanksView extends LitElement {
  @property({ attribute: false }) files: readonly PanelFile[] = [];
  @property({ attribute: false }) names: readonly string[] = [];
  @property({ attribute: false }) shown!: EngineView;

  protected override render(): TemplateResult {
    const { files, names, shown } = this;
    const columns = numbers.map(({ of }) =>
      compare(files.map(({ view, damaged }) => (damaged ? null : of(view.info)))),
    );
    const [peaks] = columns;
    const isOdd = (at: number): boolean => columns.some(({ odd }) => odd[at]);
    const odd = files.filter((_, at) => isOdd(at));
    const says =
      odd.length === 0
        ? peaks !== undefined && peaks.scale > Math.max(leastOfBytes, muchOfMedian * (peaks.median ?? 0))
          ? 'They are too far from each other to tell an odd one.'
          : 'None differs from the others by much.'
        : `${odd.map((one) => names[files.indexOf(one)]).join(', ')} ${odd.length === 1 ? 'is' : 'are'} not like the others.`;
    return html`${files.length < fewest ? nothing : html`<p class="dim" data-odd-files=${odd.length}>${says}</p>`}
    ${tableOf(files, {
      label: 'Recordings beside each other',
      row: ({ name }, at) => ({ data: { rankFile: name, odd: isOdd(at) } }),
      columns: [
        {
          name: 'Recording',
          cell: ({ name, view, damaged }, at) => {
            const mark = damaged ? html` <span class="bad">damaged</span>` : nothing;
            return view === shown
              ? html`<b>${names[at]}</b> <span class="dim">shown</span>${mark}`
              : html`<button
                    class="link"
                    title="Compare with it"
                    @click=${() => this.dispatchEvent(new CustomEvent('choose', { detail: name }))}>
                    ${names[at]}</button
                  >${mark}`;
          },
        },
        ...numbers.map(({ name, of }, column): TableColumn<PanelFile> => ({
          name,
          look: 'number',
          cell: ({ view, damaged }, at) =>
            damaged
              ? { text: '–', says: 'The file is damaged: not known' }
              : cell(of(view.info), columns[column]!, at),
        })),
        countColumn('Events', ({ view }) => view.info.events),
        {
          name: 'Out of memory',
          cell: ({ view: { info }, damaged }) =>
            info.oom_events.length > 0
              ? html`<span class="bad">yes</span>`
              : !info.has_history
                ? { text: '–', says: 'Without a history it is not known' }
                : damaged
                  ? { text: '–', says: 'The file is damaged: not known' }
                  : 'no',
        },
      ],
    })}`;
  }

  static override styles = [
    answerStyles,
    css`
      :host {
        margin-bottom: 16px;
      }
      :host > p {
        margin: 0 0 4px;
      }
      .odd {
        color: var(--bad);
        font-weight: 600;
      }
      small {
        font-size: 11.5px;
      }
    `,
  ];
}

function cell(bytes: Bytes, { median, odd }: Compared, at: number): TableCell {
  if (!odd[at]) return bytesCell(bytes);
  const share = shareBeyond(bytes, median ?? 0);
  const percent = `${share > 0 ? '+' : '−'}${Math.abs(100 * share).toFixed(0)} %`;
  return {
    ...bytesCell(bytes),
    text: html`${formatBytes(bytes)} ${Number.isFinite(share) ? html`<small>${percent}</small>` : nothing}`,
    look: 'odd',
  };
}
