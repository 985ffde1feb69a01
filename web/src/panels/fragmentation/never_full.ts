// Segments that were never full over the whole recording: their size against the most that was in use at once.
import { reasonOf } from '../../base/reason.ts';
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount } from '../../base/format.ts';
import { bytesCell, bytesColumn, tableOf } from '../../controls/table.ts';
import { type EngineView, type NeverFull } from '../../../engine/index.ts';
import { answerStyles } from '../answer_styles.ts';
import { tell, type PanelPage } from '../panel.ts';

/** Whatever the moment, it is the same for a view. */
const kept = new WeakMap<EngineView, NeverFull>();

type Worst = NeverFull['worst'][number];
/** In the details the segment is as it was at that moment. */
const momentOf = ({ most_in_use_bytes, most_event, from_event }: Worst): number =>
  most_in_use_bytes > 0 ? most_event : from_event;

@element('gpustrata-never-full')
export class NeverFullSegments extends LitElement {
  @property({ attribute: false }) page!: PanelPage;
  /** A text = why it is not known. */
  @state() private found: NeverFull | string | undefined;
  private asked: EngineView | undefined;

  protected override willUpdate(_changed: PropertyValues<this>): void {
    const { view, settled } = this.page;
    if (!settled || this.asked === view) return;
    this.asked = view;
    this.found = kept.get(view);
    if (this.found) return;
    view.ask('neverFull', {}).then(
      (found) => {
        kept.set(view, found);
        if (this.asked === view) this.found = found;
      },
      (error: unknown) => {
        if (this.asked === view && view.alive) this.found = reasonOf(error);
      },
    );
  }

  protected override render(): TemplateResult {
    const { found } = this;
    return html`<section aria-label="Never full">
      <h3>Never full</h3>
      ${
        typeof found === 'object'
          ? html`<p data-never-full=${found.segments} data-bytes=${found.never_used_bytes}>${found.text}</p>
              ${found.worst.length === 0 ? nothing : this.table(found)}`
          : html`<p class="dim">${found ?? 'Looking through the recording…'}</p>`
      }
    </section>`;
  }

  private table({ worst, segments }: NeverFull): TemplateResult {
    return html`${tableOf(worst, {
      label: 'Segments that were never full',
      row: ({ segment, never_used_bytes, most_in_use_bytes }) => ({
        data: { never: segment, bytes: never_used_bytes, most: most_in_use_bytes },
      }),
      columns: [
        bytesColumn('Never used', ({ never_used_bytes }) => never_used_bytes),
        {
          name: 'In use at most',
          look: 'number',
          cell: (one) => ({
            ...bytesCell(one.most_in_use_bytes),
            text: html`${formatBytes(one.most_in_use_bytes)}
              <div class="dim">${one.most_in_use_bytes === 0 ? 'never' : this.moment(momentOf(one))}</div>`,
          }),
        },
        { name: 'Segment', cell: (one) => this.segment(one) },
      ],
    })}
    ${segments > worst.length ? html`<p class="dim">and ${formatCount(segments - worst.length)} more</p>` : nothing}`;
  }

  private moment(event: number): TemplateResult {
    return html`<button class="link" @click=${() => tell(this, 'choose-event', { event, step: false })}>
      ${event < 0 ? 'at the start' : `event ${formatCount(event)}`}
    </button>`;
  }

  private segment(one: Worst): TemplateResult {
    const { row, segment, segment_bytes, expandable, from_event, until_event, who } = one;
    const from = from_event < 0 ? 'from the start' : `from event ${formatCount(from_event)}`;
    const until = until_event === null ? '' : ` to ${formatCount(until_event)}`;
    return html`<button
        class="link"
        @click=${() => tell(this, 'go', { to: 'segment', segment: row, at: momentOf(one) })}>
        ${formatBytes(segment_bytes)}
      </button>
      <div class="dim">
        ${segment}${expandable ? ', expandable' : ''}, ${from}${until}${who === null ? '' : `, ${who}`}
      </div>`;
  }

  static override styles = [
    answerStyles,
    css`
      :host {
        min-width: 0;
        overflow: visible;
      }
      td .dim {
        font-size: 12px;
      }
    `,
  ];
}
