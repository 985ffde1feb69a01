// A file that cannot be shown: what was found, where, and what to do next.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatOffset } from '../base/format.ts';
import type { EngineError } from '../../engine/index.ts';
import './file_button.ts';
import { base, card } from '../controls/styles.ts';
import { symbols } from '../controls/symbols.ts';

interface Words {
  title: string;
  next: string;
}

const recordAgain =
  'gpustrata reads the pickle files of torch.cuda.memory._dump_snapshot(), of any version of PyTorch.';

function wordsFor(code: string): Words {
  switch (code) {
    case 'invalid_format':
      return { title: 'This is not a memory snapshot', next: recordAgain };
    case 'unsupported':
      return { title: 'This kind of file is not read', next: recordAgain };
    case 'truncated':
      return {
        title: 'The file ends before anything can be shown',
        next: 'Copy it again from where it was written; if the job was killed while it wrote, record once more.',
      };
    case 'limit_exceeded':
    case 'out_of_memory':
      return {
        title: 'The file needs more memory than there is',
        next: 'Record fewer events (max_entries of _record_memory_history), or close other tabs and try again.',
      };
    case 'folder':
      return { title: 'That is a folder', next: recordAgain };
    case 'unreadable':
      return {
        title: 'The file could not be read',
        next: 'Check that it is still there and choose it again.',
      };
    case 'address':
      return { title: 'The address cannot be opened', next: recordAgain };
    default:
      return {
        title: 'The reader stopped',
        next: 'This is a defect of gpustrata, not of your file. The page goes on working; other files can be opened.',
      };
  }
}

@element('gpustrata-failure')
export class FailureView extends LitElement {
  @property() name = '';
  @property({ attribute: false }) error!: EngineError;
  /** Name of the file that is still open behind this. */
  @property() behind = '';

  protected override render(): TemplateResult {
    const { name, error } = this;
    const { title, next } = wordsFor(error.code);
    return html`
      <div class="card" role="alert">
        <h2>${symbols.alert}${title}</h2>
        <p class="name" title=${name}>${name}</p>
        <p class="message">${sentence(error.message)}</p>
        ${error.offset >= 0 ? html`<p class="where" data-offset=${error.offset}>Found at ${formatOffset(error.offset)}${error.inside ? ` of ${error.inside}` : ''}.</p>` : ''}
        <p class="next">${next}</p>
        <div class="choices">
          <gpustrata-file-button primary label="Choose another file…"></gpustrata-file-button>
          <button
            class="button"
            data-action="back"
            @click=${() => this.dispatchEvent(new CustomEvent('back'))}>
            ${this.behind ? html`Back to ${this.behind}` : 'Back to the start'}
          </button>
        </div>
      </div>
    `;
  }

  static override styles = [
    base,
    card,
    css`
      .card {
        width: min(560px, 100%);
      }
      h2 {
        display: flex;
        align-items: center;
        gap: 8px;
        margin: 0;
        font-size: 20px;
        font-weight: 600;
        letter-spacing: -0.01em;
      }
      h2 svg.symbol {
        width: 20px;
        height: 20px;
        color: var(--bad);
      }
      p {
        margin: 12px 0 0;
        overflow-wrap: anywhere;
      }
      .name {
        margin-top: 4px;
        color: var(--dim);
      }
      .where,
      .next {
        color: var(--dim);
      }
      .where {
        font-variant-numeric: tabular-nums;
        margin-top: 4px;
      }
      .choices {
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
        margin-top: 24px;
      }
      .choices .button {
        max-width: 100%;
        overflow: hidden;
        text-overflow: ellipsis;
      }
    `,
  ];
}

/** Engine messages may start small and end without a stop. */
function sentence(text: string): string {
  const trimmed = text.trim();
  const stopped = /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
  return stopped.charAt(0).toUpperCase() + stopped.slice(1);
}
