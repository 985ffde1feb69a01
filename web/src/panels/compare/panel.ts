// Two open files, or two moments of one: what grew, by stack, whose parts add up; both curves over each other; and of many
// files the one that is not like the others.
import { css, html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount, formatExactBytes, formatRatio } from '../../base/format.ts';
import type { Bytes } from '../../base/units.ts';
import { base } from '../../controls/styles.ts';
import type { Compared, ComparedSum, EngineView, StackFacts } from '../../../engine/index.ts';
import { AnswerPanel } from '../answer_panel.ts';
import { answerStyles } from '../answer_styles.ts';
import { maybeText, oneOf } from '../link_field.ts';
import type { Kept, LoadedPanel, PanelFile } from '../panel.ts';
import './curves.ts';
import { aligns, type Align } from './curves.ts';
import './ranks.ts';
import { growthOf, linesOf, type LineRow, type Told } from './lines.ts';
import { Members } from './members.ts';
import { momentsOf, shortNames, type MomentName } from '../moments.ts';
import { sideField, sidesOf, type Side, type SideChoice } from './sides.ts';

interface Choice {
  before: SideChoice;
  after: SideChoice;
  align: Align;
  /** By whose regions; undefined = the panel decides. */
  region: string | undefined;
}
interface Found {
  before: Side;
  after: Side;
  facts: StackFacts;
  compared: Compared;
}

/** Numbers of views, so that a text can name them. */
const numbers = new WeakMap<EngineView, number>();
let lastNumber = 0;
function numberOf(view: EngineView): number {
  const known = numbers.get(view) ?? (lastNumber += 1);
  numbers.set(view, known);
  return known;
}

@element('gpustrata-compare')
export class ComparePanel extends AnswerPanel<Found> {
  @property({ attribute: false }) kept!: Kept<Choice>;
  protected readonly waiting = 'Comparing…';

