// Pinned host memory as a device, regions and markers: the module answers as the page asks.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import test from 'node:test';

import { root, tool } from '../built.mjs';
import { ask, casesFolder, loadEngine, open } from './engine.mjs';

const hostFile = join(casesFolder, 'era8_host_memory_and_annotate', 'input.pickle');

test('pinned host memory is device -1', async () => {
  const engine = await loadEngine();
  const { session } = open(engine, readFileSync(hostFile));
  try {
    const { devices } = ask(session, 'contents').snapshots[0];
    assert.deepEqual(devices.map(({ device, events }) => [device, events]).sort(), [
      [-1, 3],
      [0, 6],
    ]);
    const { id, info: view } = ask(session, 'open', 0, { snapshot: 0, device: -1, bands: 'blocks' });
    // 4096 bytes by event 1, 512 by event 2; nothing is freed.
    assert.deepEqual(
      [view.device, view.events, view.blocks, view.peak, view.final_bytes],
      [-1, 3, 2, { bytes: 4608, event: 2 }, 4608],
    );
    const filter = 'action:alloc';
    assert.equal(ask(session, 'states', id).events, 3);
    assert.equal(ask(session, 'filterEvents', id, { filter }), 2);
    assert.deepEqual(
      ask(session, 'eventRows', id, { filter, first: 0, count: 10 }).map(({ event, name, size }) => [
        event,
        name,
        size,
      ]),
      [
        [1, "b'5000_0", 4096],
        [2, "b'9000_0", 512],
      ],
    );
    assert.equal(ask(session, 'totals', id, { event: 1 }).allocated, 4096);
    assert.deepEqual(ask(session, 'marks', id), {
      regions: [],
      regions_left_out: 0,
      markers: [],
      markers_left_out: 0,
    });
  } finally {
    session.delete();
  }
});

test('the state of host memory is that of the command', async () => {
  const engine = await loadEngine();
  const { session } = open(engine, readFileSync(hostFile));
  try {
    const { id } = ask(session, 'open', 0, { snapshot: 0, device: -1, bands: 'blocks' });
    for (const event of [-1, 0, 1, 2]) {
      const args = ['state', hostFile, '--device', 'host', '--json', `--event=${event}`];
      const native = JSON.parse(execFileSync(tool, args, { encoding: 'utf8' }));
      const { reserved, allocated, active } = ask(session, 'totals', id, { event });
      assert.deepEqual(
        [reserved, allocated, active],
        [native.reserved_bytes, native.allocated_bytes, native.active_bytes],
      );
    }
  } finally {
    session.delete();
  }
});

test('annotate events mark the device', async () => {
  const engine = await loadEngine();
  const { session } = open(engine, readFileSync(hostFile));
  try {
    const { id } = ask(session, 'open', 0, { snapshot: 0, device: 0, bands: 'blocks' });
    const { markers } = ask(session, 'marks', id);
    assert.deepEqual(
      markers.map(({ kind, event, text }) => [kind, event, text]),
      [['annotate', 3, 'weights of layer 3']],
    );
  } finally {
    session.delete();
  }
});

// Four steps; each has forward, backward and optimizer in it (site/samples/make_samples.py).
test('steps of a training run hold their parts', async () => {
  const engine = await loadEngine();
  const file = readFileSync(join(root, 'site', 'samples', 'training_run.pickle'));
  const { session } = open(engine, file[0] === 0x1f ? gunzipSync(file) : file);
  try {
    const { id } = ask(session, 'open', 0, { snapshot: 0, device: 0, bands: 'blocks' });
    const { regions, regions_left_out } = ask(session, 'marks', id);
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
