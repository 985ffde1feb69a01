// One field that finds blocks; matches are lit on the timeline.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { customElement, property, query } from 'lit/decorators.js';
import { formatBytes, formatExactBytes, plural, formatCount } from '../base/format.ts';
import type { SearchAnswer } from '../engine/answers.ts';
import type { SearchScope } from '../engine/protocol.ts';
import { base } from './styles.ts';
import { symbols } from './symbols.ts';

export interface SearchWish {
  scope: SearchScope;
  text: string;
}

const scopes: Record<SearchScope, string> = {
  anything: 'Anything',
  address: 'Address',
  frame: 'Stack frame',
  metadata: 'Metadata',
};
const waitMs = 120; // while typing

@customElement('memstrata-search')
export class SearchView extends LitElement {
  @property({ attribute: false }) found: SearchAnswer | undefined;
  /** Index of the match shown, -1 = none yet. */
  @property({ type: Number }) current = -1;
  @query('input') private input!: HTMLInputElement;
  @query('select') private select!: HTMLSelectElement;
  private timer = 0;
  private last = '';

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }

  override focus(): void {
    this.input.focus();
    this.input.select();
  }

  clear(): void {
    this.input.value = '';
    this.wish();
  }

  private readonly typed = (): void => {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.wish(), waitMs);
  };

  private wish(): boolean {
    clearTimeout(this.timer);
    const wish: SearchWish = { scope: this.select.value as SearchScope, text: this.input.value.trim() };
    const key = `${wish.scope} ${wish.text}`;
    if (key === this.last) return false;
    this.last = key;
    this.dispatchEvent(new CustomEvent<SearchWish>('search', { detail: wish }));
    return true;
  }

  private readonly key = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') {
      event.preventDefault();
      if (!this.wish() && this.found) this.step(event.shiftKey ? -1 : 1);
    }
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      if (this.input.value !== '') this.clear();
      else this.input.blur();
    }
  };

  private step(by: 1 | -1): void {
    this.dispatchEvent(new CustomEvent<1 | -1>('step', { detail: by }));
  }

  protected override render(): TemplateResult {
    const { found, current } = this;
    const none = found?.count === 0;
    return html`
      <div class="group" role="search">
        <select aria-label="Search in" @change=${() => this.wish()}>
          ${Object.entries(scopes).map(([value, label]) => html`<option value=${value}>${label}</option>`)}
        </select>
        <span class="glass">${symbols.search}</span>
        <input
          type="search"
          placeholder="Search blocks"
          aria-label="Search blocks"
          aria-keyshortcuts="/"
          autocomplete="off"
          spellcheck="false"
          @input=${this.typed}
          @keydown=${this.key} />
        ${
          found
            ? html`<span
                  class="count ${none ? 'none' : ''}"
                  role="status"
                  data-count=${found.count}
                  data-bytes=${found.bytes}
                  title=${formatExactBytes(found.bytes)}>
                  ${
                    none
                      ? 'no match'
                      : html`${current >= 0 ? `${formatCount(current + 1)} of ` : ''}${plural(found.count, 'match', 'matches')}
                          <span class="bytes">· ${formatBytes(found.bytes)}</span>`
                  }
                </span>
                <button
                  class="button small quiet icon"
                  title="Previous match (Shift N)"
                  aria-label="Previous match"
                  ?disabled=${none}
                  @click=${() => this.step(-1)}>
                  ${symbols.up}
                </button>
                <button
                  class="button small quiet icon"
                  title="Next match (N)"
                  aria-label="Next match"
                  ?disabled=${none}
                  @click=${() => this.step(1)}>
                  ${symbols.down}
                </button>
                <button
                  class="button small quiet icon"
                  title="Clear (Esc)"
                  aria-label="Clear the search"
                  @click=${() => this.clear()}>
                  ${symbols.close}
                </button>`
            : html`<kbd>/</kbd>`
        }
      </div>
    `;
  }

  static override styles = [
    base,
    css`
      :host {
        display: block;
        min-width: 0;
      }
      .group {
        display: flex;
        align-items: center;
        gap: 4px;
        height: 32px;
        padding: 0 4px 0 0;
        border: 1px solid var(--line-strong);
        border-radius: 6px;
        background: var(--surface);
      }
      .group:focus-within {
        border-color: var(--accent);
        box-shadow: 0 0 0 1px var(--accent);
      }
      select,
      input {
        height: 100%;
        border: 0;
        background: transparent;
        outline: none;
      }
      select {
        width: 92px;
        flex: none;
        padding: 0 2px 0 8px;
        border-right: 1px solid var(--line);
        border-radius: 6px 0 0 6px;
        color: var(--dim);
        font-size: 13px;
      }
      select:focus-visible {
        outline: 2px solid var(--accent);
        outline-offset: -2px;
      }
      option {
        background: var(--raised);
        color: var(--text);
      }
      .glass {
        display: flex;
        padding-left: 4px;
        color: var(--dim);
      }
      input {
        flex: 1;
        min-width: 40px;
        padding: 0 4px;
      }
      input:focus-visible {
        outline: none;
      }
      input::placeholder {
        color: var(--dim);
        opacity: 1;
      }
      input::-webkit-search-cancel-button {
        display: none;
      }
      .count {
        color: var(--dim);
        font-size: 12.5px;
        white-space: nowrap;
        font-variant-numeric: tabular-nums;
      }
      .count.none {
        color: var(--bad);
      }
      kbd {
        margin-right: 4px;
        color: var(--dim);
      }
      @media (max-width: 480px) {
        .bytes {
          display: none;
        }
      }
    `,
  ];
}
