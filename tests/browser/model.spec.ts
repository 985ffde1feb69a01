// web/src/model without a page: which file and device is shown, and how links lead there. Runs in Node.
import { expect, test } from '@playwright/test';
import {
  EngineFailure,
  EngineView,
  type Contents,
  type Engine,
  type Shown,
  type ViewInfo,
} from '../../web/engine/index.ts';
import type { EnginePool } from '../../web/engine/pool.ts';
import { Filtering } from '../../web/src/model/filtering.ts';
import type { Shown as Place } from '../../web/src/model/link.ts';
import { LinkWalk, type Address, type LinkTarget } from '../../web/src/model/link_walk.ts';
import { OpenFiles, type OpenFile } from '../../web/src/model/open_files.ts';
import { createWorkspace, momentOf, noFilter } from '../../web/src/model/workspace.ts';

/** An engine with devices 0 to 3 that opens views of them when it is told to. Device 3 cannot be opened. */
class SlowEngine {
  alive = true;
  /** The devices of its views. */
  readonly shows = new Map<number, number>();
  private views = 0;
  private readonly late: (() => void)[] = [];

  open({ file }: { file: File }): Promise<Contents> {
    const devices = [0, 1, 2, 3].map((device) => ({ device, events: 10 }));
    const contents = { snapshots: [{ name: '', devices }], default: { snapshot: 0, device: 0 } };
    return Promise.resolve({ ...contents, hash: file.name.padEnd(16, '0') } as unknown as Contents);
  }
  async view(shown: Shown): Promise<EngineView> {
    return new EngineView(this as unknown as Engine, shown, await this.ask('open', shown));
  }
  ask(_: 'open', shown: Shown): Promise<{ id: number; info: ViewInfo; diagnostics: [] }> {
    return new Promise((resolve, reject) => {
      const answer = (): void => {
        if (shown.device === 3)
          return reject(new EngineFailure({ code: 'damaged', message: 'device 3 is broken', offset: -1 }));
        this.views += 1;
        this.shows.set(this.views, shown.device);
        resolve({ id: this.views, info: infoOf(shown), diagnostics: [] });
      };
      if (this.views === 0)
        answer(); // with the file
      else this.late.push(answer);
    });
  }
  question(_: 'release', _args: object, view: number): Promise<null> {
    this.shows.delete(view);
    return Promise.resolve(null);
  }
  close(): void {
    this.alive = false;
  }
  /** Answers what was asked first; false if nothing was. */
  async answer(): Promise<boolean> {
    const next = this.late.shift();
    next?.();
    await settle();
    return next !== undefined;
  }
  async answerAll(): Promise<void> {
    while (await this.answer());
  }
}

const settle = (): Promise<void> => new Promise((done) => setTimeout(done, 0));
const infoOf = ({ device, bands }: Shown): ViewInfo =>
  ({ device, bands, peak: { bytes: 1, event: 0 }, extent: { event: 10, time_us: 10 } }) as ViewInfo;
const viewOf = (shown: Shown, info: object = {}): EngineView =>
  new EngineView({} as Engine, shown, { id: 1, info: { ...infoOf(shown), ...info }, diagnostics: [] });

async function open(...names: string[]): Promise<{ files: OpenFiles; engines: SlowEngine[] }> {
  const engines: SlowEngine[] = [];
  const take = (): Promise<Engine> => {
    const engine = new SlowEngine();
    engines.push(engine);
    return Promise.resolve(engine as unknown as Engine);
  };
  const pool = { enter() {}, leave() {}, warmUp() {}, take } as unknown as EnginePool;
  const files = new OpenFiles(pool, () => undefined);
  files.open(names.map((name) => ({ name, source: { file: new File([], name) } })));
  await settle();
  return { files, engines };
}
const device = (wanted: number): Shown => ({ snapshot: 0, device: wanted, bands: 'blocks' });

test('of devices that are wanted quickly one after the other the last is shown', async () => {
  const { files, engines } = await open('a');
  const file = files.file!;
  const first = files.openDevice(file, device(1));
  const second = files.openDevice(file, device(2));
  expect(files.switching).toBe(true);
  await engines[0]!.answerAll();
  expect([await first, await second]).toEqual([false, true]);
  expect(file.view?.info.device).toBe(2);
  expect([...engines[0]!.shows.values()]).toEqual([2]); // the others are released
  expect(files.switching).toBe(false);
});

test('a device that one comes back to is the same view, opened again', async () => {
  const { files, engines } = await open('a');
  const file = files.file!;
  const first = file.view!;
  const other = files.openDevice(file, device(1));
  await engines[0]!.answerAll();
  expect([await other, first.alive, file.view?.alive]).toEqual([true, false, true]);
  await expect(first.ask('report', {})).rejects.toThrow('released');
  const back = files.openDevice(file, device(0));
  await engines[0]!.answerAll();
  expect([await back, file.view, first.alive]).toEqual([true, first, true]);
  expect([...engines[0]!.shows.values()]).toEqual([0]);
});

