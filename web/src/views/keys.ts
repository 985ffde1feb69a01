// The sheet of keys, and which action a key stands for.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { customElement, query } from 'lit/decorators.js';
import { base } from './styles.ts';
import { symbols } from './symbols.ts';

const sheet: readonly (readonly [
  title: string,
  keys: readonly (readonly [keys: readonly string[], what: string])[],
])[] = [
  [
    'Move and zoom',
    [
      [['W', 'S'], 'zoom in and out about the pointer'],
      [['A', 'D'], 'move left and right; arrow keys too'],
      [['Shift W', 'Shift S'], 'stretch and flatten the height'],
      [['F'], 'show everything'],
      [['Shift F'], 'height of what is visible'],
      [['Wheel'], 'zoom; with Shift or Alt the height, with Ctrl both'],
      [['Drag'], 'move; with Shift draw a box to zoom to'],
      [['Double click'], 'fit the life of a block'],
    ],
  ],
  [
    'Find',
    [
      [['P'], 'go to the peak'],
      [['O'], 'next out-of-memory event'],
      [['/'], 'search'],
      [['N', 'Shift N'], 'next and previous match'],
      [['[', ']'], 'previous and next event'],
    ],
  ],
  [
    'Blocks',
    [
      [['Click', 'Enter'], 'pin the block'],
      [['Esc'], 'one step back: box, pin, search'],
      [['Ctrl C'], 'copy the details as text'],
    ],
  ],
  [
    'Page',
    [
      [['E'], 'events or time'],
      [['T'], 'light or dark'],
      [['?'], 'this sheet'],
    ],
  ],
];

@customElement('memstrata-keys')
export class KeysView extends LitElement {
  @query('dialog') private dialog!: HTMLDialogElement;

  open(): void {
    if (!this.dialog.open) this.dialog.showModal();
  }

  protected override render(): TemplateResult {
    return html`
      <dialog
        aria-labelledby="keys-title"
        @click=${(event: Event) => event.target === this.dialog && this.dialog.close()}>
        <div class="sheet">
          <header>
            <h2 id="keys-title">Keys</h2>
            <button class="button quiet icon small" aria-label="Close" @click=${() => this.dialog.close()}>
              ${symbols.close}
            </button>
          </header>
          <div class="groups">
            ${sheet.map(
              ([title, keys]) =>
                html`<section>
                  <h3>${title}</h3>
                  <dl>
                    ${keys.map(
                      ([names, what]) =>
                        html`<dt>${names.map((name) => html`<kbd>${name}</kbd> `)}</dt>
                          <dd>${what}</dd>`,
                    )}
                  </dl>
                </section>`,
            )}
          </div>
        </div>
      </dialog>
    `;
  }

  static override styles = [
    base,
    css`
      dialog {
        width: min(840px, calc(100vw - 32px));
        max-height: calc(100vh - 32px);
        padding: 0;
        border: 1px solid var(--line);
        border-radius: 12px;
        background: var(--raised);
        color: var(--text);
        box-shadow: var(--shadow);
      }
      dialog::backdrop {
        background: rgba(8, 12, 18, 0.45);
      }
      .sheet {
        padding: 16px 24px 24px;
      }
      header {
        display: flex;
        align-items: center;
        justify-content: space-between;
      }
      h2 {
        margin: 0;
        font-size: 18px;
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
        grid-template-columns: 132px 1fr;
        gap: 8px;
        margin: 0;
        font-size: 13px;
        align-items: baseline;
      }
      dd {
        margin: 0;
      }
      @media (max-width: 640px) {
        .groups {
          columns: 1;
        }
      }
    `,
  ];
}
