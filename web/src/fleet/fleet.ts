// A thousand ranks: what is odd in words, all of them over time as one picture, and every fact in a table. What is chosen is
// told to the page, which keeps it with the file and in links.
import { reasonOf } from '../base/reason.ts';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { saveFile } from '../base/save_file.ts';
import { formatCount, formatDuration, formatWallClock, plural } from '../base/format.ts';
import { type Engine } from '../../engine/index.ts';
import { themes, type Theme } from '../draw/colors.ts';
import '../controls/copy_button.ts';
import { base } from '../controls/styles.ts';
import { tableStyles } from '../controls/table_styles.ts';
import '../controls/tabs.ts';
import { usualChoice, type FleetChoice, type FleetTable } from '../model/fleet_choice.ts';
import { FleetFacts, type Ordered, type RankFile } from '../model/fleet_facts.ts';
import { readFleet } from '../model/fleet_file.ts';
import { columnTitle, countOfRanks, coverageText, rankName } from '../words/fleet_text.ts';
import './findings.ts';
import './heat_map.ts';
import './rank_table.ts';
import { fleetStyles } from './styles.ts';
import { groupsTable, stacksTable } from './tables.ts';

/** Opens the snapshot of a rank. Undefined = it does; else why it cannot, in words. */
export type OpenRank = (rank: RankFile) => Promise<string | undefined>;

/** Of each engine once: going to a rank and back is quick. */
const known = new WeakMap<Engine, Promise<FleetFacts>>();

function factsOf(engine: Engine): Promise<FleetFacts> {
  const before = known.get(engine);
  if (before) return before;
  const asked = engine.ask('fleet', { fleet: 0 }).then(({ text }) => new FleetFacts(readFleet(text)));
  known.set(engine, asked);
  asked.catch(() => known.delete(engine));
  return asked;
}

/**
 * Tells `fleet-choice` with what is chosen anew. Its slot `choose` has buttons that choose files; `retry` when there are more.
 */
