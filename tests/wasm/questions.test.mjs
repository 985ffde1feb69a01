// One protocol: the page's types are those of the engine's table, and the native engine, the module in this thread and
// the module behind HTTP give the same bytes for every question over all golden cases.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { generated } from '../../web/engine/protocol/generate.mjs';
import { answers as sessionAnswers, command, root } from '../built.mjs';
import { casesFolder, goldenCases, loadEngine } from './engine.mjs';
import { answersOf, budget, loadRoom, openDirect, startServer } from './room.mjs';
import { samplesOf } from './samples.mjs';
import { wrong } from './schema.mjs';

const { files, questions, types } = generated();

test('the types of questions are those of the engine', () => {
  for (const [name, text] of Object.entries(files)) {
    const written = readFileSync(join(root, 'web/engine/protocol', name), 'utf8');
    assert.equal(written, text, 'run: node web/engine/protocol/generate.mjs');
  }
});

const look = {
  palette: { bands: [0xffa7794e, 0xff2b8ef2], nothing: 0, dimmedTowards: 0xffffffff, envelope: 0xff808080 },
  colourBy: 'size',
  filter: '',
  kind: -1,
};
const window = { width: 640, height: 200.5, zoom: 1.25, left: 3, top: 0 };
const order = 'address';

/** Lines of op tables; without a trace there are none. */
const lines = { sort: 'at_peak', first: 0, count: 50 };
const lanes = { columns: 200, search: '', leastForName: 3 };
const ofOps = [
  ['ops', { ...lines, by: 'op', scope: 'thread', tree: false, open: [] }],
  ['ops', { ...lines, by: 'path', scope: 'process', sort: 'self', tree: true, open: [0, 1] }],
  ['ops', { ...lines, by: 'op', scope: 'thread', tree: true, open: [] }],
  ['profilerTable', { ...lines, shapes: true }],
  ['lanes', { ...lanes, axis: 'time', from: -20, step: 1.5, threads: [0, 0, 0], rows: [0, 1, 2] }],
  ['lanes', { ...lanes, axis: 'event', from: 0, step: 0.25, threads: [0], rows: [1], search: 'size>1KiB' }],
  ['lanes', { ...lanes, axis: 'event', from: 0, step: 0.25, threads: [9], rows: [0] }],
  ['span', { span: 1 }],
  ['opsAt', { time: 10 }],
  ['opsAt', { time: 10, device: 0, address: 4096 }],
  ['opsOf', { device: 0, times: [10, 1e15], addresses: [4096, -1] }],
  ['opPaths', { nodes: [0] }],
  ['tellMadeIn', { anew: true, parents: [-1], names: ['op'], ops: [1], events: [], nodes: [] }],
  ['filter', { text: 'op:op' }],
];

/**
 * Of a view with so many events, those that types alone do not tell: rows and ranks may not exist, which has an answer as well. `release`
 * ends a view. `everyWord`: of all samples of types, not only the first.
 */
