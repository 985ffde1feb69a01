// The recorded state and that of a run beside each other at one moment, and what differs as tables: pools, segments.
import { reasonOf } from '../../base/reason.ts';
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, queryAll, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { plural } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import { bytesCell, bytesColumn, countColumn, tableOf, type TableColumn } from '../../controls/table.ts';
import { tableStyles } from '../../controls/table_styles.ts';
import { base } from '../../controls/styles.ts';
import { Resized } from '../../controls/resized.ts';
import { themes, type Theme } from '../../draw/colors.ts';
import { lookOf } from '../../draw/palettes.ts';
import { drawState } from '../../draw/state_rects.ts';
import type { SegmentDifference, SegmentUse, StateDifferences, StateLayout } from '../../../engine/index.ts';
import type { ShownRun } from '../runs.ts';

interface Asked {
  run: ShownRun;
  event: number;
  theme: Theme;
  width: number;
  height: number;
}
interface Sides {
  event: number;
  recorded: StateLayout;
  simulated: StateLayout;
  differences: StateDifferences;
}

type PoolDifference = StateDifferences['pools'][number];
const both = [
  ['Recorded', ({ recorded }: PoolDifference) => recorded],
  ['In the run', ({ simulated }: PoolDifference) => simulated],
] as const;
const used = [
  ['reserved', 'reserved'],
  ['in use', 'used'],
  ['largest gap', 'largest_free'],
] as const;

@element('gpustrata-run-states')
export class RunStates extends LitElement {
  @property({ attribute: false }) run: ShownRun | undefined;
  @property({ type: Number }) event = -1;
  @property({ attribute: false }) theme: Theme = themes.light;
  @state() private sides: Sides | undefined;
  @state() private problem = '';
  @queryAll('canvas') private canvases!: NodeListOf<HTMLCanvasElement>;
  protected readonly resized = new Resized(
    this,
    () => this,
    () => this.request(),
  );
  private readonly asking = new LatestOnly<Asked, Sides>(
    (asked) => sidesOf(asked),
    (sides) => {
      this.sides = sides;
      this.problem = '';
    },
    (error) => (this.problem = reasonOf(error)),
  );

  private request(): void {
    const canvas = this.canvases[0];
    if (!this.run || !canvas) return;
    const { width, height } = canvas.getBoundingClientRect();
    if (width < 1 || height < 1) return;
    const ratio = devicePixelRatio;
    this.asking.request({
      run: this.run,
      event: this.event,
      theme: this.theme,
      width: Math.round(width * ratio),
      height: Math.round(height * ratio),
    });
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('run') || changed.has('event') || changed.has('theme')) this.request();
    const { sides } = this;
    if (!sides) return;
    for (const [index, layout] of [sides.recorded, sides.simulated].entries()) {
      const canvas = this.canvases[index];
      const ctx = canvas?.getContext('2d');
      if (!canvas || !ctx) continue;
      const { width, height } = canvas.getBoundingClientRect();
      canvas.width = Math.round(width * devicePixelRatio);
      canvas.height = Math.round(height * devicePixelRatio);
      drawState(ctx, layout.rects, { scale: 1, x: 0, y: 0 }, this.theme, devicePixelRatio);
    }
  }

  protected override render(): TemplateResult {
    const { sides, problem } = this;
    return html`
      ${problem === '' ? nothing : html`<p role="alert">${problem}</p>`}
      <div class="sides" data-event=${sides?.event ?? nothing}>
        ${['Recorded', 'In the run'].map(
          (name) =>
            html`<figure>
              <figcaption>${name}</figcaption>
              <canvas role="img" aria-label="Segments and blocks: ${name}"></canvas>
            </figure>`,
        )}
      </div>
      ${
        sides
          ? html`${this.pools(sides.differences)} ${this.segments(sides.differences)}`
          : html`<p class="dim">Finding both states…</p>`
      }
    `;
  }

  private pools({ pools }: StateDifferences): TemplateResult {
    return tableOf(pools, {
      label: 'Pools, recorded and in the run',
      data: { pools: pools.length },
      columns: [
        { name: 'Pool', names: true, cell: ({ pool, small }) => poolName(pool, small) },
        ...both.flatMap(([group, of]): TableColumn<PoolDifference>[] => [
          { ...countColumn('segments', (row) => of(row).segments), group },
          ...used.map(([name, key]) => ({
            ...bytesColumn<PoolDifference>(name, (row) => of(row)[key]),
            group,
          })),
        ]),
      ],
    });
  }

  private segments({ segments, segments_left_out, same_segments }: StateDifferences): TemplateResult {
    const same =
      same_segments === 0 ? 'No segment is the same.' : `${plural(same_segments, 'segment')} the same.`;
    if (segments.length === 0) return html`<p class="dim" data-segments="0">${same} None differs.</p>`;
    const column = (
      group: string,
      of: (row: SegmentDifference) => SegmentUse | null,
      [name, key]: (typeof used)[number],
    ): TableColumn<SegmentDifference> => ({
      name,
      look: 'number',
      group,
      cell: (row) => {
        const use = of(row);
        return use === null ? { text: 'not there', look: 'dim', span: used.length } : bytesCell(use[key]);
      },
    });
    return html`${tableOf(segments, {
        label: 'Segments that differ',
        data: { segments: segments.length },
        row: ({ address }) => ({ data: { segment: address } }),
        columns: [
          {
            name: 'Segments that differ, by address',
            names: true,
            cell: ({ address, pool, small }) => html`<code>${address}</code> ${poolName(pool, small)}`,
          },
          ...used.map((one) => column('Recorded', ({ recorded }) => recorded, one)),
          ...used.map((one) => column('In the run', ({ simulated }) => simulated, one)),
        ],
      })}
      <p class="dim">
        ${segments_left_out === 0 ? nothing : `${plural(segments_left_out, 'more differs', 'more differ')}. `}${same}
      </p>`;
  }

  static override styles = [
    base,
    tableStyles,
    css`
      :host {
        display: block;
      }
      .sides {
        display: grid;
        grid-template-columns: 1fr 1fr;
        gap: 16px;
      }
      figure {
        margin: 0;
      }
      figcaption,
      .dim {
        color: var(--dim);
        font-size: 12px;
      }
      canvas {
        display: block;
        width: 100%;
        height: 140px;
        margin-top: 4px;
      }
      .scroll {
        margin-top: 8px;
      }
    `,
  ];
}

const poolName = (pool: string | null, small: boolean): string =>
  `${pool === null ? 'default pool' : `pool ${pool}`}, ${small ? 'small' : 'large'} blocks`;

async function sidesOf({ run, event, theme, width, height }: Asked): Promise<Sides> {
  const { recorded, simulated, snapshot } = run;
  const window = { width, height, zoom: 1, left: 0, top: 0 };
  const look = lookOf(undefined, theme, '');
  const there = await recorded.ask('eventOfRun', { snapshot, event });
  const [before, after, differences] = await Promise.all([
    recorded.ask('layout', { event, window, look }),
    simulated.ask('layout', { event: there, window, look }),
    recorded.ask('stateDifferences', { snapshot, event }),
  ]);
  return { event, recorded: before, simulated: after, differences };
}
