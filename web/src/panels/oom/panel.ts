// Why the device ran out of memory, one request after the other: the numbers, what was cached and why that was no use,
// and what helps, most bytes first.
import { css, html, nothing, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount, formatExactBytes, plural, unbroken } from '../../base/format.ts';
import type { Bytes } from '../../base/units.ts';
import '../../controls/copy_button.ts';
import { bytesColumn, tableOf } from '../../controls/table.ts';
import type { EngineView, ExplainedOutOfMemory, Report } from '../../../engine/index.ts';
import { noFailure } from '../../words/failure_text.ts';
import { AnswerPanel } from '../answer_panel.ts';
import { answerStyles } from '../answer_styles.ts';
import { around, type Kept, type LoadedPanel, type PanelPage } from '../panel.ts';
import { reportOf } from '../reports.ts';
import { runsOf } from '../runs.ts';

interface Chosen {
  /** Event of the failure that is explained; undefined = the last. */
  event: number | undefined;
}

/** Remedies are tried unasked in recordings of so many events: a run takes a second at most. */
const triedUnasked = 1_000_000;
/** The remedy that a run can try. */
const setting = 'expandable_segments';

const verdicts: Record<ExplainedOutOfMemory['verdict'], string> = {
  too_big: 'More than the device could give',
  full: 'The device was full',
  fragmented: 'Enough was free, but in pieces',
  elsewhere: 'The free memory belonged to another stream or pool',
  too_late: 'Enough was freed, but too late',
  limit: 'A limit was reached',
  unknown: 'The file does not show why',
};

/** Of what the device could give this process: what one sees of it in the bar. */
const parts = [
  ['allocated', 'in use'],
  ['pending', 'waits to be freed'],
  ['cached', 'cached'],
  ['free', 'free on the device'],
] as const;

@element('gpustrata-oom')
export class OomPanel extends AnswerPanel<Report> {
  @property({ attribute: false }) kept!: Kept<Chosen>;
  @state() private tried: { of: EngineView; oom: readonly ExplainedOutOfMemory[] } | undefined;
  @state() private trying: EngineView | undefined;
  protected override readonly waiting = 'Looking for the reason…';

  protected async ask({ view, info }: PanelPage): Promise<Report> {
    const report = await reportOf(view);
    const last = report.oom.at(-1);
    if (info.events <= triedUnasked && last?.remedies.some(({ name }) => name === setting))
      void this.try(view);
    return report;
  }

  /** By a run of the recorded requests, in an engine beside the page's. */
  private async try(view: EngineView): Promise<void> {
    this.trying = view;
    try {
      this.tried = { of: view, oom: await runsOf(view, this.page.elsewhere).triedRemedies() };
    } catch {
      // The button that asks again stands there.
    }
    if (this.trying === view) this.trying = undefined;
  }

  protected show({ oom: untried, oom_left_out }: Report): TemplateResult {
    const oom = this.tried?.of === this.page.view ? this.tried.oom : untried;
    const one = oom.find(({ event }) => event === this.kept.value.event) ?? oom.at(-1);
    if (!one) return html`<p class="dim">${noFailure(this.page.info, around(this.page).damaged)}</p>`;
    return html`${oom.length > 1 ? this.choice(oom, one, oom_left_out) : nothing}
      <div data-oom=${one.event} data-verdict=${one.verdict} data-bytes=${one.requested_bytes}>
        <h2 class="bad">${verdicts[one.verdict]}</h2>
        <p class="text">${unbroken(one.text)}</p>
        ${bar(one)}
        <div class="columns">
          <section aria-label="What helps">
            <h3>What helps, most effective first</h3>
            <p class="dim">None was replayed that does not say so.</p>
            ${this.remedies(one, one === oom.at(-1))}
          </section>
          <section aria-label="What was cached">
            <h3>What was cached, and why it could not be used</h3>
            ${places(one)} ${this.ways(one)}
          </section>
        </div>
      </div>`;
  }

  private choice(
    all: readonly ExplainedOutOfMemory[],
    one: ExplainedOutOfMemory,
    leftOut: number,
  ): TemplateResult {
    return html`<label class="choice">
      Failure
      <select
        @change=${({ target }: Event) => {
          const event = Number((target as HTMLSelectElement).value);
          this.kept.keep({ event });
          this.requestUpdate();
          this.follow({ event });
        }}>
        ${all.map(
          ({ event, requested_bytes }) =>
            html`<option value=${event} ?selected=${event === one.event}>
              ${formatBytes(requested_bytes)} at event ${formatCount(event)}
            </option>`,
        )}
      </select>
      ${leftOut > 0 ? html`<span class="dim">${formatCount(leftOut)} before</span>` : nothing}
    </label>`;
  }

  private remedies({ event, remedies }: ExplainedOutOfMemory, isLast: boolean): TemplateResult {
    return html`<ol class="remedies">
      ${remedies.map(
        ({ name, bytes, text, confirmed, code, filter }) =>
          html`<li data-remedy=${name} data-bytes=${bytes ?? nothing} data-confirmed=${confirmed ?? nothing}>
            <span class="number" title=${bytes === null ? nothing : formatExactBytes(bytes)}
              >${bytes === null ? '' : formatBytes(bytes)}</span
            >
            <div>
              ${
                filter === null
                  ? unbroken(text)
                  : html`<button class="link says" @click=${() => this.follow({ event, filter })}>
                      ${unbroken(text)}
                    </button>`
              }
              ${
                code === null
                  ? nothing
                  : html`<div class="code">
                      <code>${code}</code
                      ><gpustrata-copy label="Copy the line" .text=${() => code}></gpustrata-copy>
                    </div>`
              }
              ${isLast && name === setting && confirmed === null ? this.trial() : nothing}
            </div>
          </li>`,
      )}
    </ol>`;
  }

