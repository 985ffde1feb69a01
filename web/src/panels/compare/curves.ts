// The levels of two files over each other, by event, by time, step by step, or in the regions of one name.
import { reasonOf } from '../../base/reason.ts';
import { css, html, LitElement, nothing, svg, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount, formatDuration, plural } from '../../base/format.ts';
import { base } from '../../controls/styles.ts';
import type { EngineView, LevelCurve, Marks } from '../../../engine/index.ts';
import { reportOf } from '../reports.ts';
import type { Side } from './sides.ts';

export const aligns = ['event', 'time', 'step', 'region'] as const;
export type Align = (typeof aligns)[number];
const names: Record<Align, string> = {
  event: 'by event',
  time: 'by time',
  step: 'step by step',
  region: 'region by region',
};

const mostColumns = 400;
const mostSteps = 200;
const mostNames = 50;

interface Curves {
  before: LevelCurve;
  after: LevelCurve;
  /** What the whole width is. */
  extent: string;
  /** Of regions: those that both have, and the one whose curves they are. */
  regions?: { all: readonly string[]; shown: string };
}

@element('gpustrata-compare-curves')
export class CompareCurves extends LitElement {
  @property({ attribute: false }) first!: Side;
  @property({ attribute: false }) second!: Side;
  @property({ attribute: false }) align: Align = 'event';
  /** The name of regions; undefined = those that last longest in the first file. */
  @property({ attribute: false }) region: string | undefined;
  @state() private found: { key: object; curves: Curves | string } | undefined;
  private asked:
    { before: EngineView; after: EngineView; align: Align; region: string | undefined } | undefined;

  protected override willUpdate(_changed: PropertyValues<this>): void {
    const { first: before, second: after, align, region, asked } = this;
    const wanted = { before: before.view, after: after.view, align, region };
    if (
      asked?.before === wanted.before &&
      asked.after === wanted.after &&
      asked.align === align &&
      asked.region === region
    )
      return;
    this.asked = wanted;
    curvesOf(before.view, after.view, align, region).then(
      (curves) => {
        if (this.asked === wanted) this.found = { key: wanted, curves };
      },
      (error: unknown) => {
        if (this.asked === wanted) this.found = { key: wanted, curves: reasonOf(error) };
      },
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
            ${aligns.map(
              (align) =>
                html`<option value=${align} ?selected=${align === this.align}>${names[align]}</option>`,
            )}
          </select></label
        >
        ${typeof curves === 'object' && curves.regions ? this.regionChoice(curves.regions) : nothing}
        <span class="key"><i class="before" aria-hidden="true"></i>${this.first.name}</span>
        <span class="key"><i class="after" aria-hidden="true"></i>${this.second.name}</span>
      </div>
      ${typeof curves === 'string' ? html`<p data-no-curves>${curves}</p>` : curves ? chart(curves, this.asked?.align ?? '') : nothing}`;
  }

  private regionChoice({ all, shown }: { all: readonly string[]; shown: string }): TemplateResult {
    return html`<label
      >Region
      <select
        data-align-region
        @change=${({ target }: Event) =>
          this.dispatchEvent(new CustomEvent('region', { detail: (target as HTMLSelectElement).value }))}>
        ${all.map((name) => html`<option value=${name} ?selected=${name === shown}>${name}</option>`)}
      </select></label
    >`;
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
        max-width: min(320px, 60vw);
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
        height: 96px;
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
async function curvesOf(
  before: EngineView,
  after: EngineView,
  align: Align,
  region: string | undefined,
): Promise<Curves | string> {
  if (align === 'step') return stepCurves(before, after);
  if (align === 'region') return regionCurves(before, after, region);
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

/** One after the other, what lies between them left out; each as wide, however long it lasts. */
async function regionCurves(
  before: EngineView,
  after: EngineView,
  wanted: string | undefined,
): Promise<Curves | string> {
  const [one, other] = (await Promise.all([before.ask('marks', {}), after.ask('marks', {})])).map(regionsOf);
  if (!one || !other || one.size === 0 || other.size === 0) return 'One of the files has no regions.';
  const all = [...one.keys()]
    .filter((name) => other.has(name))
    .sort((a, b) => (one.get(b)?.events ?? 0) - (one.get(a)?.events ?? 0))
    .slice(0, mostNames);
  const name = all.find((each) => each === wanted) ?? all[0];
  if (name === undefined) return 'No region of one file has the name of one of the other.';
  const most = Math.max(one.get(name)?.count ?? 0, other.get(name)?.count ?? 0);
  const regions = Math.min(mostSteps, most);
  const asked = { name, regions, columnsPerRegion: Math.max(1, Math.floor(mostColumns / regions)) };
  const [first, second] = await Promise.all([
    before.ask('regionCurve', asked),
    after.ask('regionCurve', asked),
  ]);
  const extent = `${regions < most ? 'the first ' : ''}${plural(regions, 'region')} ${name}`;
  return { before: first, after: second, extent, regions: { all, shown: name } };
}

/** By name: how many have events, and how many events. */
function regionsOf({ regions }: Marks): Map<string, { count: number; events: number }> {
  const found = new Map<string, { count: number; events: number }>();
  for (const { name, from_event, to_event } of regions) {
    if (to_event <= from_event) continue;
    const known = found.get(name) ?? { count: 0, events: 0 };
    found.set(name, { count: known.count + 1, events: known.events + to_event - from_event });
  }
  return found;
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
