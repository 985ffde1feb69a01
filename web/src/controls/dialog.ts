// A dialog over the page: a heading, a way out, and whatever is put into it.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { property, query } from 'lit/decorators.js';
import { element } from './element.ts';
import { base } from './styles.ts';
import { symbols } from './symbols.ts';

/** Tells `closed`. */
@element('gpustrata-dialog')
export class DialogView extends LitElement {
  @property() heading = '';
  /** CSS pixels; narrower where the page is. */
  @property({ type: Number }) width = 600;
  @query('dialog') private dialog!: HTMLDialogElement;

  get isOpen(): boolean {
    return this.dialog?.open ?? false;
  }

  open(): void {
    if (!this.dialog.open) this.dialog.showModal();
  }
  close(): void {
    this.dialog.close();
  }

  protected override render(): TemplateResult {
    return html`<dialog
      aria-labelledby="heading"
      .style=${`--width: ${this.width}px`}
      @close=${() => this.dispatchEvent(new CustomEvent('closed'))}
      @click=${(event: Event) => event.target === this.dialog && this.close()}>
      <div class="sheet">
        <div class="head">
          <h2 id="heading">${this.heading}</h2>
          <button class="button quiet icon small" aria-label="Close" @click=${() => this.close()}>
            ${symbols.close}
          </button>
        </div>
        <slot></slot>
      </div>
    </dialog>`;
  }

  static override styles = [
    base,
    css`
      dialog {
        width: min(var(--width), calc(100vw - 32px));
        max-height: calc(100vh - 32px);
        padding: 0;
        border: 1px solid var(--line);
        border-radius: 12px;
        background: var(--raised);
        color: var(--text);
        box-shadow: var(--shadow);
      }
      dialog::backdrop {
        background: rgba(8, 12, 18, 0.45);
      }
      .sheet {
        padding: 16px 24px 24px;
      }
      .head {
        display: flex;
        align-items: center;
        justify-content: space-between;
        gap: 16px;
      }
      h2 {
        margin: 0;
        font-size: 18px;
      }
    `,
  ];
}
