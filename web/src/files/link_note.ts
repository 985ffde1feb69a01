// A link was opened: which file it was made from, and what happens without it.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { differs } from '../base/differs.ts';
import type { BesideInLink } from '../model/beside/files.ts';
import type { Shown } from '../model/link.ts';
import './file_button.ts';
import { base } from '../controls/styles.ts';

/** Tells `forget`. */
@element('gpustrata-link-note')
export class LinkNote extends LitElement {
  @property({ attribute: false }) wanted: Shown | undefined;
  /** Of the file that is open. */
  @property() name = '';
  /** Files that the link shows beside it, and that are not open. */
  @property({ attribute: false, hasChanged: differs }) missing: readonly BesideInLink[] = [];

  protected override render(): TemplateResult | typeof nothing {
    const { wanted, name, missing } = this;
    const [beside] = missing;
    if (!wanted && !beside) return nothing;
    return html`<section aria-label="Link" data-link-note=${(wanted ?? beside)?.hash ?? nothing}>
      <p role="status">
        ${
          !wanted
            ? html`<strong
                  >This link opens <code>${name}</code> beside
                  ${missing.map((one, at) => html`${at > 0 ? ' and ' : ''}<code>${one.name}</code>`)}.</strong
                >
                Choose or drop ${missing.length > 1 ? 'them' : 'that file'}, to restore the same picture.`
            : name === ''
              ? html`<strong>This link opens a view of <code>${wanted.file}</code>.</strong> Links hold no
                  data: choose or drop that file (content <code>${wanted.hash}</code>) to restore it.`
              : html`<strong><code>${name}</code> is not the file of this link.</strong> It was made from
                  <code>${wanted.file}</code> with other content (<code>${wanted.hash}</code>); colour, axis
                  and filter are the link's, the place is not.`
        }
      </p>
      <gpustrata-file-button label="Choose the file…"></gpustrata-file-button>
      <button class="button quiet" @click=${() => this.dispatchEvent(new CustomEvent('forget'))}>
        Dismiss
      </button>
    </section>`;
  }

  static override styles = [
    base,
    css`
      section {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 8px;
        padding: 8px 12px 8px 20px;
        background: var(--accent-soft);
        border-bottom: 1px solid var(--line);
      }
      p {
        flex: 1 1 320px;
        margin: 0;
        overflow-wrap: anywhere;
      }
      code {
        font-family: var(--mono);
        font-size: 0.92em;
      }
    `,
  ];
}
