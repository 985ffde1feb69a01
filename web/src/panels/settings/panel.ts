// The settings of the allocator that the file tells: as a table, and as they are written in the file.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { settingLines } from '../../words/about_text.ts';
import '../../controls/copy_button.ts';
import type { LoadedPanel, PanelPage } from '../panel.ts';
import { tableOf } from '../../controls/table.ts';
import { tableStyles } from '../../controls/table_styles.ts';
import { base } from '../../controls/styles.ts';

@element('gpustrata-settings')
export class SettingsPanel extends LitElement {
  @property({ attribute: false }) page!: PanelPage;

  protected override render(): TemplateResult {
    const { settings } = this.page.info;
    const lines = settingLines(settings);
    const json = JSON.stringify(settings, undefined, 2);
    return html`
      <section>
        <h2>
          Settings of the allocator
          <gpustrata-copy
            wide
            label="Copy the table"
            .text=${() => lines.map(([name, value]) => `${name}\t${value}\n`).join('')}></gpustrata-copy>
        </h2>
        ${tableOf(lines, {
          data: { settings: lines.length },
          columns: [
            { name: 'Setting', names: true, cell: ([name]) => html`<code>${name}</code>` },
            {
              name: 'Value',
              cell: ([, value]) =>
                value === '' ? html`<span class="dim">empty</span>` : html`<code>${value}</code>`,
            },
          ],
        })}
      </section>
      <section>
        <h2>
          As JSON
          <gpustrata-copy wide label="Copy the JSON" .text=${() => json}></gpustrata-copy>
        </h2>
        <pre tabindex="0" aria-label="Settings as JSON">${json}</pre>
      </section>
    `;
  }

  static override styles = [
    base,
    tableStyles,
    css`
      :host {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr));
        align-items: start;
        gap: 8px 32px;
        padding: 8px 16px 16px;
        overflow: auto;
        font-size: 13px;
      }
      p {
        max-width: 60ch;
        margin: 8px 0;
        color: var(--dim);
        line-height: 1.5;
      }
      h2 {
        display: flex;
        align-items: center;
        justify-content: space-between;
        min-height: 32px;
        margin: 0;
        font-size: 13px;
      }
      th,
      td {
        overflow-wrap: anywhere;
      }
      code,
      pre {
        font-family: var(--mono);
        font-size: 12px;
      }
      pre {
        margin: 0;
        padding: 8px 12px;
        border-radius: 6px;
        background: var(--code);
        overflow: auto;
      }
    `,
  ];
}

export const panel: LoadedPanel = {
  reads: [],
  initial: {},
  show: (page) => html`<gpustrata-settings .page=${page}></gpustrata-settings>`,
};