test('a device that does not open leaves the engine with the view before, whatever file is shown', async () => {
  const { files, engines } = await open('a', 'b');
  const [a, b] = files.entries;
  const opened = files.openDevice(a!.file!, device(3));
  files.show(b!);
  await engines[0]!.answerAll();
  expect(await opened).toBe(false);
  expect(a!.file!.view?.info.device).toBe(0);
  expect([...engines[0]!.shows.values()]).toEqual([0]);
  expect(files.active).toBe(b); // no card over the other file
  // On the page it is told.
  files.show(a!);
  const again = files.openDevice(a!.file!, device(3));
  await engines[0]!.answerAll();
  expect(await again).toBe(false);
  expect(files.state).toBe('error');
  expect([...engines[0]!.shows.values()]).toEqual([0]);
});

// -- Links.

class FakeAddress implements Address {
  went: (shown: Place) => void = () => undefined;
  connect(went: (shown: Place) => void): Place | undefined {
    this.went = went;
    return undefined;
  }
  disconnect(): void {}
  replace(): void {}
  push(): void {}
  linkTo(): string {
    return '';
  }
}

function walkOver(files: OpenFiles): { walk: LinkWalk; address: FakeAddress; arrived: string[] } {
  const arrived: string[] = [];
  const target: LinkTarget = {
    requestUpdate: () => undefined,
    updateComplete: Promise.resolve(),
    shown: () => undefined,
    take: () => undefined,
    arrive: (shown: Place, file: OpenFile) => {
      arrived.push(`${file.name} ${shown.device} ${shown.bands}`);
      return Promise.resolve();
    },
  };
  const walk = new LinkWalk(target, files);
  const address = new FakeAddress();
  walk.connect(address);
  return { walk, address, arrived };
}
const place = (file: string, wanted: number, bands: Shown['bands'] = 'blocks'): Place =>
  ({ file, hash: file.padEnd(16, '0'), snapshot: 0, device: wanted, bands, axis: 'event' }) as Place;

test('back across devices never says that the file is not the one of the link', async () => {
  const { files, engines } = await open('a');
  const { walk, address, arrived } = walkOver(files);
  address.went(place('a', 1));
  expect(walk.wanted).toBeUndefined(); // the file is there, its device on the way
  await engines[0]!.answerAll();
  expect(arrived).toEqual(['a 1 blocks']);
  expect(walk.wanted).toBeUndefined();
});

test('back twice, quickly, ends at the second place', async () => {
  const { files, engines } = await open('a');
  const { address, arrived } = walkOver(files);
  address.went(place('a', 1));
  address.went(place('a', 2, 'segments'));
  await engines[0]!.answerAll();
  expect(arrived).toEqual(['a 2 segments']);
  expect(files.file?.view?.info).toMatchObject({ device: 2, bands: 'segments' });
  address.went(place('a', 1));
  address.went(place('a', 2, 'segments')); // there already, but for the other one on the way
  await engines[0]!.answerAll();
  expect(files.file?.view?.info).toMatchObject({ device: 2, bands: 'segments' });
});

test('back to another device while another file is switching', async () => {
  const { files, engines } = await open('a', 'b');
  const { walk, address, arrived } = walkOver(files);
  const [, b] = files.entries;
  files.show(b!);
  void files.openDevice(b!.file!, device(1)); // slow, and not waited for
  address.went(place('a', 2));
  await engines[0]!.answerAll();
  expect(arrived).toEqual(['a 2 blocks']);
  expect(walk.wanted).toBeUndefined();
  expect(files.file?.name).toBe('a');
  await engines[1]!.answerAll();
  expect(files.file?.view?.info.device).toBe(2);
});

test('a link to a file that is not open asks for it, and goes on when it comes', async () => {
  const { files, engines } = await open('a');
  const { walk, address, arrived } = walkOver(files);
  address.went(place('b', 1));
  expect(walk.wanted?.file).toBe('b');
  files.open([{ name: 'b', source: { file: new File([], 'b') } }]);
  await settle();
  walk.opened(files.file!); // the viewer tells
  expect(walk.wanted).toBeUndefined();
  await engines[1]!.answerAll();
  expect(arrived).toEqual(['b 1 blocks']);
});

// -- The workspace.

