// Several files, or snapshots of one file, side by side: one bar each by its peak, the odd one marked and said in words.
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { differs } from '../base/differs.ts';
import { formatBytes, formatDuration, formatExactBytes, plural, unbroken } from '../base/format.ts';
import type { Microseconds } from '../base/units.ts';
import { compare, shareBeyond, type Compared } from '../model/outliers.ts';
import { barsOf, firstToFail, type Bar, type Barred } from '../model/peak_bars.ts';
import { base } from '../controls/styles.ts';
import { middle, middleStyles } from '../controls/middle.ts';
import { symbols } from '../controls/symbols.ts';

const numberOf = (bar: Bar): string => (bar.peak === undefined ? bar.says : formatBytes(bar.peak));
const saying = (bar: Bar): string =>
  `${numberOf(bar)}${bar.failed ? `, out of memory${bar.failedOn ? ` on ${bar.failedOn}` : ''}` : ''}`;
const partOf = ({ peak, part }: Bar, most: number): number =>
  peak !== undefined ? peak / most : (part ?? 0);
const titleOf = ({ name, peak, problem }: Bar): string =>
  `${name}${peak === undefined ? '' : ` · peak ${formatExactBytes(peak)}`}${problem ? ` · ${problem}` : ''}`;

/** The least scrolling that brings a stretch into view. */
const within = (from: number, length: number, scroll: number, room: number): number =>
  Math.max(Math.min(scroll, from), from + length - room);

/** Beyond the median; undefined = not odd. */
function shareOf({ peak }: Bar, index: number, { median, odd }: Compared): number | undefined {
  return odd[index] && peak !== undefined ? shareBeyond(peak, median ?? 0) : undefined;
}

const labels = {
  file: 'Open files by peak',
  snapshot: 'Snapshots of the file by peak',
  device: 'Devices by peak',
};

/** Failures of one run hardly lie further apart; those of others need no order. */
const longestOfRun: Microseconds = 3600e6;

/** More than so many are a chart. */
const mostNames = 8;

/** Tells `show` and `close` with the index of a bar. */
@element('gpustrata-peak-row')
export class PeakRowView extends LitElement {
  @property({ attribute: false }) of: Barred = { entries: [], active: undefined, file: undefined };
  /** What a bar stands for; in the plural with an s. */
  @property() what: 'file' | 'snapshot' | 'device' = 'file';
  @property({ type: Boolean }) closable = false;
  private bars: readonly Bar[] = [];
  /** The current bar that was brought into view. */
  private seen = -1;

  /** The page tells with each of its changes what there is; few of them change a bar. */
  protected override shouldUpdate(changed: PropertyValues<this>): boolean {
    const bars = barsOf[this.what](this.of);
    const isOther = differs(bars, this.bars);
    this.bars = bars;
    return isOther || [...changed.keys()].some((one) => one !== 'of');
  }

  protected override render(): TemplateResult {
    const peaks = this.bars.map(({ peak }) => peak);
    const comparison = compare(peaks);
    const most = Math.max(1, ...peaks.filter((peak) => peak !== undefined));
    const label = labels[this.what];
    const share = (index: number): number | undefined => shareOf(this.bars[index]!, index, comparison);
    const list = (one: (bar: Bar, index: number) => TemplateResult): TemplateResult =>
      html`<ul aria-label=${label} .style=${`--count: ${this.bars.length}`}>
        ${this.bars.map(one)}
      </ul>`;
    if (this.bars.length <= mostNames)
      return html`${list((bar, index) => this.bar(bar, index, most, share(index)))} ${this.words(comparison)}`;
    const current = this.bars.findIndex((bar) => bar.current);
    return html`<div class="chart">
      ${this.current(current)} ${list((bar, index) => this.column(bar, index, most, share(index)))}
      ${this.words(comparison)}
    </div>`;
  }

  protected override updated(): void {
    const current = this.bars.findIndex((bar) => bar.current);
    if (current === this.seen) return;
    this.seen = current;
    const list = this.renderRoot.querySelector('ul');
    const item = list?.children[current];
    if (!list || !(item instanceof HTMLElement)) return;
    // Into view within the row; the page itself stays.
    list.scrollTop = within(item.offsetTop, item.offsetHeight, list.scrollTop, list.clientHeight);
    list.scrollLeft = within(item.offsetLeft, item.offsetWidth, list.scrollLeft, list.clientWidth);
  }

