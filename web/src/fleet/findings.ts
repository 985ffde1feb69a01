// What is odd in a fleet, in sentences, the most important first; each lights its ranks.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatBytes, formatExactBytes, plural } from '../base/format.ts';
import { base } from '../controls/styles.ts';
import type { FleetFinding } from '../model/fleet_file.ts';

/** No person reads more; a fleet of a broken run may have one for each rank. */
const mostShown = 200;

/** Tells `light` with the number of a finding. */
@element('gpustrata-fleet-findings')
export class FleetFindings extends LitElement {
  @property({ attribute: false }) findings: readonly FleetFinding[] = [];
  /** The number of the one that is lit; -1 = none. */
  @property({ type: Number }) lit = -1;

  protected override render(): TemplateResult {
    if (this.findings.length === 0) return html`<p class="dim">No rank is unlike the others.</p>`;
    const shown = this.findings.slice(0, mostShown);
    const more = this.findings.length - shown.length;
    return html`<ol>
        ${shown.map((finding, index) => this.finding(finding, index))}
      </ol>
      ${more > 0 ? html`<p class="dim">${plural(more, 'more finding')} not shown.</p>` : nothing}`;
  }

  private finding(finding: FleetFinding, index: number): TemplateResult {
    const { kind, title, text, rows, stacks, bad } = finding;
    const lit = index === this.lit;
    return html`<li class=${bad ? 'bad' : ''} data-finding=${kind} data-rows=${rows.length}>
      ${
        rows.length === 0
          ? html`<h3>${title ?? kind}</h3>`
          : html`<h3>
              <button
                aria-pressed=${lit ? 'true' : 'false'}
                title="${lit ? 'Put out' : 'Light'} ${plural(rows.length, 'row')}"
                @click=${() => this.dispatchEvent(new CustomEvent<number>('light', { detail: index }))}>
                ${title ?? kind}
              </button>
            </h3>`
      }
      ${text ? html`<p>${text}</p>` : nothing}
      ${
        stacks.length === 0
          ? nothing
          : html`<ul>
              ${stacks.slice(0, 5).map(
                ({ who, stack, value, median }) =>
                  html`<li>
                    <span class="mono" title=${stack ?? ''}>${who ?? stack ?? ''}</span>
                    ${value === null ? nothing : html`<b title=${formatExactBytes(value)}>${formatBytes(value)}</b>`}
                    ${median === null ? nothing : html`<span class="dim" title=${formatExactBytes(median)}>others ${formatBytes(median)}</span>`}
                  </li>`,
              )}
            </ul>`
      }
    </li>`;
  }

  static override styles = [
    base,
    css`
      :host {
        display: block;
        min-width: 0;
      }
      ol {
        display: grid;
        grid-template-columns: repeat(auto-fill, minmax(min(100%, 340px), 1fr));
        gap: 8px;
        max-height: min(60vh, 540px);
        margin: 0;
        padding: 2px;
        overflow: auto;
        list-style: none;
      }
      ol > li {
        min-width: 0;
        padding: 8px 12px;
        border: 1px solid var(--line);
        border-left: 3px solid var(--line-strong);
        border-radius: 6px;
        overflow-wrap: anywhere;
      }
      ol > li.bad {
        border-left-color: var(--bad);
      }
      ol > li:has([aria-pressed='true']) {
        background: var(--accent-soft);
      }
      h3 {
        margin: 0;
        font-size: 13px;
        font-weight: 600;
        line-height: 1.4;
        text-wrap: pretty;
      }
      h3 button {
        padding: 0;
        border: 0;
        background: none;
        font-weight: 600;
        text-align: left;
        text-decoration: underline;
        text-decoration-color: var(--line-strong);
        text-underline-offset: 3px;
        cursor: pointer;
      }
      h3 button:hover,
      h3 button[aria-pressed='true'] {
        color: var(--accent);
        text-decoration-color: currentColor;
      }
      p {
        margin: 2px 0 0;
        color: var(--dim);
      }
      ul {
        margin: 4px 0 0;
        padding: 0;
        list-style: none;
      }
      ul li {
        display: flex;
        flex-wrap: wrap;
        gap: 0 8px;
        font-variant-numeric: tabular-nums;
      }
      b {
        font-weight: 600;
      }
    `,
  ];
}
