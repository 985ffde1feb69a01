// Who asked for the memory of a moment or a range: calls as a flame graph, and as a table.
import { reasonOf } from '../../base/reason.ts';
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import { base, column } from '../../controls/styles.ts';
import { type CallFacts, type CallTree, type EngineView, type RangeTotals } from '../../../engine/index.ts';
import type { Range } from '../../model/workspace.ts';
import { tell, type Kept, type LoadedPanel, type PanelPage } from '../panel.ts';
import './bar.ts';
import {
  atFirst,
  linked,
  ofWays,
  otherOf,
  questionOf,
  stretchOf,
  treeOf,
  type FlameChoices,
  type Stretch,
} from './choices.ts';
import './frame_table.ts';
import './graph.ts';

/** What a shape tells of its answer, in words. */
interface Found {
  text: string;
  total: string;
  rest: string;
}

@element('gpustrata-flame')
export class FlamePanel extends LitElement {
  @property({ attribute: false }) page!: PanelPage;
  @property({ attribute: false }) kept!: Kept<FlameChoices>;
  @state() private chosen: FlameChoices = atFirst;
  /** What the page's range did. */
  @state() private marked: { of: Range; totals: RangeTotals } | undefined;
  @state() private found: Found = { text: '', total: '', rest: '' };
  /** Of another file, which these calls are compared with. */
  @state() private compared: { key: string; facts: CallFacts } | undefined;
  @state() private problem: string | undefined;
  @query('gpustrata-flame-graph, gpustrata-frame-table') private picture!: HTMLElement | null;

  private readonly comparing = new LatestOnly<{ key: string; view: EngineView; tree: CallTree }, CallFacts>(
    ({ view, tree }) => view.ask('callFacts', { tree }),
    (facts, { key }) => {
      this.compared = { key, facts };
      this.problem = undefined;
    },
    (error) => (this.problem = reasonOf(error)),
  );
  private comparingKey = '';
  private asking: LatestOnly<Range, RangeTotals> | undefined;
  private tree: CallTree | undefined;
  private treeKey = '';

