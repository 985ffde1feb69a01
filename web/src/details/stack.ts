// A stack, one line per frame: the program's own bright, libraries dim and folded, the interpreter hidden.
import { css, html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { baseName, plural } from '../base/format.ts';
import type { Frame } from '../../engine/index.ts';
import { editorNames, noEditor, type EditorChoice } from '../model/editor.ts';
import { editorLink } from '../model/editor_link.ts';
import type { SourceFolder } from '../model/source_folder.ts';
import type { Described } from '../words/described.ts';
import { originOf, runsOf, type StackRun } from '../words/stack_lines.ts';
import '../controls/copy_button.ts';
import { base, partTitle } from '../controls/styles.ts';
import { symbols } from '../controls/symbols.ts';

const foldFrom = 4; // library frames in a row that fold into one line

@element('gpustrata-stack')
export class StackView extends LitElement {
  @property({ attribute: false }) of!: Described;
  @property({ attribute: false }) editor: EditorChoice = noEditor;
  @property({ attribute: false }) source: SourceFolder | undefined;
  /** Lines of the reader's own source, by file and line. */
  @state() private texts: ReadonlyMap<string, string> = new Map();
  @state() private withInterpreter = false;
  @state() private unfolded: ReadonlySet<number> = new Set();

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('of') && changed.get('of')?.key !== this.of.key) this.unfolded = new Set();
    if (changed.has('of') || changed.has('source')) void this.findTexts();
  }

  private async findTexts(): Promise<void> {
    const { source, of } = this;
    const texts = new Map<string, string>();
    if (source) {
      for (const { file, line } of of.frames) {
        const text = (await source.lines(file))?.[line - 1]?.trim();
        if (text) texts.set(`${file}:${line}`, text.slice(0, 300));
      }
    }
    if (source === this.source && of === this.of && (texts.size > 0 || this.texts.size > 0))
      this.texts = texts;
  }

  protected override render(): TemplateResult {
    const { frames, stackTitle, reasons } = this.of;
    const hidden = frames.filter((frame) => originOf(frame) === 'interpreter').length;
    const runs = runsOf(frames, this.withInterpreter);
    return html`
      <h3>
        ${stackTitle}
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
        frames.length === 0
          ? html`<div class="reasons">
              <p>No stack is recorded.${reasons.length > 0 ? ' Possible reasons:' : ''}</p>
              <ul>
                ${reasons.map((reason) => html`<li>${reason}</li>`)}
              </ul>
            </div>`
          : html`<ol class="frames">
              ${runs.map((run, index) => this.run(run, index, runs.length > 1))}
            </ol>`
      }
    `;
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
    const text = this.texts.get(place);
    const link = editorLink(this.editor, frame.file, frame.line);
    const where = html`<span class="folder">${place.slice(0, place.length - baseName(place).length)}</span
      ><span class="file">${baseName(place)}</span>`;
    return html`<li class="frame ${origin}">
      <div class="call" title=${frame.text}>
        <span class="function">${frame.name || frame.text}</span>
        ${frame.repeats > 1 ? html`<span class="repeats">×${frame.repeats}</span>` : ''}
        ${
          known
            ? html`<span class="place"
                >${
                  link === undefined
                    ? where
                    : html`<a
                        href=${link}
                        title="Open ${place} ${editorNames[this.editor.editor]}"
                        data-editor
                        >${where}</a
                      >`
                }<gpustrata-copy label="Copy ${place}" .text=${() => place}></gpustrata-copy
              ></span>`
            : ''
        }
      </div>
      ${text === undefined ? '' : html`<div class="text" data-source-text>${text}</div>`}
      ${frame.fx.map((line) => html`<div class="fx">${line}</div>`)}
    </li>`;
  }

  static override styles = [
    base,
    partTitle,
    css`
      :host {
        display: block;
      }
      .function,
      .fx {
        font-family: var(--mono);
        font-size: 12px;
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
      .call gpustrata-copy {
        flex: none;
        margin-left: 2px;
        opacity: 0;
      }
      .call:hover gpustrata-copy,
      .call gpustrata-copy:focus-within {
        opacity: 1;
      }
      @media (hover: none) {
        .call gpustrata-copy {
          opacity: 1;
        }
      }
      .place a {
        display: flex;
        flex: 1 1 auto;
        min-width: 0;
        color: inherit;
        text-decoration: none;
      }
      .place a:hover .file {
        color: var(--accent);
        text-decoration: underline;
        text-underline-offset: 2px;
      }
      .text {
        padding: 2px 8px;
        border-radius: 4px;
        background: var(--code);
        color: var(--text);
        font-family: var(--mono);
        font-size: 11.5px;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
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
    `,
  ];
}
