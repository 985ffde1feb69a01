// Lines above the picture that one must know: the engine stopped, or the file was not read to its end.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatCount, plural } from '../base/format.ts';
import type { Diagnostic, EngineError } from '../../engine/index.ts';
import { base } from '../controls/styles.ts';

/** Tells `reopen` and `notes`. */
@element('gpustrata-banners')
export class BannersView extends LitElement {
  @property({ attribute: false }) died: EngineError | undefined;
  @property({ attribute: false }) diagnostics: readonly Diagnostic[] = [];

  protected override render(): TemplateResult {
    const lost = this.diagnostics.filter(({ severity }) => severity === 'error');
    const tell = (what: 'reopen' | 'notes') => () => this.dispatchEvent(new CustomEvent(what));
    return html`
      ${
        this.died
          ? html`<div class="banner bad" role="alert" data-banner="died">
              <p>
                <strong>The engine stopped.</strong> ${deathText(this.died)} What is on the screen stays;
                nothing more can be asked.
              </p>
              <button class="button small" @click=${tell('reopen')}>Open the file again</button>
            </div>`
          : nothing
      }
      ${lost.map(
        (one) =>
          html`<div class="banner" role="status" data-banner=${one.name}>
            <p>${bannerText(one)}</p>
            <button class="button small" @click=${tell('notes')}>All notes</button>
          </div>`,
      )}
    `;
  }

  static override styles = [
    base,
    css`
      .banner {
        display: flex;
        align-items: center;
        justify-content: space-between;
        gap: 8px 16px;
        padding: 8px 16px 8px 20px;
        background: var(--warn-soft);
        border-bottom: 1px solid var(--line);
      }
      .banner.bad {
        background: var(--bad-soft);
      }
      p {
        margin: 0;
        overflow-wrap: anywhere;
      }
      @container (max-width: 640px) {
        .banner {
          flex-wrap: wrap;
        }
      }
    `,
  ];
}

/** Findings after which nothing more was read. */
const stopping = new Set(['damaged', 'budget_exhausted', 'unpacks_to_too_much']);

function bannerText({ name, count, first_offset, first_in, text }: Diagnostic): TemplateResult {
  const place =
    typeof first_offset === 'number' && first_offset >= 0
      ? ` at byte ${formatCount(first_offset)}${first_in ? ` of ${first_in}` : ''}`
      : '';
  const next = nextTime[name] ?? '';
  if (name === 'truncated')
    return html`<strong>Truncated${place}:</strong> shown is what came before, and what is missing can make
      any number too high or too low. ${next}`;
  if (stopping.has(name))
    return html`<strong>Partial file${place ? `, stopped${place}` : ''}.</strong> ${text} ${next}`;
  if (name === 'member_not_read') {
    // The engine's sentence ends with "(first: NAME: why)".
    const first = /\(first: (.*)\)$/s.exec(text)?.[1];
    return html`<strong>${plural(count, 'file')} of the archive could not be read</strong>${
        first ? html`${count > 1 ? ', first' : ':'} ${first}` : nothing
      }.
      The others are shown. ${next}`;
  }
  return html`<strong>Damaged file.</strong> ${text} ${next}`;
}

/** How to get a whole file, by diagnostic. */
const nextTime: Record<string, string> = {
  truncated: 'Dump again, and check that the disk has room and the job lives until the dump is written.',
  damaged: 'Copy the file again, or dump it again.',
  of_damaged: 'Look at the file that it was made of, or dump again.',
  member_not_read: 'Unpack it by hand, or pack it again.',
  checksum_mismatch: 'Copy or pack the file again.',
  budget_exhausted: 'Record fewer events next time (max_entries of _record_memory_history).',
};

function deathText({ code, message }: EngineError): string {
  return code === 'out_of_memory'
    ? `The browser gives this page no more memory (${message}).`
    : `This is a defect of gpustrata, not of your file (${message}).`;
}
