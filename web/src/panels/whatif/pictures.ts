// Curves of a run beside those of the recording, and settings by what they need.
import { svg, type SVGTemplateResult } from 'lit';
import { formatBytes, formatCount } from '../../base/format.ts';
import type { Bytes } from '../../base/units.ts';
import type { WhatIf } from '../../../engine/index.ts';
import type { Tried } from '../runs.ts';
import { callsOf } from './scenario.ts';

const height = 100;

/** A staircase in a box `values.length` wide and `height` high. */
function steps(values: ArrayLike<Bytes>, top: Bytes): string {
  let path = '';
  let last = Number.NaN;
  for (let i = 0; i < values.length; i += 1) {
    const y = height - ((values[i] ?? 0) / top) * (height - 2) - 1;
    if (y === last) continue;
    path += path === '' ? `M0 ${y.toFixed(2)}` : `H${i}V${y.toFixed(2)}`;
    last = y;
  }
  return `${path}H${values.length}`;
}

/** `at`: share of the width where the chosen moment is; `refused`: where the run is first out of memory. */
export function curves(
  { curves: levels, capacity, simulated }: WhatIf,
  events: number,
  event: number,
): SVGTemplateResult {
  const { recordedReserved, simulatedReserved, recordedAllocated } = levels;
  const columns = Math.max(1, recordedReserved.length);
  let top = 1;
  for (const values of [recordedReserved, simulatedReserved])
    for (const value of values) top = Math.max(top, value);
  const x = (of: number): number => (Math.max(0, of) / Math.max(1, events)) * columns;
  const oom = simulated.first_oom;
  const limit =
    capacity !== null && capacity <= top * 1.02 ? height - (capacity / top) * (height - 2) - 1 : undefined;
  return svg`<svg
    class="curves"
    viewBox="0 0 ${columns} ${height}"
    preserveAspectRatio="none"
    role="img"
    aria-label="Reserved memory over the events: recorded up to ${formatBytes(maximum(recordedReserved))}, in the run up to ${formatBytes(maximum(simulatedReserved))}">
    <path class="allocated" d="${steps(recordedAllocated, top)}V${height}H0Z" />
    ${limit === undefined ? '' : svg`<path class="limit" d="M0 ${limit}H${columns}" />`}
    <path class="recorded" d=${steps(recordedReserved, top)} />
    <path class="simulated" d=${steps(simulatedReserved, top)} />
    <path class="moment" d="M${x(event)} 0V${height}" />
    ${oom ? svg`<path class="oom" d="M${x(oom.event)} 0V${height}" />` : ''}
  </svg>`;
}

function maximum(values: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < values.length; i += 1) most = Math.max(most, values[i] ?? 0);
  return most;
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
