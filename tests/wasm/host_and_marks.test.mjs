// Pinned host memory as a device, regions and markers: the module answers as the page asks.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import test from 'node:test';

import { casesFolder, loadEngine, noEngine, noTool, open, root, toolPath } from './engine.mjs';

const hostFile = join(casesFolder, 'era8_host_memory_and_annotate', 'input.pickle');

test('pinned host memory is device -1', { skip: noEngine }, async () => {
  const engine = await loadEngine();
  const { session } = open(engine, readFileSync(hostFile));
  try {
    const { devices } = JSON.parse(session.contents()).snapshots[0];
    assert.deepEqual(devices.map(({ device, events }) => [device, events]).sort(), [
      [-1, 3],
      [0, 6],
    ]);
    const view = JSON.parse(session.openView(0, -1));
    // 4096 bytes by event 1, 512 by event 2; nothing is freed.
    assert.deepEqual(
      [view.device, view.events, view.blocks, view.peak, view.final_bytes],
      [-1, 3, 2, { bytes: 4608, event: 2 }, 4608],
    );
    assert.equal(JSON.parse(session.openState()).events, 3);
    assert.equal(JSON.parse(session.filterEvents('alloc', 0, Infinity, -1, '', '')), 2);
    assert.deepEqual(
      JSON.parse(session.eventRows(0, 10)).map(({ event, name, size }) => [event, name, size]),
      [
        [1, "b'5000_0", 4096],
        [2, "b'9000_0", 512],
      ],
    );
    assert.equal(JSON.parse(session.stateTotals(1)).allocated, 4096);
    assert.deepEqual(JSON.parse(session.marks()), {
      regions: [],
      regions_left_out: 0,
      markers: [],
      markers_left_out: 0,
    });
  } finally {
    session.delete();
  }
});

test('the state of host memory is that of the command', { skip: noEngine || noTool }, async () => {
  const engine = await loadEngine();
  const { session } = open(engine, readFileSync(hostFile));
  try {
    session.openView(0, -1);
    session.openState();
    for (const event of [-1, 0, 1, 2]) {
      const args = ['state', hostFile, '--device', 'host', '--json', `--event=${event}`];
      const native = JSON.parse(execFileSync(toolPath, args, { encoding: 'utf8' }));
      const { reserved, allocated, active } = JSON.parse(session.stateTotals(event));
      assert.deepEqual(
        [reserved, allocated, active],
        [native.reserved_bytes, native.allocated_bytes, native.active_bytes],
      );
    }
  } finally {
    session.delete();
  }
});

test('annotate events mark the device', { skip: noEngine }, async () => {
  const engine = await loadEngine();
  const { session } = open(engine, readFileSync(hostFile));
  try {
    assert.equal(session.marks(), 'null'); // no view yet
    session.openView(0, 0);
    const { markers } = JSON.parse(session.marks());
    assert.deepEqual(
      markers.map(({ kind, event, text }) => [kind, event, text]),
      [['annotate', 3, 'weights of layer 3']],
    );
  } finally {
    session.delete();
  }
});

// Four steps; each has forward, backward and optimizer in it (site/samples/make_samples.py).
test('steps of a training run hold their parts', { skip: noEngine }, async () => {
  const engine = await loadEngine();
  const file = readFileSync(join(root, 'site', 'samples', 'training_run.pickle'));
  const { session } = open(engine, file[0] === 0x1f ? gunzipSync(file) : file);
  try {
    session.openView(0, 0);
    const { regions, regions_left_out } = JSON.parse(session.marks());
    assert.equal(regions_left_out, 0);
    const steps = regions.filter(({ depth }) => depth === 0);
    assert.deepEqual(
      steps.map(({ name }) => name),
      ['ProfilerStep#0', 'ProfilerStep#1', 'ProfilerStep#2', 'ProfilerStep#3'],
    );
    for (const step of steps) {
      const parts = regions.filter(
        ({ depth, from_us, to_us }) => depth === 1 && from_us >= step.from_us && to_us <= step.to_us,
      );
      assert.deepEqual(
        parts.map(({ name }) => name),
        ['forward', 'backward', 'optimizer'],
      );
      const sum = parts.reduce((bytes, { allocated_bytes }) => bytes + allocated_bytes, 0);
      assert.ok(sum <= step.allocated_bytes && step.allocations > 0);
    }
  } finally {
    session.delete();
  }
});
