// Questions to the engine: how often they are asked, and answers that are refused or come late.
import assert from 'node:assert/strict';
import test from 'node:test';
import { LatestOnly } from '../../web/src/base/latest_only.ts';
import { Projection } from '../../web/src/draw/plot.ts';
import { themes } from '../../web/src/draw/colors.ts';
import type { EngineView, ViewInfo } from '../../web/engine/index.ts';
import { prepareFirst, rememberArea, tracksOf } from '../../web/src/timeline/tracks/device_tracks.ts';
import { PictureTrack } from '../../web/src/timeline/tracks/picture_track.ts';
import type { Look } from '../../web/src/model/stacking.ts';
import { boundsOf, fitAll, show, type Viewport } from '../../web/src/model/viewport.ts';
import { KindsTrack } from '../../web/src/timeline/tracks/kinds_track.ts';
import type { MomentTrack } from '../../web/src/timeline/tracks/moment_track.ts';
import { Stage } from '../../web/src/timeline/tracks/stage.ts';
import { Travel } from '../../web/src/timeline/tracks/travel.ts';
import type { ViewMotion } from '../../web/src/timeline/tracks/view_motion.ts';
import { settle } from './assertions.ts';

const GiB = 1024 ** 3;

test('of questions asked meanwhile only the latest is asked on', async () => {
  const asked: number[] = [];
  const delivered: number[] = [];
  const answers: (() => void)[] = [];
  const questions = new LatestOnly<number, number>(
    (question) => {
      asked.push(question);
      return new Promise((resolve) => answers.push(() => resolve(question)));
    },
    (answer) => delivered.push(answer),
    () => undefined,
  );
  for (const question of [1, 2, 3]) questions.request(question);
  assert.deepEqual(asked, [1]);
  answers[0]!();
  await settle();
  assert.deepEqual(delivered, [1]);
  assert.deepEqual(asked, [1, 3]);
  questions.forget();
  answers[1]!();
  questions.request(4);
  answers[2]!();
  await settle();
  assert.deepEqual(delivered, [1, 4]);
  assert.equal(questions.busy, false);
});

test('a picture that is refused is asked for once more, then the reason is told', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  let asked = 0;
  let redraws = 0;
  const device = {
    alive: true,
    ask: () => {
      asked += 1;
      return Promise.reject(new Error('no room'));
    },
  };
  const track = new PictureTrack(device as unknown as EngineView, () => (redraws += 1));
  const bounds = boundsOf(1000, { peak: { bytes: GiB }, reserved_peak: GiB });
  const area = { left: 0, top: 0, width: 500, height: 300, ratio: 1 };
  const palette = { bands: [0], nothing: 0, dimmedTowards: 0, envelope: 0 };
  const want = (view = fitAll(bounds)): boolean =>
    track.want(new Projection(view, area), 'event', bounds, {
      key: 'a',
      look: { palette, colourBy: 'allocation', filter: '', kind: -1 },
    });
  assert.equal(want(), false);
  await settle();
  assert.equal(redraws, 0); // not at once
  mock.timers.runAll();
  assert.equal(redraws, 1);
  assert.deepEqual([want(), track.problem], [false, undefined]);
  await settle();
  assert.equal(track.problem, 'no room');
  assert.deepEqual([want(), want(), asked], [false, false, 2]);
  want(show({ x0: 0, x1: 10, y0: 0, y1: GiB }, bounds)); // another picture may be possible
  assert.equal(asked, 3);
  // A device that was left meanwhile: asked when it is shown again.
  device.alive = false;
  await settle();
  assert.deepEqual([want(), asked], [false, 4]);
  await settle();
  device.alive = true;
  assert.deepEqual([want(), asked], [false, 5]);
});