function questionsFor(info, everyWord) {
  const columns = { axis: 'event', first: 0, width: Math.max(1, Math.ceil(info.events / 50)), count: 50 };
  const rows = { bottom: 0, bytesPerRow: Math.max(1, info.peak.bytes) / 77.7, count: 80 };
  const event = Math.floor(info.events / 2);
  const last = info.events - 1;
  const ofViews = questions.filter(({ name, of }) => of !== 'file' && name !== 'release');
  const list = [
    ...ofViews.flatMap(({ name, args }) => {
      const samples = samplesOf(args, types, info);
      return (everyWord ? samples : samples.slice(0, 1)).map((sample) => [name, sample]);
    }),
    ['picture', { columns, rows, look }],
    ['picture', { columns, rows, look: { ...look, colourBy: 'stack', filter: 'size>1KiB' } }],
    ['picture', { columns, rows, look: { ...look, kind: 2 } }],
    [
      'picture',
      { columns: { ...columns, axis: 'time', width: 1000 }, rows, look: { ...look, colourBy: 'lifetime' } },
    ],
    ['labels', { columns, rows, leastColumns: 2, leastRows: 4 }],
    ['picture', { columns, rows, look: { ...look, filter: 'size>1KiB' }, by: 'size' }],
    ['picture', { columns, rows, look, by: 'allocation' }],
    ['labels', { columns, rows, by: 'size', leastColumns: 2, leastRows: 4 }],
    [
      'probe',
      {
        ...{ axis: 'event', column: event, width: 1, bytes: info.peak.bytes / 3, known: -1 },
        ...{ by: 'size', filter: 'size>1KiB' },
      },
    ],
    ['groupOutline', { by: 'stack', kind: 0, columns }],
    ['highest', { columns }],
    ['position', { axis: 'time', events: [-1, 0, event, info.events] }],
    ['prepareReport', { part: 2 ** 31 - 1 }],
    ['range', { axis: 'event', from: 1, to: event + 1 }],
    ['range', { axis: 'time', from: 0, to: 2 ** 53 }],
    ['neverFreed', { from: -1, until: event }],
    ['sourceFiles', { event: last }],
    ['sourceLines', { event: info.peak.event, file: 'file.py' }],
    ['facts', { event: info.peak.event }],
    [
      'compare',
      {
        event: last,
        before: {
          keys: ['0'.repeat(32), 'x'],
          places: ['0'.repeat(32), 'y'],
          sizes: [5, 7],
          counts: [1, 2],
          rest_bytes: 3,
          rest_blocks: 1,
        },
      },
    ],
    ['levels', { of: ['allocated', 'reserved', 'cached', 'held_back'], columns }],
    [
      'levels',
      { of: ['reserved'], columns: { ...columns, axis: 'region', region: 'forward', width: 2 ** 14 } },
    ],
    ['levels', { of: ['allocated'], columns: { ...columns, axis: 'step', width: 2 ** 20 } }],
    ...ofOps,
    ['prepare', { part: 2 ** 31 - 1 }],
    ['filterEvents', { filter: 'action:alloc,oom size>=1' }],
    ['eventRows', { filter: '', first: 0, count: 50 }],
    ['eventRows', { filter: 'action:blocks stack:a alive@peak', first: 1, count: 5 }],
    ['rowOfEvent', { filter: 'action:alloc', event }],
    ['filter', { text: 'alive@peak' }],
    ['filter', { text: 'category:activation or category:unknown' }],
    ['filter', { text: 'category:nothing' }],
    ['filter', { text: 'é size>x' }],
    ['match', { filter: 'alive@peak', index: 0 }],
    ['complete', { text: 'é si', cursor: 4 }],
    ['regions', { order, first: 0, count: 20 }],
    ['addressMap', { order, columns, first: 0, count: 3, height: 5, look }],
    [
      'addressMap',
      { order, columns, first: 0, count: 3, height: 5, look, shades: [0xff000000, 0xff808080, 0xffffffff] },
    ],
    [
      'addressMap',
      { order: 'size', columns, first: 0, count: 3, height: 1, look: { ...look, filter: 'size>1KiB' } },
    ],
  ];
  for (const by of types.get('ColourBy').words)
    list.push(['shares', { by, event: info.peak.event, filter: 'size>1KiB' }]);
  const tree = {
    of: 'moment',
    from: -1,
    to: info.peak.event,
    weight: 'bytes',
    by: 'line',
    frames: 'shown',
    inverted: false,
    filter: '',
    onlyFiltered: false,
  };
  const trees = [
    tree,
    { ...tree, of: 'allocated', weight: 'time', by: 'function', frames: 'own', inverted: true },
    { ...tree, of: 'difference', from: event, to: last, by: 'file', frames: 'all', filter: 'size>1KiB' },
    { ...tree, of: 'passed', to: last, weight: 'blocks', filter: 'size>1KiB', onlyFiltered: true },
  ];
  for (const by of types.get('HolderBy').words)
    list.push(['holders', { by, event: info.peak.event, filter: 'size>1KiB', first: 0, count: 30 }]);
  for (const rank of [0, 1, 1000]) list.push(['category', { rank }]);
  const rules = 'input 0.5 frame:e\nwhatever 0.25 kept';
  list.push(['holders', { by: 'category', event: last, filter: '', rules, first: 0, count: 9 }]);
  const before = {
    texts: ['forward', '/run/model.py', 'é'],
    names: [0, 2],
    files: [1, 1],
    lines: [7, 0],
    frames: [0, 1, 0],
    callers: [-1, 0, 1],
    weights: [512, 0, 1e12],
    blocks: [1, 0, 3],
    without: 5,
    withoutBlocks: 1,
    rest: 3,
    restBlocks: 2,
  };
  for (const one of trees) {
    list.push(['callFacts', { tree: one }]);
    list.push(['flame', { tree: one, before, path: [], width: 300, rows: 50, search: 'FORWARD' }]);
    const rows = { search: '', order: 'change', descending: true, first: 0, count: 20 };
    list.push(['flameRows', { tree: one, before, ...rows }]);
    list.push(['flame', { tree: one, path: [], width: 300, rows: 50, search: 'F' }]);
    list.push(['flame', { tree: one, path: [0, 1], width: 77, rows: 3, search: '' }]);
    for (const order of ['name', 'total', 'self', 'blocks', 'change'])
      list.push([
        'flameRows',
        {
          tree: one,
          search: order === 'self' ? 'e' : '',
          order,
          descending: order !== 'name',
          first: 0,
          count: 20,
        },
      ]);
  }
  for (const at of [-1, 0, event, last]) {
    list.push(['totals', { event: at }], ['layout', { event: at, window }], ['event', { event: at }]);
    list.push(['layout', { event: at, window, look: { ...look, filter: 'size>1KiB' } }]);
    list.push(['stateSketch', { event: at, window, look: { ...look, filter: 'size>1KiB' } }]);
    list.push(['statePick', { event: at, window, x: 10, y: 10 }]);
    list.push(['findEvent', { kind: 'alloc', from: at, backwards: false }]);
    list.push(['probe', { axis: 'event', column: at, width: 1, bytes: info.peak.bytes / 2, known: -1 }]);
    for (const row of [0, 1, 1000]) {
      list.push(['stateBlock', { event: at, block: row }], ['stateSegment', { event: at, segment: row }]);
      list.push(['statePlace', { event: at, block: row, window }]);
      list.push(['owner', { event: at, address: String(0x7f0000000000 + row) }]);
    }
  }
  for (const rank of [0, 1, 2, 1000]) {
    list.push(['block', { rank, axis: 'time', by: 'size' }], ['outline', { rank, by: 'stack', columns }]);
    list.push(['block', { rank, axis: 'event' }], ['outline', { rank, columns }], ['blockOfRank', { rank }]);
    list.push(['rankOfBlock', { block: rank }], ['regionOfBlock', { order, block: rank }]);
  }
  list.push(['findEvent', { kind: 'peak', from: 0, backwards: true }]);
  // Runs: as recorded, other settings, one more request, no cache; refused ones, too.
  const changes = [{ filter: 'size>1KiB', factor: 0.5 }];
  const scenarios = [
    {},
    { conf: 'expandable_segments:True' },
    { capacity: 2 ** 20, changes },
    { extra: [{ after: -1, bytes: 2 ** 22 }], emptyCacheAfter: [last] },
    { caching: false, capacity: 0 },
    { conf: 'max_split_size_mb:x' },
  ];
  for (const scenario of scenarios) list.push(['whatIf', { scenario, columns: 20 }]);
  list.push(['smallestCapacity', { scenario: scenarios[1] }], ['addRun', { scenario: scenarios[4] }]);
  list.push(['addRun', { scenario: scenarios[1] }], ['highest', { columns }]);
  for (const snapshot of [0, 1, 2, 3]) {
    list.push(['eventOfRun', { snapshot, event }], ['eventOfRun', { snapshot, event: -1 }]);
    list.push(['stateDifferences', { snapshot, event: last }]);
  }
  // Refused, in the same words.
  list.push(['totals', { event: 2 ** 63 }], ['totals', { event: NaN }], ['totals', {}], ['nonsense', {}]);
  return list;
}

