// Cached memory, and what of it is held back, over the recording: found at some moments, a few at a time, and a slider that
// chooses the moment.
import { reasonOf } from '../../base/reason.ts';
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatCount } from '../../base/format.ts';
import type { Bytes } from '../../base/units.ts';
import { base } from '../../controls/styles.ts';
import type { Columns, EngineView } from '../../../engine/index.ts';
import { colorsOf } from '../../draw/colors.ts';
import type { PanelPage } from '../panel.ts';
import { levelOf } from '../../series/chart.ts';

const moments = 120;
/** So many at once, that other questions come in between. */
const atOnce = 12;
const levels = ['cached', 'held_back', 'reserved'] as const;

interface Series {
  columns: Columns;
  /** Of each level, so far. */
  values: Bytes[][];
}
const kept = new WeakMap<EngineView, Series>();

function seriesOf(events: number): Series {
  const width = Math.max(1, Math.ceil(events / moments));
  const columns = { axis: 'event', first: 0, width, count: Math.max(1, Math.ceil(events / width)) } as const;
  return { columns, values: levels.map(() => []) };
}
const foundOf = ({ values }: Series): number => values[0]?.length ?? 0;

@element('gpustrata-fragmentation-over-time')
export class FragmentationOverTime extends LitElement {
  @property({ attribute: false }) page!: PanelPage;
  @state() private found = 0;
  @state() private problem: string | undefined;
  private asking: EngineView | undefined;

  protected override willUpdate(_changed: PropertyValues<this>): void {
    const { view, settled, info } = this.page;
    if (!settled || this.asking === view) return;
    this.asking = view;
    this.problem = undefined;
    const series = kept.get(view) ?? seriesOf(info.events);
    kept.set(view, series);
    void this.find(view, series);
  }

  private async find(view: EngineView, series: Series): Promise<void> {
    try {
      await view.prepare();
      for (let from = foundOf(series); from < series.columns.count; from = foundOf(series)) {
        const count = Math.min(atOnce, series.columns.count - from);
        const asked = { of: levels, columns: { ...series.columns, first: from, count } };
        const answer = await view.ask('levels', asked);
        if (this.asking !== view || !this.isConnected) return void (this.asking = undefined);
        if (foundOf(series) !== from) continue; // somebody else found them
        answer.levels.forEach(({ highest }, at) => series.values[at]?.push(...highest));
        this.found = foundOf(series);
      }
    } catch (error) {
      if (this.asking !== view) return;
      if (view.alive) this.problem = reasonOf(error);
      else this.asking = undefined; // asked again when the device is shown again
    }
  }

  protected override render(): TemplateResult | typeof nothing {
    const { view, info, event, theme } = this.page;
    if (this.problem !== undefined) return html`<p role="alert">${this.problem}</p>`;
    const series = kept.get(view);
    if (!series || foundOf(series) === 0) return nothing;
    const { columns, values } = series;
    const last = info.events - 1;
    const complete = foundOf(series) === columns.count;
    const [cached, heldBack, reserved] = values.map((all) => Math.max(...all));
    const colors = colorsOf(theme);
    const samples = { columns: { ...columns, count: foundOf(series) }, values };
    return html`<div data-moments=${complete ? columns.count : nothing}>
        <gpustrata-chart
          low
          .of=${{ axis: 'event', extent: info.events, samples }}
          .levels=${[
            levelOf('cached', colors.text, 'area', cached ?? 0),
            levelOf('held back', colors.annotate, 'area', heldBack ?? 0),
            levelOf('reserved', colors.reserved, 'line', reserved ?? 0),
          ].map((level) => ({ ...level, sampled: true }))}
          .marks=${[{ position: Math.max(event + 0.5, 0), text: '', look: 'plain' }]}
          .theme=${theme}
          label="Cached memory over the events"
          @choose=${({ detail }: CustomEvent<number>) => this.choose(Math.floor(detail))}></gpustrata-chart>
        <input
          type="range"
          min="-1"
          max=${last}
          aria-label="Moment"
          aria-valuetext="after event ${formatCount(event)}"
          .value=${String(Math.min(event, last))}
          @input=${({ target }: Event) => this.choose(Number((target as HTMLInputElement).value))} />
      </div>
      ${complete ? nothing : html`<p class="dim">${formatCount(this.found)} of ${columns.count} moments…</p>`}`;
  }

  private choose(event: number): void {
    this.dispatchEvent(new CustomEvent('moment', { detail: event }));
  }

  static override styles = [
    base,
    css`
      :host {
        display: block;
        max-width: 1100px;
        margin-bottom: 12px;
      }
      p {
        margin: 0;
        color: var(--dim);
        font-size: 12px;
      }
    `,
  ];
}
