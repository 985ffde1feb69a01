// A file on its way: phase, bytes, speed, and a way out.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatBytes, formatRate, plural } from '../base/format.ts';
import type { Phase } from '../../engine/index.ts';
import type { Loading } from '../model/open_files.ts';
import { base, card } from '../controls/styles.ts';

const phases: Record<Phase, string> = {
  reading: 'Reading',
  finishing: 'Putting the tables in order',
};

@element('gpustrata-loading')
export class LoadingView extends LitElement {
  @property({ attribute: false }) loading!: Loading;

  protected override render(): TemplateResult {
    const { name, progress, startedAt } = this.loading;
    const { phase, bytes, total, events } = progress;
    const known = phase === 'reading' && total > 0;
    const part = phase === 'reading' ? (total > 0 ? bytes / total : 0) : 1;
    const rate = bytes > 0 && startedAt > 0 ? formatRate(bytes, performance.now() - startedAt) : '';
    return html`
      <div class="card" role="group" aria-label="Opening ${name}">
        <h2 title=${name}>${name}</h2>
        <div
          class="track ${known || phase !== 'reading' ? '' : 'unknown'}"
          role="progressbar"
          aria-label=${phases[phase]}
          aria-valuemin="0"
          aria-valuemax="100"
          aria-valuenow=${Math.round(part * 100)}>
          <div class="fill" .style=${`transform: scaleX(${part})`}></div>
        </div>
        <div class="row">
          <span class="phase">${startedAt > 0 ? phases[phase] : 'Waits for its turn'}</span>
          <span class="numbers">
            ${formatBytes(bytes)}${total > 0 ? ` of ${formatBytes(total)}` : ''}${rate ? ` · ${rate}` : ''}
          </span>
        </div>
        <div class="row">
          <span class="numbers">${plural(events, 'event')}</span>
          <button
            class="button"
            data-action="cancel"
            @click=${() => this.dispatchEvent(new CustomEvent('cancel'))}>
            Cancel
          </button>
        </div>
      </div>
    `;
  }

  static override styles = [
    base,
    card,
    css`
      .card {
        width: min(480px, 100%);
      }
      h2 {
        margin: 0 0 16px;
        font-size: 16px;
        font-weight: 600;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .track {
        height: 6px;
        border-radius: 3px;
        background: var(--hover);
        overflow: hidden;
      }
      .fill {
        height: 100%;
        background: var(--accent);
        transform-origin: left;
      }
      .row {
        display: flex;
        align-items: center;
        justify-content: space-between;
        gap: 8px;
        min-height: 24px;
        margin-top: 12px;
        color: var(--dim);
        font-variant-numeric: tabular-nums;
      }
      .phase {
        color: var(--text);
      }
    `,
  ];
}