  private trial(): TemplateResult {
    const { view } = this.page;
    if (this.trying === view)
      return html`<p class="dim" data-trial="runs">Running the recorded requests again with it…</p>`;
    if (this.tried?.of === view)
      return html`<p class="dim" data-trial="unknown">
        A run cannot tell: repeated as recorded, the requests do not fail as they did.
      </p>`;
    return html`<button class="button small" data-trial="untried" @click=${() => void this.try(view)}>
      Try it: run the recorded requests again
    </button>`;
  }

  private ways({ event, who }: ExplainedOutOfMemory): TemplateResult {
    return html`<p class="ways">
      <button class="link" data-way="event" @click=${() => this.follow({ event })}>
        the request${who === null ? '' : `, ${who}`}
      </button>
      <button
        class="link"
        data-way="state"
        @click=${() => this.dispatchEvent(new CustomEvent('go', { detail: { to: 'panel', panel: 'state', event }, bubbles: true, composed: true }))}>
        the state it met
      </button>
      <button class="link" data-way="alive" @click=${() => this.follow({ event, filter: `alive@${event}` })}>
        what was alive then
      </button>
    </p>`;
  }

  static override styles = [
    answerStyles,
    css`
      .text {
        max-width: 90ch;
      }
      .choice {
        display: flex;
        align-items: center;
        gap: 8px;
        margin-bottom: 8px;
        color: var(--dim);
      }
      select {
        height: 28px;
        border: 1px solid var(--line-strong);
        border-radius: 6px;
        background: var(--raised);
        color: var(--text);
      }
      .bar {
        display: flex;
        height: 14px;
        max-width: 900px;
        margin-top: 12px;
        border-radius: 3px;
        background: var(--hover);
        overflow: hidden;
      }
      .bar i {
        min-width: 1px;
      }
      .allocated {
        background: var(--accent);
      }
      .pending {
        background: var(--warn);
      }
      .cached {
        background: repeating-linear-gradient(-45deg, var(--accent) 0 2px, var(--accent-soft) 2px 6px);
      }
      .free {
        background: var(--line-strong);
      }
      .keys {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 20px;
        margin: 6px 0 0;
        padding: 0;
        list-style: none;
      }
      .keys li {
        display: flex;
        align-items: center;
        gap: 6px;
      }
      .keys i {
        width: 10px;
        height: 10px;
        border-radius: 2px;
      }
      .keys b {
        font-weight: 600;
      }
      .remedies {
        margin: 0;
        padding: 0;
        list-style: none;
      }
      .remedies li {
        display: grid;
        grid-template-columns: 76px minmax(0, 1fr);
        gap: 12px;
        padding: 6px 0;
        border-bottom: 1px solid var(--line);
        overflow-wrap: anywhere;
      }
      .remedies .number {
        font-weight: 600;
      }
      .link.says {
        color: var(--text);
        font-weight: 400;
      }
      [data-trial] {
        margin: 4px 0 0;
      }
      .ways {
        display: flex;
        flex-wrap: wrap;
        gap: 0 16px;
      }
    `,
  ];
}

/** What of the device is what, and how much was asked for: both to one scale. */
function bar(one: ExplainedOutOfMemory): TemplateResult {
  const bytes: Record<(typeof parts)[number][0], Bytes | null> = {
    allocated: one.allocated_bytes,
    pending: one.pending_bytes,
    cached: one.cached_bytes,
    free: one.device_free_bytes,
  };
  return html`<div class="bar" aria-hidden="true">
      ${parts.map(([part]) => html`<i class=${part} .style=${`flex: ${bytes[part] ?? 0} 0 0`}></i>`)}
    </div>
    <ul class="keys" aria-label="What the memory was">
      ${parts.map(([part, name]) =>
        bytes[part] === 0
          ? nothing
          : html`<li data-number=${part} data-bytes=${bytes[part] ?? nothing}>
              <i class=${part} aria-hidden="true"></i>
              <b title=${bytes[part] === null ? nothing : formatExactBytes(bytes[part])}
                >${bytes[part] === null ? 'not known' : formatBytes(bytes[part])}</b
              >
              ${name}
            </li>`,
      )}
      <li data-number="requested" data-bytes=${one.requested_bytes}>
        <b class="bad" title=${formatExactBytes(one.requested_bytes)}>${formatBytes(one.requested_bytes)}</b>
        asked for
      </li>
    </ul>`;
}

function places({ free }: ExplainedOutOfMemory): TemplateResult {
  if (free.length === 0) return html`<p class="dim">Nothing was cached.</p>`;
  return tableOf(free, {
    label: 'Cached memory by pool and stream',
    row: ({ name, cached_bytes, why }) => ({ data: { place: name, bytes: cached_bytes, why } }),
    columns: [
      { name: 'Pool and stream', cell: ({ name }) => name },
      bytesColumn(
        'Cached',
        ({ cached_bytes }) => cached_bytes,
        ({ blocks }) => ` in ${plural(blocks, 'piece')}`,
      ),
      bytesColumn('Largest piece', ({ largest_free_bytes }) => largest_free_bytes),
      { name: 'Why not', cell: ({ why_text }) => why_text },
    ],
  });
}

export const panel: LoadedPanel<Chosen> = {
  reads: ['settled'],
  initial: { event: undefined },
  show: (page, kept) =>
    html`<gpustrata-oom
      role="region"
      aria-label="Out of memory"
      .page=${page}
      .kept=${kept}></gpustrata-oom>`,
};
