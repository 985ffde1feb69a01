// What one sees before a file is open.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import '../controls/copy_button.ts';
import './file_button.ts';
import { samples } from './choose.ts';
import { base, firstScreen } from '../controls/styles.ts';

const recipe = `import torch

torch.cuda.memory._record_memory_history(max_entries=1_000_000)
train()                                  # the part you want to see
torch.cuda.memory._dump_snapshot("snapshot.pickle")
torch.cuda.memory._record_memory_history(enabled=None)
`;

@element('gpustrata-start')
export class StartView extends LitElement {
  /** Beside which samples and the guide lie; undefined = there are none. */
  @property({ attribute: false }) site: string | undefined;

  protected override render(): TemplateResult {
    return html`
      <div class="column">
        <h1>See what your GPU memory was used for</h1>
        <p class="lead">
          Opens the memory snapshots of PyTorch: every allocation over time, the peak, and the line of code
          behind each block.
        </p>
        <div class="zone">
          <p class="drop">Drop snapshots, or a folder of them, anywhere on this page</p>
          <div class="choices">
            <gpustrata-file-button primary label="Choose files…"></gpustrata-file-button>
            <gpustrata-file-button folder label="Choose a folder…"></gpustrata-file-button>
            ${
              this.site === undefined
                ? ''
                : html`<button
                    class="button"
                    data-action="sample"
                    @click=${() => this.choose(samples[0].path)}>
                    Open the sample
                  </button>`
            }
          </div>
          ${this.site === undefined ? '' : this.more()}
          <p class="promise">Files are read on this computer. Nothing is uploaded.</p>
        </div>
        <section aria-labelledby="record">
          <div class="heading">
            <h2 id="record">Record a snapshot</h2>
            <gpustrata-copy wide label="Copy" .text=${() => recipe}></gpustrata-copy>
          </div>
          <pre
            tabindex="0"
            aria-label="Lines of Python that record a snapshot"><code>${recipe.trimEnd()}</code></pre>
          ${this.site === undefined ? '' : this.guide(this.site)}
        </section>
      </div>
    `;
  }

  private choose(path: string): void {
    this.dispatchEvent(new CustomEvent('sample', { detail: path }));
  }

  private guide(site: string): TemplateResult {
    const page = (name: string): string => new URL(`guide/${name}.html`, site).href;
    return html`<p class="guide">
      New here? <a href=${page('start')} target="_blank">Five minutes, from nothing to a fix</a>. Used to
      memory_viz? <a href=${page('memory-viz')} target="_blank">Where things are</a>.
    </p>`;
  }
  private more(): TemplateResult {
    return html`
      <div class="samples" role="group" aria-labelledby="samples">
        <span id="samples">More samples:</span>
        ${samples
          .slice(1)
          .map(
            ({ name, path, label, about }) =>
              html`<button
                class="button small"
                data-action="sample-${name}"
                title=${about}
                @click=${() => this.choose(path)}>
                ${label}
              </button>`,
          )}
      </div>
    `;
  }

  static override styles = [
    base,
    firstScreen,
    css`
      .column {
        max-width: 640px;
      }
      .lead {
        max-width: 56ch;
      }
      .zone {
        padding: 32px 16px 24px;
        border: 1.5px dashed var(--line-strong);
        border-radius: 12px;
        background: var(--surface);
        text-align: center;
      }
      .drop {
        margin: 0 0 16px;
        font-size: 16px;
        font-weight: 500;
      }
      .choices {
        display: flex;
        flex-wrap: wrap;
        justify-content: center;
        gap: 8px;
      }
      .samples {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        justify-content: center;
        gap: 8px;
        margin-top: 12px;
        color: var(--dim);
        font-size: 13px;
      }
      .promise {
        margin: 16px 0 0;
        color: var(--dim);
        font-size: 13px;
      }
      section {
        margin-top: 32px;
      }
      .guide {
        margin: 16px 0 0;
        color: var(--dim);
      }
      .guide a {
        color: var(--accent);
      }
      .heading {
        display: flex;
        align-items: center;
        justify-content: space-between;
        margin-bottom: 8px;
      }
      h2 {
        margin: 0;
        font-size: 14px;
        font-weight: 600;
      }
      pre {
        margin: 0;
        padding: 16px;
        border-radius: 8px;
        background: var(--code);
        border: 1px solid var(--line);
        overflow-x: auto;
        font-family: var(--mono);
        font-size: 12.5px;
        line-height: 1.6;
      }
    `,
  ];
}
