// Counters of the same run above the timeline, on its axis: the curves of each file in a plot as wide as that below, by the
// clock. They are drawn together with the timeline's own picture.
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, queryAll, state } from 'lit/decorators.js';
import { reasonOf } from '../../base/reason.ts';
import { element } from '../../controls/element.ts';
import type { GestureTarget } from '../../controls/gestures.ts';
import { base } from '../../controls/styles.ts';
import { themes, type Theme } from '../../draw/colors.ts';
import type { Projection } from '../../draw/plot.ts';
import { meet, type Span } from '../../model/beside/choices.ts';
import type { BesideCounters } from '../../model/beside/files.ts';
import type { ChartView } from '../../series/chart.ts';
import '../../series/chart.ts';
import { levelsOf, lowChartsOf, seriesOf, type SeriesChart } from '../../series/charts.ts';
import { besideLine } from '../../words/op_text.ts';
import { nameOfDevice, nameOfSeries } from '../../words/series_text.ts';
import type { Axis, EngineView, SeriesPart } from '../../../engine/index.ts';
import { besideLineOf, besideStyles } from './line.ts';

interface Plot {
  part: SeriesPart;
  chart: SeriesChart;
}

@element('gpustrata-counters')
export class CountersView extends LitElement {
  @property({ attribute: false }) file!: BesideCounters;
  /** That the timeline shows. */
  @property({ attribute: false }) recording!: EngineView;
  @property({ attribute: false }) theme: Theme = themes.light;
  /** What wheel and drag do. */
  @property({ attribute: false }) motion!: Pick<GestureTarget, 'zoomAt' | 'panBy'>;
  @state() private all: readonly Plot[] | undefined;
  @state() private problem: string | undefined;
  @state() private axis: Axis = 'event';
  @queryAll('gpustrata-chart') private charts!: NodeListOf<ChartView>;
  private at: Projection | undefined;

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('file') && changed.get('file')?.engine !== this.file.engine) void this.load();
  }
  protected override firstUpdated(): void {
    this.dispatchEvent(new CustomEvent('ready'));
  }
  protected override updated(): void {
    if (this.at) this.draw(this.at, this.axis);
  }

  private async load(): Promise<void> {
    const { engine } = this.file;
    this.all = undefined;
    this.problem = undefined;
    try {
      const parts = await seriesOf(engine);
      if (engine !== this.file.engine) return;
      this.all = parts.flatMap((part) => lowChartsOf(engine, part).map((chart) => ({ part, chart })));
    } catch (error) {
      if (engine === this.file.engine && engine.alive) this.problem = reasonOf(error);
    }
  }

  /** `at` is the plot's. */
  draw(at: Projection, axis: Axis): void {
    this.at = at;
    this.axis = axis;
    const { plots } = this;
    this.charts.forEach((chart, index) => {
      const of = plots[index];
      if (!of) return;
      const shift = this.shiftOf(of);
      chart.follow({ x0: at.view.x0 - shift, x1: at.view.x1 - shift });
    });
  }

  /** Of each part one plot: of the device that is shown, if the file tells of it. */
  private get plots(): readonly Plot[] {
    const { all = [], recording } = this;
    const own = all.filter(({ chart }) =>
      chart.curves.some(({ device }) => device === recording.info.device),
    );
    const some = own.length > 0 ? own : all;
    return some.filter(({ part }, at) => some.findIndex((one) => one.part === part) === at);
  }
  private isDrawn({ part }: Plot): boolean {
    return this.axis === 'time' && meet(part, this.recording.info, this.file.nudge);
  }
  /** From the axis of the part to that of the plot. */
  private shiftOf({ part }: Plot): number {
    return (part.first_us ?? NaN) - (this.recording.info.first_time_us ?? NaN) - this.file.nudge;
  }

  protected override render(): TemplateResult {
    const { file, all, problem, plots } = this;
    const text = besideLine(
      `Counters of ${file.name}`,
      spanOfAll(plots),
      this.recording.info,
      file.nudge,
      this.axis,
    );
    return html`${plots.map((plot, index) => this.plot(plot, index === 0 ? text : ''))}
    ${all?.length === 0 ? html`<p class="note" data-beside=${file.name}>Counters of ${file.name} cannot be drawn here: they have no times.</p>` : nothing}
    ${problem === undefined ? nothing : html`<p class="note" role="alert">Counters of ${file.name} cannot be drawn: ${problem}</p>`}`;
  }

  /** The line of the file stands in the first one. */
  private plot(plot: Plot, text: string): TemplateResult {
    const { chart } = plot;
    const { device } = this.recording.info;
    const of = chart.device === device ? '' : nameOfDevice(chart.device);
    return html`<gpustrata-chart
      ?off=${!this.isDrawn(plot)}
      .of=${chart.of}
      .levels=${levelsOf(chart, this.theme).map((level) => ({ ...level, text: of === '' ? level.text : `${of}: ${level.text}` }))}
      .motion=${this.motion}
      .theme=${this.theme}
      .label=${[text, ...chart.curves.map(({ name }) => nameOfSeries(name))].join(' ')}
      >${text === '' ? nothing : besideLineOf(this, { file: this.file, text })}</gpustrata-chart
    >`;
  }

  static override styles = [
    base,
    besideStyles,
    css`
      :host {
        display: block;
        flex: none;
        z-index: 2;
        border-bottom: 1px solid var(--line);
      }
      .note {
        margin: 0;
        padding: 2px 12px;
        color: var(--dim);
        font-size: 11.5px;
      }
    `,
  ];
}

/** From the first point of any to the last of all. */
function spanOfAll(plots: readonly Plot[]): Span {
  const clocks = plots.flatMap(({ part: { first_us: first, last_us: last } }) =>
    first === null || last === null ? [] : [{ first, last }],
  );
  if (clocks.length === 0) return { first_us: null, last_us: null };
  return {
    first_us: Math.min(...clocks.map(({ first }) => first)),
    last_us: Math.max(...clocks.map(({ last }) => last)),
  };
}
