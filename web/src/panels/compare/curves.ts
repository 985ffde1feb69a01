// The levels of two files over each other, by event, by time, step by step, or in the regions of one name.
import { reasonOf } from '../../base/reason.ts';
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatDuration, plural } from '../../base/format.ts';
import { base } from '../../controls/styles.ts';
import { colorsOf, type Theme } from '../../draw/colors.ts';
import type { EngineView, Marks, Stretch } from '../../../engine/index.ts';
import { levelOf, type Course } from '../../series/chart.ts';
import type { Bytes } from '../../base/units.ts';
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

const mostNames = 50;
/** On the axis of steps, or of regions: each is so wide. */
const stretchWidth = 65536;

interface Curves extends Course {
  /** Of the first file, then of the second. */
  highest: readonly [Bytes, Bytes];
  /** What the whole width is. */
  says: string;
  /** Of regions: those that both have, and the one whose curves they are. */
  regions?: { all: readonly string[]; shown: string };
}

@element('gpustrata-compare-curves')
export class CompareCurves extends LitElement {
  @property({ attribute: false }) first!: Side;
  @property({ attribute: false }) second!: Side;
  @property({ attribute: false }) theme!: Theme;
  @property({ attribute: false }) align: Align = 'event';
  /** The name of regions; undefined = those that last longest in the first file. */
  @property({ attribute: false }) region: string | undefined;
  @state() private curves: Curves | string | undefined;
  private asked: readonly [EngineView, EngineView, Align, string | undefined] | undefined;

  protected override willUpdate(): void {
    const wanted = [this.first.view, this.second.view, this.align, this.region] as const;
    if (wanted.every((one, at) => one === this.asked?.[at])) return;
    this.asked = wanted;
    void curvesOf(...wanted)
      .catch(reasonOf)
      .then((curves) => {
        if (this.asked === wanted) this.curves = curves;
      });
  }

  protected override render(): TemplateResult {
    const { curves } = this;
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
        ${typeof curves === 'object' ? html`<span data-extent>${curves.says}</span>` : nothing}
      </div>
      ${typeof curves === 'string' ? html`<p data-no-curves>${curves}</p>` : curves ? this.chart(curves, this.asked?.[2] ?? '') : nothing}`;
  }

  private chart(curves: Curves, align: string): TemplateResult {
    const colors = colorsOf(this.theme);
    const [before, after] = curves.highest;
    return html`<gpustrata-chart
      low
      data-curves=${align}
      data-most=${Math.max(before, after)}
      .of=${curves}
      .levels=${[
        {
          ...levelOf(this.first.name, colors.reserved, 'line', before, 'before'),
          isSaved: !this.first.view.info.has_history,
        },
        {
          ...levelOf(this.second.name, colors.snapshot, 'line', after, 'after'),
          isSaved: !this.second.view.info.has_history,
        },
      ]}
      .theme=${this.theme}
      label="Allocated memory of both"></gpustrata-chart>`;
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
        margin-bottom: 4px;
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
  const found = await extentOf(before, after, align, region);
  if (typeof found === 'string') return found;
  const name = found.regions && { region: found.regions.shown };
  const ask = async ({ first, width, count }: Stretch): Promise<Float64Array[]> => {
    const asked = { of: ['allocated'], columns: { axis: align, first, width, count, ...name } } as const;
    const both = await Promise.all([before.ask('levels', asked), after.ask('levels', asked)]);
    return both.flatMap(({ levels }) => levels.map(({ highest }) => highest));
  };
  const [one, other] = await ask({ first: 0, width: found.extent, count: 1 });
  return {
    ...found,
    axis: align === 'time' ? 'time' : 'event',
    engine: {
      get alive() {
        return before.alive && after.alive;
      },
    },
    samples: async (columns) => ({ values: await ask(columns) }),
    highest: [one?.[0] ?? 0, other?.[0] ?? 0],
  };
}

type Extent = Pick<Curves, 'extent' | 'unit' | 'says' | 'regions'>;

async function extentOf(
  before: EngineView,
  after: EngineView,
  align: Align,
  region: string | undefined,
): Promise<Extent | string> {
  if (align === 'region') return regionsOfBoth(before, after, region);
  if (align === 'step') {
    const counts = (await Promise.all([reportOf(before), reportOf(after)])).map(({ steps }) => steps.count);
    if (counts.includes(0)) return 'One of the files has no steps.';
    const steps = Math.max(...counts);
    return { extent: steps * stretchWidth, unit: stretchWidth, says: plural(steps, 'step') };
  }
  const extents = [before, after].map(({ info }) => info.extent[align === 'time' ? 'time_us' : 'event']);
  if (extents.some((one) => one === null)) return 'One of the files has no times.';
  const extent = Math.max(1, ...extents.map((one) => one ?? 0));
  return { extent, says: align === 'time' ? formatDuration(extent) : plural(extent, 'event') };
}

/** One after the other, what lies between them left out; each as wide, however long it lasts. */
async function regionsOfBoth(
  before: EngineView,
  after: EngineView,
  wanted: string | undefined,
): Promise<Extent | string> {
  const [one, other] = (await Promise.all([before.ask('marks', {}), after.ask('marks', {})])).map(regionsOf);
  if (!one || !other || one.size === 0 || other.size === 0) return 'One of the files has no regions.';
  const all = [...one.keys()]
    .filter((name) => other.has(name))
    .sort((a, b) => (one.get(b)?.events ?? 0) - (one.get(a)?.events ?? 0))
    .slice(0, mostNames);
  const shown = all.find((each) => each === wanted) ?? all[0];
  if (shown === undefined) return 'No region of one file has the name of one of the other.';
  const regions = Math.max(one.get(shown)?.count ?? 0, other.get(shown)?.count ?? 0);
  return {
    extent: regions * stretchWidth,
    unit: stretchWidth,
    says: `${plural(regions, 'region')} ${shown}`,
    regions: { all, shown },
  };
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