const profilers = join(root, 'tests/data/profilers');
const profilerFiles = [
  'timeline.json',
  'tracker.pickle',
  'telemetry.json',
  'functions.json',
  'trace.json',
].map((name) => ({ name, file: join(profilers, name) }));
const fleetFile = { name: 'fleet', file: join(root, 'tests/data/fleet/small.json') };
const stretch = { first: 0, width: 1, count: 20 };
/** Of numbers over time, fleets; most snapshots have none, which is refused in words. `open` and `first` open a view. */
const ofFiles = questions.filter(({ name, of }) => of === 'file' && !['open', 'first'].includes(name));
const questionsOfFiles = [
  ...ofFiles.flatMap(({ name, args }) =>
    samplesOf(args, types).map((sample) => ({ ask: name, args: sample })),
  ),
  { ask: 'seriesLevels', args: { part: 0, series: [0, 1], stretch } },
  { ask: 'seriesMoment', args: { part: 0, column: 1, width: 1 } },
  { ask: 'operators', args: { part: 0, most: 10 } },
  { ask: 'fleet', args: { fleet: 1 } },
  { ask: 'categoryRules', args: { text: 'input 0.5 nonsense' } },
];

/** Frames of everything about every device and all three kinds of bands; the ids of views count up from 1. */
async function framesOf(data) {
  const { encodeQuestion } = await loadRoom();
  const { engine, contents } = await openDirect(data);
  const heads = [...questionsOfFiles];
  let id = 0;
  for (const [snapshot, { devices }] of contents.snapshots.entries()) {
    for (const { device } of devices) {
      for (const shown of [
        { bands: 'blocks' },
        { bands: 'pools' },
        { bands: 'segments' },
        { bands: 'blocks', only: 'size>1KiB' },
      ]) {
        const view = await engine.view({ snapshot, device, ...shown });
        const { info } = view;
        id += 1;
        heads.push({ ask: 'open', args: { snapshot, device, ...shown } });
        const asked = [...questionsFor(info, id === 1), ...(id === 1 ? await fitOf(view) : [])];
        for (const [ask, args] of asked) heads.push({ ask, view: id, args });
      }
    }
  }
  heads.push({ ask: 'release', view: 1, args: {} }, { ask: 'states', view: 1, args: {} });
  engine.close();
  return heads.map((head, index) => encodeQuestion(index + 1, head));
}

