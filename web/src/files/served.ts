// Files of a server (`gpustrata serve`): a list, the highest peak first, and the way to those of this computer; the same as
// a sheet over the page.
import { reasonOf } from '../base/reason.ts';
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatCount, formatWallClock, plural } from '../base/format.ts';
import '../controls/dialog.ts';
import type { DialogView } from '../controls/dialog.ts';
import { bytesCell, bytesColumn, tableOf } from '../controls/table.ts';
import { tableStyles } from '../controls/table_styles.ts';
import { base, firstScreen } from '../controls/styles.ts';
import type { ServedFiles } from '../../engine/index.ts';
import { servedFiles } from '../model/served_file.ts';
import './file_button.ts';

const askAgainMs = 1000; // while peaks are being found out
const mostRows = 500;

/** Tells `choose` with the name of a file. */
@element('gpustrata-served')
export class ServedView extends LitElement {
  /** Of the server, see `Served`. */
  @property() address = '';
  @state() private list: ServedFiles | undefined;
  @state() private problem = '';
  @state() private wanted = '';
  private timer: ReturnType<typeof setTimeout> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    void this.load();
  }
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }

  private async load(): Promise<void> {
    clearTimeout(this.timer);
    try {
      this.list = await servedFiles(this.address);
      this.problem = '';
    } catch (error) {
      this.problem = reasonOf(error);
    }
    this.dataset['toExamine'] = String(this.list?.to_examine ?? '');
    if (this.isConnected && !this.problem && (this.list?.to_examine ?? 0) > 0)
      this.timer = setTimeout(() => void this.load(), askAgainMs);
  }

  protected override render(): TemplateResult {
    const { list } = this;
    if (!list && !this.problem) return html`<p class="dim">Asking the server…</p>`;
    const files = (list?.files ?? []).filter(({ name }) => name.includes(this.wanted));
    return html`
      ${this.problem ? html`<p role="alert">${this.problem}</p>` : nothing}
      ${list ? this.head(list, files.length) : nothing}
      ${list && list.files.length === 0 ? html`<p>There is no snapshot in this folder yet. Save one there, then look again.</p>` : nothing}
      ${files.length > 0 ? this.table(files.slice(0, mostRows)) : nothing}
      ${files.length > mostRows ? html`<p class="dim">… ${formatCount(files.length - mostRows)} more: look for a part of their name.</p>` : nothing}
      <p class="own">
        A file of this computer is read by this page itself, nothing is uploaded: drop it here, or
        <gpustrata-file-button label="choose files…"></gpustrata-file-button>
      </p>
    `;
  }

  private head(list: ServedFiles, found: number): TemplateResult {
    const many = list.files.length > 10;
    return html`<div class="head">
      <p class="dim" role="status">
        ${plural(found, 'file')} in <code>${list.served}</code>${list.left_out ? ', of more' : ''}${
          list.to_examine > 0 ? ` · finding the peaks of ${formatCount(list.to_examine)}…` : ''
        }
      </p>
      ${
        many
          ? html`<input
              class="field"
              type="search"
              placeholder="Part of a name"
              aria-label="Part of a name"
              @input=${(event: Event) => (this.wanted = (event.target as HTMLInputElement).value)} />`
          : nothing
      }
      <button class="button small" data-action="look-again" @click=${() => void this.load()}>
        Look again
      </button>
    </div>`;
  }

  private table(files: ServedFiles['files']): TemplateResult {
    return tableOf(files, {
      label: 'Files on the server',
      framed: true,
      row: ({ name, peak_bytes }) => ({ data: { file: name, peak: peak_bytes } }),
      columns: [
        {
          name: 'File',
          cell: ({ name, error }) =>
            html`<button class="link" title=${name} @click=${() => this.choose(name)}>${name}</button>
              ${error ? html`<span class="error">${error}</span>` : nothing}`,
        },
        {
          name: 'Peak',
          look: 'number',
          cell: ({ peak_bytes: peak }) =>
            peak === null ? { text: '–', says: 'Found out when it is opened' } : bytesCell(peak),
        },
        bytesColumn('Size', ({ bytes }) => bytes),
        { name: 'Saved', look: 'time', cell: ({ modified_us }) => formatWallClock(modified_us) },
      ],
    });
  }

  private choose(name: string): void {
    this.dispatchEvent(new CustomEvent('choose', { detail: name, bubbles: true, composed: true }));
  }

  static override styles = [
    base,
    tableStyles,
    css`
      :host {
        display: block;
      }
      .head {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 8px;
        margin: 8px 0;
      }
      .head p {
        flex: 1 1 240px;
        min-width: 0;
        margin: 0;
      }
      code {
        font-family: var(--mono);
        font-size: 12.5px;
        overflow-wrap: anywhere;
      }
      .scroll {
        max-height: 60vh;
        background: var(--surface);
      }
      .scroll th,
      .scroll td {
        padding: 6px 12px;
        white-space: normal;
      }
      .scroll .number {
        white-space: nowrap;
      }
      .time {
        color: var(--dim);
        white-space: nowrap;
      }
      .error {
        display: block;
        color: var(--bad);
        font-size: 12px;
      }
      .own {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 8px;
        margin: 16px 0 0;
        color: var(--dim);
      }
      @container (max-width: 560px) {
        .time {
          display: none;
        }
        .scroll th,
        .scroll td {
          padding: 6px 8px;
        }
      }
    `,
  ];
}

/** Before a file is open. */
@element('gpustrata-served-start')
export class ServedStart extends LitElement {
  @property() address = '';

  protected override render(): TemplateResult {
    return html`<div class="column">
      <h1>Snapshots on ${new URL(this.address).host}</h1>
      <p class="lead">
        This page runs over a server: files are read where they lie, and only what is drawn comes here.
      </p>
      <gpustrata-served .address=${this.address}></gpustrata-served>
    </div>`;
  }

  static override styles = [
    base,
    firstScreen,
    css`
      .column {
        max-width: 860px;
      }
      .lead {
        margin-bottom: 16px;
      }
    `,
  ];
}

@element('gpustrata-served-sheet')
export class ServedSheet extends LitElement {
  @property() address = '';
  @state() private shown = false;
  @query('gpustrata-dialog') private dialog!: DialogView;

  open(): void {
    this.shown = true;
    this.dialog.open();
  }

  protected override render(): TemplateResult {
    return html`<gpustrata-dialog
      heading="Files on the server"
      width="860"
      @choose=${() => this.dialog.close()}
      @files=${() => this.dialog.close()}
      @closed=${() => (this.shown = false)}>
      ${this.shown ? html`<gpustrata-served .address=${this.address}></gpustrata-served>` : nothing}
    </gpustrata-dialog>`;
  }
}
