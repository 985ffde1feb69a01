// What was repaired or left out while reading, each with count and place.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { property, query } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatCount, formatOffset } from '../base/format.ts';
import type { Diagnostic, Severity } from '../../engine/index.ts';
import '../controls/dialog.ts';
import type { DialogView } from '../controls/dialog.ts';
import { base } from '../controls/styles.ts';

const severities: Record<Severity, string> = { error: 'Lost', warning: 'Repaired', info: 'Note' };
const order: readonly Severity[] = ['error', 'warning', 'info'];

@element('gpustrata-notes')
export class NotesView extends LitElement {
  @property({ attribute: false }) diagnostics: readonly Diagnostic[] = [];
  @query('gpustrata-dialog') private dialog!: DialogView;

  open(): void {
    this.dialog.open();
  }

  protected override render(): TemplateResult {
    const sorted = order.flatMap((severity) => this.diagnostics.filter((one) => one.severity === severity));
    return html`
      <gpustrata-dialog heading="What the reader noticed">
        <ul>
          ${sorted.map(
            ({ severity, name, count, first_offset, first_in, text }) =>
              html`<li data-diagnostic=${name} data-count=${count}>
                <div class="head">
                  <span class="badge ${severity}">${severities[severity]}</span>
                  <code>${name}</code>
                  <span class="count">×${formatCount(count)}</span>
                </div>
                <p>${text}</p>
                ${
                  first_offset !== null && first_offset !== undefined && first_offset >= 0
                    ? html`<p class="where">
                        First at ${formatOffset(first_offset)}${first_in ? ` of ${first_in}` : ''}.
                      </p>`
                    : ''
                }
              </li>`,
          )}
        </ul>
      </gpustrata-dialog>
    `;
  }

  static override styles = [
    base,
    css`
      ul {
        margin: 8px 0 0;
        padding: 0;
        list-style: none;
      }
      li {
        padding: 12px 0;
        border-top: 1px solid var(--line);
      }
      li:first-child {
        border-top: 0;
      }
      .head {
        display: flex;
        align-items: center;
        gap: 8px;
      }
      code {
        font-family: var(--mono);
        font-size: 12.5px;
      }
      .badge {
        padding: 1px 8px;
        border-radius: 10px;
        background: var(--hover);
        font-size: 12px;
        font-weight: 500;
      }
      .badge.error {
        background: var(--bad-soft);
        color: var(--bad);
      }
      .badge.warning {
        background: var(--warn-soft);
        color: var(--warn);
      }
      .count,
      .where {
        color: var(--dim);
        font-variant-numeric: tabular-nums;
      }
      p {
        margin: 4px 0 0;
        line-height: 1.5;
        overflow-wrap: anywhere;
      }
    `,
  ];
}