/** A recording of batch 2, and its own requests as if they were those of batch 1. */
async function fitOf(view) {
  const carried = await view.ask('requests', {}).catch(() => undefined);
  if (!carried) return []; // refused: no history, or no segments
  const part = Object.fromEntries(
    Object.entries(carried).map(([name, value]) => [name, ArrayBuffer.isView(value) ? [...value] : value]),
  );
  const recordings = [1, 2].map((batch) => ({ file: `b${batch}`, values: [batch] }));
  const asked = { parameters: ['batch'], recordings, at: [{ values: [7] }] };
  return [
    ['requests', {}],
    ['tellRequests', { other: 0, anew: true, part }],
    ['fit', { ...asked, largest: false }],
    ['fit', { ...asked, largest: true, capacity: 2 ** 30, conf: 'expandable_segments:True' }],
  ];
}

const frameLength = (bytes, at) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, 24);
  return 24 + view.getUint32(12, true) + view.getUint32(16, true);
};

function nativeAnswers(file, frames) {
  const { stdout, status, stderr } = spawnSync(sessionAnswers, [file], {
    input: Buffer.concat(frames),
    maxBuffer: 1 << 30,
  });
  assert.equal(status, 0, stderr.toString());
  const answers = [];
  for (let at = 0; at < stdout.length;) {
    const length = frameLength(stdout, at);
    answers.push(stdout.subarray(at, at + length));
    at += length;
  }
  return answers;
}

const headOf = (frame) =>
  new TextDecoder().decode(
    frame.subarray(24, 24 + new DataView(frame.buffer, frame.byteOffset).getUint32(12, true)),
  );
function same(got, expected, frames, what) {
  assert.equal(got.length, expected.length, what);
  for (const [index, answer] of got.entries()) {
    if (Buffer.compare(Buffer.from(answer), Buffer.from(expected[index])) === 0) continue;
    assert.equal(headOf(answer), headOf(expected[index]), `${what}: ${headOf(frames[index])}`);
    assert.fail(`${what}: the columns differ: ${headOf(frames[index])}`);
  }
}

test('every question has the same answer natively, in WebAssembly and over HTTP, as its schema says', async (t) => {
  const { DirectTransport, HttpTransport, decodeAnswer, encodeQuestion } = await loadRoom();
  const server = await startServer();
  const contents = encodeQuestion(0, { ask: 'contents', args: {} });
  const schemas = JSON.parse(command('schema'));
  const asked = new Set();
  const hold = (frames, answers) => {
    for (const [index, frame] of frames.entries()) {
      const { ask } = JSON.parse(headOf(frame));
      const { answer, error } = decodeAnswer(answers[index].slice());
      const [type, defs] = error ? [schemas.$defs.EngineError, {}] : [schemas.questions[ask], schemas.$defs];
      assert.equal(wrong(type, error ?? answer, defs, ask), undefined, headOf(frame));
      if (!error) asked.add(ask);
    }
  };
  try {
    const cases = [
      ...goldenCases.map((name) => ({ name, file: join(casesFolder, name, 'input.pickle') })),
      ...profilerFiles,
      fleetFile,
    ];
    for (const { name, file } of cases) {
      const data = readFileSync(file);
      const direct = new DirectTransport(await loadEngine());
      const readable = await direct
        .read({ file: new Blob([data]) }, budget, contents, () => undefined)
        .then(
          () => true,
          () => false,
        );
      if (!readable) continue;
      await t.test(name, async () => {
        const first = encodeQuestion(0, { ask: 'first', args: {} });
        const frames = [...(await framesOf(data)), first];
        const answers = await answersOf(direct, frames);
        hold(frames, answers);
        same(answers, nativeAnswers(file, frames), frames, 'native');
        // The server asks the same engine as above: some cases show that frames travel whole.
        if (!goldenCases.includes(name) || goldenCases.indexOf(name) % 4 > 0) return;
        const shared = new HttpTransport(server.address);
        const served = { address: server.address, name: `${name}/input.pickle` };
        await shared.read({ served }, budget, contents, () => undefined);
        const http = shared.beside(); // runs are of who has the file for itself
        const read = await http.read({ served }, budget, contents, () => undefined);
        assert.equal(headOf(read), headOf(answers[0])); // `contents` is the first of the table
        const overHttp = await answersOf(http, frames);
        hold(frames, overHttp);
        same(overHttp, answers, frames, 'HTTP');
        http.close();
        shared.close();
      });
      direct.close();
    }
  } finally {
    server.close();
  }
  // Nothing was forgotten: every question of the table was answered at least once.
  const all = questions.map(({ name }) => name).sort();
  assert.deepEqual([...asked].sort(), all);
  assert.deepEqual(Object.keys(schemas.questions).sort(), all);
});

