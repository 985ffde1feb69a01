// Who holds the memory of the chosen moment: by line, function, file, module or category; and the rules of categories.
import { reasonOf } from '../../base/reason.ts';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount, formatExactBytes, formatShare, plural } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import { saveFile } from '../../base/save_file.ts';
import { categoryName } from '../../words/group_text.ts';
import { base } from '../../controls/styles.ts';
import {
  holderHeads,
  type Args,
  type BlockCategory,
  type Holder,
  type HolderBy,
  type Holders,
} from '../../../engine/index.ts';
import { tell, type Kept, type LoadedPanel, type PanelPage } from '../panel.ts';
import { styles } from './styles.ts';

interface Memory {
  by: HolderBy;
  /** Of categories; empty = those of the engine. */
  rules: { name: string; text: string } | undefined;
}
const atFirst: Memory = { by: 'line', rules: undefined };

const ways: readonly { id: HolderBy; name: string }[] = [
  { id: 'line', name: 'Line' },
  { id: 'function', name: 'Function' },
  { id: 'file', name: 'File' },
  { id: 'module', name: 'Module' },
  { id: 'category', name: 'Category' },
];
const most = 200;
const head = ({ name, says }: { name: string; says: string }): TemplateResult =>
  html`<th scope="col" class="number" title=${says}>${name}</th>`;
const longestRules = 16_000;

@element('gpustrata-holders')
export class HoldersPanel extends LitElement {
  @property({ attribute: false }) page!: PanelPage;
  @property({ attribute: false }) kept!: Kept<Memory>;
  @state() private found: Holders | undefined;
  @state() private problem: string | undefined;
  /** Of the pinned block. */
  @state() private pinned: { rank: number; rules: string; is: BlockCategory } | undefined;
  @query('input[type=file]') private picker!: HTMLInputElement | null;

