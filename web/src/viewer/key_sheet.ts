// The sheet of keys, printed from the table by which the page acts.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property, query } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { element } from '../controls/element.ts';
import { actions, gestures, keyText, type Action } from './actions.ts';
import '../controls/dialog.ts';
import type { DialogView } from '../controls/dialog.ts';
import { base } from '../controls/styles.ts';

@element('gpustrata-keys')
export class KeysView extends LitElement {
  /** Beside which the guide lies; undefined = there is none. */
  @property({ attribute: false }) site: string | undefined;
  /** There are links to what is shown. */
  @property({ type: Boolean }) linkable = false;
  /** Keys of one letter act. */
  @property({ type: Boolean }) letters = true;
  /** Bytes stand beside sizes. */
  @property({ type: Boolean }) exact = false;
  @query('gpustrata-dialog') private dialog!: DialogView;

  open(): void {
    this.dialog.open();
  }

  protected override render(): TemplateResult {
    const listed = actions.filter(({ id }) => id !== 'link' || this.linkable);
    const groups = [...new Set(listed.map(({ group }) => group))];
    return html`
      <gpustrata-dialog heading="Keys" width="880">
        ${
          this.site === undefined
            ? nothing
            : html`<p class="guide">
                <a href=${new URL('guide/index.html', this.site).href} target="_blank">The guide</a>: how to
                record, how to read the picture, ten questions and their answers.
              </p>`
        }
        <label class="letters"
          ><input
            type="checkbox"
            .checked=${live(this.letters)}
            @change=${({ target }: Event) =>
              this.dispatchEvent(
                new CustomEvent<boolean>('letters', { detail: (target as HTMLInputElement).checked }),
              )} />
          Single letters, digits and signs are shortcuts</label
        >
        <label class="letters"
          ><input
            type="checkbox"
            .checked=${live(this.exact)}
            @change=${({ target }: Event) =>
              this.dispatchEvent(
                new CustomEvent<boolean>('exact', { detail: (target as HTMLInputElement).checked }),
              )} />
          Exact bytes beside sizes</label
        >
        <div class="groups">
          ${groups.map(
            (title) =>
              html`<section>
                <h3>${title}</h3>
                <dl>${listed.filter(({ group }) => group === title).map((action) => this.row(action))}</dl>
              </section>`,
          )}
          <section>
            <h3>Mouse and fingers</h3>
            <dl>
              ${gestures.map(
                ({ keys, what }) =>
                  html`<dt>${keys}</dt>
                    <dd>${what}</dd>`,
              )}
            </dl>
          </section>
        </div>
      </gpustrata-dialog>
    `;
  }

  private row({ id, keys, what }: Action): TemplateResult | typeof nothing {
    if (keys.length === 0) return nothing;
    return html`<dt data-key-of=${id}>${keys.map((key) => html`<kbd>${keyText(key)}</kbd> `)}</dt>
      <dd>${what}</dd>`;
  }

  static override styles = [
    base,
    css`
      .letters {
        display: flex;
        align-items: center;
        gap: 6px;
        min-height: 24px;
        margin-top: 12px;
        font-size: 13px;
      }
      .guide {
        margin: 12px 0 0;
        font-size: 13px;
      }
      a {
        color: var(--accent);
      }
      .groups {
        columns: 2;
        column-gap: 40px;
      }
      section {
        break-inside: avoid;
        padding-top: 16px;
      }
      h3 {
        margin: 0 0 8px;
        font-size: 12px;
        font-weight: 600;
        color: var(--dim);
      }
      dl {
        display: grid;
        grid-template-columns: 112px 1fr;
        gap: 6px;
        margin: 0;
        font-size: 13px;
        align-items: baseline;
      }
      dd {
        margin: 0;
      }
      @container (max-width: 640px) {
        .groups {
          columns: 1;
        }
      }
    `,
  ];
}
