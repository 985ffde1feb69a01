// One field that says which blocks are meant; they are lit on the timeline, the others fade.
//
// The engine reads the language (engine/analysis/filters/filter_syntax.h) and completes it; here is only the field.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatBytes, formatCount, formatExactBytes, plural } from '../base/format.ts';
import { LatestOnly } from '../base/latest_only.ts';
import type { AddressOwner, Completions, EngineError, FilterAnswer } from '../../engine/index.ts';
import { base } from '../controls/styles.ts';
import { symbols } from '../controls/symbols.ts';

const waitMs = 120; // while typing
const errorWaitMs = 500; // half a word is no mistake
/** Alone in the field, an address asks whose it is. */
const anAddress = /^0x[0-9a-f]{5,16}$/i;

interface Asked {
  text: string;
  cursor: number;
}

/** Tells `filter` with the text, and `step` with 1 or -1. */
@element('gpustrata-filter')
export class FilterBar extends LitElement {
  @property({ attribute: false }) found: FilterAnswer | undefined;
  /** Only what it means is shown. */
  @property({ attribute: false }) only = false;
  @property({ attribute: false }) error: EngineError | undefined;
  /** The text in force; the field follows it when it is changed from elsewhere. */
  @property() text = '';
  /** Index of the match shown, -1 = none yet. */
  @property({ type: Number }) current = -1;
  @property({ attribute: false, hasChanged: () => false }) complete:
    ((asked: Asked) => Promise<Completions>) | undefined;
  /** Whose an address is when the recording ends. */
  @property({ attribute: false, hasChanged: () => false }) owner:
    ((address: string) => Promise<AddressOwner>) | undefined;
  @state() private owned: AddressOwner | undefined;
  @state() private completions: Completions = { from: 0, items: [] };
  @state() private chosen = -1;
  @state() private focused = false;
  @state() private errorDue = false;
  @query('input') private input!: HTMLInputElement;
  private timer = 0;
  private errorTimer = 0;
  private last = '';
  private readonly completing = new LatestOnly<Asked, Completions>(
    (asked) => this.complete?.(asked) ?? Promise.resolve({ from: 0, items: [] }),
    (found, asked) => {
      if (asked.text !== this.input.value) return;
      // What is already written whole needs no completion.
      const written = asked.text.slice(found.from, asked.cursor);
      this.completions = { ...found, items: found.items.filter(({ text }) => text !== written) };
      this.chosen = -1;
    },
    () => undefined, // without a list one still can type
  );

