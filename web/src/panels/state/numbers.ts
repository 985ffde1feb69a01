// How much memory there is of each sort in the state after an event.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import {
  formatBytes,
  formatCount,
  formatExactBytes,
  formatMoment,
  formatShare,
  plural,
} from '../../base/format.ts';
import type { Bytes } from '../../base/units.ts';
import type { StateTotals, ViewInfo } from '../../../engine/index.ts';
import { base } from '../../controls/styles.ts';

@element('gpustrata-state-numbers')
export class StateNumbersView extends LitElement {
  @property({ attribute: false }) totals: StateTotals | undefined;
  @property({ attribute: false }) info!: ViewInfo;

  protected override render(): TemplateResult | typeof nothing {
    const { totals, info } = this;
    if (!totals) return nothing;
    const { event, time_us, fragmentation } = totals;
    const time =
      time_us !== null && info.first_time_us !== null ? formatMoment(time_us - info.first_time_us) : '';
    const largest = totals.free > 0 ? formatShare(totals.largest_free / totals.free, 1) : '';
    return html`
      <h2 data-state-event=${event}>
        ${event < 0 ? (!info.has_history ? 'When it was saved' : 'Before the first event') : `After event ${formatCount(event)}`}
        <span class="time">${time}</span>
      </h2>
      <dl>
        ${this.bytes('reserved', 'Reserved', totals.reserved, `in ${plural(totals.segments, 'segment')}`)}
        ${this.bytes('allocated', 'Allocated', totals.allocated, `in ${plural(totals.live_blocks - totals.pending_blocks, 'block')}`)}
        ${
          totals.active === totals.allocated
            ? nothing
            : this.bytes(
                'active',
                'Active',
                totals.active,
                `with ${plural(totals.pending_blocks, 'block')} that ${totals.pending_blocks === 1 ? 'waits' : 'wait'} to be freed`,
              )
        }
        ${this.bytes('rounding', 'Rounding', totals.rounding, 'active, but not asked for: sizes are rounded up')}
        ${this.bytes('free', 'Free', totals.free, `reserved, but in no block: ${plural(totals.free_blocks, 'gap')}`)}
        ${this.bytes('largest-free', 'Largest gap', totals.largest_free, largest === '' ? 'nothing is free' : `${largest} of what is free: no larger block fits`)}
        ${
          fragmentation === null
            ? nothing
            : html`<div title="The share of what is free that is not in the largest gap">
                <dt>Fragmented</dt>
                <dd data-number="fragmentation" data-share=${fragmentation}>
                  ${formatShare(fragmentation, 1)}
                </dd>
              </div>`
        }
        ${
          totals.blocks_without_segment > 0
            ? html`<div title="Blocks at addresses of which the file names no segment">
                <dt>Not drawn</dt>
                <dd>${plural(totals.blocks_without_segment, 'block')}</dd>
              </div>`
            : nothing
        }
      </dl>
    `;
  }

  private bytes(name: string, label: string, bytes: Bytes, note: string): TemplateResult {
    return html`<div title="${formatExactBytes(bytes)}; ${note}">
      <dt>${label}</dt>
      <dd data-number=${name} data-bytes=${bytes}>${formatBytes(bytes)}</dd>
    </div>`;
  }

  static override styles = [
    base,
    css`
      :host {
        display: flex;
        flex-wrap: wrap;
        align-items: baseline;
        gap: 2px 20px;
        min-height: 45px; /* of two lines: the picture stays where it is when the numbers come */
        padding: 4px 12px;
        font-size: 12px;
        font-variant-numeric: tabular-nums;
      }
      h2 {
        margin: 0;
        font-size: 13px;
        font-weight: 600;
        white-space: nowrap;
      }
      .time {
        margin-left: 4px;
        color: var(--dim);
        font-size: 12px;
        font-weight: 400;
      }
      dl {
        display: flex;
        flex-wrap: wrap;
        gap: 0 16px;
        margin: 0;
      }
      div {
        display: flex;
        gap: 5px;
        white-space: nowrap;
      }
      dt {
        color: var(--dim);
      }
      dd {
        margin: 0;
        font-weight: 600;
      }
    `,
  ];
}
