// Peaks over one parameter: foretold ones as lines, recorded ones as dots, the device as a limit; and a slider that chooses a value.
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount } from '../../base/format.ts';
import type { Bytes } from '../../base/units.ts';
import { base } from '../../controls/styles.ts';
import { colorsOf, type Theme } from '../../draw/colors.ts';
import { levelOf, type Course, type Cursor } from '../../series/chart.ts';
import type { Foretold } from '../../../engine/index.ts';

/** A recorded run on this curve. */
export interface Point {
  value: number;
  requested: Bytes;
  reserved: Bytes;
}

@element('gpustrata-fit-curve')
export class FitCurve extends LitElement {
  @property({ attribute: false }) parameter = '';
  /** By value, ascending. */
  @property({ attribute: false }) points: readonly Foretold[] = [];
  @property({ attribute: false }) recorded: readonly Point[] = [];
  @property({ attribute: false }) capacity: Bytes | undefined;
  @property({ attribute: false }) chosen = 1;
  /** The largest that fits; undefined = not known. */
  @property({ attribute: false }) largest: number | undefined;
  @property({ attribute: false }) theme!: Theme;
  private course!: Course;
  /** Under the pointer. */
  @state() private pointed: Foretold | undefined;

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('points')) this.course = courseOf(this.points);
  }

  private get last(): number {
    return this.points.at(-1)?.value ?? 1;
  }

  private point(cursor: Cursor | null): void {
    const value = cursor && (cursor.column + 0.5) * cursor.width - 0.5;
    this.pointed =
      value === null
        ? undefined
        : this.points.reduce((best, one) =>
            Math.abs(best.value - value) <= Math.abs(one.value - value) ? best : one,
          );
  }
  private choose(value: number): void {
    this.dispatchEvent(
      new CustomEvent('value', { detail: Math.min(Math.max(1, Math.round(value)), this.last) }),
    );
  }

  protected override render(): TemplateResult | typeof nothing {
    const { points, recorded, capacity, last, chosen, parameter, largest, pointed } = this;
    if (points.length === 0) return nothing;
    const colors = colorsOf(this.theme);
    const most = (of: (one: Foretold) => Bytes): Bytes => Math.max(...points.map(of));
    const reserved = most((one) => one.reserved_peak_bytes);
    const high = most((one) => one.high.reserved_peak_bytes);
    const known = points.every((one) => one.low.reserved_peak_bytes === one.high.reserved_peak_bytes);
    const limit = capacity !== undefined && capacity <= Math.max(reserved, high) * 1.5 ? capacity : undefined;
    return html`<gpustrata-chart
        low
        data-points=${points.length}
        data-last=${last}
        data-capacity=${limit ?? nothing}
        .of=${this.course}
        .levels=${[
          levelOf('peak reserved', colors.reserved, 'line', reserved),
          levelOf(
            'peak requested',
            colors.snapshot,
            'line',
            most((one) => one.requested_peak_bytes),
          ),
          ...(known ? [] : [levelOf('reserved may lie there', colors.envelope, 'between', high)]),
        ].map((level) => ({ ...level, sampled: true }))}
        .dots=${recorded.flatMap((one) => [
          { position: one.value + 0.5, bytes: one.reserved, color: colors.reserved },
          { position: one.value + 0.5, bytes: one.requested, color: colors.snapshot },
        ])}
        .marks=${[{ position: chosen + 0.5, text: '', look: 'plain' }]}
        .limit=${limit}
        .cursor=${pointed && { column: pointed.value, width: 1 }}
        .now=${pointed && [pointed.reserved_peak_bytes, pointed.requested_peak_bytes]}
        .theme=${this.theme}
        label="Peaks by ${parameter}"
        @cursor=${({ detail }: CustomEvent<Cursor | null>) => this.point(detail)}
        @choose=${({ detail }: CustomEvent<number>) => this.choose(Math.floor(detail))}></gpustrata-chart>
      <input
        type="range"
        name="value"
        min="1"
        max=${last}
        aria-label=${parameter}
        aria-valuetext="${parameter} ${formatCount(chosen)}"
        .value=${String(chosen)}
        @input=${({ target }: Event) => this.choose(Number((target as HTMLInputElement).value))} />
      <p data-pointed=${pointed?.value ?? nothing}>
        ${parameter}
        ${pointed ? `is ${formatCount(pointed.value)} where the pointer is.` : `from 1 to ${formatCount(last)}; dots are recorded runs.`}
        ${capacity === undefined || limit !== undefined ? nothing : html`The device, ${formatBytes(capacity)}, lies above the picture.`}
        ${
          largest === undefined || largest > last
            ? nothing
            : html`<button type="button" class="link" data-way="largest" @click=${() => this.choose(largest)}>
                Go to ${parameter} ${formatCount(largest)}, the largest found that fits
              </button>`
        }
      </p>
      <ul class="visually-hidden">
        ${recorded.map(
          ({ value, requested, reserved: held }) =>
            html`<li data-recorded=${value} data-bytes=${held}>
              ${parameter} ${formatCount(value)}, recorded: ${formatBytes(held)} reserved,
              ${formatBytes(requested)} requested
            </li>`,
        )}
      </ul>`;
  }

  static override styles = [
    base,
    css`
      :host {
        display: block;
        max-width: 900px;
        margin: 8px 0;
        --chart-height: 240px;
      }
      p {
        margin: 0;
        color: var(--dim);
        font-size: 12px;
      }
    `,
  ];
}

/** A column for each value; between those that were foretold as on a line from one to the next. */
function courseOf(points: readonly Foretold[]): Course {
  const last = points.at(-1)?.value ?? 1;
  const along = (of: (one: Foretold) => Bytes): Float64Array => {
    const values = new Float64Array(last).fill(Number.NaN);
    points.forEach((to, at) => {
      const from = points[at - 1] ?? to;
      for (let { value } = from; value <= to.value; value += 1) {
        const share = (value - from.value) / Math.max(to.value - from.value, 1);
        values[value - 1] = of(from) + share * (of(to) - of(from));
      }
    });
    return values;
  };
  const high = along((one) => one.high.reserved_peak_bytes);
  const low = along((one) => one.low.reserved_peak_bytes);
  return {
    axis: 'event',
    extent: last + 1,
    samples: {
      columns: { axis: 'event', first: 1, width: 1, count: last },
      values: [along((one) => one.reserved_peak_bytes), along((one) => one.requested_peak_bytes), high],
      lowest: [undefined, undefined, low],
    },
  };
}
