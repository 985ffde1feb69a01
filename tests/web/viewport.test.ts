// What part of a recording, of a state and of a list is seen: zoom, pan, scroll, and where they end.
import assert from 'node:assert/strict';
import test from 'node:test';
import { closeTo, like } from './assertions.ts';
import {
  boundsOf,
  bringIntoView,
  columnWidth,
  fitAll,
  pan,
  show,
  zoom,
} from '../../web/src/model/viewport.ts';
import { RowWindow } from '../../web/src/controls/row_window.ts';
import { resizedTo, revealing, wholeState, zoomedAt } from '../../web/src/panels/state/state_window.ts';

const GiB = 1024 ** 3;
const MiB = 1024 ** 2;

test('column widths are 1, 2, 3, 4, 6, 8, 12, ... and not below the pixel', () => {
  const wanted = [0.01, 1, 1.1, 2, 2.5, 3.5, 5, 6.1, 9, 100];
  assert.deepEqual(wanted.map(columnWidth), [1, 1, 2, 2, 3, 4, 6, 8, 12, 128]);
});

test('zooming keeps the point under the pointer and stays inside', () => {
  const bounds = boundsOf(1000, { peak: { bytes: 100 * MiB }, reserved_peak: 120 * MiB });
  const all = fitAll(bounds);
  const near = zoom(all, bounds, { x: 250, y: 0 }, 0.5, 1);
  assert.deepEqual([near.x0, near.x1], [125, 625]);
  assert.deepEqual(zoom(near, bounds, { x: 250, y: 0 }, 100, 100), { ...all, y1: bounds.top });
  assert.deepEqual(pan(near, bounds, -1e9, -1e9), { ...near, x0: 0, x1: 500 });
  assert.equal(pan(near, bounds, 1e9, 0).x1, 1000);
  const tiny = zoom(all, bounds, { x: 999.9, y: 0 }, 1e-9, 1e-12);
  closeTo(tiny.x1 - tiny.x0, 8);
  assert.ok(tiny.x1 <= 1000);
});

test('a reserved level far above the peak does not press the bands flat', () => {
  closeTo(boundsOf(10, { peak: { bytes: 10 * GiB }, reserved_peak: 12 * GiB }).fitTop, 13.2 * GiB);
  const far = boundsOf(10, { peak: { bytes: 10 * GiB }, reserved_peak: 40 * GiB });
  closeTo(far.fitTop, 11 * GiB);
  closeTo(far.top, 44 * GiB);
});

test('what is visible stays, what is outside comes to the middle', () => {
  const bounds = boundsOf(1000, { peak: { bytes: GiB }, reserved_peak: GiB });
  const view = show({ x0: 0, x1: 100, y0: 0, y1: GiB }, bounds);
  const y = { from: 0, to: GiB };
  assert.deepEqual(bringIntoView(view, bounds, { from: 90, to: 500 }, y), view);
  const there = bringIntoView(view, bounds, { from: 500, to: 510 }, y);
  assert.deepEqual([there.x0, there.x1], [455, 555]);
});

test('the picture zooms about a point, keeps its part when resized, and goes to what is chosen', () => {
  const whole = wholeState(400, 200);
  const near = zoomedAt(whole, 100, 50, 4);
  assert.deepEqual(near, { width: 400, height: 200, zoom: 4, left: 300, top: 150 });
  assert.deepEqual(zoomedAt(near, 100, 50, 0.25), whole);
  assert.deepEqual(zoomedAt(whole, 0, 0, 0.5), whole); // there is nothing around it
  like(resizedTo(near, 800, 200), { left: 600, top: 150, zoom: 4 });
  const place = { x: 1200, y: 600, width: 200, height: 100, block_x: 1300, block_width: 20 };
  like(revealing(near, place), { left: 1110, top: 550 });
  like(revealing({ ...near, left: 1110, top: 550 }, place), { left: 1110, top: 550 });
});

test('a list of ten million rows scrolls to each of them', () => {
  const list = new RowWindow(22);
  list.resize(10_000_000, 440); // 20 rows
  assert.equal(list.barHeight, 8_000_000); // no browser lays out 220 million pixels
  assert.deepEqual([list.first, list.end], [0, 20]);
  // A finger moves by as many pixels as it says, not by 27 times as many; so does the wheel, and the bar follows.
  list.scrolled(100);
  assert.equal(list.top, 100);
  list.moveBy(-500);
  assert.deepEqual([list.top, list.resync()], [0, 0]);
  list.moveBy(100);
  list.scrolled(list.resync());
  assert.equal(list.top, 100);
  // The bar at its end is the end.
  list.scrolled(8_000_000 - 440);
  assert.deepEqual([list.first, list.end], [9_999_980, 10_000_000]);
  list.centre(5_000_000);
  assert.ok(list.first <= 5_000_000 - 9);
  assert.ok(list.end > 5_000_000 + 9);
  closeTo(list.resync(), 4_000_000, 5_000);
  const { first } = list;
  list.show(5_000_001);
  assert.equal(list.first, first); // is seen already
  // A short list is scrolled as it is.
  const short = new RowWindow(22);
  short.resize(100, 440);
  assert.equal(short.barHeight, 2200);
  short.scrolled(101);
  assert.equal(short.top, 101);
});
