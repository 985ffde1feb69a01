// Curves of a run beside those of the recording, and settings by what they need.
import { html, svg, type SVGTemplateResult, type TemplateResult } from 'lit';
import { formatBytes, formatCount } from '../../base/format.ts';
import type { Bytes } from '../../base/units.ts';
import type { WhatIf } from '../../../engine/index.ts';
import { colorsOf } from '../../draw/colors.ts';
import { levelOf } from '../../series/chart.ts';
import type { PanelPage } from '../panel.ts';
import type { Tried } from '../runs.ts';
import { callsOf } from './scenario.ts';

const maximum = (values: Float64Array): Bytes => values.reduce((most, one) => Math.max(most, one), 0);

/** `event`: the chosen moment. */
export function curves(
  { curves: { recordedReserved, simulatedReserved, recordedAllocated }, capacity, simulated }: WhatIf,
  { info, event, theme }: PanelPage,
): TemplateResult {
  const count = Math.max(1, recordedReserved.length);
  const values = [recordedAllocated, recordedReserved, simulatedReserved];
  const colors = colorsOf(theme);
  const columns = { axis: 'event', first: 0, width: info.events / count, count } as const;
  const oom = simulated.first_oom;
  return html`<gpustrata-chart
    low
    .of=${{ axis: 'event', extent: info.events, samples: { columns, values } }}
    .levels=${[
      levelOf('allocated, recorded', colors.envelope, 'area', maximum(recordedAllocated)),
      levelOf('reserved, recorded', colors.reserved, 'line', maximum(recordedReserved)),
      levelOf('reserved in the run', colors.snapshot, 'line', maximum(simulatedReserved)),
    ]}
    .limit=${capacity ?? undefined}
    .marks=${[
      { position: Math.max(event + 0.5, 0), text: '', look: 'plain' },
      ...(oom ? [{ position: oom.event + 0.5, text: 'out of memory in the run', look: 'bad' }] : []),
    ]}
    .theme=${theme}
    label="Reserved memory over the events, recorded and in the run"></gpustrata-chart>`;
}

/** Reserved memory to the right, calls to the device upwards: the best is at the lower left. */
export function scatter(
  tried: readonly Tried[],
  recorded: Tried,
  chosen: (conf: string) => void,
): SVGTemplateResult {
  const all = [...tried, recorded];
  const range = (of: (one: Tried) => number): ((one: Tried) => number) => {
    const values = all.map(of);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return (one) => (most > least ? (of(one) - least) / (most - least) : 0.5);
  };
  const x = range(({ numbers }) => numbers.peak_reserved_bytes);
  const y = range(({ numbers }) => callsOf(numbers));
  const point = (one: Tried, kind: string, name: string): SVGTemplateResult => svg`<circle
    class=${kind}
    data-conf=${one.conf}
    cx="${6 + 88 * x(one)}%"
    cy="${92 - 84 * y(one)}%"
    r="6"
    @click=${() => chosen(one.conf)}>
    <title>${name}: ${formatBytes(one.numbers.peak_reserved_bytes)} reserved, ${formatCount(callsOf(one.numbers))} calls</title>
  </circle>`;
  return svg`<svg class="scatter" role="img" aria-label="${tried.length} settings: reserved memory against calls to the device">
    ${point(recorded, 'recorded', 'Recorded')}
    ${tried.map((one) => point(one, one.numbers.ooms > 0 ? 'fails' : 'fits', one.conf || 'no settings'))}
  </svg>`;
}
