// What keeps more in every step; and what came up to the chosen moment and is never freed, step or not.
import { css, html, nothing, type TemplateResult } from 'lit';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount, formatExactBytes, formatSure, plural } from '../../base/format.ts';
import { bytesColumn, countColumn, tableOf } from '../../controls/table.ts';
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
  protected override readonly waiting = 'Looking for what grows…';

  protected override keyOf({ event }: PanelPage): string {
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
          ${report.leaks.length === 0 ? noLeakText(report) : `${plural(report.leaks.length + report.leaks_left_out, 'stack')} that grew from step to step`}
        </h2>
        <p class="dim" data-steps=${report.steps.count} data-steps-from=${report.steps.from ?? nothing}>
          ${stepsText(report, this.page.info.has_ops)}
        </p>
        ${report.leaks.length > 0 ? this.leaks(report) : nothing}
      </section>
      <section aria-label="Never freed" data-never-freed=${kept.bytes} data-until=${until}>
        <h2>
          ${until < 0 ? 'Before the first event nothing is allocated by the recording' : `${formatBytes(kept.bytes)} allocated up to event ${formatCount(until)} and never freed`}
        </h2>
        <p class="dim">
          Of the recording, by line. The moment is the one chosen in the timeline.
          ${
            kept.blocks > 0
              ? html`<button class="link" data-way="all" @click=${() => this.follow({ filter: kept.filter })}>
                  highlight ${kept.blocks === 1 ? 'the block' : `all ${formatCount(kept.blocks)} blocks`}
                </button>`
              : nothing
          }
        </p>
        ${kept.rows.length > 0 ? this.kept(kept) : nothing}
      </section>
    </div>`;
  }

  private follower({
    who,
    rank,
    filter,
  }: Pick<Report['leaks'][number], 'who' | 'rank' | 'filter'>): TemplateResult {
    return html`<button class="link" @click=${() => this.follow({ rank, filter })}>
      ${who ?? 'no stack'}
    </button>`;
  }

  private leaks({ leaks, leaks_left_out }: Report): TemplateResult {
    return html`<div class="scroll" tabindex="0" role="group" aria-label="Leaks">
      ${tableOf(leaks, {
        row: ({ who, live_bytes }) => ({ data: { leak: who ?? '', bytes: live_bytes } }),
        columns: [
          bytesColumn(
            'Live',
            ({ live_bytes }) => live_bytes,
            ({ live_blocks }) => ` in ${plural(live_blocks, 'block')}`,
          ),
          {
            name: 'A step',
            look: 'number',
            cell: ({ bytes_per_step: bytes, blocks_per_step }) => ({
              text: `${formatBytes(bytes)}, ${plural(blocks_per_step, 'block')}`,
              says: formatExactBytes(bytes),
            }),
          },
          {
            name: 'Steps',
            look: 'number',
            cell: ({ steps, first_step }) => ({ text: formatCount(steps), says: `from step ${first_step}` }),
          },
          { name: 'Sure', look: 'number', cell: ({ confidence }) => formatSure(confidence) },
          {
            name: 'Allocated by',
            cell: (leak) =>
              html`${this.follower(leak)}
              ${
                leak.stack === null
                  ? nothing
                  : html`<details>
                      <summary>the stack</summary>
                      <ol>
                        ${leak.stack.map((line) => html`<li>${line}</li>`)}
                      </ol>
                    </details>`
              }`,
          },
        ],
      })}
      ${leaks_left_out > 0 ? html`<p class="dim">and ${formatCount(leaks_left_out)} smaller ones</p>` : nothing}
    </div>`;
  }

  private kept({ rows, other }: NeverFreed): TemplateResult {
    return html`<div class="scroll" tabindex="0" role="group" aria-label="Net growth">
      ${tableOf(rows, {
        row: ({ who, bytes }) => ({ data: { kept: who ?? '', bytes } }),
        columns: [
          bytesColumn('Bytes', ({ bytes }) => bytes),
          countColumn('Blocks', ({ blocks }) => blocks),
          { name: 'Allocated by', cell: (row) => this.follower(row) },
        ],
      })}
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
    answerStyles,
    css`
      section {
        min-width: 0;
      }
    `,
  ];
}

const kFewestSteps = 3;

/** Of a loop with less it is not said that nothing leaks: kSureLoop in engine/analysis/steps/steps.h. */
const kSureLoop = 0.7;

function isSure({ from, count, sure }: Report['steps']): boolean {
  return from === 'loop' ? sure >= kSureLoop && count > kFewestSteps : from !== null && count >= kFewestSteps;
}

function noLeakText({ steps }: Report): string {
  if (!isSure(steps)) return 'Leaks not checked';
  return 'No leak seen';
}

function stepsText({ steps, leaks }: Report, ofTrace: boolean): string {
  const { count, from, name, sure, why_not } = steps;
  const mark = 'Mark them with torch.profiler.record_function("step"), or look at what was never freed.';
  if (from === null)
    return `No training steps detected (${why_not ?? ''}), so growth from step to step cannot be seen. ${ofTrace ? 'Look at what was never freed.' : mark}`;
  const how = {
    annotations: 'the profiler’s own',
    regions: `by the region “${name ?? ''}”`,
    loop: `by the loop ${name ?? ''}, ${formatSure(sure)} sure`,
  }[from];
  const doubt =
    leaks.length > 0
      ? ''
      : count < kFewestSteps
        ? ' That is too few to see growth.'
        : from === 'loop' && !isSure(steps)
          ? ` Nothing grows from one to the next, but that they are steps is not sure. ${mark}`
          : '';
  return `${plural(count, 'step')}, ${how}.${doubt}`;
}

export const panel: LoadedPanel = {
  reads: ['settled', 'event'],
  initial: {},
  show: (page) => html`<gpustrata-leaks .page=${page}></gpustrata-leaks>`,
};
