// Saves the picture of the timeline as a file.
import { reasonOf } from '../base/reason.ts';
import { css, html, LitElement, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { saveFile } from '../base/save_file.ts';
import { sheetAsPng, sheetAsSvg } from '../draw/sheet.ts';
import { timelineSheet, type OnScreen } from '../timeline/sheet.ts';
import '../controls/dialog.ts';
import type { DialogView } from '../controls/dialog.ts';
import { base } from '../controls/styles.ts';

@element('gpustrata-export')
export class ExportView extends LitElement {
  /** Undefined = nothing is. */
  @property({ attribute: false, hasChanged: () => false }) onScreen: () => OnScreen | undefined = () =>
    undefined;
  /** Stands above the picture. */
  @property() caption = '';
  /** Without an ending. */
  @property() name = '';
  @state() private problem = '';
  @query('gpustrata-dialog') private dialog!: DialogView;

  open(): void {
    this.problem = '';
    this.dialog.open();
  }

  private async save(kind: 'png' | 'svg'): Promise<void> {
    const shown = this.onScreen();
    const sheet = shown && timelineSheet(this.caption, shown);
    if (!sheet) return;
    try {
      const blob =
        kind === 'png' ? await sheetAsPng(sheet) : new Blob([sheetAsSvg(sheet)], { type: 'image/svg+xml' });
      saveFile(`${this.name}.${kind}`, blob);
      this.dialog.close();
    } catch (error) {
      this.problem = reasonOf(error);
    }
  }

  protected override render(): TemplateResult {
    return html`<gpustrata-dialog heading="Save the picture" width="440">
      <p>What the timeline shows now, with its title and what the colours mean.</p>
      <div class="choices">
        <button class="button primary" data-save="png" @click=${() => void this.save('png')}>PNG</button>
        <button class="button" data-save="svg" @click=${() => void this.save('svg')}>SVG</button>
      </div>
      <p class="dim">
        PNG has the pixels of this screen. In SVG text and lines stay sharp at any size; the bands are an
        image.
      </p>
      ${this.problem ? html`<p role="alert">${this.problem}</p>` : ''}
    </gpustrata-dialog>`;
  }

  static override styles = [
    base,
    css`
      .choices {
        display: flex;
        gap: 8px;
      }
      .dim {
        margin-bottom: 0;
        font-size: 13px;
      }
    `,
  ];
}
