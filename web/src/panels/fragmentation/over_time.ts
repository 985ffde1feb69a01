// Cached memory, and what of it is held back, over the recording: found at some moments, a few at a time, and a slider that
// chooses the moment.
import { reasonOf } from '../../base/reason.ts';
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatCount } from '../../base/format.ts';
import type { Bytes } from '../../base/units.ts';
import { base } from '../../controls/styles.ts';
import type { EngineView } from '../../../engine/index.ts';
import { colorsOf } from '../../draw/colors.ts';
import type { PanelPage } from '../panel.ts';
import { levelOf } from '../../series/chart.ts';

const moments = 120;
/** So many at once, that other questions come in between. */
const atOnce = 12;

interface Series {
  events: number[];
  reserved: Bytes[];
  cached: Bytes[];
  heldBack: Bytes[];
}
const kept = new WeakMap<EngineView, Series>();

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
    const last = Math.max(0, Math.min(moments, info.events) - 1);
    const series = kept.get(view) ?? {
      events: Array.from({ length: last + 1 }, (_, i) =>
        Math.round(((info.events - 1) * i) / Math.max(last, 1)),
      ),
      reserved: [],
      cached: [],
      heldBack: [],
    };
    kept.set(view, series);
    void this.find(view, series);
  }

  private async find(view: EngineView, series: Series): Promise<void> {
    try {
      while (series.cached.length < series.events.length) {
        const from = series.cached.length;
        const events = series.events.slice(from, from + atOnce);
        const { reserved, cached, heldBack } = await view.ask('fragmentationOver', { events });
        if (this.asking !== view || !this.isConnected) return void (this.asking = undefined);
        if (series.cached.length !== from) continue; // somebody else found them
        series.reserved.push(...reserved);
        series.cached.push(...cached);
        series.heldBack.push(...heldBack);
        this.found = series.cached.length;
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
    if (!series || series.cached.length === 0) return nothing;
    const { reserved, cached, heldBack } = series;
    const last = info.events - 1;
    const complete = cached.length === series.events.length;
    const columns = { axis: 'event', first: 0, width: info.events / series.events.length } as const;
    const colors = colorsOf(theme);
    return html`<div data-moments=${complete ? series.events.length : nothing}>
        <gpustrata-chart
          low
          .of=${{ axis: 'event', extent: info.events, samples: { columns: { ...columns, count: cached.length }, values: [cached, heldBack, reserved] } }}
          .levels=${[
            levelOf('cached', colors.text, 'area', Math.max(...cached)),
            levelOf('held back', colors.annotate, 'area', Math.max(...heldBack)),
            levelOf('reserved', colors.reserved, 'line', Math.max(...reserved)),
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
      ${complete ? nothing : html`<p class="dim">${formatCount(this.found)} of ${series.events.length} moments…</p>`}`;
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
