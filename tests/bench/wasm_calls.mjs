// wasm_calls.mjs FILE: what calls_bench.cpp measures, as whole answers of the module. One line of JSON.
import { openAsBlob } from 'node:fs';

import { loadEngine } from '../wasm/engine.mjs';
import { loadRoom } from '../wasm/room.mjs';

const { DirectTransport, Engine } = await loadRoom();
const engine = new Engine(new DirectTransport(await loadEngine()));
const { view } = await engine.open({ file: await openAsBlob(process.argv[2]) }, 3 * 2 ** 30);
const { info } = view;
const last = info.events - 1;
const peak = info.peak.event;
const said = {};

async function measure(name, times, work) {
  const all = [];
  for (let i = 0; i < times; i += 1) {
    const start = performance.now();
    const right = await work(i);
    all.push(performance.now() - start);
    if (!right) throw new Error(`wrong: ${name}`);
  }
  said[name] = Math.round(all.sort((a, b) => a - b)[Math.floor(times / 2)] * 1000) / 1000;
}

const usual = {
  of: 'moment',
  from: -1,
  to: peak,
  weight: 'bytes',
  by: 'line',
  frames: 'shown',
  inverted: false,
  filter: '',
  onlyFiltered: false,
};
const flame = (change) =>
  view.ask('flame', { tree: { ...usual, ...change }, path: [], width: 1600, rows: 200, search: '' });

await measure('first', 1, async () => (await flame({ to: last })).total === info.final_bytes);
for (const inverted of [false, true])
  await measure(inverted ? 'moment_inverted' : 'moment', 5, async (i) => {
    const { total, rects } = await flame({ to: peak - 1 - i, inverted });
    return total > 0 && rects.weight[0] === total;
  });
await measure('range', 5, async (i) => {
  const from = Math.floor(last / 3) - i;
  const [{ total }, sums] = [
    await flame({ of: 'allocated', from, to: last }),
    await view.ask('range', { axis: 'event', from, to: last }),
  ];
  return total === sums.kept.bytes + sums.passed.bytes;
});
await measure(
  'difference',
  5,
  async (i) => (await flame({ of: 'difference', from: (last >> 1) - i })).total > 0,
);
await measure('table', 5, async (i) => {
  const tree = { ...usual, to: peak - 20 - i };
  const { rows, count } = await view.ask('flameRows', {
    tree,
    search: '',
    order: 'total',
    descending: true,
    first: 0,
    count: 100,
  });
  return count > 0 && rows.length === Math.min(count, 100);
});
for (const by of ['line', 'module', 'category']) {
  const ask = async (event) => {
    const { bytes, rows } = await view.ask('holders', { by, event, filter: '', first: 0, count: 1000 });
    return (event !== peak || bytes === info.peak.bytes) && rows.length > 0;
  };
  await measure(`holders_by_${by}_first`, 1, () => ask(peak));
  await measure(`holders_by_${by}`, 5, (i) => ask(peak - i));
}
// As the page asks for it: part by part, so that other questions come in between.
await view.prepare();
let longest = 0;
for (let part = 1, parts = 1; part <= parts + 1; part += 1) {
  const start = performance.now();
  if (part <= parts) parts = await view.ask('prepareReport', { part });
  else if ((await view.ask('report', {})).peak.requested_bytes !== info.peak.bytes)
    throw new Error('wrong: report');
  longest = Math.max(longest, performance.now() - start);
}
said.report_longest_part = Math.round(longest * 1000) / 1000;
await measure(
  'fragmentation_first',
  1,
  async () => (await view.ask('fragmentation', { event: last })).event === last,
);
await measure('fragmentation', 5, async (i) => {
  const { event } = await view.ask('fragmentation', { event: peak - i });
  return event === peak - i;
});
await measure('never_freed', 5, async (i) => {
  const { rows } = await view.ask('neverFreed', { from: i, until: last });
  return rows.length > 0;
});
await measure('stacks_against_the_peak', 3, async () => {
  const { parts, bytes, blocks, ...before } = await view.ask('facts', { event: peak });
  if (parts.length === 0 || blocks === 0 || bytes !== info.peak.bytes) return false;
  const { before: was, after } = await view.ask('compare', { event: last, before });
  return was.bytes === info.peak.bytes && after.bytes === info.final_bytes;
});
console.log(JSON.stringify({ ...said, events: info.events, blocks: info.blocks }));
engine.close();
