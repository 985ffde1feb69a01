// What a file tells as numbers over time: its charts, which share an axis, and what the engine found in them.
import { reasonOf } from '../base/reason.ts';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatBytes, formatCount, formatExactBytes } from '../base/format.ts';
import { LatestOnly } from '../base/latest_only.ts';
import type { Bytes } from '../base/units.ts';
import { type CategoryMoment, type Engine, type SeriesMoment, type SeriesPart } from '../../engine/index.ts';
import { colorOfSeries } from '../draw/areas.ts';
import { themes, type Theme } from '../draw/colors.ts';
import { base } from '../controls/styles.ts';
import { bytesCell, tableOf, type TableColumn } from '../controls/table.ts';
import { tableStyles } from '../controls/table_styles.ts';
import {
  extentOfPart,
  happenedAt,
  nameOfDevice,
  nameOfSeries,
  placeOf,
  titleOfPart,
} from '../words/series_text.ts';
import './chart.ts';
import type { Cursor } from './chart.ts';
import { chartsOf, levelsOf, seriesOf, type SeriesChart } from './charts.ts';
import './functions.ts';
import './operators.ts';
import { whole, type Stretch } from './stretch.ts';
import { seriesStyles } from './styles.ts';

const levelColumn = (name: string, of: (moment: CategoryMoment) => Bytes): TableColumn<CategoryMoment> => ({
  name,
  look: 'number',
  cell: (moment) => (of(moment) === 0 ? { text: '–', says: formatExactBytes(0) } : bytesCell(of(moment))),
});

@element('gpustrata-series')
export class SeriesView extends LitElement {
  @property({ attribute: false }) engine!: Engine;
  @property({ attribute: false }) theme: Theme = themes.light;
  @state() private parts: readonly SeriesPart[] | undefined;
  @state() private problem: string | undefined;
  @state() private shown = 0;
  @state() private stretch: Stretch = { x0: 0, x1: 1 };
  @state() private cursor: Cursor | undefined;
  @state() private moment: SeriesMoment | undefined;
  private charts: readonly SeriesChart[] = [];

  private readonly moments = new LatestOnly<{ part: SeriesPart; cursor: Cursor }, SeriesMoment>(
    ({ part, cursor }) => this.engine.ask('seriesMoment', { part: part.part, ...cursor }),
    (moment, { part }) => part === this.shownPart && (this.moment = moment),
    () => undefined, // a dead engine is told by the page
  );