  private readonly members = new Members(() => this.requestUpdate());

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (this.page.settled && this.isConnected) void this.members.open(this.page);
    super.willUpdate(changed);
  }
  override connectedCallback(): void {
    super.connectedCallback();
    this.requestUpdate(); // they were let go
  }
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.members.close();
  }

  private get files(): readonly PanelFile[] {
    return this.members.among(this.page);
  }
  private get sides(): { before: Side; after: Side } {
    return sidesOf({ ...this.page, files: this.files }, this.kept.value.before, this.kept.value.after);
  }

  protected keyOf(): string {
    const { before, after } = this.sides;
    return [before, after].map(({ view, event }) => `${numberOf(view)}@${event}`).join(' ');
  }
  /** Both are asked in their own engines: a file's facts are small, whatever the file is. */
  protected async ask(): Promise<Found> {
    const { before, after } = this.sides;
    const facts = await before.view.ask('facts', { event: before.event });
    const { keys, places, sizes, counts, rest_bytes, rest_blocks } = facts;
    const told = { keys, places, sizes, counts, rest_bytes, rest_blocks };
    const compared = await after.view.ask('compare', { event: after.event, before: told });
    return { before, after, facts, compared };
  }

  protected show(found: Found): TemplateResult {
    const { files } = this;
    const { view } = this.page;
    const { before, after, compared } = found;
    const growth = compared.after.bytes - compared.before.bytes;
    return html`${
        files.length > 2
          ? html`<gpustrata-ranks
              .files=${files}
              .names=${shortNames(files)}
              .shown=${view}
              @choose=${({ detail }: CustomEvent<string>) => this.choose('before', { file: detail, moment: undefined })}></gpustrata-ranks>`
          : nothing
      }
      <div class="sides">
        ${this.side('before', this.sides.before)} ${this.side('after', this.sides.after)}
      </div>
      <h2
        data-before=${compared.before.bytes}
        data-after=${compared.after.bytes}
        title="${formatExactBytes(compared.before.bytes)}, then ${formatExactBytes(compared.after.bytes)}">
        ${formatBytes(compared.before.bytes)} → ${formatBytes(compared.after.bytes)}
        <span class=${growth > 0 ? 'more' : 'less'}
          >${signed(growth)}${ratio(compared.before.bytes, compared.after.bytes, ', ')}</span
        >
      </h2>
      ${
        before.view === after.view
          ? nothing
          : html`<gpustrata-compare-curves
              .first=${before}
              .second=${after}
              .align=${this.kept.value.align}
              .region=${this.kept.value.region}
              @region=${({ detail }: CustomEvent<string>) => {
                this.kept.keep({ region: detail });
                this.requestUpdate();
              }}
              @align=${({ detail }: CustomEvent<Align>) => {
                this.kept.keep({ align: detail });
                this.requestUpdate();
              }}></gpustrata-compare-curves>`
      }
      <p
        class="matching"
        data-by-stack=${compared.matching.stack}
        data-by-functions=${compared.matching.functions}>
        ${compared.matching.text}
      </p>
      ${this.table(found)}`;
  }

  private choose(which: 'before' | 'after', choice: SideChoice): void {
    this.kept.keep({ [which]: choice });
    this.requestUpdate();
  }

  private side(which: 'before' | 'after', side: Side): TemplateResult {
    const { files } = this;
    const names = shortNames(files);
    return html`<fieldset>
      <legend>${which === 'before' ? 'Before' : 'After'}</legend>
      ${
        files.length > 1
          ? html`<select
              data-side-file=${which}
              aria-label="File ${which}"
              @change=${({ target }: Event) =>
                this.choose(which, { file: (target as HTMLSelectElement).value, moment: undefined })}>
              ${files.map(
                ({ name }, at) =>
                  html`<option value=${name} ?selected=${name === side.name}>${names[at]}</option>`,
              )}
            </select>`
          : nothing
      }
      <select
        data-side-moment=${which}
        aria-label="Moment ${which}"
        @change=${({ target }: Event) =>
          this.choose(which, { file: side.name, moment: (target as HTMLSelectElement).value as MomentName })}>
        ${momentsOf(side.view, this.page).map(
          ([name, says]) => html`<option value=${name} ?selected=${name === side.moment}>${says}</option>`,
        )}
      </select>
    </fieldset>`;
  }

  private table({ before, after, facts, compared }: Found): TemplateResult {
    const { rows, same, other, rest } = compared;
    const lines = linesOf(rows, facts, compared.after.bytes - compared.before.bytes);
    return html`<div class="scroll" tabindex="0" role="group" aria-label="Differences by line">
      <table data-rows=${lines.length}>
        <thead>
          <tr>
            <th scope="col">Change</th>
            <th scope="col" class="number">By</th>
            <th scope="col" class="number">Ratio</th>
            <th scope="col" class="number">Before</th>
            <th scope="col" class="number">After</th>
            <th scope="col">Allocated by</th>
          </tr>
        </thead>
        <tbody>
          ${lines.map((line) => this.row(line, before, after))} ${sum('other', 'changed, but less', other)}
          ${sum('same', 'did not change', same)} ${sum('rest', 'in stacks too small to be compared', rest)}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">all</th>
            <td class="number">${signed(compared.after.bytes - compared.before.bytes)}</td>
            <td class="number">${ratio(compared.before.bytes, compared.after.bytes)}</td>
            <td class="number" title=${formatExactBytes(compared.before.bytes)}>
              ${formatBytes(compared.before.bytes)}
            </td>
            <td class="number" title=${formatExactBytes(compared.after.bytes)}>
              ${formatBytes(compared.after.bytes)}
            </td>
            <td></td>
          </tr>
        </tfoot>
      </table>
    </div>`;
  }

  private row(line: LineRow, before: Side, after: Side): TemplateResult {
    const { who, change, before_bytes, after_bytes, stacks } = line;
    const gone = change === 'gone';
    const side = gone ? before : after;
    const here = side.view === this.page.view;
    const told = stacks[0]?.told;
    return html`<tr
      data-change=${change}
      data-who=${who}
      data-before=${before_bytes}
      data-after=${after_bytes}>
      <td>
        ${change}${line.moved ? html`<span class="dim" title="The same functions at other lines"> (moved)</span>` : nothing}
      </td>
      <td class="number">${signed(growthOf(line))}</td>
      <td class="number">${ratio(before_bytes, after_bytes)}</td>
      <td class="number" title="${formatExactBytes(before_bytes)} in ${formatCount(line.before_blocks)}">
        ${formatBytes(before_bytes)}
      </td>
      <td class="number" title="${formatExactBytes(after_bytes)} in ${formatCount(line.after_blocks)}">
        ${formatBytes(after_bytes)}
      </td>
      <td>
        ${
          here && told
            ? html`<button class="link" @click=${() => this.follow(proofOf(told, side))}>${who}</button>`
            : who
        }
        ${this.stacks(stacks)}
      </td>
    </tr>`;
  }

  private stacks(stacks: LineRow['stacks']): TemplateResult | typeof nothing {
    const known = stacks.filter(({ told }) => (told.stack?.length ?? 0) > 0);
    if (known.length === 0) return nothing;
    return html`<details>
      <summary>${known.length === 1 ? 'the stack' : `${formatCount(known.length)} stacks`}</summary>
      ${known.map(
        ({ row, told }) =>
          html`${known.length > 1 ? html`<p class="dim">${signed(growthOf(row))}</p>` : nothing}
            <ol>
              ${told.stack?.map((text) => html`<li>${text}</li>`)}
            </ol>`,
      )}
    </details>`;
  }

  static override styles = [
    base,
    answerStyles,
    css`
      .sides {
        display: flex;
        flex-wrap: wrap;
        gap: 8px 24px;
        margin-bottom: 8px;
      }
      fieldset {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 8px;
        min-width: 0;
        margin: 0;
        padding: 0;
        border: 0;
      }
      legend {
        float: left;
        padding: 0;
        color: var(--dim);
      }
      select {
        max-width: 320px;
        height: 28px;
        border: 1px solid var(--line-strong);
        border-radius: 6px;
        background: var(--raised);
        color: var(--text);
      }
      td > details {
        display: inline-block;
        margin-left: 8px;
        color: var(--dim);
        vertical-align: baseline;
      }
      h2 {
        margin: 4px 0 8px;
        font-size: 15px;
      }
      .more {
        color: var(--bad);
      }
      .less {
        color: var(--dim);
      }
      table,
      .matching {
        max-width: 1100px;
      }
      .matching {
        margin: 0 0 8px;
        color: var(--dim);
      }
      tfoot th,
      tfoot td {
        border-bottom: 0;
        font-weight: 600;
      }
      .sum td,
      .sum th {
        color: var(--dim);
      }
    `,
  ];
}