test('who watches a part is told once after each change of it, and never of others', () => {
  const workspace = createWorkspace();
  const told: string[] = [];
  const stop = workspace.watch(['axis', 'answer'], (changed) => told.push([...changed].sort().join(' ')));
  workspace.change({ axis: 'time', answer: 'state', moment: 3 });
  workspace.change({ moment: 4 });
  workspace.change({ axis: 'time' }); // as it is
  workspace.change({ answer: undefined });
  stop();
  workspace.change({ axis: 'event' });
  expect(told).toEqual(['answer axis', 'answer']);
  expect(workspace.get('moment')).toBe(4);
});

test('moment and selection belong to a view and come back with it; the range goes with it', () => {
  const workspace = createWorkspace();
  const [first, second] = [viewOf(device(0)), viewOf(device(1))];
  workspace.change({ view: first });
  workspace.change({ moment: 3, range: { axis: 'event', from: 1, to: 2 }, axis: 'time' });
  const told: string[] = [];
  workspace.watch(['moment', 'range', 'selection', 'axis'], (changed) => told.push([...changed].join(' ')));
  workspace.change({ view: second });
  expect(told).toEqual(['moment range']); // nothing was selected in either
  expect(workspace.get('moment')).toBeUndefined();
  expect(workspace.get('axis')).toBe('time'); // of the page, not of the view
  workspace.change({ view: first });
  expect(workspace.get('moment')).toBe(3);
  expect(workspace.get('range')).toBeUndefined();
  // What comes with the view counts more than what was kept.
  workspace.change({ view: second, moment: 7 });
  expect([workspace.get('moment'), workspace.get('range')]).toEqual([7, undefined]);
});

test('a workspace that is disposed of holds nothing and tells nobody', () => {
  const workspace = createWorkspace();
  const view = viewOf(device(0));
  const told: string[] = [];
  workspace.watch(['view', 'moment'], () => told.push('told'));
  workspace.change({ view, moment: 3 });
  workspace.dispose();
  expect([workspace.get('view'), workspace.get('moment')]).toEqual([undefined, undefined]);
  workspace.change({ view });
  expect(workspace.get('moment')).toBeUndefined(); // nothing was kept of the view
  expect(told).toEqual(['told']);
});

test('a step is made by who remembers the steps; anything else is not', () => {
  const steps: (number | undefined)[] = [];
  const workspace = createWorkspace((change) => {
    steps.push(workspace.get('moment'));
    change();
  });
  workspace.change({ moment: 1 });
  workspace.change({ moment: 2 }, true);
  workspace.change({ moment: 3 });
  expect(steps).toEqual([1]); // where one comes back to
  expect(workspace.get('moment')).toBe(3);
});

test('a change made by a watcher is told to all', () => {
  const workspace = createWorkspace();
  const told: string[] = [];
  workspace.watch(['file', 'main'], () => workspace.change({ axis: 'time' }));
  workspace.watch(['axis'], () => told.push(workspace.get('axis')));
  workspace.change({ main: 'map' });
  expect(told).toEqual(['time']);
});

test('the moment that is shown: the chosen one, else the last out-of-memory event, else the peak', () => {
  const workspace = createWorkspace();
  expect(momentOf(workspace)).toBe(-1);
  const peak = { bytes: 1, event: 5 };
  workspace.change({ view: viewOf(device(0), { peak, oom_events: [] }) });
  expect(momentOf(workspace)).toBe(5);
  workspace.change({ view: viewOf(device(0), { peak, oom_events: [7, 9] }) });
  expect(momentOf(workspace)).toBe(9);
  workspace.change({ moment: -1 });
  expect(momentOf(workspace)).toBe(-1);
});

test('what a filter means is a part; a wrong one means nothing', async () => {
  const workspace = createWorkspace();
  const filter = new Filtering(workspace);
  const answers: Record<string, unknown> = { 'size>1': { count: 2, bytes: 8 } };
  const view = {
    alive: true,
    ask: (kind: string, asked: { text: string; filter: string; index: number }) =>
      kind === 'match'
        ? Promise.resolve(asked.filter === 'size>1' ? 40 + asked.index : -1)
        : asked.text in answers
          ? Promise.resolve(answers[asked.text])
          : Promise.reject(new EngineFailure({ code: 'filter', message: 'what?', offset: 0 })),
  } as unknown as EngineView;
  filter.show(view);
  filter.set('size>1');
  await settle();
  expect(workspace.get('filter')).toMatchObject({ text: 'size>1', found: { count: 2 }, highlight: 'size>1' });
  expect([await filter.step(1), await filter.step(1), await filter.step(1)]).toEqual([40, 41, 40]);
  filter.set('size>');
  await settle();
  expect(workspace.get('filter')).toMatchObject({ error: { message: 'what?' }, highlight: '', match: -1 });
  expect(workspace.get('filter').found).toBeUndefined();
  filter.show(undefined); // nothing to filter: the field goes, and its text
  expect(workspace.get('filter')).toEqual(noFilter);
});
