// Memory by line of source: the files of the device's stacks, and of one the lines with what is alive of each at the moment;
// with the folder of source at hand their text. And where frames open.
import { css, html, nothing, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { baseName, formatBytes, formatExactBytes, plural } from '../../base/format.ts';
import { folderOfDrop, folderOfFiles } from './choose_folder.ts';
import { bytesCell, tableOf } from '../../controls/table.ts';
import type { SourceFile, SourceLines } from '../../../engine/index.ts';
import { editorNames, type EditorChoice, type EditorName } from '../../model/editor.ts';
import { editorLink, problemOf } from '../../model/editor_link.ts';
import { AnswerPanel } from '../answer_panel.ts';
import { answerStyles } from '../answer_styles.ts';
import { tell, type Kept, type LoadedPanel, type PanelPage } from '../panel.ts';

interface Chosen {
  /** As it is recorded; undefined = the one with most. */
  file: string | undefined;
}
interface Found {
  files: SourceFile[];
  file: string | undefined;
  lines: SourceLines | undefined;
  texts: string[] | undefined;
}

/** Lines of text around those with memory. */
const around = 2;

@element('gpustrata-source')
export class SourcePanel extends AnswerPanel<Found> {
  @property({ attribute: false }) kept!: Kept<Chosen>;
  protected override readonly waiting = 'Finding lines…';

  protected override keyOf({ event, source }: PanelPage): string {
    return `${event} ${this.kept.value.file ?? ''} ${source?.name ?? ''}`;
  }
  protected async ask({ view, event, source }: PanelPage): Promise<Found> {
    const files = await view.ask('sourceFiles', { event });
    const file = this.kept.value.file ?? files[0]?.file;
    if (file === undefined) return { files, file, lines: undefined, texts: undefined };
    const [lines, texts] = await Promise.all([view.ask('sourceLines', { event, file }), source?.lines(file)]);
    return { files, file, lines, texts };
  }

  protected show(found: Found): TemplateResult {
    return html`<div
      class="takes"
      data-takes-folder
      @dragover=${(event: DragEvent) => event.preventDefault()}
      @drop=${this.dropped}>
      <div class="columns">
        <section aria-label="Files">
          <h2>Files, by what their lines asked for</h2>
          ${this.files(found)} ${this.folder()} ${this.editor()}
        </section>
        <section aria-label="Lines" class="lines">${this.lines(found)}</section>
      </div>
    </div>`;
  }

  private readonly dropped = (event: DragEvent): void => {
    event.preventDefault();
    const folder = folderOfDrop(event);
    void folder?.then((found) => tell(this, 'choose-source', found));
  };

  private files({ files, file }: Found): TemplateResult {
    if (files.length === 0)
      return html`<p class="dim">No line of source is known of what is alive at the moment.</p>`;
    return html`<ul class="files">
      ${files.map(
        (one) =>
          html`<li data-source-file=${one.file} data-bytes=${one.bytes}>
            <span class="number" title=${formatExactBytes(one.bytes)}>${formatBytes(one.bytes)}</span>
            <button
              class="link"
              aria-pressed=${one.file === file ? 'true' : 'false'}
              title=${one.file}
              @click=${() => {
                this.kept.keep({ file: one.file });
                this.requestUpdate();
              }}>
              ${baseName(one.file)}
            </button>
          </li>`,
      )}
    </ul>`;
  }

  private folder(): TemplateResult {
    const { source } = this.page;
    return html`<h2>Your source</h2>
      <p class="dim" data-source-folder=${source?.files.length ?? nothing}>
        ${source ? `${source.name}: ${plural(source.files.length, 'file')}. It is read here and goes nowhere.` : 'Drop its folder here to see the text of the lines. It is read here and goes nowhere.'}
      </p>
      <label class="button small">
        <input
          type="file"
          class="visually-hidden"
          webkitdirectory
          aria-label="Folder of source"
          @change=${({ target }: Event) => {
            const input = target as HTMLInputElement;
            const files = [...(input.files ?? [])];
            input.value = '';
            if (files.length > 0) tell(this, 'choose-source', folderOfFiles(files));
          }} />${source ? 'Another folder…' : 'Choose the folder…'}
      </label>`;
  }

  private editor(): TemplateResult {
    const { editor } = this.page;
    const change = (to: Partial<EditorChoice>): void => tell(this, 'choose-editor', { ...editor, ...to });
    const text = (name: 'template' | 'from' | 'to', label: string, placeholder: string): TemplateResult =>
      html`<label
        >${label}
        <input
          type="text"
          data-editor-field=${name}
          placeholder=${placeholder}
          .value=${editor[name]}
          @change=${({ target }: Event) => change({ [name]: (target as HTMLInputElement).value.trim() })}
      /></label>`;
    const problem =
      editor.editor === 'other' && editor.template !== '' ? problemOf(editor.template) : undefined;
    return html`<h2>Frames open</h2>
      <div class="editor">
        <select
          data-editor-choice
          aria-label="Frames open"
          @change=${({ target }: Event) => change({ editor: (target as HTMLSelectElement).value as EditorName })}>
          ${(Object.keys(editorNames) as EditorName[]).map(
            (one) =>
              html`<option value=${one} ?selected=${one === editor.editor}>${editorNames[one]}</option>`,
          )}
        </select>
        ${
          editor.editor === 'none'
            ? nothing
            : html`${editor.editor === 'other' ? text('template', 'Address', 'https://host/{file}#L{line}') : nothing}
              ${text('from', 'Recorded below', '/home/job/repo')} ${text('to', 'here below', '/home/me/repo')}`
        }
        ${problem === undefined ? nothing : html`<p role="alert" class="bad">${problem}</p>`}
      </div>`;
  }

  private lines({ file, lines, texts }: Found): TemplateResult {
    if (file === undefined || !lines) return html``;
    const most = Math.max(1, ...lines.lines.map(({ bytes }) => bytes));
    const of = new Map(lines.lines.map((one) => [one.line, one]));
    return html`<h2 title=${file}>${file}</h2>
      ${texts ? nothing : html`<p class="dim" data-no-text>${this.page.source ? 'Your folder has no such file, or several.' : 'Without your source only the numbers of its lines are known.'}</p>`}
      ${tableOf(shownLines([...of.keys()], texts?.length ?? 0), {
        data: { lines: lines.lines.length },
        row: (line) => {
          const one = of.get(line);
          return line === 0
            ? { look: 'cut' }
            : { data: { line: one?.line, own: one?.own_bytes, bytes: one?.bytes } };
        },
        columns: [
          {
            name: 'Asked for',
            look: 'number',
            cell: (line) => {
              if (line === 0) return { text: '⋯', span: 4 };
              const one = of.get(line);
              return one && one.own_bytes > 0
                ? {
                    ...bytesCell(one.own_bytes, { more: ` in ${plural(one.own_blocks, 'block')}` }),
                    look: 'strong',
                  }
                : '';
            },
          },
          {
            name: 'In all',
            look: 'number',
            cell: (line) => {
              const one = of.get(line);
              return one
                ? {
                    ...bytesCell(one.bytes, { more: ` in ${plural(one.blocks, 'block')}` }),
                    look: 'heat',
                    style: `--share: ${((100 * one.bytes) / most).toFixed(1)}%`,
                  }
                : '';
            },
          },
          { name: 'Line', look: 'number', cell: (line) => this.line(file, line, of.has(line)) },
          {
            name: texts ? 'Text' : '',
            cell: (line) => ({ text: texts?.[line - 1] ?? '', look: 'code-text' }),
          },
        ],
      })}
      ${lines.lines_left_out > 0 ? html`<p class="dim">and ${plural(lines.lines_left_out, 'line')} with less</p>` : nothing}`;
  }

  private line(file: string, line: number, counts: boolean): string | TemplateResult {
    const { editor, event } = this.page;
    const link = editorLink(editor, file, line);
    if (link !== undefined) return html`<a href=${link} data-editor>${line}</a>`;
    const filter = `stack:"${baseName(file)}:${line}:" alive@${event < 0 ? 'start' : event}`;
    return counts
      ? html`<button class="link" @click=${() => this.follow({ filter })}>${line}</button>`
      : String(line);
  }

  static override styles = [
    answerStyles,
    css`
      .takes {
        min-height: 100%;
      }
      .columns {
        grid-template-columns: minmax(220px, 320px) minmax(0, 1fr);
      }
      @container (max-width: 700px) {
        .columns {
          grid-template-columns: minmax(0, 1fr);
        }
      }
      section {
        min-width: 0;
      }
      h2 {
        margin: 16px 0 4px;
        font-size: 13px;
        font-weight: 600;
      }
      h2:first-child {
        margin-top: 0;
        overflow-wrap: anywhere;
      }
      .files {
        max-height: 180px;
        margin: 0;
        padding: 0;
        overflow: auto;
        list-style: none;
      }
      .files li {
        display: grid;
        grid-template-columns: 76px minmax(0, 1fr);
        gap: 12px;
        align-items: baseline;
      }
      .files [aria-pressed='true'] {
        color: var(--text);
        font-weight: 600;
      }
      .button {
        margin-top: 6px;
      }
      .editor {
        display: grid;
        gap: 6px;
        justify-items: start;
      }
      .editor label {
        display: grid;
        gap: 2px;
        width: 100%;
        color: var(--dim);
        font-size: 12px;
      }
      select,
      input[type='text'] {
        width: 100%;
        height: 28px;
        padding: 0 6px;
        border: 1px solid var(--line-strong);
        border-radius: 6px;
        background: var(--raised);
        color: var(--text);
      }
      .lines {
        overflow-x: auto;
      }
      .lines td {
        padding: 1px 12px 1px 0;
        border-bottom: 0;
      }
      .cut td {
        color: var(--dim);
      }
      .strong {
        font-weight: 600;
      }
      .heat {
        background: linear-gradient(
          to left,
          var(--accent-soft) var(--share, 0%),
          transparent var(--share, 0%)
        );
      }
      .code-text {
        width: 100%;
        font-family: var(--mono);
        font-size: 11.5px;
        white-space: pre;
      }
      a {
        color: var(--accent);
      }
    `,
  ];
}

/** With their text also the lines around; 0 = some are left out here. */
function shownLines(lines: readonly number[], count: number): number[] {
  const shown: number[] = [];
  for (const line of lines) {
    const [from, to] =
      count >= line ? [Math.max(1, line - around), Math.min(count, line + around)] : [line, line];
    const last = shown.at(-1) ?? 0;
    if (count > 0 && shown.length > 0 && from > last + 1) shown.push(0);
    for (let one = Math.max(from, last + 1); one <= to; one += 1) shown.push(one);
  }
  return shown;
}

export const panel: LoadedPanel<Chosen> = {
  reads: ['settled', 'event', 'editor', 'source'],
  initial: { file: undefined },
  show: (page, kept) =>
    html`<gpustrata-source role="region" aria-label="Source" .page=${page} .kept=${kept}></gpustrata-source>`,
};
