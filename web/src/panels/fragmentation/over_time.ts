// Cached memory, and what of it is held back, over the recording: found at some moments, a few at a time, and a slider that
// chooses the moment.
import { reasonOf } from '../../base/reason.ts';
import { css, html, LitElement, nothing, svg, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount } from '../../base/format.ts';
import type { Bytes } from '../../base/units.ts';
import { base } from '../../controls/styles.ts';
import type { EngineView } from '../../../engine/index.ts';
import type { PanelPage } from '../panel.ts';

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
    const { view, info, event } = this.page;
    if (this.problem !== undefined) return html`<p role="alert">${this.problem}</p>`;
    const series = kept.get(view);
    if (!series || series.cached.length === 0) return nothing;
    const most = Math.max(...series.reserved, 1);
    const last = info.events - 1;
    const x = (at: number): string => ((100 * series.events[at]!) / Math.max(last, 1)).toFixed(2);
    const y = (bytes: Bytes): string => (100 - (100 * bytes) / most).toFixed(2);
    const area = (values: Bytes[]): string =>
      `M0,100 ${values.map((bytes, at) => `L${x(at)},${y(bytes)}`).join(' ')} L${x(values.length - 1)},100Z`;
    const line = series.reserved.map((bytes, at) => `${at === 0 ? 'M' : 'L'}${x(at)},${y(bytes)}`).join(' ');
    const complete = series.cached.length === series.events.length;
    return html`<div class="chart" data-moments=${complete ? series.events.length : nothing}>
        <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
          ${svg`<path class="cached" d=${area(series.cached)} /><path class="held" d=${area(series.heldBack)} />
          <path class="reserved" d=${line} />
          <line class="cursor" x1=${(100 * Math.max(event, 0)) / Math.max(last, 1)} x2=${(100 * Math.max(event, 0)) / Math.max(last, 1)} y1="0" y2="100" />`}
        </svg>
        <input
          type="range"
          min="-1"
          max=${last}
          aria-label="Moment"
          aria-valuetext="after event ${formatCount(event)}"
          .value=${String(Math.min(event, last))}
          @input=${({ target }: Event) =>
            this.dispatchEvent(
              new CustomEvent('moment', { detail: Number((target as HTMLInputElement).value) }),
            )} />
      </div>
      <ul>
        <li><i class="reserved" aria-hidden="true"></i>reserved, at most ${formatBytes(most)}</li>
        <li><i class="cached" aria-hidden="true"></i>cached</li>
        <li><i class="held" aria-hidden="true"></i>held back</li>
        ${complete ? nothing : html`<li class="dim">${formatCount(this.found)} of ${series.events.length} moments…</li>`}
      </ul>`;
  }

  static override styles = [
    base,
    css`
      :host {
        display: block;
        max-width: 1100px;
        margin-bottom: 12px;
      }
      .chart {
        position: relative;
      }
      svg {
        display: block;
        width: 100%;
        height: 64px;
        border-bottom: 1px solid var(--line-strong);
      }
      path.cached {
        fill: var(--envelope);
      }
      path.held {
        fill: var(--warn);
      }
      path.reserved {
        fill: none;
        stroke: var(--reserved);
        stroke-width: 1.5;
        vector-effect: non-scaling-stroke;
      }
      .cursor {
        stroke: var(--accent);
        stroke-width: 1.5;
        vector-effect: non-scaling-stroke;
      }
      input {
        width: 100%;
        height: 24px;
        margin: 0;
        accent-color: var(--accent);
        cursor: pointer;
      }
      ul {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 20px;
        margin: 0;
        padding: 0;
        color: var(--dim);
        font-size: 12px;
        list-style: none;
      }
      li {
        display: flex;
        align-items: center;
        gap: 6px;
      }
      i {
        width: 10px;
        height: 10px;
        border-radius: 2px;
      }
      i.reserved {
        height: 2px;
        background: var(--reserved);
      }
      i.cached {
        background: var(--envelope);
      }
      i.held {
        background: var(--warn);
      }
    `,
  ];
}
