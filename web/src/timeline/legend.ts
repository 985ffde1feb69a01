// What the colours mean and how much each kind has at the highest point of the view.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { differs } from '../base/differs.ts';
import { formatBytes, formatCount, formatExactBytes, formatShare, plural } from '../base/format.ts';
import type { Bytes } from '../base/units.ts';
import { kindName, unusedName } from '../words/group_text.ts';
import type { Kinds, Shares } from '../../engine/index.ts';
import { middle, middleStyles } from '../controls/middle.ts';
import { base } from '../controls/styles.ts';

/** Tells `light` with the kind that is to be lit alone, -1 = none. */
@element('gpustrata-legend')
export class LegendView extends LitElement {
  @property({ attribute: false }) kinds: Kinds | undefined;
  @property({ attribute: false }) shares: Shares | undefined;
  @property({ attribute: false, hasChanged: differs }) colors: readonly string[] = [];
  /** The kind that stays lit. */
  @property({ type: Number }) held = -1;

  protected override render(): TemplateResult | typeof nothing {
    const { kinds, shares } = this;
    if (!kinds || kinds.kinds.length === 0) return nothing;
    const level = shares?.level ?? 0;
    const moment = shares
      ? shares.event < 0
        ? 'at the start'
        : `at event ${formatCount(shares.event)}`
      : '';
    return html`<ul
      data-by=${kinds.by}
      aria-label="Colours, with shares of the highest point of the view"
      @pointerleave=${() => this.light(this.held)}>
      ${kinds.kinds.map(({ label, blocks, says }, index) => {
        const share = shares?.kinds[index];
        const name = kindName(kinds, index);
        return html`<li>
          <button
            class=${blocks === 0 ? 'none' : ''}
            data-kind=${label}
            data-bytes=${share?.bytes ?? nothing}
            aria-pressed=${index === this.held ? 'true' : 'false'}
            title="${name}${says ? `, ${says}` : ''}: ${share ? `${formatExactBytes(share.bytes)} in ${plural(share.blocks, 'block')} ${moment}; ` : ''}${plural(blocks, 'block')} in all. Click to keep it lit."
            @pointerenter=${(event: PointerEvent) => event.pointerType !== 'touch' && this.light(index)}
            @focus=${() => this.light(index)}
            @blur=${() => this.light(this.held)}
            @click=${() => this.hold(index)}>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <rect width="10" height="10" rx="2" fill=${this.colors[index] ?? 'none'}></rect>
            </svg>
            <span class="label middle">${middle(name ?? '')}</span>
            ${share ? html`<span class="share">${formatShare(share.bytes, level)} · ${formatBytes(share.bytes)}</span>` : nothing}
          </button>
        </li>`;
      })}
      ${kinds.inferred ? html`<li class="note" data-inferred>${kinds.by_lifetime ? 'by lifetime: see Memory' : 'inferred by rules: see Memory'}</li>` : nothing}
      ${shares?.unused === undefined ? nothing : this.unused(shares.unused, level, moment)}
    </ul>`;
  }

  /** What private pools keep and no block uses. */
  private unused(bytes: Bytes, level: Bytes, moment: string): TemplateResult {
    const text = unusedName;
    return html`<li class="unused" data-unused=${bytes} title="${text}: ${formatExactBytes(bytes)} ${moment}">
      <svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" rx="2"></rect></svg>
      <span class="label">${text}</span>
      <span class="share">${formatShare(bytes, level)} · ${formatBytes(bytes)}</span>
    </li>`;
  }

  private light(kind: number): void {
    this.dispatchEvent(new CustomEvent<number>('light', { detail: kind }));
  }
  private hold(kind: number): void {
    this.dispatchEvent(new CustomEvent<number>('hold', { detail: kind === this.held ? -1 : kind }));
  }

  static override styles = [
    base,
    middleStyles,
    css`
      :host {
        display: block;
        /* Two rows, whatever the colours are: the picture below does not move when they change. */
        height: 57px;
      }
      ul {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(212px, 1fr));
        gap: 0 8px;
        height: 100%;
        margin: 0;
        padding: 4px 8px;
        overflow-y: auto;
        border-bottom: 1px solid var(--line);
        list-style: none;
      }
      li {
        max-width: 340px;
      }
      button,
      .unused {
        display: flex;
        align-items: center;
        gap: 6px;
        width: 100%;
        min-height: 24px;
        padding: 0 8px;
        border: 1px solid transparent;
        border-radius: 5px;
        background: none;
        font-size: 12px;
        white-space: nowrap;
      }
      button {
        cursor: pointer;
      }
      .note {
        min-height: 24px;
        padding: 0 8px;
        color: var(--dim);
        font-size: 12px;
        line-height: 24px;
      }
      .unused rect {
        fill: var(--envelope);
      }
      button:hover {
        background: var(--hover);
      }
      button[aria-pressed='true'] {
        border-color: var(--accent);
        background: var(--accent-soft);
      }
      svg {
        flex: none;
        width: 10px;
        height: 10px;
      }
      .label {
        overflow: hidden;
        text-overflow: ellipsis;
      }
      .share {
        margin-left: auto;
        color: var(--dim);
        font-variant-numeric: tabular-nums;
      }
      @media print {
        :host {
          height: auto;
        }
        svg {
          filter: var(--on-paper, none);
          print-color-adjust: exact;
        }
      }
      .none .label {
        color: var(--dim);
      }
    `,
  ];
}
