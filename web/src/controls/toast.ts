// One line that says what just happened, for a moment.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { state } from 'lit/decorators.js';
import { element } from './element.ts';
import { base } from './styles.ts';

const shownMs = 2500;

@element('gpustrata-toast')
export class ToastView extends LitElement {
  @state() private text = '';
  private timer = 0;

  say(text: string): void {
    clearTimeout(this.timer);
    this.text = text;
    this.timer = setTimeout(() => (this.text = ''), shownMs);
  }

  protected override render(): TemplateResult {
    return html`<div role="status">${this.text === '' ? '' : html`<p>${this.text}</p>`}</div>`;
  }

  static override styles = [
    base,
    css`
      :host {
        position: sticky; /* at the lower edge of what is seen, be it the element or a page that scrolls */
        bottom: 0;
        z-index: 30;
        height: 0;
      }
      div {
        position: absolute;
        inset: auto 16px 24px;
        display: grid;
        justify-items: center;
        pointer-events: none;
      }
      p {
        margin: 0;
        padding: 8px 16px;
        border: 1px solid var(--line-strong);
        border-radius: 8px;
        background: var(--raised);
        box-shadow: var(--shadow);
      }
    `,
  ];
}
