// Segments that were never full over the whole recording: their size against the most that was in use at once.
import { reasonOf } from '../../base/reason.ts';
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount, formatExactBytes } from '../../base/format.ts';
import { base } from '../../controls/styles.ts';
import { type EngineView, type NeverFull } from '../../../engine/index.ts';
import { answerStyles } from '../answer_styles.ts';
import { tell, type PanelPage } from '../panel.ts';

/** Whatever the moment, it is the same for a view. */
const kept = new WeakMap<EngineView, NeverFull>();

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
    return html`<div class="scroll" tabindex="0" role="group" aria-label="Segments that were never full">
        <table>
          <thead>
            <tr>
              <th scope="col" class="number">Never used</th>
              <th scope="col" class="number">In use at most</th>
              <th scope="col">Segment</th>
            </tr>
          </thead>
          <tbody>
            ${worst.map((one) => this.row(one))}
          </tbody>
        </table>
      </div>
      ${segments > worst.length ? html`<p class="dim">and ${formatCount(segments - worst.length)} more</p>` : nothing}`;
  }

  private row(one: NeverFull['worst'][number]): TemplateResult {
    const { segment_bytes, most_in_use_bytes, most_event, from_event, until_event } = one;
    // In the details the segment is as it was at that moment.
    const at = most_in_use_bytes > 0 ? most_event : from_event;
    const from = from_event < 0 ? 'from the start' : `from event ${formatCount(from_event)}`;
    const until = until_event === null ? '' : ` to ${formatCount(until_event)}`;
    return html`<tr
      data-never=${one.segment}
      data-bytes=${one.never_used_bytes}
      data-most=${most_in_use_bytes}>
      <td class="number" title=${formatExactBytes(one.never_used_bytes)}>
        ${formatBytes(one.never_used_bytes)}
      </td>
      <td class="number" title=${formatExactBytes(most_in_use_bytes)}>
        ${formatBytes(most_in_use_bytes)}
        <div class="dim">
          ${
            most_in_use_bytes === 0
              ? 'never'
              : html`<button
                  class="link"
                  @click=${() => tell(this, 'choose-event', { event: at, step: false })}>
                  ${at < 0 ? 'at the start' : `event ${formatCount(at)}`}
                </button>`
          }
        </div>
      </td>
      <td>
        <button class="link" @click=${() => tell(this, 'go', { to: 'segment', segment: one.row, at })}>
          ${formatBytes(segment_bytes)}
        </button>
        <div class="dim">
          ${one.segment}${one.expandable ? ', expandable' : ''},
          ${from}${until}${one.who === null ? '' : `, ${one.who}`}
        </div>
      </td>
    </tr>`;
  }

  static override styles = [
    base,
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
