// A button that copies a text and says so for a moment.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from './element.ts';
import { copyText } from '../base/clipboard.ts';
import { base } from './styles.ts';
import { symbols } from './symbols.ts';

@element('gpustrata-copy')
export class CopyButton extends LitElement {
  @property() label = 'Copy';
  /** Also shows the label. */
  @property({ type: Boolean }) wide = false;
  @property({ attribute: false }) text: () => string = () => '';
  @state() private copied = false;

  async copy(): Promise<void> {
    if (!(await copyText(this.text()))) return;
    this.copied = true;
    setTimeout(() => (this.copied = false), 1500);
  }

  protected override render(): TemplateResult {
    return html`<button
      class="button small quiet ${this.wide ? '' : 'icon'}"
      title=${this.label}
      aria-label=${this.wide ? nothing : this.label}
      @click=${() => void this.copy()}>
      ${this.copied ? symbols.done : symbols.copy}${this.wide ? html`<span>${this.copied ? 'Copied' : this.label}</span>` : ''}
    </button>`;
  }

  static override styles = [
    base,
    css`
      :host {
        display: inline-flex;
      }
      @media print {
        :host {
          display: none;
        }
      }
    `,
  ];
}
