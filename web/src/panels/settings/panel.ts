// The settings of the allocator that the file tells: as a table, and as they are written in the file.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { settingLines } from '../../words/about_text.ts';
import '../../controls/copy_button.ts';
import type { LoadedPanel, PanelPage } from '../panel.ts';
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
        <table data-settings=${lines.length}>
          <thead>
            <tr>
              <th scope="col">Setting</th>
              <th scope="col">Value</th>
            </tr>
          </thead>
          <tbody>
            ${lines.map(
              ([name, value]) =>
                html`<tr>
                  <th scope="row"><code>${name}</code></th>
                  <td>
                    ${value === '' ? html`<span class="dim">empty</span>` : html`<code>${value}</code>`}
                  </td>
                </tr>`,
            )}
          </tbody>
        </table>
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
      table {
        width: 100%;
        border-collapse: collapse;
      }
      thead {
        color: var(--dim);
        font-size: 12px;
      }
      th,
      td {
        padding: 3px 16px 3px 0;
        border-bottom: 1px solid var(--line);
        font-weight: 400;
        text-align: left;
        vertical-align: top;
        overflow-wrap: anywhere;
      }
      code,
      pre {
        font-family: var(--mono);
        font-size: 12px;
      }
      .dim {
        color: var(--dim);
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
