// Views of several devices of the file that is shown, for panels that look at more than one: opened with the panel, let go
// with it.
import type { Contents, Engine, EngineView } from '../../engine/index.ts';
import type { DeviceChoice } from '../model/devices.ts';

/** Each is replayed: beyond these the engine would hold too much. */
export const mostEvents = 4_000_000;

export class OpenedViews<T extends DeviceChoice> {
  all: readonly (T & { view: EngineView })[] = [];
  private of: Engine | undefined;
  private key = '';

  /** `changed`: they are there. */
  constructor(private readonly changed: () => void) {}

  isOf(engine: Engine): boolean {
    return this.of === engine;
  }

  /** Once for an engine and a key, which says what is wanted of it. */
  async open(engine: Engine, key: string, wanted: (contents: Contents) => readonly T[]): Promise<void> {
    if (this.of === engine && this.key === key) return;
    this.close();
    this.of = engine;
    this.key = key;
    const isCurrent = (): boolean => this.of === engine && this.key === key;
    const opened: (T & { view: EngineView })[] = [];
    try {
      for (const one of wanted(await engine.ask('contents', {}))) {
        const { snapshot, device } = one;
        opened.push({ ...one, view: await engine.view({ snapshot, device, bands: 'blocks' }) });
        if (!isCurrent()) return release(opened);
      }
    } catch (error) {
      release(opened);
      throw error;
    }
    this.all = opened;
    if (opened.length > 0) this.changed();
  }

  close(): void {
    release(this.all);
    this.all = [];
    this.of = undefined;
  }
}

function release(opened: readonly { view: EngineView }[]): void {
  for (const { view } of opened) if (view.alive) view.release();
}