test('the first picture of a file is asked for before there is a plot, and once', () => {
  const asked: string[] = [];
  const ask = (kind: string): Promise<never> => {
    asked.push(kind);
    return new Promise(() => undefined);
  };
  const area = { left: 60, top: 20, width: 500, height: 300, ratio: 1 };
  const made = (): EngineView => {
    const extent = { event: 1000, time_us: 5000 };
    const info = { extent, peak: { bytes: GiB, event: 7 }, reserved_peak: GiB } as unknown as ViewInfo;
    return { alive: true, info, ask } as unknown as EngineView;
  };
  const look: Look = { colour: 'allocation', stacking: 'blocks' };
  prepareFirst(made(), 'event', themes.light, look);
  assert.deepEqual(asked, []); // nobody knows how large it will be
  rememberArea(area);
  const device = made();
  prepareFirst(device, 'event', themes.light, look);
  assert.deepEqual(asked, ['picture']);
  // What the element does once it has its size.
  const tracks = tracksOf(device);
  assert.equal(tracksOf(device), tracks);
  const bounds = boundsOf(1000, { peak: { bytes: GiB }, reserved_peak: GiB });
  const want = ({ width }: { width: number }): boolean =>
    tracks.picture.want(
      new Projection(fitAll(bounds), { ...area, width }),
      'event',
      bounds,
      tracks.style(themes.light, look.stacking, '', -1),
    );
  assert.equal(want(area), false);
  assert.deepEqual(asked, ['picture']);
  want({ width: 700 }); // it lies elsewhere: the latest question waits for the answer to the first
  assert.deepEqual(asked, ['picture']);
});

test('a refused question for the kinds of blocks is asked again', async () => {
  let asked = 0;
  const ask = (): Promise<unknown> => {
    asked += 1;
    return asked === 1
      ? Promise.reject(new Error('refused'))
      : Promise.resolve({ by: 'size', ordered: true, kinds: [{ label: '1 KiB', blocks: 1, merged: 0 }] });
  };
  const track = new KindsTrack(
    { ask, alive: true } as unknown as ConstructorParameters<typeof KindsTrack>[0],
    () => undefined,
  );
  track.want('size');
  await settle();
  assert.equal(track.by, 'allocation');
  track.want('size');
  await settle();
  assert.equal(track.by, 'size');
  track.want('size');
  assert.equal(asked, 2);
});

test('a journey ends where another file is shown meanwhile', async () => {
  const stage = new Stage();
  const info = (peak: number) =>
    ({
      events: 100,
      peak: { bytes: peak, event: 50 },
      reserved_peak: peak,
      extent: { event: 100, time_us: 100 },
      oom_events: [],
    }) as unknown as Stage['info'];
  const answers: ((answer: unknown) => void)[] = [];
  const device = (peak: number) =>
    ({
      info: info(peak),
      ask: () => new Promise((answer) => answers.push(answer)),
    }) as unknown as Stage['device'];
  stage.device = device(1000);
  stage.axis = 'time';
  stage.area = { ...stage.area, width: 100, height: 100 };
  stage.bounds = stage.boundsFor('time');
  stage.view = { x0: 0, x1: 10, y0: 0, y1: 100 };
  const went: Viewport[] = [];
  const motion = { to: (view: Viewport) => went.push(view) } as unknown as ViewMotion;
  const travel = new Travel(stage, motion, {} as MomentTrack);
  const journeys: [string, () => Promise<unknown>, unknown][] = [
    ['height', () => travel.fitHeight(), 500],
    [
      'block',
      () => travel.showBlock(7, 10),
      { details: null, place: { from: 50, to: 60, offset: 1, size: 10 } },
    ],
    ['fit', () => travel.fitBlock(7), { details: null, place: { from: 50, to: 60, offset: 1, size: 10 } }],
    ['event', () => travel.showEvent(70), [70]],
  ];
  for (const [name, start, answer] of journeys) {
    const ends = start();
    stage.device = device(2000); // another file
    while (answers.length > 0) {
      answers.shift()?.(answer);
      await Promise.race([ends, settle()]);
    }
    await ends;
    assert.deepEqual(went, [], name);
  }
});
