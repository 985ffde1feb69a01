// What a file tells as numbers over time: its charts, which share an axis, and what the engine found in them. What is seen of it
// is `choice`; another open file's curves may lie over them.
import { reasonOf } from '../base/reason.ts';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { differs } from '../base/differs.ts';
import { formatCount } from '../base/format.ts';
import { LatestOnly } from '../base/latest_only.ts';
import type { Engine, SeriesMoment, SeriesPart } from '../../engine/index.ts';
import { themes, type Theme } from '../draw/colors.ts';
import { base } from '../controls/styles.ts';
import { tableStyles } from '../controls/table_styles.ts';
import type { OpenFile } from '../model/open_file.ts';
import { wholeSeries, type SeriesChoice } from '../model/series_choice.ts';
import { extentOfPart, happenedAt, nameOfDevice, placeOf, titleOfPart } from '../words/series_text.ts';
import { courseOf, peakOf } from './categories.ts';
import './chart.ts';
import type { Cursor } from './chart.ts';
import { chartsOf, levelsOf, likeIn, seriesOf, type Over, type SeriesChart } from './charts.ts';
import './functions.ts';
import './operators.ts';
import { whole, type Stretch } from './stretch.ts';
import { seriesStyles } from './styles.ts';

/** Tells `series-choice` (a SeriesChoice). */
@element('gpustrata-series')
export class SeriesView extends LitElement {
  @property({ attribute: false }) engine!: Engine;
  @property({ attribute: false }) theme: Theme = themes.light;
  @property({ attribute: false }) choice: SeriesChoice = wholeSeries;
  /** All that are open. */
  @property({ attribute: false, hasChanged: differs }) files: readonly (OpenFile | undefined)[] = [];
  @state() private parts: readonly SeriesPart[] | undefined;
  @state() private problem: string | undefined;
  @state() private charts: readonly SeriesChart[] = [];
  @state() private over: Over | undefined;
  /** What the charts are of; `over` as the choice has it, whether that file has such curves or not. */
  @state() private drawn: { part: SeriesPart; over: string } | undefined;
  @state() private cursor: Cursor | undefined;
  @state() private moment: SeriesMoment | undefined;

  private readonly moments = new LatestOnly<{ part: SeriesPart; cursor: Cursor }, SeriesMoment>(
    ({ part, cursor }) => this.engine.ask('seriesMoment', { part: part.part, ...cursor }),
    (moment, { part }) => part === this.shown && (this.moment = moment),
    () => undefined, // a dead engine is told by the page
  );