  override focus(): void {
    void this.updateComplete.then(() => this.picture?.focus());
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('kept')) this.chosen = this.kept.value;
    const before = changed.has('page') ? changed.get('page') : this.page;
    if (before?.view !== this.page.view) this.start(before?.view.run === this.page.view.run);
    if (before?.view !== this.page.view || before.range !== this.page.range) this.askRange();
    this.askOther();
  }

  /** `isNext`: the recording has grown; what was found in it stays until it is found anew. */
  private start(isNext: boolean): void {
    const { view } = this.page;
    this.marked = undefined;
    this.problem = undefined;
    if (!isNext) this.found = { text: '', total: '', rest: '' };
    this.asking = new LatestOnly(
      (range) => view.ask('range', questionOf(range)),
      (totals, of) => view === this.page.view && (this.marked = { of, totals }),
      (error) => {
        if (view === this.page.view && view.alive) this.problem = reasonOf(error);
      },
    );
  }
  private askRange(): void {
    const { range } = this.page;
    if (range) this.asking?.request(range);
    else this.asking?.forget();
  }

  private endComparison(): void {
    if (this.comparingKey === '') return;
    this.comparing.forget();
    this.comparingKey = '';
    this.compared = this.problem = undefined;
  }
  private askOther(): void {
    const other = otherOf(this.chosen, this.page);
    if (!other) return this.endComparison();
    const { event, view, name } = other;
    const tree = treeOf(this.chosen, { from: event, to: event, marked: false }, this.page.highlight);
    const { weight, filter, onlyFiltered } = tree;
    const key = JSON.stringify([name, event, weight, onlyFiltered ? filter : '']);
    if (key === this.compared?.key || key === this.comparingKey) return;
    this.comparingKey = key;
    // All that a filter does not mean counts as well, unless it alone is wanted: the other file need not know it.
    this.comparing.request({ key, view, tree: onlyFiltered ? tree : { ...tree, filter: '' } });
  }

  /** Undefined until it is known which events the range has. */
  private get stretch(): Stretch | undefined {
    const { page, chosen, marked } = this;
    const other = otherOf(chosen, page) !== undefined;
    const isNeeded =
      chosen.of !== 'moment' && !other && (chosen.of !== 'difference' || chosen.base === undefined);
    if (page.range && isNeeded && marked?.of !== page.range) return undefined;
    return stretchOf(chosen, other, page.range && marked?.totals, page.event, page.info.events);
  }

  /** The same object as long as it says the same. */
  private treeOf(stretch: Stretch): CallTree {
    const tree = treeOf(this.chosen, stretch, this.page.highlight);
    const key = JSON.stringify(tree);
    if (!this.tree || key !== this.treeKey) this.tree = tree;
    this.treeKey = key;
    return this.tree;
  }

  private choose(change: Partial<FlameChoices>): void {
    this.kept.keep(change);
    this.chosen = this.kept.value;
  }

  /** The filter of a frame; the one in force ends. */
  private filter(text: string | null): void {
    if (text === null) return;
    tell(this, 'go', { to: 'filter', text: text === this.page.highlight ? '' : text });
  }

  protected override render(): TemplateResult {
    const { page, chosen, stretch } = this;
    const tree = stretch && page.settled ? this.treeOf(stretch) : undefined;
    const isOther = otherOf(chosen, page) !== undefined;
    const { compared } = this;
    const common = {
      tree: isOther && !compared ? undefined : tree,
      page,
      chosen,
      beforeKey: compared?.key ?? '',
      ...(compared ? { before: compared.facts } : {}),
    };
    return html`
      <gpustrata-flame-bar
        .chosen=${chosen}
        .page=${page}
        .found=${this.found.text}
        @choices=${(event: CustomEvent<Partial<FlameChoices>>) => this.choose(event.detail)}></gpustrata-flame-bar>
      <p
        class="says"
        role="status"
        data-of=${chosen.of}
        data-from=${stretch?.from ?? nothing}
        data-to=${stretch?.to ?? nothing}>
        ${this.problem ?? (stretch ? this.says(stretch) : 'Finding the events of the range…')}
      </p>
      ${
        chosen.shape === 'table'
          ? html`<gpustrata-frame-table
              .of=${common}
              @choices=${(event: CustomEvent<Partial<FlameChoices>>) => this.choose(event.detail)}
              @found=${(event: CustomEvent<Found>) => (this.found = event.detail)}
              @filter=${(event: CustomEvent<string | null>) => this.filter(event.detail)}></gpustrata-frame-table>`
          : html`<gpustrata-flame-graph
              .of=${common}
              @choices=${(event: CustomEvent<Partial<FlameChoices>>) => this.choose(event.detail)}
              @found=${(event: CustomEvent<Found>) => (this.found = event.detail)}
              @filter=${(event: CustomEvent<string | null>) => this.filter(event.detail)}></gpustrata-flame-graph>`
      }
    `;
  }

  /** Of what is shown, in words. */
  private says({ from, to, marked }: Stretch): string {
    const { chosen, found } = this;
    const after = (event: number): string => (event < 0 ? 'the start' : `event ${formatCount(event)}`);
    const way = ofWays.find(({ id }) => id === chosen.of);
    const total = found.total === '' ? '' : `${found.total} · `;
    if (chosen.of === 'moment') return `${total}alive after ${after(to)}`;
    if (chosen.of === 'difference') {
      const other = otherOf(chosen, this.page);
      if (other) {
        const rest = found.rest === '' ? '' : ` · small stacks of it, ${found.rest}, are left out`;
        return `${total}after ${after(to)} less ${other.name} after ${after(other.event)}${rest}`;
      }
      const how =
        chosen.base === undefined && !marked ? '; mark a range (M), or hold a moment, to choose both' : '';
      return `${total}after ${after(to)} less after ${after(from)}${how}`;
    }
    const totals = marked ? this.marked?.totals : undefined;
    const where = marked
      ? `the range after event ${formatCount(from)} up to ${formatCount(to)}`
      : 'the whole recording; M marks a range';
    const sums = totals
      ? ` · allocated ${formatBytes(totals.allocated.bytes)}, of it kept ${formatBytes(totals.kept.bytes)}; freed ${formatBytes(totals.freed.bytes)}, older blocks too`
      : '';
    return `${total}${way?.name.toLowerCase().replace('the range', where).replace(' in it,', ` in ${where},`) ?? ''}${sums}`;
  }

  static override styles = [
    base,
    column,
    css`
      :host {
        font-size: 13px;
      }
      gpustrata-flame-bar {
        flex: none;
      }
      .says {
        flex: none;
        margin: 0;
        padding: 2px 12px 4px;
        border-bottom: 1px solid var(--line);
        color: var(--dim);
        font-size: 12px;
        font-variant-numeric: tabular-nums;
      }
      gpustrata-flame-graph,
      gpustrata-frame-table {
        flex: 1;
        min-height: 60px;
      }
    `,
  ];
}

export const panel: LoadedPanel<FlameChoices> = {
  reads: ['event', 'range', 'highlight', 'theme', 'settled', 'files'],
  initial: atFirst,
  linked,
  show: (page, kept) =>
    html`<gpustrata-flame
      role="region"
      aria-label="Flame graph"
      .page=${page}
      .kept=${kept}></gpustrata-flame>`,
};
