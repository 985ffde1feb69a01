// Chooses a file. A real <input type=file> with a label, so that keyboard, screen reader and tests reach it.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { customElement, property, query } from 'lit/decorators.js';
import { markPicked } from './open_file.ts';
import { base } from './styles.ts';

@customElement('memstrata-file-button')
export class FileButton extends LitElement {
  @property() label = 'Choose a file…';
  @property({ type: Boolean }) primary = false;
  @query('input') private input!: HTMLInputElement;

  /** Opens the system's dialog; only right after a key or a click. */
  choose(): void {
    this.input.click();
  }

  private readonly changed = (): void => {
    markPicked();
    const file = this.input.files?.[0];
    if (file)
      this.dispatchEvent(new CustomEvent<File>('file', { detail: file, bubbles: true, composed: true }));
    this.input.value = ''; // so that the same file can be chosen again
  };

  protected override render(): TemplateResult {
    return html`<label class="button ${this.primary ? 'primary' : ''}">
      <input type="file" class="visually-hidden" @change=${this.changed} /><span>${this.label}</span>
    </label>`;
  }

  static override styles = [
    base,
    css`
      :host {
        display: inline-flex;
        position: relative;
      }
      label:focus-within {
        outline: 2px solid var(--accent);
        outline-offset: 1px;
      }
    `,
  ];
}
