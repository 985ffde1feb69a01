// Says of a file that a server reads it, in the top bar.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { element } from '../controls/element.ts';
import { base } from '../controls/styles.ts';
import type { OpenFile } from '../model/open_files.ts';

@element('gpustrata-reader-badge')
export class ReaderBadge extends LitElement {
  protected override render(): TemplateResult {
    return html`<slot></slot>`;
  }

  static override styles = [
    base,
    css`
      :host {
        padding: 1px 8px;
        border-radius: 10px;
        background: var(--accent-soft);
        color: var(--accent);
        font-size: 12px;
        font-weight: 500;
        white-space: nowrap;
      }
    `,
  ];
}

/** Of a file of this computer it is nothing. */
export function readerBadge(file: OpenFile | undefined): TemplateResult {
  if (!file || !('served' in file.source)) return html``;
  return html`<gpustrata-reader-badge
    slot="served"
    data-served
    title="The server reads this file; only what is drawn comes here."
    >on ${new URL(file.source.served.address).host}</gpustrata-reader-badge
  >`;
}
