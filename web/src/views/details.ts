// The panel beside the timeline: all that is known of one block.
import { css, html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { baseName, formatBytes, formatExactBytes, plural } from '../base/format.ts';
import {
  isBlock,
  sizeOf,
  type Band,
  type BlockDetails,
  type Frame,
  type ViewInfo,
} from '../engine/answers.ts';
import { bandFacts, bandNote, bandTextOf } from '../state/band_text.ts';
import { stackTitle } from '../state/block_text.ts';
import { originsOf, ownFrame, runsOf, type StackRun } from '../state/stack_lines.ts';
import './copy_button.ts';
import type { CopyButton } from './copy_button.ts';
import { base } from './styles.ts';
import { symbols } from './symbols.ts';

const foldFrom = 4; // library frames in a row that fold into one line

@customElement('memstrata-details')
export class DetailsView extends LitElement {
  @property({ attribute: false }) block: Band | undefined;
  @property({ attribute: false }) info: ViewInfo | undefined;
  @property({ type: Boolean }) pinned = false;
  @state() private withInterpreter = false;
  @state() private unfolded: ReadonlySet<number> = new Set();
  @query('#copy-all') private copyAll!: CopyButton | null;

  /** As text to the clipboard. */
  copy(): void {
    void this.copyAll?.copy();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('block') && changed.get('block')?.rank !== this.block?.rank) this.unfolded = new Set();
  }

  protected override render(): TemplateResult {
    const { block, info } = this;
    if (!block || !info) {
      return html`<div class="empty">
        <h2>Block</h2>
        <p>Point at a band to see what it is and where it was allocated. Click to keep it here.</p>
        ${
          info && info.events > 0 && !info.has_stacks
            ? html`<p data-note="no-stacks">
                This recording has no stacks. Call <code>_record_memory_history(stacks="all")</code> to see
                the lines of code, too.
              </p>`
            : ''
        }
      </div>`;
    }
    const note = bandNote(block);
    const frames = block.kind === 'envelope' ? [] : block.frames;
    const own = ownFrame(frames);
    const size = sizeOf(block);
    return html`
      <header>
        <div class="name">
          <code data-name>${block.name}</code>
          <memstrata-copy label="Copy the name" .text=${() => block.name}></memstrata-copy>
          <span class="actions">
            <memstrata-copy
              id="copy-all"
              wide
              label="Copy all"
              title="Everything below as text (Ctrl C)"
              .text=${() => bandTextOf(block, info)}></memstrata-copy>
            ${
              this.pinned
                ? html`<button
                    class="button small icon pinned"
                    title="Unpin (Esc)"
                    aria-label="Unpin"
                    aria-pressed="true"
                    @click=${() => this.dispatchEvent(new CustomEvent('unpin'))}>
                    ${symbols.pin}
                  </button>`
                : ''
            }
          </span>
        </div>
        <h2 data-bytes=${size}>
          ${formatBytes(size)}
          <span class="exact">${formatExactBytes(size)}</span>
        </h2>
        ${
          own
            ? html`<p class="own-line" title=${own.text}>
                <span class="function">${own.name}</span> ${baseName(own.file)}:${own.line}
              </p>`
            : ''
        }
        ${note ? html`<p class="kind">${note}</p>` : ''}
      </header>
      <dl>
        ${bandFacts(block, info).map(
          ({ label, value, more }) =>
            html`<dt>${label}</dt>
              <dd>${value}${more === undefined ? '' : html` <span class="more">${more}</span>`}</dd>`,
        )}
      </dl>
      ${block.kind === 'envelope' ? '' : this.stack(block)}
      ${
        isBlock(block) && block.forward_frames
          ? html`<h3>Forward pass</h3>
              <pre>${block.forward_frames}</pre>`
          : ''
      }
    `;
  }

  private stack(block: Exclude<Band, { kind: 'envelope' }>): TemplateResult {
    const hidden = originsOf(block.frames).filter((origin) => origin === 'interpreter').length;
    const runs = runsOf(block.frames, this.withInterpreter);
    return html`
      <h3>
        ${block.kind === 'segment' ? 'Needed for' : stackTitle(block)}
        ${
          hidden > 0
            ? html`<button
                class="button small quiet"
                aria-pressed=${this.withInterpreter ? 'true' : 'false'}
                @click=${() => (this.withInterpreter = !this.withInterpreter)}>
                ${plural(hidden, 'interpreter frame')} ${this.withInterpreter ? 'shown' : 'hidden'}
              </button>`
            : ''
        }
      </h3>
      ${
        block.frames.length === 0
          ? html`<div class="reasons">
              ${block.kind === 'segment' ? html`<p>No stack is recorded for this segment.</p>` : this.reasons(block)}
            </div>`
          : html`<ol class="frames">
              ${runs.map((run, index) => this.run(run, index, runs.length > 1))}
            </ol>`
      }
    `;
  }

  private reasons({ no_stack_reasons }: BlockDetails): TemplateResult {
    return html`<p>No stack is recorded for this block. Possible reasons:</p>
      <ul>
        ${no_stack_reasons.map((reason) => html`<li>${reason}</li>`)}
      </ul>`;
  }

  private run(run: StackRun, index: number, amongOthers: boolean): TemplateResult | TemplateResult[] {
    const folds = amongOthers && run.origin !== 'own' && run.frames.length >= foldFrom;
    if (!folds) return run.frames.map((frame) => this.frame(frame, run.origin));
    const open = this.unfolded.has(index);
    const toggle = (): void => {
      const next = new Set(this.unfolded);
      if (!next.delete(index)) next.add(index);
      this.unfolded = next;
    };
    return html`<li class="fold">
        <button class="fold-button" aria-expanded=${open ? 'true' : 'false'} @click=${toggle}>
          ${open ? symbols.up : symbols.down}
          <span>${plural(run.frames.length, `${run.origin} frame`)}</span>
          ${open ? '' : html`<span class="peek">${run.frames[0]?.name}</span>`}
        </button>
      </li>
      ${open ? run.frames.map((frame) => this.frame(frame, run.origin)) : ''}`;
  }

  private frame(frame: Frame, origin: StackRun['origin']): TemplateResult {
    const known = frame.file !== '' && frame.file !== '??';
    const place = known ? `${frame.file}:${frame.line}` : '';
    return html`<li class="frame ${origin}">
      <div class="call" title=${frame.text}>
        <span class="function">${frame.name || frame.text}</span>
        ${frame.repeats > 1 ? html`<span class="repeats">×${frame.repeats}</span>` : ''}
        ${
          known
            ? html`<span class="place"
                ><span class="folder">${place.slice(0, place.length - baseName(place).length)}</span
                ><span class="file">${baseName(place)}</span
                ><memstrata-copy label="Copy ${place}" .text=${() => place}></memstrata-copy
              ></span>`
            : ''
        }
      </div>
      ${frame.fx.map((line) => html`<div class="fx">${line}</div>`)}
    </li>`;
  }

  static override styles = [
    base,
    css`
      :host {
        display: block;
        padding: 12px 16px 24px;
        overflow: auto;
        background: var(--surface);
        font-size: 13px;
        line-height: 1.45;
      }
      h2 {
        margin: 0;
        font-size: 22px;
        font-weight: 600;
        letter-spacing: -0.01em;
        font-variant-numeric: tabular-nums;
      }
      h3 {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        justify-content: space-between;
        gap: 4px 8px;
        margin: 16px 0 4px;
        padding-top: 12px;
        border-top: 1px solid var(--line);
        font-size: 13px;
        font-weight: 600;
      }
      .empty {
        color: var(--dim);
      }
      .empty h2 {
        font-size: 15px;
        color: var(--text);
      }
      .empty p {
        margin: 8px 0;
        max-width: 36ch;
      }
      .actions {
        display: inline-flex;
        gap: 4px;
        margin-left: auto;
      }
      .exact {
        font-size: 13px;
        font-weight: 400;
        letter-spacing: 0;
        white-space: nowrap;
      }
      .exact,
      .more {
        color: var(--dim);
        font-variant-numeric: tabular-nums;
      }
      .more {
        display: block;
        font-size: 12px;
      }
      .name {
        display: flex;
        align-items: center;
        gap: 4px;
        min-height: 32px;
      }
      .name code {
        overflow: hidden;
        text-overflow: ellipsis;
      }
      code,
      pre,
      .function,
      .fx {
        font-family: var(--mono);
        font-size: 12px;
      }
      .own-line {
        margin: 2px 0 0;
        overflow-wrap: anywhere;
        color: var(--dim);
      }
      .own-line .function {
        color: var(--text);
        font-weight: 600;
      }
      .kind {
        margin: 4px 0 0;
        color: var(--dim);
      }
      dl {
        display: grid;
        grid-template-columns: max-content minmax(0, 1fr);
        gap: 4px 16px;
        margin: 12px 0 0;
      }
      dt {
        color: var(--dim);
      }
      dd {
        margin: 0;
        overflow-wrap: anywhere;
        font-variant-numeric: tabular-nums;
      }
      .frames {
        margin: 0;
        padding: 0;
        list-style: none;
      }
      .frame {
        color: var(--dim);
      }
      /* The name first, then file and line; the folder takes what is left. File and line go below a long name. */
      .call {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        column-gap: 8px;
        min-height: 24px;
        margin-right: -8px;
      }
      .function {
        flex: none;
        max-width: 100%;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .repeats {
        flex: none;
        color: var(--text);
        font-weight: 600;
      }
      .frame.own {
        padding-left: 10px;
        margin-left: -12px;
        border-left: 2px solid var(--accent);
      }
      .frame.own .function {
        color: var(--text);
        font-weight: 600;
      }
      .place {
        display: flex;
        flex: 1 1 auto;
        align-items: center;
        max-width: 100%;
        font-size: 12px;
        white-space: nowrap;
      }
      .folder {
        flex: 1 1 0;
        width: 0;
        overflow: hidden;
        text-align: right;
        text-overflow: ellipsis;
      }
      .file {
        flex: none;
      }
      .own .file {
        color: var(--text);
      }
      .call memstrata-copy {
        flex: none;
        margin-left: 2px;
        opacity: 0;
      }
      .call:hover memstrata-copy,
      .call memstrata-copy:focus-within {
        opacity: 1;
      }
      @media (hover: none) {
        .call memstrata-copy {
          opacity: 1;
        }
      }
      .fx {
        padding-left: 16px;
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
      .fold-button {
        display: flex;
        align-items: center;
        gap: 6px;
        width: 100%;
        padding: 4px 0;
        border: 0;
        background: none;
        color: var(--dim);
        font-size: 12px;
        text-align: left;
        cursor: pointer;
        white-space: nowrap;
      }
      .fold-button:hover {
        color: var(--text);
      }
      .fold-button svg {
        width: 12px;
        height: 12px;
        margin-left: -2px;
      }
      .peek {
        overflow: hidden;
        text-overflow: ellipsis;
        font-family: var(--mono);
        font-size: 11.5px;
      }
      .reasons {
        color: var(--dim);
      }
      .reasons p {
        margin: 4px 0;
      }
      .reasons ul {
        margin: 0;
        padding-left: 18px;
      }
      pre {
        margin: 0;
        overflow-x: auto;
        color: var(--dim);
      }
    `,
  ];
}

declare global {
  interface HTMLElementTagNameMap {
    'memstrata-details': DetailsView;
  }
}