  /** Its name and number, beside a chart. */
  private current(index: number): TemplateResult | typeof nothing {
    const bar = this.bars[index];
    if (!bar) return nothing;
    return html`<div class="current">
      <span class="name middle" title=${bar.name}>${middle(bar.name)}</span>
      <span class="value">${saying(bar)}, ${index + 1} of ${this.bars.length}</span>
      ${this.closable ? this.closeButton(bar, index) : nothing}
    </div>`;
  }

  private column(bar: Bar, index: number, most: number, odd: number | undefined): TemplateResult {
    return html`<li
      class="${bar.state} ${odd === undefined ? '' : 'odd'}"
      data-entry=${this.what === 'file' ? bar.name : nothing}
      data-snapshot=${this.what === 'snapshot' ? bar.name : nothing}
      data-failed=${bar.failed ? '' : nothing}
      data-entry-state=${bar.state}
      data-odd=${odd === undefined ? nothing : odd.toFixed(3)}>
      <button
        class="column"
        aria-current=${bar.current ? 'true' : 'false'}
        aria-label="${bar.name}, ${saying(bar)}${odd === undefined ? '' : ', odd one'}"
        title=${titleOf(bar)}
        @click=${() => this.tell('show', index)}>
        <span class="fill" .style=${`height: ${100 * partOf(bar, most)}%`}></span>
      </button>
    </li>`;
  }

  private closeButton({ name }: Bar, index: number): TemplateResult {
    return html`<button
      class="close"
      aria-label="Close ${name}"
      title="Close"
      @click=${() => this.tell('close', index)}>
      ${symbols.close}
    </button>`;
  }

  private bar(bar: Bar, index: number, most: number, odd: number | undefined): TemplateResult {
    const { name, state } = bar;
    return html`<li
      class="${state} ${odd === undefined ? '' : 'odd'}"
      data-entry=${this.what === 'file' ? name : nothing}
      data-snapshot=${this.what === 'snapshot' ? name : nothing}
      data-device=${this.what === 'device' ? name : nothing}
      data-failed=${bar.failed ? '' : nothing}
      data-entry-state=${state}
      data-odd=${odd === undefined ? nothing : odd.toFixed(3)}>
      <button
        class="bar"
        aria-current=${bar.current ? 'true' : 'false'}
        title=${titleOf(bar)}
        @click=${() => this.tell('show', index)}>
        <span class="name middle">${middle(name)}</span>
        <span class="track"
          ><span class="fill" .style=${`transform: scaleX(${partOf(bar, most)})`}></span
        ></span>
        <span class="value"
          >${bar.failed ? html`<b class="failed">OOM${bar.failedOn ? ` on ${bar.failedOn}, shown: ` : ''}</b> ` : ''}${odd === undefined ? '' : html`<b aria-hidden="true">≠</b><span class="visually-hidden">odd one,</span> `}${numberOf(bar)}</span
        >
      </button>
      ${this.closable ? this.closeButton(bar, index) : nothing}
    </li>`;
  }

  private words(compared: Compared): TemplateResult | typeof nothing {
    const { count } = compared;
    const median = unbroken(formatBytes(compared.median ?? 0));
    const told = this.bars.flatMap((bar, index) => {
      const share = shareOf(bar, index, compared);
      return share === undefined ? [] : [{ name: bar.name, share }];
    });
    return html`<div>${this.failed()}${this.odd(told, count, median)}</div>`;
  }

  /** The one to look at: others of a run may have stopped because of it. */
  private failed(): TemplateResult | typeof nothing {
    const found = firstToFail(this.bars);
    if (!found || found.before > longestOfRun) return nothing;
    const { first, next, before } = found;
    const clocks = this.what === 'file' ? ', by the clocks that recorded them' : '';
    return html`<p role="status" data-failed-words>
      ${first.name} ran out of memory first, ${formatDuration(before)} before ${next.name}${clocks}.
    </p>`;
  }

  private odd(
    told: readonly { name: string; share: number }[],
    count: number,
    median: string,
  ): TemplateResult | typeof nothing {
    const [first] = told;
    if (!first) return nothing;
    const percent = Math.abs(first.share * 100);
    const far = Number.isFinite(percent)
      ? `${percent >= 10 ? Math.round(percent) : percent.toFixed(1)} %`
      : 'far';
    const sentence =
      told.length === 1
        ? `${first.name} is the odd one: its peak lies ${far} ` +
          `${first.share > 0 ? 'above' : 'below'} the median of ${plural(count, this.what)}, ${median}.`
        : `${plural(told.length, this.what)} of ${count} have a peak far from the median, ${median}: ` +
          `${told
            .slice(0, 4)
            .map(({ name }) => name)
            .join(', ')}${told.length > 4 ? ', …' : ''}.`;
    return html`<p role="status" data-odd-words>${sentence}</p>`;
  }

