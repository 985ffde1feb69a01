// One protocol: the page's types are those of the engine's table, and the native engine, the module in this thread and
// the module behind HTTP give the same bytes for every question over all golden cases.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { generated } from '../../web/engine/protocol/generate.mjs';
import { casesFolder, goldenCases, loadEngine, newest, noEngine, root } from './engine.mjs';
import { answersOf, budget, loadRoom, openDirect, startServer } from './room.mjs';

const nativePath =
  process.env.MEMSTRATA_ANSWERS ??
  newest([
    'build/native-release/bin/session_answers',
    'build/native-debug/bin/session_answers',
    'build/dev/bin/session_answers',
  ]);
const noNative = nativePath === undefined && 'there is no session_answers: build the tests';

test('the types of questions are those of the engine', () => {
  for (const [name, text] of Object.entries(generated().files)) {
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

/** One of every kind, for a view with so many events; rows and ranks may not exist, which has an answer as well. */
function questionsFor(info) {
  const columns = { axis: 'event', first: 0, width: Math.max(1, Math.ceil(info.events / 50)), count: 50 };
  const rows = { bottom: 0, bytesPerRow: Math.max(1, info.peak.bytes) / 77.7, count: 80 };
  const event = Math.floor(info.events / 2);
  const last = info.events - 1;
  const list = [
    ['picture', { columns, rows, look }],
    ['picture', { columns, rows, look: { ...look, colourBy: 'stack', filter: 'size>1KiB' } }],
    ['picture', { columns, rows, look: { ...look, kind: 2 } }],
    [
      'picture',
      { columns: { ...columns, axis: 'time', width: 1000 }, rows, look: { ...look, colourBy: 'lifetime' } },
    ],
    ['labels', { columns, rows, leastColumns: 2, leastRows: 4 }],
    ['highest', { columns }],
    ['position', { axis: 'time', events: [-1, 0, event, info.events] }],
    ['marks', {}],
    ['overview', {}],
    ['report', {}],
    ['prepare', { part: 1 }],
    ['prepare', { part: 2 ** 31 - 1 }],
    ['states', {}],
    ['filterEvents', { filter: { actions: ['alloc', 'oom'], leastSize: 1 } }],
    ['eventRows', { filter: {}, first: 0, count: 50 }],
    ['eventRows', { filter: { actions: ['alloc'], frame: 'a' }, first: 1, count: 5 }],
    ['rowOfEvent', { filter: { actions: ['alloc'] }, event }],
    ['filter', { text: 'alive@peak' }],
    ['filter', { text: 'é size>x' }],
    ['match', { filter: 'alive@peak', index: 0 }],
    ['complete', { text: 'é si', cursor: 4 }],
    ['regions', { order, first: 0, count: 20 }],
    ['addressMap', { order, columns, first: 0, count: 3, height: 5, look }],
    [
      'addressMap',
      { order: 'size', columns, first: 0, count: 3, height: 1, look: { ...look, filter: 'size>1KiB' } },
    ],
  ];
  for (const by of ['allocation', 'stack', 'size', 'stream', 'pool', 'lifetime', 'age', 'category']) {
    list.push(['kinds', { by }], ['shares', { by, event: info.peak.event, filter: 'size>1KiB' }]);
  }
  for (const at of [-1, 0, event, last]) {
    list.push(['totals', { event: at }], ['layout', { event: at, window }], ['event', { event: at }]);
    list.push(['layout', { event: at, window, look: { ...look, filter: 'size>1KiB' } }]);
    list.push(['statePick', { event: at, window, x: 10, y: 10 }]);
    list.push(['findEvent', { kind: 'alloc', from: at, backwards: false }]);
    list.push(['probe', { axis: 'event', column: at, width: 1, bytes: info.peak.bytes / 2, known: -1 }]);
    for (const row of [0, 1, 1000]) {
      list.push(['stateBlock', { event: at, block: row }], ['stateSegment', { event: at, segment: row }]);
      list.push(['statePlace', { event: at, block: row, window }]);
    }
  }
  for (const rank of [0, 1, 2, 1000]) {
    list.push(['block', { rank, axis: 'event' }], ['outline', { rank, columns }], ['blockOfRank', { rank }]);
    list.push(['rankOfBlock', { block: rank }], ['regionOfBlock', { order, block: rank }]);
  }
  list.push(['findEvent', { kind: 'peak', from: 0, backwards: true }]);
  // Refused, in the same words.
  list.push(['totals', { event: 2 ** 63 }], ['totals', { event: NaN }], ['totals', {}], ['nonsense', {}]);
  return list;
}

/** Frames of everything about every device and all three kinds of bands; the ids of views count up from 1. */
async function framesOf(data) {
  const { encodeQuestion } = await loadRoom();
  const { engine, contents } = await openDirect(data);
  const heads = [
    { ask: 'contents', args: {} },
    { ask: 'summary', args: { file: 'x' } },
    { ask: 'peaks', args: {} },
  ];
  let id = 0;
  for (const [snapshot, { devices }] of contents.snapshots.entries()) {
    for (const { device } of devices) {
      for (const bands of ['blocks', 'pools', 'segments']) {
        const { info } = await engine.view({ snapshot, device, bands });
        id += 1;
        heads.push({ ask: 'open', args: { snapshot, device, bands } });
        for (const [ask, args] of questionsFor(info)) heads.push({ ask, view: id, args });
      }
    }
  }
  heads.push({ ask: 'release', view: 1, args: {} }, { ask: 'states', view: 1, args: {} });
  engine.close();
  return heads.map((head, index) => encodeQuestion(index + 1, head));
}

const frameLength = (bytes, at) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, 24);
  return 24 + view.getUint32(12, true) + view.getUint32(16, true);
};

function nativeAnswers(file, frames) {
  const { stdout, status, stderr } = spawnSync(nativePath, [file], {
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

test(
  'every question has the same answer natively, in WebAssembly and over HTTP',
  { skip: noEngine },
  async (t) => {
    const { DirectTransport, HttpTransport, decodeAnswer } = await loadRoom();
    const server = await startServer();
    const asked = new Set();
    try {
      for (const name of goldenCases) {
        const file = join(casesFolder, name, 'input.pickle');
        const data = readFileSync(file);
        const direct = new DirectTransport(await loadEngine());
        const readable = await direct
          .read({ file: new Blob([data]) }, budget, () => undefined)
          .then(
            () => true,
            () => false,
          );
        if (!readable) continue;
        await t.test(name, async () => {
          const frames = await framesOf(data);
          const answers = await answersOf(direct, frames);
          for (const [index, frame] of frames.entries()) {
            const { ask } = JSON.parse(headOf(frame));
            if (!('error' in decodeAnswer(answers[index].slice()))) asked.add(ask);
          }
          if (nativePath !== undefined) same(answers, nativeAnswers(file, frames), frames, 'native');
          const http = new HttpTransport(server.address);
          await http.read({ file: new Blob([data]) }, budget, () => undefined);
          same(await answersOf(http, frames), answers, frames, 'HTTP');
          http.close();
        });
        direct.close();
      }
    } finally {
      server.close();
    }
    // Nothing was forgotten: every question of the table was answered at least once.
    assert.deepEqual([...asked].sort(), generated().kinds.sort());
    if (noNative) t.diagnostic(noNative);
  },
);

test('a server refuses what is no snapshot in the words of the engine', { skip: noEngine }, async () => {
  const { Engine, EngineFailure, HttpTransport } = await loadRoom();
  const server = await startServer();
  try {
    const engine = new Engine(new HttpTransport(server.address));
    await assert.rejects(engine.open({ file: new Blob(['no snapshot']) }, budget), (error) => {
      assert.ok(error instanceof EngineFailure);
      assert.notEqual(error.reason.code, 'internal');
      return true;
    });
    engine.close();
  } finally {
    server.close();
  }
});

test(
  'ten times opened and closed, an engine holds what it held after the second time',
  { skip: noEngine },
  async () => {
    const module = await loadEngine();
    const { DirectTransport, Engine } = await loadRoom();
    const data = readFileSync(join(casesFolder, 'private_pool', 'input.pickle'));
    const heap = [];
    for (let cycle = 0; cycle < 10; cycle += 1) {
      const engine = new Engine(new DirectTransport(module));
      await engine.open({ file: new Blob([data]) }, budget);
      const view = await engine.view({ snapshot: 0, device: 0, bands: 'pools' });
      for (const [kind, args] of questionsFor(view.info)) await view.ask(kind, args).catch(() => undefined);
      engine.close();
      heap.push(module.HEAPU8.length);
    }
    assert.equal(heap.at(-1), heap[1]);
  },
);

test('an aborted question is refused at once, the next one is answered', { skip: noEngine }, async () => {
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
