// Which file and device is shown, and how links lead there.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  EngineFailure,
  EngineView,
  type Contents,
  type Engine,
  type Shown,
  type ViewInfo,
} from '../../web/engine/index.ts';
import type { EnginePool } from '../../web/engine/pool.ts';
import type { Shown as Place } from '../../web/src/model/link.ts';
import { LinkWalk, type Address, type LinkTarget } from '../../web/src/model/link_walk.ts';
import { OpenFiles, type OpenFile } from '../../web/src/model/open_files.ts';
import { like, settle } from './assertions.ts';

/** An engine with devices 0 to 3 that opens views of them when it is told to. Device 3 cannot be opened. */
class SlowEngine {
  alive = true;
  urgent: Promise<unknown> | undefined;
  /** The file `never` is read when this is called. */
  read: () => void = () => undefined;
  /** The devices of its views. */
  readonly shows = new Map<number, number>();
  private views = 0;
  private readonly late: (() => void)[] = [];

  async open({ file }: { file: File }): Promise<{ contents: Contents; view: EngineView }> {
    if (file.name === 'never') await new Promise<void>((resolve) => (this.read = resolve));
    const devices = [0, 1, 2, 3].map((device) => ({ device, events: 10 }));
    const contents = {
      snapshots: [{ name: '', devices }],
      default: { snapshot: 0, device: 0 },
      hash: file.name.padEnd(16, '0'),
    } as unknown as Contents;
    return { contents, view: await this.view({ snapshot: 0, device: 0, bands: 'blocks' }) };
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

const infoOf = ({ device, bands }: Shown): ViewInfo =>
  ({ device, bands, peak: { bytes: 1, event: 0 }, extent: { event: 10, time_us: 10 } }) as ViewInfo;
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
  assert.equal(files.switching, true);
  await engines[0]!.answerAll();
  assert.deepEqual([await first, await second], [false, true]);
  assert.equal(file.view?.info.device, 2);
  assert.deepEqual([...engines[0]!.shows.values()], [2]); // the others are released
  assert.equal(files.switching, false);
});

test('a device that one comes back to is the same view, opened again', async () => {
  const { files, engines } = await open('a');
  const file = files.file!;
  const first = file.view!;
  const other = files.openDevice(file, device(1));
  await engines[0]!.answerAll();
  assert.deepEqual([await other, first.alive, file.view?.alive], [true, false, true]);
  await assert.rejects(first.ask('report', {}), /released/);
  const back = files.openDevice(file, device(0));
  await engines[0]!.answerAll();
  assert.deepEqual([await back, file.view, first.alive], [true, first, true]);
  assert.deepEqual([...engines[0]!.shows.values()], [0]);
});

test('a device that does not open leaves the engine with the view before, whatever file is shown', async () => {
  const { files, engines } = await open('a', 'b');
  const [a, b] = files.entries;
  const opened = files.openDevice(a!.file!, device(3));
  files.show(b!);
  await engines[0]!.answerAll();
  assert.equal(await opened, false);
  assert.equal(a!.file!.view?.info.device, 0);
  assert.deepEqual([...engines[0]!.shows.values()], [0]);
  assert.equal(files.active, b); // no card over the other file
  // On the page it is told.
  files.show(a!);
  const again = files.openDevice(a!.file!, device(3));
  await engines[0]!.answerAll();
  assert.equal(await again, false);
  assert.equal(files.state, 'error');
  assert.deepEqual([...engines[0]!.shows.values()], [0]);
});

test('while one waits for a file, the others prepare nothing ahead', async () => {
  const { files, engines } = await open('a');
  const first = engines[0]!;
  const isUrgent = async (): Promise<boolean> => {
    let over = false;
    void Promise.resolve(first.urgent).then(() => (over = true));
    await settle();
    return !over;
  };
  assert.equal(await isUrgent(), false);
  const source = { file: new File([], 'never') };
  files.open([{ name: 'never', source }]);
  await settle();
  assert.equal(files.state, 'loading');
  assert.equal(await isUrgent(), true);
  files.show(files.entries[0]!); // it is read behind
  assert.equal(await isUrgent(), false);
  files.show(files.entries[1]!);
  assert.equal(await isUrgent(), true);
  engines[1]!.read();
  await settle();
  assert.deepEqual([files.state, await isUrgent()], ['ready', false]);
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
  assert.equal(walk.wanted, undefined); // the file is there, its device on the way
  await engines[0]!.answerAll();
  assert.deepEqual(arrived, ['a 1 blocks']);
  assert.equal(walk.wanted, undefined);
});

test('back twice, quickly, ends at the second place', async () => {
  const { files, engines } = await open('a');
  const { address, arrived } = walkOver(files);
  address.went(place('a', 1));
  address.went(place('a', 2, 'segments'));
  await engines[0]!.answerAll();
  assert.deepEqual(arrived, ['a 2 segments']);
  like(files.file?.view?.info, { device: 2, bands: 'segments' });
  address.went(place('a', 1));
  address.went(place('a', 2, 'segments')); // there already, but for the other one on the way
  await engines[0]!.answerAll();
  like(files.file?.view?.info, { device: 2, bands: 'segments' });
});

test('back to another device while another file is switching', async () => {
  const { files, engines } = await open('a', 'b');
  const { walk, address, arrived } = walkOver(files);
  const [, b] = files.entries;
  files.show(b!);
  void files.openDevice(b!.file!, device(1)); // slow, and not waited for
  address.went(place('a', 2));
  await engines[0]!.answerAll();
  assert.deepEqual(arrived, ['a 2 blocks']);
  assert.equal(walk.wanted, undefined);
  assert.equal(files.file?.name, 'a');
  await engines[1]!.answerAll();
  assert.equal(files.file?.view?.info.device, 2);
});

test('a link to a file that is not open asks for it, and goes on when it comes', async () => {
  const { files, engines } = await open('a');
  const { walk, address, arrived } = walkOver(files);
  address.went(place('b', 1));
  assert.equal(walk.wanted?.file, 'b');
  files.open([{ name: 'b', source: { file: new File([], 'b') } }]);
  await settle();
  walk.opened(files.file!); // the viewer tells
  assert.equal(walk.wanted, undefined);
  await engines[1]!.answerAll();
  assert.deepEqual(arrived, ['b 1 blocks']);
});
