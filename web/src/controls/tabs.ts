// A bar of tabs: arrows, Home and End move among them; a panel that is open follows the focus.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from './element.ts';
import { differs } from '../base/differs.ts';
import { base } from './styles.ts';
import { symbols } from './symbols.ts';

export interface Tab {
  id: string;
  name: string;
  /** That opens it. */
  key: string;
  /** Why there is nothing to open, for whoever asks. */
  lacks?: string | undefined;
}

/** Tells `open` with the id of a tab (undefined = none; it may be one that lacks something), and `near` with one that may be opened soon. */
@element('gpustrata-tabs')
export class TabsView extends LitElement {
  @property({ attribute: false, hasChanged: differs }) tabs: readonly Tab[] = [];
  @property({ attribute: false }) open: string | undefined;
  @property() label = '';
  /** Keys are told by the titles only. */
  @property({ type: Boolean, reflect: true }) narrow = false;
  /** None need be open. */
  @property({ type: Boolean }) closable = false;

  private ask(id: string | undefined): void {
    this.dispatchEvent(new CustomEvent('open', { detail: id }));
  }
  private near(id: string): void {
    const possible = this.tabs.some((tab) => tab.id === id && tab.lacks === undefined);
    if (possible && id !== this.open) this.dispatchEvent(new CustomEvent('near', { detail: id }));
  }
  private choose(id: string): void {
    if (id !== this.open) this.ask(id);
    else if (this.closable) this.ask(undefined);
  }

  private readonly key = (event: KeyboardEvent): void => {
    const buttons = [...this.renderRoot.querySelectorAll<HTMLButtonElement>('[role=tab]')];
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    const to = {
      ArrowLeft: (at + buttons.length - 1) % buttons.length,
      ArrowRight: (at + 1) % buttons.length,
      Home: 0,
      End: buttons.length - 1,
    }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    buttons[to]?.focus();
    const tab = this.tabs[to];
    if (this.open !== undefined && tab?.lacks === undefined) this.ask(tab?.id);
  };

  protected override render(): TemplateResult {
    const { tabs, open, closable } = this;
    const focusable = open ?? tabs[0]?.id;
    return html`
      <div class="tabs" role="tablist" aria-label=${this.label} @keydown=${this.key}>
        ${tabs.map(
          ({ id, name, key, lacks }) =>
            html`<button
              role="tab"
              id="tab-${id}"
              data-panel=${id}
              aria-selected=${id === open ? 'true' : 'false'}
              tabindex=${id === focusable ? 0 : -1}
              aria-disabled=${lacks === undefined ? nothing : 'true'}
              title=${lacks ?? `${closable && id === open ? 'Close' : 'Open'}${key === '' ? '' : ` (${key})`}`}
              @pointerenter=${() => this.near(id)}
              @focus=${() => this.near(id)}
              @click=${() => this.choose(id)}>
              ${name}${lacks === undefined ? nothing : html`<span class="visually-hidden"> ${lacks}</span>`}${
                key === '' ? nothing : html`<kbd aria-hidden="true">${key}</kbd>`
              }
            </button>`,
        )}
      </div>
      ${
        closable && open !== undefined
          ? html`<button
              class="button small quiet icon"
              title="Close the panel"
              aria-label="Close the panel"
              @click=${() => this.ask(undefined)}>
              ${symbols.close}
            </button>`
          : nothing
      }
    `;
  }

  static override styles = [
    base,
    css`
      :host {
        display: flex;
        flex: none;
        align-items: center;
        min-width: 0;
        max-width: 100%; /* then they scroll */
      }
      .tabs {
        display: flex;
        flex: 1;
        min-width: 0;
        height: 100%;
        overflow-x: auto;
        scrollbar-width: none;
      }
      .tabs button {
        position: relative; /* of the hidden words, so that they scroll, too */
        display: inline-flex;
        flex: none;
        align-items: center;
        gap: 8px;
        height: 100%;
        padding: 0 12px;
        border: 0;
        border-bottom: 2px solid transparent;
        background: none;
        color: var(--dim);
        font-size: 12.5px;
        font-weight: 500;
        cursor: pointer;
      }
      .tabs button:hover {
        background: var(--hover);
        color: var(--text);
      }
      .tabs button[aria-selected='true'] {
        border-color: var(--accent);
        color: var(--text);
      }
      .tabs button[aria-disabled] {
        opacity: 0.55;
        cursor: default;
      }
      .tabs button:focus-visible {
        outline-offset: -2px;
      }
      .tabs kbd {
        min-width: 0;
        padding: 0 4px;
        border: 0;
        background: none;
        color: var(--dim);
        font-weight: 400;
      }
      :host([narrow]) kbd {
        display: none;
      }
      :host([narrow]) .tabs button {
        padding: 0 var(--tab-padding, 10px);
      }
      @media (hover: none) {
        .tabs kbd {
          display: none;
        }
      }
      @media print {
        :host {
          display: none;
        }
      }
    `,
  ];
}