  private get shownPart(): SeriesPart | undefined {
    return this.parts?.[this.shown];
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('engine')) void this.load();
  }

  private async load(): Promise<void> {
    const { engine } = this;
    this.parts = undefined;
    this.problem = undefined;
    try {
      const parts = await seriesOf(engine);
      if (engine !== this.engine) return;
      this.parts = parts;
      this.choose(0);
    } catch (error) {
      if (engine === this.engine && engine.alive) this.problem = reasonOf(error);
    }
  }

  private choose(index: number): void {
    this.shown = index;
    this.point(undefined);
    if (!this.shownPart) return;
    this.stretch = whole(this.shownPart.extent);
    this.charts = chartsOf(this.engine, this.shownPart);
  }

  private point(cursor: Cursor | undefined): void {
    this.cursor = cursor;
    if (!cursor) this.moment = undefined;
    else if (this.shownPart) this.moments.request({ part: this.shownPart, cursor });
  }

  protected override render(): TemplateResult {
    const { shownPart: part, parts, problem } = this;
    if (problem !== undefined) return html`<p role="alert">${problem}</p>`;
    if (!part || !parts)
      return html`<p class="dim">
        ${parts ? 'There are no numbers over time in this file.' : 'Looking at the file…'}
      </p>`;
    const { charts } = this;
    return html`<div class="column" data-series=${part.of}>
      <header>
        <h2>${titleOfPart(part)}</h2>
        <p class="dim">${extentOfPart(part)}</p>
        ${
          parts.length > 1
            ? html`<label
                >Part
                <select
                  class="field"
                  @change=${(event: Event) => this.choose((event.target as HTMLSelectElement).selectedIndex)}>
                  ${parts.map((one, index) => html`<option ?selected=${index === this.shown}>${one.name === '' ? titleOfPart(one) : one.name}</option>`)}
                </select></label
              >`
            : nothing
        }
      </header>
      ${part.timeline?.peak ? this.peak(part, part.timeline.peak) : nothing}
      <p
        class="now"
        aria-live="polite"
        data-place=${this.cursor ? this.cursor.column * this.cursor.width : nothing}>
        ${this.now(part)}
      </p>
      ${charts.map((chart) => this.chart(chart))}
      ${charts.length === 0 ? html`<p class="dim">Nothing to draw: no point has a value.</p>` : nothing}
      ${part.curves_left_out > 0 ? html`<p class="dim">${formatCount(part.curves_left_out)} further series are not drawn.</p>` : nothing}
      ${part.timeline ? this.course(part, part.timeline.course) : nothing}
      ${part.of === 'operators' ? html`<gpustrata-operators .engine=${this.engine} .of=${part}></gpustrata-operators>` : nothing}
      ${part.of === 'counters' ? html`<gpustrata-functions .engine=${this.engine} .of=${part}></gpustrata-functions>` : nothing}
    </div>`;
  }

  private now(part: SeriesPart): string {
    const { cursor, moment } = this;
    if (!cursor || !moment)
      return 'Point at a chart for the numbers of a moment; drag or turn the wheel to move and zoom.';
    const what = happenedAt(part, moment);
    return [placeOf(part, moment.position), ...(what === '' ? [] : [what])].join(' · ');
  }

  private chart(chart: SeriesChart): TemplateResult {
    const { of, marks, device, label } = chart;
    return html`<section .style=${`--chart-height: ${this.charts.length === 1 ? 340 : 220}px`}>
      ${device === null ? nothing : html`<h3>${nameOfDevice(device)}</h3>`}
      <gpustrata-chart
        data-chart=${chart.chart}
        .of=${of}
        .levels=${levelsOf(chart, this.theme)}
        .marks=${marks}
        .stretch=${this.stretch}
        .cursor=${this.cursor}
        .theme=${this.theme}
        .label=${label}
        @stretch=${({ detail }: CustomEvent<Stretch>) => (this.stretch = detail)}
        @cursor=${({ detail }: CustomEvent<Cursor | null>) => this.point(detail ?? undefined)}></gpustrata-chart>
    </section>`;
  }

  // -- Of categories.

  private place(part: SeriesPart, { time_us }: CategoryMoment): string {
    return time_us === null || part.first_us === null ? '' : placeOf(part, time_us - part.first_us);
  }

  private peak(part: SeriesPart, peak: CategoryMoment): TemplateResult {
    const parts = Object.entries(peak.categories).filter(([, bytes]) => bytes > 0);
    return html`<section class="peak" data-peak data-bytes=${peak.bytes}>
      <p class="value" title=${formatExactBytes(peak.bytes)}>${formatBytes(peak.bytes)}</p>
      <p class="dim">at most${this.place(part, peak) === '' ? '' : `, at ${this.place(part, peak)}`}</p>
      <ul>
        ${parts.map(
          ([name, bytes], index) =>
            html`<li data-category=${name} data-bytes=${bytes}>
              <i
                aria-hidden="true"
                .style=${`background: ${colorOfSeries(name, index, this.theme)}; width: ${Math.max(2, (100 * bytes) / Math.max(peak.bytes, 1))}%`}></i>
              <span>${nameOfSeries(name)}</span><b title=${formatExactBytes(bytes)}>${formatBytes(bytes)}</b>
            </li>`,
        )}
      </ul>
    </section>`;
  }

  private course(part: SeriesPart, course: readonly CategoryMoment[]): TemplateResult {
    const names = part.curves.slice(1).map(({ name }) => name);
    const used = names.filter((name) => course.some(({ categories }) => (categories[name] ?? 0) !== 0));
    return html`<section>
      <h3>Over time</h3>
      <p class="dim">The highest moment of each of ${formatCount(course.length)} pieces of the time.</p>
      ${tableOf(course, {
        label: 'Levels over time',
        framed: true,
        data: { course: course.length },
        row: ({ bytes }) => ({ look: bytes === part.timeline?.peak?.bytes ? 'highest' : undefined }),
        columns: [
          {
            name: part.has_clock ? 'Time' : 'Snapshot',
            cell: (moment, at) => this.place(part, moment) || formatCount(at + part.first_step),
          },
          levelColumn('In all', ({ bytes }) => bytes),
          ...used.map((name) => levelColumn(nameOfSeries(name), ({ categories }) => categories[name] ?? 0)),
        ],
      })}
    </section>`;
  }

  static override styles = [base, tableStyles, seriesStyles];
}