  private tell(what: 'show' | 'close', index: number): void {
    this.dispatchEvent(new CustomEvent<number>(what, { detail: index }));
  }

  static override styles = [
    base,
    middleStyles,
    css`
      :host {
        display: block;
        padding: 4px 12px;
        background: var(--surface);
        border-bottom: 1px solid var(--line);
      }
      ul {
        position: relative;
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(150px, 1fr));
        max-width: calc(var(--count) * 280px);
        gap: 2px 8px;
        max-height: 168px;
        margin: 0;
        padding: 2px;
        overflow-y: auto;
        list-style: none;
      }
      li {
        position: relative;
        display: flex;
        min-width: 0;
      }
      .bar {
        flex: 1;
        display: grid;
        grid-template-columns: minmax(0, 1fr) auto;
        align-items: center;
        gap: 0 8px;
        min-width: 0;
        padding: 4px 8px 4px 8px;
        border: 1px solid transparent;
        border-radius: 6px;
        background: none;
        font-size: 12.5px;
        text-align: left;
        cursor: pointer;
      }
      .bar:hover {
        background: var(--hover);
      }
      .bar[aria-current='true'] {
        border-color: var(--accent);
        background: var(--accent-soft);
      }
      .name {
        grid-column: 1 / -1;
        margin-right: 20px;
        text-align: left;
      }
      .value {
        color: var(--dim);
        font-variant-numeric: tabular-nums;
        white-space: nowrap;
      }
      .track {
        height: 4px;
        border-radius: 2px;
        background: var(--hover);
        overflow: hidden;
      }
      .fill {
        display: block;
        height: 100%;
        background: var(--accent);
        transform-origin: left;
      }
      .loading .fill {
        background: var(--line-strong);
      }
      .odd .value,
      .odd b {
        color: var(--warn);
        font-weight: 650;
      }
      .odd .fill {
        background: var(--warn);
      }
      .broken .name,
      .broken .value {
        color: var(--bad);
      }
      .failed {
        color: var(--bad);
      }
      [data-failed] .column {
        border-color: var(--bad);
      }
      .close {
        position: absolute;
        top: 3px;
        right: 2px;
        display: grid;
        place-items: center;
        width: 24px;
        height: 24px;
        padding: 0;
        border: 0;
        border-radius: 5px;
        background: none;
        color: var(--dim);
        cursor: pointer;
      }
      .close:hover {
        background: var(--hover);
        color: var(--text);
      }
      .close svg.symbol {
        width: 12px;
        height: 12px;
      }
      .chart {
        display: grid;
        grid-template-columns: minmax(160px, 240px) minmax(0, 1fr) auto;
        align-items: center;
        gap: 4px 16px;
        font-size: 12.5px;
      }
      .current {
        position: relative;
        min-width: 0;
        padding-right: 28px;
      }
      .current .name {
        margin: 0;
        font-weight: 550;
      }
      .chart ul {
        display: flex;
        align-items: stretch;
        gap: 0;
        height: 44px;
        max-width: none;
        max-height: none;
        overflow: auto hidden;
      }
      .chart li {
        flex: 1 1 0;
        min-width: 4px;
        max-width: 48px;
      }
      .column {
        display: flex;
        flex: 1;
        align-items: flex-end;
        min-width: 0;
        padding: 0 1px;
        border: 0;
        border-bottom: 2px solid var(--line);
        background: none;
        cursor: pointer;
      }
      .column:hover {
        background: var(--hover);
      }
      .column[aria-current='true'] {
        border-color: var(--accent);
        background: var(--accent-soft);
      }
      .column .fill {
        width: 100%;
        min-height: 2px;
        border-radius: 1px 1px 0 0;
        opacity: 0.55;
      }
      .column[aria-current='true'] .fill,
      .odd .column .fill {
        opacity: 1;
      }
      .broken .column .fill {
        height: 100% !important;
        background: var(--bad-soft);
        border: 1px solid var(--bad);
      }
      .chart p {
        max-width: 340px;
        margin: 0;
        padding: 0;
      }
      p {
        margin: 4px 0 0;
        padding: 0 10px;
        color: var(--warn);
        font-size: 12.5px;
      }
      @container (max-width: 640px) {
        ul {
          grid-template-columns: repeat(auto-fill, minmax(128px, 1fr));
        }
        .chart {
          grid-template-columns: minmax(0, 1fr);
        }
        .chart p {
          max-width: none;
        }
      }
      @media print {
        ul {
          max-height: none;
        }
        .close {
          display: none;
        }
      }
    `,
  ];
}
