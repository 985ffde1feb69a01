// The pane beside the timeline: all that is known of what is pointed at or chosen.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property, query } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { baseName, formatBytes, formatExactBytes } from '../base/format.ts';
import type { ViewInfo } from '../../engine/index.ts';
import { noEditor, type EditorChoice } from '../model/editor.ts';
import type { SourceFolder } from '../model/source_folder.ts';
import { textOf, type Described, type Goal } from '../words/described.ts';
import { ownFrame } from '../words/stack_lines.ts';
import '../controls/copy_button.ts';
import type { CopyButton } from '../controls/copy_button.ts';
import './stack.ts';
import { base, byPointer, facts, partTitle } from '../controls/styles.ts';
import { symbols } from '../controls/symbols.ts';

/** Tells `go` with a Goal, and `unpin`. */
@element('gpustrata-details')
export class DetailsView extends LitElement {
  @property({ attribute: false }) of: Described | undefined;
  @property({ attribute: false }) info: ViewInfo | undefined;
  /** Where frames open; the reader's own source. */
  @property({ attribute: false }) editor: EditorChoice = noEditor;
  @property({ attribute: false }) source: SourceFolder | undefined;
  /** It stays until it is let go. */
  @property({ type: Boolean }) pinned = false;
  @query('#copy-all') private copyAll!: CopyButton | null;

  /** As text to the clipboard. */
  copy(): void {
    void this.copyAll?.copy();
  }

  protected override render(): TemplateResult {
    const { of, info } = this;
    if (!of) return this.empty(info);
    const own = ownFrame(of.frames);
    return html`
      <header>
        <div class="name">
          ${
            of.name === ''
              ? nothing
              : html`<code data-name>${of.name}</code>
                  <gpustrata-copy label="Copy the name" .text=${() => of.name}></gpustrata-copy>`
          }
          <span class="actions">
            <gpustrata-copy
              id="copy-all"
              wide
              label="Copy all"
              title="Everything below as text (Ctrl C)"
              .text=${() => textOf(of)}></gpustrata-copy>
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
                : nothing
            }
          </span>
        </div>
        ${of.title === '' ? nothing : html`<p class="title" data-title>${of.title}</p>`}
        ${
          of.bytes === undefined
            ? nothing
            : html`<h2 data-bytes=${of.bytes}>
                ${formatBytes(of.bytes)}
                <span class="exact">${formatExactBytes(of.bytes)}</span>
              </h2>`
        }
        ${
          own
            ? html`<p class="own-line" title=${own.text}>
                ${of.ofFree ? 'with its free: ' : nothing}<span class="function">${own.name}</span>
                ${baseName(own.file)}:${own.line}
              </p>`
            : nothing
        }
        ${of.note ? html`<p class="kind">${of.note}</p>` : nothing}
        ${of.ways.length > 0 ? this.ways(of) : nothing}
      </header>
      <dl>
        ${of.facts.map(
          ({ label, value, more }) =>
            html`<dt>${label}</dt>
              <dd>${value}${more === undefined ? '' : html` <span class="more">${more}</span>`}</dd>`,
        )}
      </dl>
      <gpustrata-stack .of=${of} .editor=${this.editor} .source=${this.source}></gpustrata-stack>
      ${
        of.forward
          ? html`<h3>Forward pass</h3>
              <pre>${of.forward}</pre>`
          : nothing
      }
    `;
  }

  private ways({ ways }: Described): TemplateResult {
    return html`<p class="ways" role="group" aria-label="Go to">
      ${ways.map(
        ({ label, goal }) =>
          html`<button
            class="button small"
            data-way=${label}
            title="Go to: ${label}"
            @click=${() => this.dispatchEvent(new CustomEvent<Goal>('go', { detail: goal }))}>
            ${label}
          </button>`,
      )}
    </p>`;
  }

  private empty(info: ViewInfo | undefined): TemplateResult {
    return html`<div class="empty">
      <h2>${info?.bands === 'segments' ? 'Segment' : 'Block'}</h2>
      <p class="by-mouse">
        Point at a band to see what it is and where it was allocated. Click to keep it here.
      </p>
      <p class="by-touch">Tap a band to see what it is and where it was allocated.</p>
      ${
        info && info.events > 0 && !info.has_stacks
          ? html`<p data-note="no-stacks">
              The events of this recording have no stacks. Call
              <code>_record_memory_history(stacks="all")</code> to see the lines of code, too.
            </p>`
          : nothing
      }
    </div>`;
  }

  static override styles = [
    base,
    byPointer,
    facts,
    partTitle,
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
      .function {
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
      pre {
        margin: 0;
        overflow-x: auto;
        color: var(--dim);
      }
      .title {
        margin: 0;
        font-weight: 600;
      }
      .ways {
        display: flex;
        flex-wrap: wrap;
        gap: 4px;
        margin: 8px 0 0;
      }
    `,
  ];
}
