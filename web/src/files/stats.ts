// The numbers of the device shown; those that lead somewhere are buttons.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatBytes, formatCount, formatExactBytes, plural } from '../base/format.ts';
import type { Bytes } from '../base/units.ts';
import { hasReserved } from '../model/bands.ts';
import type { Diagnostic, ViewInfo } from '../../engine/index.ts';
import { base } from '../controls/styles.ts';

const mostOoms = 1000; // the engine lists no more

@element('gpustrata-stats')
export class StatsView extends LitElement {
  @property({ attribute: false }) info!: ViewInfo;
  /** They are of the blocks that a filter means. */
  @property({ type: Boolean }) only = false;
  @property({ attribute: false }) diagnostics: readonly Diagnostic[] = [];

  protected override render(): TemplateResult {
    const { info, diagnostics } = this;
    const ooms = info.oom_events.length;
    return html`
      <button
        class="stat peak"
        data-stat="peak"
        data-bytes=${info.peak.bytes}
        data-event=${info.peak.event}
        title="${formatExactBytes(info.peak.bytes)}. Go to the peak (P)"
        @click=${() => this.tell('peak')}>
        <span class="label">${info.has_history ? 'Peak' : 'In use'}${this.only ? ' of these' : ''}</span
        ><span class="value">${formatBytes(info.peak.bytes)}</span>
      </button>
      ${hasReserved(info) ? this.bytes('reserved-peak', 'Reserved', info.reserved_peak) : nothing}
      ${this.bytes('initial', 'Before recording', info.initial_bytes)}
      ${this.bytes('final', 'At the end', info.final_bytes)} ${this.count('events', 'Events', info.events)}
      ${this.count('blocks', info.bands === 'segments' ? 'Segments' : 'Blocks', info.blocks)}
      ${info.pools ? this.count('pools', 'Private pools', info.pools) : nothing}
      ${
        ooms > 0
          ? html`<button
              class="stat bad"
              data-stat="oom"
              data-count=${ooms}
              title="Go to the next out-of-memory event (O)"
              @click=${() => this.tell('oom')}>
              <span class="label">Out of memory</span>
              ${ooms > 1 ? html`<span class="value">${plural(ooms, 'time')}${ooms >= mostOoms ? ' or more' : ''}</span>` : nothing}
            </button>`
          : nothing
      }
      ${
        diagnostics.length > 0
          ? html`<button
              class="stat notes"
              data-stat="notes"
              data-count=${diagnostics.length}
              title="What the reader noticed in this file"
              @click=${() => this.tell('notes')}>
              <span class="label">Notes</span><span class="value">${formatCount(diagnostics.length)}</span>
            </button>`
          : nothing
      }
    `;
  }

  private bytes(name: string, label: string, value: Bytes): TemplateResult {
    // Of one moment these would be the same number again.
    const isSame = !this.info.has_history && name !== 'reserved-peak';
    return html`<div
      class="stat"
      data-stat=${name}
      data-bytes=${value}
      title=${formatExactBytes(value)}
      ?hidden=${isSame}>
      <span class="label">${label}</span><span class="value">${formatBytes(value)}</span>
    </div>`;
  }

  private count(name: string, label: string, value: number): TemplateResult {
    return html`<div class="stat" data-stat=${name} data-count=${value}>
      <span class="label">${label}</span><span class="value">${formatCount(value)}</span>
    </div>`;
  }

  private tell(what: 'peak' | 'oom' | 'notes'): void {
    this.dispatchEvent(new CustomEvent('choose', { detail: what }));
  }

  static override styles = [
    base,
    css`
      :host {
        display: flex;
        flex-wrap: wrap;
        gap: 0 2px;
      }
      .stat {
        display: flex;
        align-items: baseline;
        gap: 5px;
        min-height: 28px;
        padding: 4px 6px;
        border: 0;
        border-radius: 6px;
        background: none;
        font-variant-numeric: tabular-nums;
        line-height: 20px;
      }
      button.stat {
        cursor: pointer;
      }
      button.stat:hover {
        background: var(--hover);
      }
      .label {
        color: var(--dim);
        font-size: 12px;
        white-space: nowrap;
      }
      .value {
        font-weight: 600;
        white-space: nowrap;
      }
      .peak .value {
        font-weight: 700;
        color: var(--accent);
      }
      .bad .label,
      .bad .value {
        color: var(--bad);
        font-weight: 650;
      }
      /* The answers and the sheet about the file say these, too. */
      @container (max-width: 1919px) {
        [data-stat='initial'],
        [data-stat='final'],
        [data-stat='events'],
        [data-stat='blocks'],
        [data-stat='pools'] {
          display: none;
        }
      }
    `,
  ];
}
