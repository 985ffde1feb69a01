// What matters of the device, in words, the most important first; each sentence leads to what proves it.
import { css, html, nothing, type TemplateResult } from 'lit';
import { element } from '../../controls/element.ts';
import { formatBytes, formatExactBytes, plural, unbroken } from '../../base/format.ts';
import '../../controls/copy_button.ts';
import { symbols } from '../../controls/symbols.ts';
import type { Proof, Report, ReportFinding } from '../../../engine/index.ts';
import { AnswerPanel } from '../answer_panel.ts';
import { answerStyles } from '../answer_styles.ts';
import type { LoadedPanel, PanelPage } from '../panel.ts';
import { reportOf } from '../reports.ts';

const longestWord = 24;

type Sentence = ReportFinding['says'][number];

@element('gpustrata-overview')
export class OverviewPanel extends AnswerPanel<Report> {
  protected override readonly waiting = 'Looking at every block…';

  protected ask({ view }: PanelPage): Promise<Report> {
    return reportOf(view);
  }

  protected show({ findings }: Report): TemplateResult {
    return html`<div class="cards">${findings.map((finding) => this.card(finding))}</div>`;
  }

  private card(finding: ReportFinding): TemplateResult {
    const { kind, title, value, bytes, bad, says, parts, code } = finding;
    const wide = bad || parts.length > 0;
    return html`<section
      class="${bad ? 'bad' : ''} ${wide ? 'wide' : ''}"
      data-finding=${kind}
      data-bytes=${bytes ?? nothing}
      aria-label=${title}>
      <h2>${title}</h2>
      <p class="value" title=${bytes === null ? nothing : formatExactBytes(bytes)}>${value}</p>
      ${says.map((one) => this.sentence(one))} ${parts.length > 0 ? this.parts(finding) : nothing}
      ${
        code === null
          ? nothing
          : html`<div class="code">
              <code>${code}</code><gpustrata-copy label="Copy the line" .text=${() => code}></gpustrata-copy>
            </div>`
      }
    </section>`;
  }

  private sentence(one: Sentence): TemplateResult {
    const leads = one.event !== null || one.rank !== null || one.filter !== null || one.more !== null;
    return leads
      ? html`<p>
          <button class="says" data-way=${wayOf(one)} @click=${() => this.follow(one)}>
            ${withSign(unbroken(one.text))}
          </button>
        </p>`
      : html`<p>${unbroken(one.text)}</p>`;
  }

  private parts({ parts, rest }: ReportFinding): TemplateResult {
    return html`<ol>
        ${parts.map(
          (part) =>
            html`<li
              data-part=${part.who}
              data-bytes=${part.bytes}
              title="${formatExactBytes(part.bytes)} in ${plural(part.blocks, 'block')}">
              <span class="bar" aria-hidden="true"><i .style=${`width: ${100 * part.share}%`}></i></span>
              <span class="size">${formatBytes(part.bytes)}</span>
              <button class="link who" @click=${() => this.follow(part)}>${part.who}</button>
            </li>`,
        )}
      </ol>
      ${rest === null ? nothing : html`<p>and ${rest}</p>`}`;
  }

  static override styles = [
    answerStyles,
    css`
      .cards {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr));
        align-content: start;
        gap: 14px 24px;
      }
      section {
        overflow-wrap: anywhere;
        min-width: 0;
        max-width: 600px;
      }
      @container (min-width: 900px) {
        .wide {
          grid-column: span 2;
          max-width: 600px;
        }
      }
      h2 {
        color: var(--dim);
        font-size: 12px;
        font-weight: 500;
      }
      /* One line: what, and how much. */
      section:not(.wide) {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
      }
      section:not(.wide) .value {
        font-size: 14px;
      }
      p {
        color: var(--dim);
      }
      .value {
        margin: 0;
        color: var(--text);
        font-size: 18px;
        font-weight: 600;
        letter-spacing: -0.01em;
        line-height: 1.35;
      }
      section.bad {
        color: inherit;
      }
      .bad h2,
      .bad .value {
        color: var(--bad);
      }
      .bad p:not(.value) {
        color: var(--text);
      }
      .says {
        display: inline;
        min-height: 24px;
        padding: 0;
        border: 0;
        background: none;
        color: inherit;
        text-align: left;
        cursor: pointer;
      }
      .says:hover {
        color: var(--text);
        text-decoration: underline;
        text-underline-offset: 2px;
      }
      .last {
        white-space: nowrap;
      }
      .sign {
        display: inline-block;
        margin-left: 4px;
        color: var(--accent);
      }
      .sign svg {
        width: 11px;
        height: 11px;
        vertical-align: -1px;
      }
      ol {
        display: grid;
        margin: 6px 0 0;
        padding: 0;
        list-style: none;
      }
      li {
        display: flex;
        align-items: center;
        gap: 8px;
        min-width: 0;
      }
      .bar {
        flex: 0 0 64px;
        height: 8px;
        border-radius: 2px;
        background: var(--hover);
      }
      .bar i {
        display: block;
        height: 100%;
        min-width: 1px;
        border-radius: 2px;
        background: var(--accent);
      }
      .size {
        flex: 0 0 72px;
        text-align: right;
        white-space: nowrap;
      }
      .who {
        min-width: 0;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
    `,
  ];
}

/** The sign is never alone on a line. */
function withSign(text: string): TemplateResult {
  const at = text.lastIndexOf(' ') + 1;
  const sign = html`<span class="sign" aria-hidden="true">${symbols.right}</span>`;
  return text.length - at > longestWord
    ? html`${text}${sign}`
    : html`${text.slice(0, at)}<span class="last">${text.slice(at)}${sign}</span>`;
}

/** For tests and scripts: where it leads. */
function wayOf({ event, rank, filter, more }: Proof): string {
  return [filter !== null && 'filter', rank !== null ? 'block' : event !== null && 'event', more]
    .filter((one) => typeof one === 'string')
    .join(' ');
}

export const panel: LoadedPanel = {
  reads: ['settled'],
  initial: {},
  show: (page) =>
    html`<gpustrata-overview role="region" aria-label="Overview" .page=${page}></gpustrata-overview>`,
};
