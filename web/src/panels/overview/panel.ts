// What one should know first of the device, in words; each number leads to where it is seen.
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { formatBytes, formatExactBytes, plural } from '../../base/format.ts';
import '../../controls/copy_button.ts';
import { base } from '../../controls/styles.ts';
import type { Overview, ViewInfo } from '../../../engine/index.ts';
import type { Goal } from '../../words/described.ts';
import { findingsOf, type Finding, type FindingPart, type OomMet } from '../../words/overview_text.ts';
import { tell, type LoadedPanel, type PanelPage } from '../panel.ts';

@customElement('memstrata-overview')
export class OverviewPanel extends LitElement {
  @property({ attribute: false }) page!: PanelPage;
  @state() private met: { of: ViewInfo; oom: OomMet } | undefined;
  @state() private known: { of: ViewInfo; overview: Overview } | undefined;
  /** What was asked for, however it ended. */
  private asked: ViewInfo | undefined;
  private explained: ViewInfo | undefined;

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('page')) return;
    void this.explain();
    void this.find();
  }

  /** What the engine finds out by looking at every block; asked for when the picture is there. */
  private async find(): Promise<void> {
    const { view, info, settled } = this.page;
    if (!settled || this.asked === info) return;
    this.asked = info;
    try {
      const overview = await view.ask('overview', {});
      if (info === this.page.info) this.known = { of: info, overview };
    } catch {
      if (!view.alive) this.asked = undefined; // asked again when the device is shown again
    }
  }

  /** What was asked for, and what it met; asked for when the picture is there. */
  private async explain(): Promise<void> {
    const { view, info, settled } = this.page;
    const last = info.oom_events.at(-1);
    if (last === undefined || !settled || this.explained === info) return;
    this.explained = info;
    try {
      const [event, totals] = await Promise.all([
        view.ask('event', { event: last }),
        view.ask('totals', { event: last }),
      ]);
      if (event && info === this.page.info) this.met = { of: info, oom: { event, totals } };
    } catch {
      if (!view.alive) this.explained = undefined; // else the page says why
    }
  }

  protected override render(): TemplateResult {
    const { info } = this.page;
    const oom = this.met?.of === info ? this.met.oom : undefined;
    const overview = this.known?.of === info ? this.known.overview : undefined;
    return html`${findingsOf(info, oom, overview).map((finding) => this.card(finding))}`;
  }

  private card({ id, title, value, bytes, bad, says, parts, rest, ways, code }: Finding): TemplateResult {
    return html`<section
      class="${bad ? 'bad' : ''} ${parts ? 'wide' : ''}"
      data-finding=${id}
      data-bytes=${bytes ?? nothing}
      aria-label=${title}>
      <h2>${title}</h2>
      <p class="value" title=${bytes === undefined ? nothing : formatExactBytes(bytes)}>${value}</p>
      ${says.map((line) => html`<p>${line}</p>`)} ${parts ? this.parts(parts, rest) : nothing}
      ${
        ways.length === 0
          ? nothing
          : html`<p class="ways">
              ${ways.map(
                ({ label, goal }) =>
                  html`<button class="link" data-way=${label} @click=${() => this.go(goal)}>
                    ${label}
                  </button>`,
              )}
            </p>`
      }
      ${
        code === undefined
          ? nothing
          : html`<div class="code">
              <code>${code}</code><memstrata-copy label="Copy the line" .text=${() => code}></memstrata-copy>
            </div>`
      }
    </section>`;
  }

  private parts(parts: readonly FindingPart[], rest: string | undefined): TemplateResult {
    return html`<ol>
        ${parts.map(
          ({ who, bytes, blocks, share, goal }) =>
            html`<li
              data-part=${who}
              data-bytes=${bytes}
              title="${formatExactBytes(bytes)} in ${plural(blocks, 'block')}">
              <span class="bar" aria-hidden="true"><i .style=${`width: ${100 * share}%`}></i></span>
              <span class="size">${formatBytes(bytes)}</span>
              <button class="link who" @click=${() => this.go(goal)}>${who}</button>
            </li>`,
        )}
      </ol>
      ${rest === undefined ? nothing : html`<p>and ${rest}</p>`}`;
  }

  private go(goal: Goal): void {
    tell(this, 'go', goal);
  }

  static override styles = [
    base,
    css`
      :host {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, 216px), 1fr));
        align-content: start;
        gap: 16px 24px;
        padding: 10px 16px 16px;
        overflow: auto;
        font-size: 13px;
        line-height: 1.45;
      }
      section {
        min-width: 0;
        max-width: 380px;
      }
      @container (min-width: 900px) {
        .bad,
        .wide {
          grid-column: span 2;
          max-width: 560px;
        }
      }
      h2 {
        margin: 0;
        color: var(--dim);
        font-size: 12px;
        font-weight: 500;
      }
      p {
        margin: 4px 0 0;
        color: var(--dim);
        font-variant-numeric: tabular-nums;
      }
      .value {
        margin: 0;
        color: var(--text);
        font-size: 18px;
        font-weight: 600;
        letter-spacing: -0.01em;
        line-height: 1.35;
      }
      .bad h2,
      .bad .value {
        color: var(--bad);
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
        font-variant-numeric: tabular-nums;
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
        flex: 0 0 64px;
        text-align: right;
      }
      .who {
        min-width: 0;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .ways {
        display: flex;
        flex-wrap: wrap;
        gap: 0 12px;
      }
      .link {
        min-height: 24px;
        padding: 0;
        border: 0;
        background: none;
        color: var(--accent);
        font-weight: 500;
        text-align: left;
        cursor: pointer;
      }
      .link:hover {
        text-decoration: underline;
        text-underline-offset: 2px;
      }
      .code {
        display: flex;
        align-items: center;
        gap: 4px;
        margin-top: 6px;
        padding: 2px 2px 2px 8px;
        border-radius: 5px;
        background: var(--code);
      }
      code {
        flex: 1;
        min-width: 0;
        font-family: var(--mono);
        font-size: 11.5px;
        overflow-wrap: anywhere;
      }
    `,
  ];
}

export const panel: LoadedPanel = {
  reads: ['settled'],
  initial: {},
  show: (page) =>
    html`<memstrata-overview role="region" aria-label="Overview" .page=${page}></memstrata-overview>`,
};

declare global {
  interface HTMLElementTagNameMap {
    'memstrata-overview': OverviewPanel;
  }
}