test('a run on a server is a snapshot for who asked for it, and for nobody else', async () => {
  const { Engine, HttpTransport } = await loadRoom();
  const server = await startServer();
  try {
    const source = { served: { address: server.address, name: 'private_pool/input.pickle' } };
    const open = async (engine) => {
      const { contents, view } = await engine.open(source, budget);
      assert.equal(contents.snapshots.length, 1);
      return view;
    };
    const seen = async (engine) => (await engine.ask('contents', {})).snapshots.length;
    const shared = new Engine(new HttpTransport(server.address));
    const view = await open(shared);
    await assert.rejects(view.ask('addRun', { scenario: {} }), /opened again for runs of your own/);
    const own = shared.beside();
    const mine = await open(own);
    assert.equal(await mine.ask('addRun', { scenario: {} }), 1);
    assert.equal(await seen(own), 2);
    assert.equal(await seen(shared), 1);
    // It outlives the engine that it came from, as a file that the page shows.
    shared.close();
    assert.equal(await seen(own), 2);
    own.close();
  } finally {
    server.close();
  }
});

test('a server says in words what it cannot open', async () => {
  const { Engine, EngineFailure, HttpTransport } = await loadRoom();
  const server = await startServer();
  try {
    for (const name of ['no such case/input.pickle', '../README.md']) {
      const engine = new Engine(new HttpTransport(server.address));
      await assert.rejects(engine.open({ served: { address: server.address, name } }, budget), (error) => {
        assert.ok(error instanceof EngineFailure);
        assert.equal(error.reason.code, 'wrong_usage');
        return true;
      });
      engine.close();
    }
    const elsewhere = new Engine(new HttpTransport(`${server.address}nothing/`));
    await assert.rejects(
      elsewhere.open({ served: { address: server.address, name: 'x' } }, budget),
      EngineFailure,
    );
  } finally {
    server.close();
  }
});

test('ten times opened and closed, an engine holds what it held after the second time', async () => {
  const module = await loadEngine();
  const { DirectTransport, Engine } = await loadRoom();
  const data = readFileSync(join(casesFolder, 'private_pool', 'input.pickle'));
  const heap = [];
  for (let cycle = 0; cycle < 10; cycle += 1) {
    const engine = new Engine(new DirectTransport(module));
    await engine.open({ file: new Blob([data]) }, budget);
    const view = await engine.view({ snapshot: 0, device: 0, bands: 'pools' });
    for (const [kind, args] of questionsFor(view.info, true))
      await view.ask(kind, args).catch(() => undefined);
    engine.close();
    heap.push(module.HEAPU8.length);
  }
  assert.equal(heap.at(-1), heap[1]);
});

test('an aborted question is refused at once, the next one is answered', async () => {
  const { engine } = await openDirect(readFileSync(join(casesFolder, 'private_pool', 'input.pickle')));
  const view = await engine.view({ snapshot: 0, device: 0, bands: 'blocks' });
  const aborted = new AbortController();
  const late = view.ask('states', {}, aborted.signal);
  aborted.abort();
  await assert.rejects(late, { message: 'Cancelled.' });
  assert.equal((await view.ask('states', {})).events, view.info.events);
  view.release();
  await assert.rejects(view.ask('states', {}), { message: 'The view was released.' });
  const other = await engine.view({ snapshot: 0, device: 0, bands: 'pools' });
  engine.close();
  await assert.rejects(other.ask('states', {}), { message: 'Cancelled.' });
});