@element('gpustrata-fleet')
export class FleetView extends LitElement {
  @property({ attribute: false }) engine!: Engine;
  @property({ attribute: false }) theme: Theme = themes.light;
  @property({ attribute: false }) choice: FleetChoice = usualChoice;
  @property({ attribute: false, hasChanged: () => false }) openRank!: OpenRank;
  @state() private facts: FleetFacts | undefined;
  @state() private problem: string | undefined;
  /** The rank whose file is not known. */
  @state() private missing: { rank: RankFile; why: string } | undefined;
  @query('.missing') private notice!: HTMLElement | null;

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('engine')) void this.load();
  }

  private async load(): Promise<void> {
    const { engine } = this;
    this.facts = undefined;
    this.problem = undefined;
    this.missing = undefined;
    try {
      const facts = await factsOf(engine);
      if (engine === this.engine) this.facts = facts;
    } catch (error) {
      if (engine === this.engine && engine.alive) this.problem = reasonOf(error);
    }
  }

  private choose(change: Partial<FleetChoice>): void {
    this.dispatchEvent(new CustomEvent<Partial<FleetChoice>>('fleet-choice', { detail: change }));
  }
  private readonly light = (lit: NonNullable<FleetChoice['lit']>): void => {
    const { facts, choice } = this;
    const same = choice.lit?.of === lit.of && choice.lit.at === lit.at;
    const first = facts?.rowsOf(lit)[0];
    this.choose(same ? { lit: undefined } : { lit, ...(first !== undefined && { row: first }) });
  };
  private sortBy(name: string): void {
    const { sort, descending } = this.choice;
    const column = this.facts?.column(name);
    // First what one looks for: the largest number, the first word.
    const first = column?.unit === 'bytes' || column?.unit === 'share';
    if (sort !== name) this.choose({ sort: name, descending: first });
    else if (descending === first) this.choose({ descending: !first });
    else this.choose({ sort: '', descending: false });
  }

  private async open(row: number): Promise<void> {
    const { facts } = this;
    if (!facts) return;
    this.choose({ row });
    const rank = facts.fileOf(row);
    const why = await this.openRank(rank);
    this.missing = why === undefined ? undefined : { rank, why };
    if (!this.missing) return;
    await this.updateComplete;
    this.notice?.scrollIntoView({ block: 'nearest' });
    this.notice?.focus();
  }
  /** There are more files to look in. */
  retry(): void {
    if (this.missing) void this.open(this.missing.rank.row);
  }

  // -- The page.

  protected override render(): TemplateResult {
    const { facts, problem } = this;
    if (problem !== undefined) return html`<p role="alert" class="column">${problem}</p>`;
    if (!facts) return html`<p class="dim column">Looking at the ranks…</p>`;
    const ordered = facts.order(this.choice);
    return html`<div class="column" data-fleet=${facts.count} data-order=${ordered.rows.length}>
      ${this.head(facts)} ${this.findings(facts)} ${this.picture(facts, ordered)}
      ${this.tables(facts, ordered)}
    </div>`;
  }

  private head({ fleet, count }: FleetFacts): TemplateResult {
    const { coverage, unreadable, unreadable_count: bad, title, leftOut } = fleet;
    const odd =
      leftOut > 0 ? [`${plural(leftOut, 'value')} of this file cannot be read, and are left out.`] : [];
    const says = [...fleet.says, ...odd];
    const [only] = coverage;
    const { from_us: from, to_us: to, clock } = fleet.curves;
    const when =
      from === null || to === null
        ? ''
        : clock === 'common'
          ? `${formatWallClock(from)}, for ${formatDuration(to - from)}`
          : `at most ${formatDuration(to - from)} each`;
    return html`<header>
        <h2>${title || 'Ranks'}</h2>
        <p class="dim" data-coverage>
          ${[
            coverage.length === 1 && only
              ? coverageText(only)
              : `${plural(count, 'row')} of ${plural(coverage.length, 'run')}`,
            ...(when === '' ? [] : [when]),
          ].join(' · ')}
        </p>
      </header>
      ${
        says.length === 0
          ? nothing
          : html`<ul class="says" aria-label="What is not as it should be">
              ${says.map((one) => html`<li>${one}</li>`)}
            </ul>`
      }
      ${
        coverage.length > 1
          ? html`<details>
              <summary>${plural(coverage.length, 'run')}</summary>
              <ul>
                ${coverage.slice(0, 100).map((one) => html`<li><b>${one.run || 'no name'}</b>: ${coverageText(one)}</li>`)}
              </ul>
            </details>`
          : nothing
      }
      ${
        bad > 0
          ? html`<details data-unreadable=${bad}>
              <summary>What could not be read: ${formatCount(bad)}</summary>
              <ul>
                ${unreadable.slice(0, 100).map(({ file, message }) => html`<li><b>${file}</b>: ${message}</li>`)}
                ${bad > 100 ? html`<li>… ${formatCount(bad - 100)} more</li>` : nothing}
              </ul>
            </details>`
          : nothing
      }`;
  }

  private findings({ fleet }: FleetFacts): TemplateResult {
    const { lit } = this.choice;
    return html`<gpustrata-fleet-findings
      role="region"
      aria-label="Findings"
      .findings=${fleet.findings}
      .lit=${lit?.of === 'finding' ? lit.at : -1}
      @light=${(event: CustomEvent<number>) => this.light({ of: 'finding', at: event.detail })}></gpustrata-fleet-findings>`;
  }

  private picture(facts: FleetFacts, ordered: Ordered): TemplateResult {
    const { choice } = this;
    const { curves } = facts.fleet;
    const has = curves[choice.curve].length > 0;
    return html`<section aria-label="Memory of all ranks over time">
      <h3 class="title">Memory over time</h3>
      ${this.choices(facts)}
      ${
        has && ordered.rows.length > 0
          ? html`<gpustrata-heat-map
              .facts=${facts}
              .ordered=${ordered}
              .curve=${choice.curve}
              .lit=${facts.lit(choice)}
              .outOfMemory=${facts.outOfMemory()}
              .row=${choice.row}
              .theme=${this.theme}
              @row=${(event: CustomEvent<number>) => this.choose({ row: event.detail })}
              @open-row=${(event: CustomEvent<number>) => void this.open(event.detail)}></gpustrata-heat-map>`
          : html`<p class="dim">
              ${has ? 'No rank has this text.' : `The file does not tell what was ${choice.curve} over time.`}
            </p>`
      }
      ${this.notFound(facts)}
    </section>`;
  }

  private choices(facts: FleetFacts): TemplateResult {
    const { curve, sort, descending, by } = this.choice;
    const picked = (event: Event): string => (event.target as HTMLSelectElement).value;
    return html`<div class="choices">
      <label
        >Show
        <select
          class="field"
          data-choice="curve"
          @change=${(event: Event) => this.choose({ curve: picked(event) === 'reserved' ? 'reserved' : 'allocated' })}>
          <option value="allocated" ?selected=${curve === 'allocated'}>Allocated</option>
          <option value="reserved" ?selected=${curve === 'reserved'}>Reserved</option>
        </select></label
      >
      <label
        >Sorted by
        <select
          class="field"
          data-choice="sort"
          @change=${(event: Event) => {
            const name = picked(event);
            const unit = facts.column(name)?.unit;
            this.choose({ sort: name, descending: unit === 'bytes' || unit === 'share' });
          }}>
          <option value="" ?selected=${sort === ''}>Run and rank</option>
          ${facts.columns.map((column) => html`<option value=${column.name ?? ''} ?selected=${sort === column.name}>${columnTitle(column)}</option>`)}
        </select></label
      >
      ${
        sort === ''
          ? nothing
          : html`<button
              class="button small"
              data-choice="direction"
              @click=${() => this.choose({ descending: !descending })}>
              ${descending ? 'Largest first ↓' : 'Smallest first ↑'}
            </button>`
      }
      ${
        facts.kinds.length === 0
          ? nothing
          : html`<label
              >Grouped by
              <select
                class="field"
                data-choice="by"
                @change=${(event: Event) => this.choose({ by: picked(event) })}>
                <option value="" ?selected=${by === ''}>Nothing</option>
                ${facts.kinds.map((kind) => html`<option value=${kind} ?selected=${by === kind}>${kind}</option>`)}
              </select></label
            >`
      }
    </div>`;
  }

  private notFound(facts: FleetFacts): TemplateResult | typeof nothing {
    const { missing } = this;
    if (!missing) return nothing;
    const { rank, why } = missing;
    return html`<div
      class="missing"
      role="group"
      aria-label="The file of ${rankName(facts, rank.row)}"
      tabindex="-1"
      data-missing=${rank.file}>
      <p><b>${rankName(facts, rank.row)}</b> was recorded in <code>${rank.file}</code>. ${why}</p>
      <gpustrata-copy wide label="Copy its name" .text=${() => rank.file}></gpustrata-copy>
      <slot name="choose"></slot>
      <button class="button small quiet" @click=${() => (this.missing = undefined)}>Not now</button>
    </div>`;
  }

  private tables(facts: FleetFacts, ordered: Ordered): TemplateResult {
    const { choice } = this;
    const tabs = [
      { id: 'ranks', name: 'Ranks', key: '' },
      { id: 'groups', name: 'Groups', key: '' },
      { id: 'stacks', name: 'Stacks', key: '' },
    ];
    return html`<section aria-label="Tables">
      <div class="under">
        <gpustrata-tabs
          label="Tables"
          .tabs=${tabs}
          .open=${choice.table}
          @open=${(event: CustomEvent<FleetTable>) => this.choose({ table: event.detail })}></gpustrata-tabs>
        ${choice.table === 'ranks' ? this.rankTools(facts, ordered) : nothing}
      </div>
      <div role="tabpanel" aria-label=${tabs.find(({ id }) => id === choice.table)?.name ?? ''}>
        ${choice.table === 'ranks' ? this.ranks(facts, ordered) : nothing}
        ${choice.table === 'groups' ? groupsTable(facts, choice, this.light) : nothing}
        ${choice.table === 'stacks' ? stacksTable(facts, choice, this.light) : nothing}
      </div>
    </section>`;
  }

  private rankTools(facts: FleetFacts, { rows }: Ordered): TemplateResult {
    const name = `${facts.fleet.title || 'ranks'}.csv`;
    return html`<div class="end">
      <span class="dim" role="status"
        >${rows.length === facts.count ? countOfRanks(facts, rows.length) : `${formatCount(rows.length)} of ${countOfRanks(facts, facts.count)}`}</span
      >
      <input
        class="field"
        type="search"
        placeholder="Rank, host, file"
        aria-label="Only ranks with this text"
        .value=${this.choice.find}
        @input=${(event: Event) => this.choose({ find: (event.target as HTMLInputElement).value })} />
      <gpustrata-copy wide label="Copy as CSV" .text=${() => facts.csv(rows)}></gpustrata-copy>
      <button
        class="button small quiet"
        data-action="save-csv"
        @click=${() => saveFile(name, new Blob([facts.csv(rows)], { type: 'text/csv' }))}>
        Save as CSV
      </button>
    </div>`;
  }

  private ranks(facts: FleetFacts, ordered: Ordered): TemplateResult {
    const { choice } = this;
    return html`<gpustrata-rank-table
        .facts=${facts}
        .ordered=${ordered}
        .lit=${facts.lit(choice)}
        .sort=${choice.sort}
        .descending=${choice.descending}
        .row=${choice.row}
        @sort=${(event: CustomEvent<string>) => this.sortBy(event.detail)}
        @row=${(event: CustomEvent<number>) => this.choose({ row: event.detail })}
        @open-row=${(event: CustomEvent<number>) => void this.open(event.detail)}></gpustrata-rank-table>
      <p class="dim">
        ≠ unlike the other ranks of its run: six times as far from their median as usual, or what nine in ten
        do not have.
      </p>`;
  }

  static override styles = [base, tableStyles, fleetStyles];
}
