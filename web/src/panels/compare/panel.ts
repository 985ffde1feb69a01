// Two open files, or two moments of one: what grew, by stack, whose parts add up; both curves over each other; and of many
// files the one that is not like the others.
import { css, html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { withData } from '../../controls/data.ts';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount, formatExactBytes, formatRatio, formatSigned } from '../../base/format.ts';
import type { Bytes } from '../../base/units.ts';
import { bytesCell, bytesColumn, tableOf } from '../../controls/table.ts';
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
  protected override readonly waiting = 'Comparing…';

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

  protected override keyOf(): string {
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
          >${formatSigned(growth)}${ratio(compared.before.bytes, compared.after.bytes, ', ')}</span
        >
      </h2>
      ${
        before.view === after.view
          ? nothing
          : html`<gpustrata-compare-curves
              .first=${before}
              .second=${after}
              .theme=${this.page.theme}
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
    return tableOf(lines, {
      label: 'Differences by line',
      data: { rows: lines.length },
      row: ({ change, who, before_bytes, after_bytes }) => ({
        data: { change, who, before: before_bytes, after: after_bytes },
      }),
      columns: [
        {
          name: 'Change',
          cell: ({ change, moved }) =>
            html`${change}${moved ? html`<span class="dim" title="The same functions at other lines"> (moved)</span>` : nothing}`,
        },
        { name: 'By', look: 'number', cell: (line) => bytesCell(growthOf(line), { signed: true }) },
        { name: 'Ratio', look: 'number', cell: (line) => ratio(line.before_bytes, line.after_bytes) },
        bytesColumn(
          'Before',
          (line) => line.before_bytes,
          (line) => ` in ${formatCount(line.before_blocks)}`,
        ),
        bytesColumn(
          'After',
          (line) => line.after_bytes,
          (line) => ` in ${formatCount(line.after_blocks)}`,
        ),
        {
          name: 'Allocated by',
          cell: (line) => html`${this.who(line, before, after)} ${this.stacks(line.stacks)}`,
        },
      ],
      foot: html`<tbody>
          ${sum('changed, but less', other, 'other')} ${sum('did not change', same, 'same')}
          ${sum('in stacks too small to be compared', rest, 'rest')}
        </tbody>
        <tfoot>
          ${sum('', { before_bytes: compared.before.bytes, after_bytes: compared.after.bytes, rows: 0 })}
        </tfoot>`,
    });
  }

  private who({ who, change, stacks }: LineRow, before: Side, after: Side): TemplateResult | string {
    const side = change === 'gone' ? before : after;
    const told = stacks[0]?.told;
    return side.view === this.page.view && told
      ? html`<button class="link" @click=${() => this.follow(proofOf(told, side))}>${who}</button>`
      : who;
  }

  private stacks(stacks: LineRow['stacks']): TemplateResult | typeof nothing {
    const known = stacks.filter(({ told }) => (told.stack?.length ?? 0) > 0);
    if (known.length === 0) return nothing;
    return html`<details>
      <summary>${known.length === 1 ? 'the stack' : `${formatCount(known.length)} stacks`}</summary>
      ${known.map(
        ({ row, told }) =>
          html`${known.length > 1 ? html`<p class="dim">${formatSigned(growthOf(row))}</p>` : nothing}
            <ol>
              ${told.stack?.map((text) => html`<li>${text}</li>`)}
            </ol>`,
      )}
    </details>`;
  }

  static override styles = [
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
      [data-sum] > * {
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

/** Without a name it is of all. */
function sum(
  says: string,
  { before_bytes, after_bytes, rows }: Pick<ComparedSum, 'before_bytes' | 'after_bytes' | 'rows'>,
  name?: string,
): TemplateResult | typeof nothing {
  if (name !== undefined && before_bytes === 0 && after_bytes === 0 && rows === 0) return nothing;
  const exact = (bytes: Bytes): TemplateResult =>
    html`<td class="number" title=${formatExactBytes(bytes)}>${formatBytes(bytes)}</td>`;
  return html`<tr ${withData({ sum: name, before: name && before_bytes, after: name && after_bytes })}>
    <th scope="row">${name === undefined ? 'all' : rows > 0 ? formatCount(rows) : ''}</th>
    <td class="number">${formatSigned(after_bytes - before_bytes)}</td>
    <td class="number">${ratio(before_bytes, after_bytes)}</td>
    ${exact(before_bytes)}${exact(after_bytes)}
    <td>${says}</td>
  </tr>`;
}

/** `×2.1`; empty where one side has nothing, or nothing changed. */
function ratio(before: Bytes, after: Bytes, lead = ''): string {
  return before > 0 && after > 0 && before !== after ? `${lead}${formatRatio(after / before)}` : '';
}

export const panel: LoadedPanel<Choice> = {
  reads: ['settled', 'event', 'files', 'theme'],
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
