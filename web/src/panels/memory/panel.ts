// Who holds the memory of the chosen moment: by line, function, file, module or category; and the rules of categories.
import { reasonOf } from '../../base/reason.ts';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount, formatShare, formatSure, plural } from '../../base/format.ts';
import type { Bytes } from '../../base/units.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import { saveFile } from '../../base/save_file.ts';
import { categoryName } from '../../words/group_text.ts';
import { base, column } from '../../controls/styles.ts';
import { bytesColumn, countColumn, tableOf } from '../../controls/table.ts';
import { holderHeads } from '../../../engine/heads.ts';
import type { Args, BlockCategory, Holder, HolderBy, Holders } from '../../../engine/index.ts';
import { oneOf } from '../link_field.ts';
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
    if (before?.view !== this.page.view) this.start(before?.view.run === this.page.view.run);
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

  /** `isNext`: the recording has grown; what was found in it stays until it is found anew. */
  private start(isNext: boolean): void {
    const { view } = this.page;
    if (!isNext) this.found = undefined;
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
    const { found, problem } = this;
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
        role="group"
        aria-label="Who holds the memory"
        ?data-settled=${this.shown === this.asked}
        data-event=${found?.event ?? nothing}
        data-bytes=${found?.bytes ?? nothing}
        data-count=${found?.count ?? nothing}>
        ${found ? this.rows(found) : nothing}
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
        : `${formatSure(sure)} sure, by line ${line ?? 0}: ${rule.trim().replace(/\s+/g, ' ')}`;
    return html`<p class="pinned" data-pinned=${name}>
      ${this.page.pinned?.name ?? 'The pinned block'}: ${categoryName(name)}, ${why}
    </p>`;
  }

  private moment({ event, bytes, blocks }: Holders): string {
    const when = !this.page.info.has_history
      ? 'as saved'
      : event < 0
        ? 'before the first event'
        : `after event ${formatCount(event)}`;
    return `${formatBytes(bytes)} in ${plural(blocks, 'block')} ${when}`;
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

  private rows({ rows, bytes: all }: Holders): TemplateResult {
    const { by } = this.kept.value;
    const { highlight } = this.page;
    const faded = highlight !== '';
    const width = (bytes: Bytes): string => `width: ${all > 0 ? (100 * bytes) / all : 0}%`;
    return tableOf(rows, {
      row: ({ label, bytes, blocks, filter, lit_bytes }) => ({
        data: { label, bytes, blocks },
        look:
          filter !== null && filter === highlight ? 'chosen' : faded && lit_bytes === 0 ? 'faded' : undefined,
      }),
      columns: [
        { ...holderHeads.bytes, ...bytesColumn('Bytes', ({ bytes }) => bytes) },
        {
          name: 'Share',
          look: 'share',
          cell: ({ bytes, lit_bytes }) =>
            html`<span class="meter" aria-hidden="true">
                <i .style=${width(bytes)}></i>
                ${faded ? html`<i class="lit" .style=${width(lit_bytes)}></i>` : nothing}
              </span>
              ${formatShare(bytes, all)}`,
        },
        { ...holderHeads.blocks, ...countColumn('Blocks', ({ blocks }) => blocks) },
        by === 'category' && {
          ...holderHeads.sure,
          look: 'number',
          cell: ({ sure }) => (sure === null ? '' : formatSure(sure)),
        },
        {
          name: ways.find(({ id }) => id === by)?.name ?? '',
          look: 'who',
          cell: (row) =>
            html`<button
              title=${[row.says, row.filter === null ? 'Show its largest block' : 'Filter by it', row.line > 0 ? `${row.file}:${row.line}` : row.file].filter((part) => part !== '').join('\n')}
              @click=${() => this.take(row)}>
              ${by === 'category' ? categoryName(row.label) : row.label}
            </button>`,
        },
      ],
    });
  }

  static override styles = [base, column, styles];
}

export const panel: LoadedPanel<Memory> = {
  reads: ['event', 'highlight', 'pinned', 'settled'],
  initial: atFirst,
  linked: { by: oneOf(ways.map(({ id }) => id)) },
  show: (page, kept) =>
    html`<gpustrata-holders
      role="region"
      aria-label="Memory"
      .page=${page}
      .kept=${kept}></gpustrata-holders>`,
};
