// What is known of the file as a whole: format, sizes, settings of the allocator, what the reader noticed.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { property, query } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { aboutText, factsOfFile, settingLines } from '../words/about_text.ts';
import type { OpenFile } from '../model/open_files.ts';
import '../controls/copy_button.ts';
import '../controls/dialog.ts';
import type { DialogView } from '../controls/dialog.ts';
import { base, facts } from '../controls/styles.ts';

/** Tells `closed`. */
@element('gpustrata-about')
export class AboutView extends LitElement {
  @property({ attribute: false }) file!: OpenFile;
  @property({ attribute: false }) view: OpenFile['view'];
  @query('gpustrata-dialog') private dialog!: DialogView;

  get isOpen(): boolean {
    return this.dialog?.isOpen ?? false;
  }

  open(): void {
    this.dialog.open();
  }
  close(): void {
    this.dialog.close();
  }

  protected override render(): TemplateResult {
    const { file } = this;
    const settings = settingLines(file.view?.info.settings);
    return html`<gpustrata-dialog
      heading="About this file"
      width="640"
      @closed=${() => this.dispatchEvent(new CustomEvent('closed'))}>
      <gpustrata-copy wide label="Copy all" .text=${() => aboutText(file)}></gpustrata-copy>
      <dl>
        ${factsOfFile(file).map(
          ({ label, value, more }) =>
            html`<dt>${label}</dt>
              <dd>${value}${more === undefined ? '' : html` <span class="more">${more}</span>`}</dd>`,
        )}
      </dl>
      <h3>Settings of the allocator</h3>
      ${
        settings.length === 0
          ? html`<p>The file does not say; older versions of PyTorch did not write them.</p>`
          : html`<dl class="settings" data-settings=${settings.length}>
              ${settings.map(
                ([name, value]) =>
                  html`<dt><code>${name}</code></dt>
                    <dd><code>${value}</code></dd>`,
              )}
            </dl>`
      }
      <h3>What the reader noticed</h3>
      ${
        file.diagnostics.length === 0
          ? html`<p>Nothing: the file was read whole and as it is.</p>`
          : html`<ul>
              ${file.diagnostics.map(({ text, count }) => html`<li>${text} <span class="more">×${count}</span></li>`)}
            </ul>`
      }
    </gpustrata-dialog>`;
  }

  static override styles = [
    base,
    facts,
    css`
      .more {
        color: var(--dim);
      }
      h3 {
        margin: 16px 0 4px;
        padding-top: 12px;
        border-top: 1px solid var(--line);
        font-size: 14px;
      }
      p,
      ul {
        margin: 4px 0 0;
      }
      ul {
        padding-left: 20px;
      }
      code {
        font-family: var(--mono);
        font-size: 12.5px;
      }
      .settings {
        gap: 2px 16px;
      }
      @container (max-width: 480px) {
        .settings {
          grid-template-columns: minmax(0, 1fr);
        }
      }
    `,
  ];
}