  private readonly owning = new LatestOnly<string, AddressOwner | undefined>(
    (address) => this.owner?.(address) ?? Promise.resolve(undefined),
    (found, address) => (this.owned = address === this.last ? found : undefined),
    () => (this.owned = undefined), // as if nobody had asked: blocks of that name are still lit
  );

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.timer);
    clearTimeout(this.errorTimer);
  }

  override focus(): void {
    this.input.focus();
    this.input.select();
  }

  clear(): void {
    this.input.value = '';
    this.wish();
  }

  protected override updated(): void {
    if (this.text === this.last) return;
    this.last = this.text;
    this.input.value = this.text;
    this.askOwner();
  }

  private askOwner(): void {
    this.owned = undefined;
    if (anAddress.test(this.last)) this.owning.request(this.last);
    else this.owning.forget();
  }

  private readonly typed = (): void => {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.wish(), waitMs);
    this.errorDue = false;
    clearTimeout(this.errorTimer);
    this.errorTimer = setTimeout(() => (this.errorDue = true), errorWaitMs);
    this.askCompletions();
  };

  private askCompletions(): void {
    const { value, selectionStart } = this.input;
    this.completing.request({ text: value, cursor: selectionStart ?? value.length });
  }

  private wish(): boolean {
    clearTimeout(this.timer);
    const text = this.input.value.trim();
    if (text === this.last) return false;
    this.last = text;
    this.askOwner();
    this.dispatchEvent(new CustomEvent<string>('filter', { detail: text }));
    return true;
  }

  private get open(): boolean {
    return this.focused && this.completions.items.length > 0;
  }

  private readonly key = (event: KeyboardEvent): void => {
    const { items } = this.completions;
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp': {
        if (!this.open) return;
        const by = event.key === 'ArrowDown' ? 1 : -1;
        this.chosen = ((this.chosen < 0 && by < 0 ? 0 : this.chosen) + by + items.length) % items.length;
        break;
      }
      case 'Tab':
        if (!this.open || this.chosen < 0) return;
        this.accept(this.chosen);
        break;
      case 'Enter':
        if (this.open && this.chosen >= 0) this.accept(this.chosen);
        else {
          this.completions = { from: 0, items: [] };
          this.errorDue = true;
          if (!this.wish() && this.found) this.step(event.shiftKey ? -1 : 1);
        }
        break;
      case 'Escape':
        event.stopPropagation();
        if (this.open) this.completions = { from: 0, items: [] };
        else if (this.owned) this.owned = undefined;
        else if (this.input.value !== '') this.clear();
        else this.input.blur();
        break;
      default:
        return;
    }
    event.preventDefault();
  };

  private accept(index: number): void {
    const item = this.completions.items[index];
    if (!item) return;
    const { value, selectionStart } = this.input;
    const cursor = selectionStart ?? value.length;
    const whole = !/[:@<>=]$/.test(item.text);
    const before = `${value.slice(0, this.completions.from)}${item.text}${whole ? ' ' : ''}`;
    this.input.value = before + value.slice(cursor).replace(/^ /, whole ? '' : ' ');
    this.input.setSelectionRange(before.length, before.length);
    this.completions = { from: 0, items: [] };
    this.typed();
  }

  private step(by: 1 | -1): void {
    this.dispatchEvent(new CustomEvent<1 | -1>('step', { detail: by }));
  }

  protected override render(): TemplateResult {
    return html`
      <div class="group" role="search">
        <span class="glass">${symbols.search}</span>
        <input
          role="combobox"
          aria-autocomplete="list"
          aria-expanded=${this.open ? 'true' : 'false'}
          aria-controls="completions"
          aria-activedescendant=${this.chosen >= 0 && this.open ? `completion-${this.chosen}` : nothing}
          aria-invalid=${this.error ? 'true' : 'false'}
          aria-describedby=${this.error && this.errorDue ? 'error' : nothing}
          placeholder="Search or filter: size>1MiB stack:attention"
          aria-label="Search and filter blocks"
          aria-keyshortcuts="/"
          autocomplete="off"
          autocapitalize="off"
          spellcheck="false"
          maxlength="4096"
          @input=${this.typed}
          @keydown=${this.key}
          @focus=${() => {
            this.focused = true;
            this.askCompletions();
          }}
          @blur=${() => (this.focused = false)} />
        ${this.found ? this.outcome(this.found) : html`<kbd>/</kbd>`}
      </div>
      <ul id="completions" role="listbox" aria-label="Completions" ?hidden=${!this.open}>
        ${this.completions.items.map(
          ({ text, says }, index) =>
            html`<li
              id="completion-${index}"
              role="option"
              aria-selected=${index === this.chosen ? 'true' : 'false'}
              @pointerdown=${(event: PointerEvent) => {
                event.preventDefault(); // the field keeps the focus
                this.accept(index);
              }}>
              <code>${text}</code><span>${says}</span>
            </li>`,
        )}
      </ul>
      ${this.error && this.errorDue && !this.open ? this.problem(this.error) : nothing}
      ${this.owned && !this.open ? this.whose(this.owned) : nothing}
    `;
  }

  private whose({ address, known, lines }: AddressOwner): TemplateResult {
    return html`<section class="owner" aria-label="Whose ${address} is" data-known=${known}>
      <button
        class="button small quiet icon"
        title="Close (Esc)"
        aria-label="Close"
        @click=${() => (this.owned = undefined)}>
        ${symbols.close}
      </button>
      <h2>${address}, when the recording ends</h2>
      ${lines.map((line) => html`<p>${line}</p>`)}
    </section>`;
  }

  private outcome(found: FilterAnswer): TemplateResult {
    const none = found.count === 0;
    return html`<span
        class="count ${none ? 'none' : ''}"
        role="status"
        data-count=${found.count}
        data-bytes=${found.bytes}
        data-at-peak=${found.at_peak}
        title="${formatExactBytes(found.bytes)} in all, ${formatExactBytes(found.at_peak)} in use at the peak">
        ${
          none
            ? 'no match'
            : html`<span class="bytes">${formatBytes(found.at_peak)} at the peak · </span>
                ${this.current >= 0 ? `${formatCount(this.current + 1)} of ` : ''}${plural(found.count, 'match', 'matches')}`
        }
      </span>
      <button
        class="button small quiet only"
        title="Show only these, stacked from zero (H)"
        aria-label="Only these"
        aria-pressed=${this.only ? 'true' : 'false'}
        ?disabled=${none && !this.only}
        @click=${() => this.dispatchEvent(new CustomEvent('only'))}>
        Only<span class="word">these</span>
      </button>
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
        aria-label="Clear the filter"
        @click=${() => this.clear()}>
        ${symbols.close}
      </button>`;
  }

  /** What is wrong, with the place marked. */
  private problem({ message, offset }: EngineError): TemplateResult {
    const { last } = this;
    const at = Math.min(Math.max(offset, 0), last.length);
    return html`<p id="error" class="error" role="alert" data-offset=${offset}>
      ${
        offset >= 0
          ? html`<code
              >${last.slice(Math.max(0, at - 24), at)}<mark>${last.slice(at, at + 16) || ' '}</mark></code
            >`
          : nothing
      }
      ${message}
    </p>`;
  }

  static override styles = [
    base,
    css`
      :host {
        position: relative;
        display: block;
        min-width: 0;
      }
      .group {
        container-type: inline-size;
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
      .glass {
        display: flex;
        padding-left: 8px;
        color: var(--dim);
      }
      input {
        flex: 1;
        min-width: 40px;
        height: 100%;
        padding: 0 4px;
        border: 0;
        background: transparent;
        text-overflow: ellipsis;
      }
      input,
      input:focus-visible {
        outline: none;
      }
      input::placeholder {
        color: var(--dim);
        opacity: 1;
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
      ul,
      .error,
      .owner {
        position: absolute;
        z-index: 10;
        top: calc(100% + 2px);
        left: 6px;
        right: 0;
        margin: 0;
        border: 1px solid var(--line-strong);
        border-radius: 8px;
        background: var(--raised);
        box-shadow: var(--shadow);
        font-size: 13px;
      }
      ul {
        padding: 4px;
        list-style: none;
      }
      li {
        display: flex;
        justify-content: space-between;
        gap: 16px;
        padding: 4px 8px;
        border-radius: 5px;
        cursor: pointer;
      }
      li:hover,
      li[aria-selected='true'] {
        background: var(--accent-soft);
      }
      li span {
        overflow: hidden;
        text-overflow: ellipsis;
        color: var(--dim);
        white-space: nowrap;
      }
      code {
        font-family: var(--mono);
        font-size: 12.5px;
        white-space: pre;
      }
      .error {
        padding: 8px 12px;
        border-color: var(--bad);
      }
      .owner {
        max-height: 60vh;
        padding: 8px 12px;
        overflow: auto;
      }
      .owner .button {
        float: right;
      }
      .owner h2 {
        margin: 0;
        font-size: 13px;
      }
      .owner p {
        margin: 4px 0 0;
        overflow-wrap: anywhere;
      }
      @media (hover: none) {
        kbd {
          display: none;
        }
      }
      mark {
        background: var(--bad-soft);
        color: var(--bad);
        text-decoration: underline wavy;
      }
      @container (max-width: 460px) {
        .bytes,
        .only .word {
          display: none;
        }
      }
      @container (max-width: 300px) {
        .count {
          display: none;
        }
      }
    `,
  ];
}