  private get shown(): SeriesPart | undefined {
    return this.parts?.[this.choice.part] ?? this.parts?.[0];
  }
  private get whole(): Stretch {
    return whole(Math.max(0, ...this.charts.map(({ of }) => of.extent)));
  }
  /** Counters of other files: which can lie over these is known when they are asked. */
  private get others(): readonly OpenFile[] {
    return this.files.flatMap((file) =>
      file && file.engine !== this.engine && !file.view && file.contents.series > 0 ? [file] : [],
    );
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('engine')) void this.load();
    const before = changed.get('choice');
    const isOther = before && (before.part !== this.choice.part || before.over !== this.choice.over);
    if (isOther || changed.has('files')) void this.draw();
  }

  private async load(): Promise<void> {
    const { engine } = this;
    this.parts = undefined;
    this.problem = undefined;
    try {
      const parts = await seriesOf(engine);
      if (engine !== this.engine) return;
      this.parts = parts;
      await this.draw();
    } catch (error) {
      if (engine === this.engine && engine.alive) this.problem = reasonOf(error);
    }
  }

  private async draw(): Promise<void> {
    const { engine, shown: part, choice } = this;
    if (!part) return;
    const other = this.others.find(({ hash }) => hash === choice.over);
    const like = other && likeIn(await seriesOf(other.engine).catch(() => []), part);
    if (part !== this.shown || choice.over !== this.choice.over) return;
    const over = other && like && { name: nameOver(other, like, part), engine: other.engine, part: like };
    const isThere = this.drawn?.part === part && over?.part === this.over?.part;
    this.drawn = { part, over: other ? choice.over : '' };
    if (isThere) return;
    this.over = over;
    this.charts = chartsOf({ engine, part }, over);
    this.point(undefined);
  }

  private choose(change: Partial<SeriesChoice>): void {
    const detail = { ...this.choice, ...change };
    this.choice = detail;
    this.dispatchEvent(new CustomEvent<SeriesChoice>('series-choice', { detail }));
  }

  private show({ x0, x1 }: Stretch): void {
    const isAll = x0 <= 0 && x1 >= this.whole.x1;
    this.choose({ view: isAll ? undefined : { x0, x1, y0: 0, y1: 1 } });
  }

  private point(cursor: Cursor | undefined): void {
    this.cursor = cursor;
    const { shown: part } = this;
    if (cursor && part && cursor.column * cursor.width < part.extent)
      return this.moments.request({ part, cursor });
    this.moments.forget();
    this.moment = undefined;
  }

  protected override render(): TemplateResult {
    const { shown: part, parts, problem } = this;
    if (problem !== undefined) return html`<p role="alert">${problem}</p>`;
    if (!part || !parts)
      return html`<p class="dim">
        ${parts ? 'There are no numbers over time in this file.' : 'Looking at the file…'}
      </p>`;
    return html`<div class="page" data-series=${part.of}>
      <header>
        <h2>${titleOfPart(part)}</h2>
        <p class="dim">${extentOfPart(part)}</p>
        ${this.choices(part, parts)}
      </header>
      <div class="answer">${this.answer(part)}</div>
      <div class="tracks">
        <p
          class="now"
          aria-live="polite"
          data-place=${this.cursor ? this.cursor.column * this.cursor.width : nothing}>
          ${this.now(part)}
        </p>
        ${this.charts.map((chart) => this.chart(chart))}
        ${part.curves.every(({ chart }) => chart < 0) ? html`<p class="dim">Nothing to draw: no point has a value.</p>` : nothing}
        ${part.curves_left_out > 0 ? html`<p class="dim">${formatCount(part.curves_left_out)} further series are not drawn.</p>` : nothing}
      </div>
      ${part.timeline ? courseOf(part, part.timeline.course) : nothing}
    </div>`;
  }

  private answer(part: SeriesPart): TemplateResult {
    const { engine, over } = this;
    if (part.of === 'operators')
      return html`<gpustrata-operators .engine=${engine} .of=${part}></gpustrata-operators>`;
    if (part.of === 'counters')
      return html`<gpustrata-functions .engine=${engine} .of=${part}></gpustrata-functions>`;
    const peak = part.timeline?.peak;
    const other = over?.part.timeline?.peak;
    return html`${peak ? peakOf(part, peak, this.theme, over && other ? { name: over.name, bytes: other.bytes } : undefined) : nothing}`;
  }

  /** Of the parts of the file, and of files that may lie over it. */
  private choices(part: SeriesPart, parts: readonly SeriesPart[]): TemplateResult {
    const { others, choice } = this;
    const chosen = (event: Event): string => (event.target as HTMLSelectElement).value;
    return html`${
      parts.length > 1
        ? html`<label
            >Part
            <select
              class="field"
              data-choice="part"
              @change=${(event: Event) => this.choose({ part: Number(chosen(event)), view: undefined })}>
              ${parts.map(
                (one, index) =>
                  html`<option value=${index} ?selected=${one === part}>
                    ${one.name === '' ? titleOfPart(one) : one.name}
                  </option>`,
              )}
            </select></label
          >`
        : nothing
    }
    ${
      others.length > 0
        ? html`<label
            >Compare with
            <select
              class="field"
              data-choice="over"
              title="Curves of another open file over these; both begin at the left"
              @change=${(event: Event) => this.choose({ over: chosen(event), view: undefined })}>
              <option value="">nothing</option>
              ${others.map(
                ({ hash, name }) =>
                  html`<option value=${hash} ?selected=${hash === choice.over}>${name}</option>`,
              )}
            </select></label
          >`
        : nothing
    }
    ${choice.over !== '' && this.drawn?.over === choice.over && this.charts.every(({ over }) => over.length === 0) ? html`<p class="dim" role="status">None of its curves can be drawn over these.</p>` : nothing}`;
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
      <gpustrata-chart
        data-chart=${chart.chart}
        .of=${of}
        .levels=${levelsOf(chart, this.theme)}
        .marks=${marks}
        .stretch=${this.choice.view ?? this.whole}
        .cursor=${this.cursor}
        .theme=${this.theme}
        .label=${label}
        @stretch=${({ detail }: CustomEvent<Stretch>) => this.show(detail)}
        @cursor=${({ detail }: CustomEvent<Cursor | null>) => this.point(detail ?? undefined)}
        >${device === null ? nothing : html`<h3>${nameOfDevice(device)}</h3>`}</gpustrata-chart
      >
    </section>`;
  }

  static override styles = [base, tableStyles, seriesStyles];
}

/** Of a file with several parts also which one it is, unless it is called as the one below it. */
const nameOver = (file: OpenFile, over: SeriesPart, part: SeriesPart): string =>
  over.name === '' || over.name === part.name ? file.name : `${file.name}, ${over.name}`;
