// A snapshot, a trace and counters of one made-up run. Times are microseconds of the run.
import { expect, type Page } from '@playwright/test';
import { settledView } from './page.ts';
import { type MadeFile, choose } from './support.ts';

const base = 1_700_000_000_000_000;
const ops = [
  ['## forward ##', 100, 1000, 9000],
  ['aten::linear', 100, 2000, 4000],
  ['aten::empty', 100, 2100, 2200],
  ['aten::to', 200, 5000, 6000],
] as const;
/** Of 1, 2, 3, 4, 5 MiB: in no op; in empty in linear in forward; in linear; in forward or in to; outside of the trace. */
const allocations = [0, 2150, 3000, 5600, 10_000];

const file = (name: string, text: string): MadeFile => ({ name, buffer: Buffer.from(text) });

/** `late`: microseconds that the snapshot's clock is behind. */
export function runSnapshot(late = 0): MadeFile {
  const history = allocations.map((time, index) => ({
    action: 'alloc',
    addr: 2 ** 30 + index * 2 ** 22,
    size: 2 ** 20 * (index + 1),
    stream: 0,
    time_us: base + time - late,
    frames: [],
  }));
  return file('run.json', JSON.stringify({ segments: [], device_traces: [history] }));
}

export function runTrace(name = 'trace.json', clock = base): MadeFile {
  const events: object[] = ops.map(([op, tid, ts, end]) => ({
    ph: 'X',
    cat: op.startsWith('#') ? 'user_annotation' : 'cpu_op',
    name: op,
    pid: 1,
    tid,
    ts,
    dur: end - ts,
  }));
  for (const ts of [500, 2160, 9500]) {
    const args = { Bytes: 512, Addr: 4096 * ts, 'Device Type': 1, 'Device Id': 0 };
    events.push({ ph: 'i', name: '[memory]', pid: 1, tid: 100, ts, args });
  }
  const text = JSON.stringify({ baseTimeNanoseconds: 0, traceEvents: events });
  return file(name, text.replace('"baseTimeNanoseconds":0', `"baseTimeNanoseconds":${clock}000`));
}

/** Samples of Stormlog every 2 ms from the beginning on: 16, 32, 48, 64, 80 MiB allocated, 128 MiB reserved. */
export function runCounters(name = 'counters.json', clock = base): MadeFile {
  const samples = [16, 32, 48, 64, 80].map((mib, index) => ({
    schema_version: 2,
    timestamp_ns: 0,
    event_type: 'sample',
    collector: 'gpumemprof.cuda_tracker',
    sampling_interval_ms: 2,
    pid: 7,
    host: 'here',
    device_id: 0,
    allocator_allocated_bytes: mib * 2 ** 20,
    allocator_reserved_bytes: 2 ** 27,
    allocator_active_bytes: null,
    allocator_inactive_bytes: null,
    allocator_change_bytes: 0,
    device_used_bytes: 2 ** 27,
    device_free_bytes: 2 ** 30,
    device_total_bytes: 2 ** 30 + 2 ** 27,
    context: null,
    metadata: { index },
  }));
  let at = -2000;
  const text = JSON.stringify(samples).replaceAll('"timestamp_ns":0', () => {
    at += 2000;
    return `"timestamp_ns":${clock + at}000`;
  });
  return file(name, text);
}

/** Opens all at once and shows the snapshot. */
export async function openRun(page: Page, files: readonly MadeFile[]): Promise<void> {
  await choose(page, ...files);
  await expect(page.locator('gpustrata-viewer')).toHaveAttribute('data-state', 'ready');
  await expect(page.locator('[data-entry-state=ready]')).toHaveCount(files.length);
  await page.locator('[data-entry="run.json"] .bar').click();
  await settledView(page);
}
export async function onTime(page: Page): Promise<void> {
  await page.getByLabel('Time', { exact: true }).check({ force: true });
  await settledView(page);
}