function proofOf(
  { filter, rank }: Told,
  { event }: Side,
): {
  filter: string | null;
  rank: number | null;
} {
  return { filter: filter === null ? null : `${filter} alive@${event < 0 ? 'start' : event}`, rank };
}

function sum(name: string, says: string, one: ComparedSum): TemplateResult | typeof nothing {
  if (one.before_bytes === 0 && one.after_bytes === 0 && one.rows === 0) return nothing;
  return html`<tr class="sum" data-sum=${name} data-before=${one.before_bytes} data-after=${one.after_bytes}>
    <td>${one.rows > 0 ? formatCount(one.rows) : ''}</td>
    <td class="number">${signed(one.after_bytes - one.before_bytes)}</td>
    <td class="number">${ratio(one.before_bytes, one.after_bytes)}</td>
    <td class="number">${formatBytes(one.before_bytes)}</td>
    <td class="number">${formatBytes(one.after_bytes)}</td>
    <td>${says}</td>
  </tr>`;
}

function signed(bytes: Bytes): string {
  if (bytes === 0) return '0 B';
  return bytes > 0 ? `+${formatBytes(bytes)}` : `−${formatBytes(-bytes)}`;
}

/** `×2.1`; empty where one side has nothing, or nothing changed. */
function ratio(before: Bytes, after: Bytes, lead = ''): string {
  return before > 0 && after > 0 && before !== after ? `${lead}${formatRatio(after / before)}` : '';
}

export const panel: LoadedPanel<Choice> = {
  reads: ['settled', 'event', 'files'],
  initial: {
    before: { file: undefined, moment: undefined },
    after: { file: undefined, moment: undefined },
    align: 'event',
    region: undefined,
  },
  linked: { before: sideField, after: sideField, align: oneOf(aligns), region: maybeText },
  show: (page, kept) =>
    html`<gpustrata-compare
      role="region"
      aria-label="Compare"
      .page=${page}
      .kept=${kept}></gpustrata-compare>`,
};
