// The levels of two files over each other, by event, by time, or step by step.
import { css, html, LitElement, nothing, svg, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { formatBytes, formatCount, formatDuration } from '../../base/format.ts';
import { base } from '../../controls/styles.ts';
import type { EngineView, LevelCurve } from '../../../engine/index.ts';
import { reportOf } from '../reports.ts';
import type { Side } from './sides.ts';

export type Align = 'event' | 'time' | 'step';
const names: Record<Align, string> = { event: 'by event', time: 'by time', step: 'step by step' };

const mostColumns = 400;
const mostSteps = 200;

interface Curves {
  before: LevelCurve;
  after: LevelCurve;
  /** What the whole width is. */
  extent: string;
}

@customElement('memstrata-compare-curves')
export class CompareCurves extends LitElement {
  @property({ attribute: false }) first!: Side;
  @property({ attribute: false }) second!: Side;
  @property({ attribute: false }) align: Align = 'event';
  @state() private found: { key: object; curves: Curves | string } | undefined;
  private asked: { before: EngineView; after: EngineView; align: Align } | undefined;

  protected override willUpdate(_changed: PropertyValues<this>): void {
    const { first: before, second: after, align, asked } = this;
    if (asked?.before === before.view && asked.after === after.view && asked.align === align) return;
    const wanted = (this.asked = { before: before.view, after: after.view, align });
    curvesOf(before.view, after.view, align).then(
      (curves) => {
        if (this.asked === wanted) this.found = { key: wanted, curves };
      },
      () => undefined, // the panel says why
    );
  }

  protected override render(): TemplateResult {
    const curves = this.found?.curves;
    return html`<div class="head">
        <label
          >Curves
          <select
            data-align
            @change=${({ target }: Event) =>
              this.dispatchEvent(
                new CustomEvent('align', { detail: (target as HTMLSelectElement).value as Align }),
              )}>
            ${(['event', 'time', 'step'] as const).map(
              (align) =>
                html`<option value=${align} ?selected=${align === this.align}>${names[align]}</option>`,
            )}
          </select></label
        >
        <span class="key"><i class="before" aria-hidden="true"></i>${this.first.name}</span>
        <span class="key"><i class="after" aria-hidden="true"></i>${this.second.name}</span>
      </div>
      ${typeof curves === 'string' ? html`<p data-no-curves>${curves}</p>` : curves ? chart(curves, this.asked?.align ?? '') : nothing}`;
  }

  static override styles = [
    base,
    css`
      :host {
        display: block;
        max-width: 1100px;
        margin-bottom: 12px;
      }
      .head {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 4px 20px;
        color: var(--dim);
        font-size: 12px;
      }
      select {
        height: 28px;
        margin-left: 6px;
        border: 1px solid var(--line-strong);
        border-radius: 6px;
        background: var(--raised);
        color: var(--text);
      }
      .key {
        display: inline-flex;
        align-items: center;
        gap: 6px;
        min-width: 0;
        overflow-wrap: anywhere;
      }
      i {
        flex: none;
        width: 14px;
        height: 3px;
        border-radius: 2px;
      }
      i.before {
        background: var(--reserved);
      }
      i.after {
        background: var(--accent);
      }
      svg {
        display: block;
        width: 100%;
        height: 120px;
        margin-top: 6px;
        border-bottom: 1px solid var(--line-strong);
        border-left: 1px solid var(--line-strong);
      }
      path {
        fill: none;
        stroke-width: 1.5;
        vector-effect: non-scaling-stroke;
      }
      path.before {
        stroke: var(--reserved);
      }
      path.after {
        stroke: var(--accent);
      }
      .scale {
        display: flex;
        justify-content: space-between;
        color: var(--dim);
        font-size: 12px;
      }
      p {
        margin: 6px 0;
        color: var(--dim);
      }
    `,
  ];
}

/** Columns of both mean the same; a text = why there are none. */
async function curvesOf(before: EngineView, after: EngineView, align: Align): Promise<Curves | string> {
  if (align === 'step') return stepCurves(before, after);
  const extents = [before, after].map(({ info }) => info.extent[align === 'time' ? 'time_us' : 'event']);
  if (extents.some((one) => one === null)) return 'One of the files has no times.';
  const extent = Math.max(1, ...extents.map((one) => one ?? 0));
  const width = Math.max(1, Math.ceil(extent / mostColumns));
  const columns = { axis: align, first: 0, width, count: Math.ceil(extent / width) };
  const [one, other] = await Promise.all([before.ask('curve', { columns }), after.ask('curve', { columns })]);
  return {
    before: one,
    after: other,
    extent: align === 'time' ? formatDuration(extent) : `${formatCount(extent)} events`,
  };
}

async function stepCurves(before: EngineView, after: EngineView): Promise<Curves | string> {
  const [one, other] = await Promise.all([reportOf(before), reportOf(after)]);
  if (one.steps.count === 0 || other.steps.count === 0) return 'One of the files has no steps.';
  const steps = Math.min(mostSteps, Math.max(one.steps.count, other.steps.count));
  const asked = { steps, columnsPerStep: Math.max(1, Math.floor(mostColumns / steps)) };
  const [first, second] = await Promise.all([before.ask('stepCurve', asked), after.ask('stepCurve', asked)]);
  return { before: first, after: second, extent: `${formatCount(steps)} steps` };
}

function chart({ before, after, extent }: Curves, align: string): TemplateResult {
  const values = [...before.level, ...after.level].filter((one) => !Number.isNaN(one));
  const most = Math.max(...values, 1);
  const count = Math.max(before.level.length, 1);
  const path = (level: Float64Array): string => {
    let [text, pen] = ['', 'M'];
    level.forEach((bytes, at) => {
      if (Number.isNaN(bytes)) return void (pen = 'M');
      text += `${pen}${((100 * at) / count).toFixed(2)},${(100 - (100 * bytes) / most).toFixed(2)}H${((100 * (at + 1)) / count).toFixed(2)}`;
      pen = 'L';
    });
    return text;
  };
  return html`<svg
      viewBox="0 0 100 100"
      preserveAspectRatio="none"
      role="img"
      aria-label="Allocated memory of both"
      data-curves=${align}
      data-columns=${count}
      data-most=${most}>
      ${svg`<path class="before" d=${path(before.level)} /><path class="after" d=${path(after.level)} />`}
    </svg>
    <div class="scale"><span>highest ${formatBytes(most)}</span><span>${extent}</span></div>`;
}

declare global {
  interface HTMLElementTagNameMap {
    'memstrata-compare-curves': CompareCurves;
  }
}