  private asking: LatestOnly<Args<'holders'>, Holders> | undefined;
  private asked = '';
  private pinnedAsked = '';
  private shown = '';

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.has('page') ? changed.get('page') : this.page;
    if (before?.view !== this.page.view) this.start();
    this.ask();
    void this.askPinned();
  }

  /** What the pinned block is for. */
  private async askPinned(): Promise<void> {
    const { view, pinned, settled, info } = this.page;
    const { by, rules } = this.kept.value;
    const text = rules?.text ?? '';
    if (by !== 'category' || !pinned || !settled || info.bands === 'segments') {
      this.pinned = undefined;
      this.pinnedAsked = '';
      return;
    }
    const { rank } = pinned;
    if (this.pinnedAsked === `${rank} ${text}`) return;
    this.pinnedAsked = `${rank} ${text}`;
    const is = await view.ask('category', text === '' ? { rank } : { rank, rules: text }).catch(() => null);
    if (view === this.page.view && this.page.pinned?.rank === rank)
      this.pinned = is ? { rank, rules: text, is } : undefined;
  }

  private start(): void {
    const { view } = this.page;
    this.found = undefined;
    this.problem = undefined;
    this.asked = this.shown = this.pinnedAsked = '';
    this.pinned = undefined;
    this.asking = new LatestOnly(
      (args) => view.ask('holders', args),
      (found, args) => {
        if (view !== this.page.view) return;
        this.shown = JSON.stringify(args);
        this.problem = undefined;
        this.found = found;
      },
      (error) => {
        if (view !== this.page.view || !view.alive) return;
        this.found = undefined;
        this.problem = reasonOf(error);
      },
    );
  }

  private ask(): void {
    const { page } = this;
    const { by, rules } = this.kept.value;
    if (!page.settled) return;
    const args: Args<'holders'> = { by, event: page.event, filter: page.highlight, first: 0, count: most };
    if (by === 'category' && rules) args.rules = rules.text;
    const key = JSON.stringify(args);
    if (key === this.asked) return;
    this.asked = key;
    this.asking?.request(args);
  }

  private choose(change: Partial<Memory>): void {
    this.kept.keep(change);
    this.requestUpdate();
  }

  private async readRules(): Promise<void> {
    const file = this.picker?.files?.[0];
    if (!file) return;
    const text = await file.text();
    if (this.picker) this.picker.value = '';
    if (text.length > longestRules)
      this.problem = `The rules in ${file.name} are longer than ${formatCount(longestRules)} characters.`;
    else this.choose({ rules: { name: file.name, text } });
  }
  private async saveRules(): Promise<void> {
    const { rules } = this.kept.value;
    const known = await this.page.view.engine
      .ask('categoryRules', { text: rules?.text ?? '' })
      .catch(() => undefined);
    if (known) saveFile('categories.txt', new Blob([known.text.trimStart()], { type: 'text/plain' }));
  }

  /** Everything of a row is filtered, or else its largest block is shown. */
  private take(row: Holder): void {
    const { page } = this;
    if (row.filter !== null)
      tell(this, 'go', { to: 'filter', text: row.filter === page.highlight ? '' : row.filter });
    else if (row.largest >= 0 && page.info.bands !== 'segments') tell(this, 'choose-block', row.largest);
  }

  protected override render(): TemplateResult {
    const { found, problem, page } = this;
    const { by } = this.kept.value;
    return html`
      <div class="bar">
        <div class="group" role="group" aria-label="Grouped by">
          ${ways.map(
            ({ id, name }) =>
              html`<button
                class="button small"
                data-by=${id}
                aria-pressed=${id === by ? 'true' : 'false'}
                @click=${() => this.choose({ by: id })}>
                ${name}
              </button>`,
          )}
        </div>
        <span class="moment" role="status">${found ? this.moment(found) : ''}</span>
        ${by === 'category' ? this.rules() : nothing}
      </div>
      ${by === 'category' && this.pinned ? this.ofPinned(this.pinned.is) : nothing}
      ${problem === undefined ? nothing : html`<p role="alert">${problem}</p>`}
      <div
        class="table"
        ?data-settled=${this.shown === this.asked}
        data-event=${found?.event ?? nothing}
        data-bytes=${found?.bytes ?? nothing}
        data-count=${found?.count ?? nothing}>
        <table aria-label="Who holds the memory">
          <thead>
            <tr>
              ${head(holderHeads.bytes)}
              <th scope="col" class="share">Share</th>
              ${head(holderHeads.blocks)} ${by === 'category' ? head(holderHeads.sure) : nothing}
              <th scope="col">${ways.find(({ id }) => id === by)?.name}</th>
            </tr>
          </thead>
          <tbody>
            ${found?.rows.map((row) => this.row(row, found, page.highlight !== ''))}
          </tbody>
        </table>
        ${found?.count === 0 ? html`<p>No memory is in use at this moment.</p>` : nothing}
        ${found && found.count > found.rows.length ? html`<p>and ${formatCount(found.count - found.rows.length)} smaller ones</p>` : nothing}
      </div>
    `;
  }

  /** The pinned block: what it is for, and the rule that says so. */
  private ofPinned({ name, sure, line, rule }: BlockCategory): TemplateResult {
    const why =
      sure === null || rule === null
        ? 'no rule fits it'
        : `${Math.round(100 * sure)} % sure, by line ${line ?? 0}: ${rule.trim().replace(/\s+/g, ' ')}`;
    return html`<p class="pinned" data-pinned=${name}>
      ${this.page.pinned?.name ?? 'The pinned block'}: ${categoryName(name)}, ${why}
    </p>`;
  }

  private moment({ event, bytes, blocks }: Holders): string {
    const after = event < 0 ? 'before the first event' : `after event ${formatCount(event)}`;
    return `${formatBytes(bytes)} in ${plural(blocks, 'block')} ${after}`;
  }

  private rules(): TemplateResult {
    const { rules } = this.kept.value;
    const from = rules
      ? `by ${rules.name}`
      : this.found?.by_lifetime
        ? 'by lifetime'
        : this.found?.labelled
          ? 'labels, else inferred'
          : 'inferred';
    return html`<span class="rules">
      <span data-rules>${from}</span>
      <button
        class="button small quiet"
        title="The rules as a text file, to read and to change"
        @click=${() => void this.saveRules()}>
        Save rules
      </button>
      <button class="button small quiet" @click=${() => this.picker?.click()}>Load rules…</button>
      ${rules ? html`<button class="button small quiet" @click=${() => this.choose({ rules: undefined })}>Usual rules</button>` : nothing}
      <input
        type="file"
        accept=".txt,.rules,text/plain"
        aria-label="Rules of categories"
        tabindex="-1"
        class="visually-hidden"
        @change=${() => void this.readRules()} />
    </span>`;
  }

  private row(row: Holder, { bytes }: Holders, faded: boolean): TemplateResult {
    const { by } = this.kept.value;
    const isFilter = row.filter !== null && row.filter === this.page.highlight;
    const lit = bytes > 0 ? (100 * row.lit_bytes) / bytes : 0;
    const place = row.line > 0 ? `${row.file}:${row.line}` : row.file;
    return html`<tr
      data-label=${row.label}
      data-bytes=${row.bytes}
      data-blocks=${row.blocks}
      class=${isFilter ? 'chosen' : faded && row.lit_bytes === 0 ? 'faded' : ''}>
      <td class="number" title=${formatExactBytes(row.bytes)}>${formatBytes(row.bytes)}</td>
      <td class="share">
        <span class="meter" aria-hidden="true">
          <i .style=${`width: ${bytes > 0 ? (100 * row.bytes) / bytes : 0}%`}></i>
          ${faded ? html`<i class="lit" .style=${`width: ${lit}%`}></i>` : nothing}
        </span>
        ${formatShare(row.bytes, bytes)}
      </td>
      <td class="number">${formatCount(row.blocks)}</td>
      ${by === 'category' ? html`<td class="number">${row.sure === null ? '' : `${Math.round(100 * row.sure)} %`}</td>` : nothing}
      <td class="who">
        <button
          title=${[row.says, row.filter === null ? 'Show its largest block' : 'Filter by it', place].filter((part) => part !== '').join('\n')}
          @click=${() => this.take(row)}>
          ${by === 'category' ? categoryName(row.label) : row.label}
        </button>
      </td>
    </tr>`;
  }

  static override styles = [base, styles];
}

export const panel: LoadedPanel<Memory> = {
  reads: ['event', 'highlight', 'pinned', 'settled'],
  initial: atFirst,
  show: (page, kept) =>
    html`<gpustrata-holders
      role="region"
      aria-label="Memory"
      .page=${page}
      .kept=${kept}></gpustrata-holders>`,
};
