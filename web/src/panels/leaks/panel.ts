// What keeps more in every step; and what came up to the chosen moment and is never freed, step or not.
import { css, html, nothing, type TemplateResult } from 'lit';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount, formatExactBytes, plural } from '../../base/format.ts';
import { base } from '../../controls/styles.ts';
import type { NeverFreed, Report } from '../../../engine/index.ts';
import { AnswerPanel } from '../answer_panel.ts';
import { answerStyles } from '../answer_styles.ts';
import type { LoadedPanel, PanelPage } from '../panel.ts';
import { reportOf } from '../reports.ts';

interface Found {
  report: Report;
  kept: NeverFreed;
  until: number;
}

@element('gpustrata-leaks')
export class LeaksPanel extends AnswerPanel<Found> {
  protected readonly waiting = 'Looking for what grows…';

  protected keyOf({ event }: PanelPage): string {
    return String(event);
  }
  protected async ask({ view, event, info }: PanelPage): Promise<Found> {
    const until = Math.min(event, info.events - 1);
    const [report, kept] = await Promise.all([
      reportOf(view),
      view.ask('neverFreed', { from: 0, until: Math.max(until, -1) }),
    ]);
    return { report, kept, until };
  }

  protected show({ report, kept, until }: Found): TemplateResult {
    return html`<div class="columns">
      <section aria-label="Leaks" data-leaks=${report.leaks.length}>
        <h2>
          ${report.leaks.length === 0 ? noLeakText(report) : `${plural(report.leaks.length + report.leaks_left_out, 'stack')} that keep more in every step`}
        </h2>
        <p class="dim" data-steps=${report.steps.count} data-steps-from=${report.steps.from ?? nothing}>
          ${stepsText(report)}
        </p>
        ${report.leaks.length > 0 ? this.leaks(report) : nothing}
      </section>
      <section aria-label="Never freed" data-never-freed=${kept.bytes} data-until=${until}>
        <h2>
          ${until < 0 ? 'Nothing is allocated before the first event' : `${formatBytes(kept.bytes)} allocated up to event ${formatCount(until)} and never freed`}
        </h2>
        <p class="dim">
          Of the recording, by line. The moment is the one chosen in the timeline.
          ${
            kept.blocks > 0
              ? html`<button class="link" data-way="all" @click=${() => this.follow({ filter: kept.filter })}>
                  light all ${plural(kept.blocks, 'block')}
                </button>`
              : nothing
          }
        </p>
        ${kept.rows.length > 0 ? this.kept(kept) : nothing}
      </section>
    </div>`;
  }

  private leaks({ leaks, leaks_left_out }: Report): TemplateResult {
    return html`<div class="scroll" tabindex="0" role="group" aria-label="Leaks">
      <table>
        <thead>
          <tr>
            <th scope="col" class="number">Live</th>
            <th scope="col" class="number">A step</th>
            <th scope="col" class="number">Steps</th>
            <th scope="col" class="number">Sure</th>
            <th scope="col">Allocated by</th>
          </tr>
        </thead>
        <tbody>
          ${leaks.map(
            (leak) =>
              html`<tr data-leak=${leak.who ?? ''} data-bytes=${leak.live_bytes}>
                <td
                  class="number"
                  title="${formatExactBytes(leak.live_bytes)} in ${plural(leak.live_blocks, 'block')}">
                  ${formatBytes(leak.live_bytes)}
                </td>
                <td class="number" title=${formatExactBytes(leak.bytes_per_step)}>
                  ${formatBytes(leak.bytes_per_step)}, ${plural(leak.blocks_per_step, 'block')}
                </td>
                <td class="number" title="from step ${leak.first_step}">${formatCount(leak.steps)}</td>
                <td class="number">${Math.round(100 * leak.confidence)} %</td>
                <td>
                  <button class="link" @click=${() => this.follow({ rank: leak.rank, filter: leak.filter })}>
                    ${leak.who ?? 'no stack'}
                  </button>
                  ${
                    leak.stack === null
                      ? nothing
                      : html`<details>
                          <summary>the stack</summary>
                          <ol>
                            ${leak.stack.map((line) => html`<li>${line}</li>`)}
                          </ol>
                        </details>`
                  }
                </td>
              </tr>`,
          )}
        </tbody>
      </table>
      ${leaks_left_out > 0 ? html`<p class="dim">and ${formatCount(leaks_left_out)} smaller ones</p>` : nothing}
    </div>`;
  }

  private kept({ rows, other }: NeverFreed): TemplateResult {
    return html`<div class="scroll" tabindex="0" role="group" aria-label="Came and stayed">
      <table>
        <thead>
          <tr>
            <th scope="col" class="number">Bytes</th>
            <th scope="col" class="number">Blocks</th>
            <th scope="col">Allocated by</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ({ who, bytes, blocks, rank, filter }) =>
              html`<tr data-kept=${who ?? ''} data-bytes=${bytes}>
                <td class="number" title=${formatExactBytes(bytes)}>${formatBytes(bytes)}</td>
                <td class="number">${formatCount(blocks)}</td>
                <td>
                  <button class="link" @click=${() => this.follow({ rank, filter })}>
                    ${who ?? 'no stack'}
                  </button>
                </td>
              </tr>`,
          )}
        </tbody>
      </table>
      ${
        other.rows > 0
          ? html`<p class="dim">
              and ${formatBytes(other.bytes)} in ${plural(other.blocks, 'block')} of
              ${plural(other.rows, 'other line')}
            </p>`
          : nothing
      }
    </div>`;
  }

  static override styles = [
    base,
    answerStyles,
    css`
      section {
        min-width: 0;
      }
    `,
  ];
}

const kFewestSteps = 3;

/** "No leak" is said of steps that are sure, only. */
function noLeakText({ steps }: Report): string {
  const areSure = steps.from !== null && steps.from !== 'period' && steps.count >= kFewestSteps;
  return areSure ? 'No leak' : 'Leaks not checked';
}

function stepsText({ steps, leaks }: Report): string {
  const { count, from, name, sure } = steps;
  const mark = 'Mark them with torch.profiler.record_function("step"), or look at what was never freed.';
  if (from === null) return `No training steps detected, so growth from step to step cannot be seen. ${mark}`;
  const how = {
    annotations: 'the profiler’s own',
    regions: `by the region “${name ?? ''}”`,
    period: `detected by repetition${name === null ? '' : `: ${name}`}, ${Math.round(100 * sure)} % sure`,
  }[from];
  const doubt =
    leaks.length > 0
      ? ''
      : count < kFewestSteps
        ? ' That is too few to see growth.'
        : from === 'period'
          ? ` Nothing grows from one to the next, but a leak in a loop around them or in them would not be seen. ${mark}`
          : '';
  return `${plural(count, 'step')}, ${how}.${doubt}`;
}

export const panel: LoadedPanel = {
  reads: ['settled', 'event'],
  initial: {},
  show: (page) => html`<gpustrata-leaks .page=${page}></gpustrata-leaks>`,
};
