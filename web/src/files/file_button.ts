// Chooses files. A real <input type=file> with a label, so that keyboard, screen reader and tests reach it.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { property, query } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { chosenFrom, foundOf, markPicked, type ChosenFiles } from './choose.ts';
import { base } from '../controls/styles.ts';

function chosenIn(input: HTMLInputElement, folder: boolean): ChosenFiles | undefined {
  markPicked();
  const files = [...(input.files ?? [])];
  input.value = ''; // so that the same file can be chosen again
  return files.length > 0 ? chosenFrom(files.map(foundOf), folder) : undefined;
}

let asking: HTMLInputElement | undefined; // kept: a browser may forget one that nobody holds

/** The same by key. */
export function askForFiles(receive: (chosen: ChosenFiles) => void): void {
  const input = document.createElement('input');
  asking = input;
  input.type = 'file';
  input.multiple = true;
  input.addEventListener('change', () => {
    if (asking !== input) return;
    const chosen = chosenIn(input, false);
    if (chosen) receive(chosen);
  });
  input.click();
}

/** Tells `files` with what was chosen; the event bubbles out of every shadow root. */
@element('gpustrata-file-button')
export class FileButton extends LitElement {
  @property() label = 'Choose files…';
  @property({ type: Boolean }) primary = false;
  /** A whole folder, such as the one with a file per rank. */
  @property({ type: Boolean }) folder = false;
  @query('input') private input!: HTMLInputElement;

  private readonly changed = (): void => {
    const detail = chosenIn(this.input, this.folder);
    if (detail)
      this.dispatchEvent(new CustomEvent<ChosenFiles>('files', { detail, bubbles: true, composed: true }));
  };

  protected override render(): TemplateResult {
    return html`<label class="button ${this.primary ? 'primary' : ''}">
      <input
        type="file"
        class="visually-hidden"
        ?multiple=${!this.folder}
        ?webkitdirectory=${this.folder}
        @change=${this.changed} /><span>${this.label}</span>
    </label>`;
  }

  static override styles = [
    base,
    css`
      :host {
        display: inline-flex;
        position: relative;
      }
      label.button {
        height: var(--button-height, 32px);
      }
      label:focus-within {
        outline: 2px solid var(--accent);
        outline-offset: 1px;
      }
    `,
  ];
}
