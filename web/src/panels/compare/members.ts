// The other snapshots and devices of the file that is shown, as files to compare with: the ranks of one archive, GPUs of one
// process. They are opened when a comparison is, and let go with it.
import type { Contents, Engine } from '../../../engine/index.ts';
import { deviceName, hostDevice, snapshotName, type DeviceChoice } from '../../model/devices.ts';
import type { PanelFile, PanelPage } from '../panel.ts';

/** Each is replayed: beyond these the engine would hold too much, and only what is shown can be compared. */
const mostEvents = 4_000_000;
const mostMembers = 256;

interface Member extends DeviceChoice {
  name: string;
}

/** Of a file with that name: none if there is but one, or more than can be held. */
export function membersOf(contents: Contents, file: string): Member[] {
  const { snapshots } = contents;
  const found = snapshots.flatMap(({ devices }, snapshot) => {
    const own = devices.filter(
      ({ device, events, segments }) => device !== hostDevice && events + segments > 0,
    );
    return own.map(({ device, events }) => ({
      ...{ snapshot, device, events },
      name: [
        file,
        ...(snapshots.length > 1 ? [snapshotName(contents, snapshot)] : []),
        ...(own.length > 1 || snapshots.length < 2 ? [deviceName(device)] : []),
      ].join('/'),
    }));
  });
  const events = found.reduce((sum, one) => sum + one.events, 0);
  return found.length > 1 && found.length <= mostMembers && events <= mostEvents ? found : [];
}

export class Members {
  private of: Engine | undefined;
  private opened: readonly (PanelFile & DeviceChoice)[] = [];

  /** `changed`: there are more of them. */
  constructor(private readonly changed: () => void) {}

  /** Asks for those of the file that is shown, once. */
  async open({ view, files }: PanelPage): Promise<void> {
    const { engine } = view;
    if (this.of === engine) return;
    this.close();
    this.of = engine;
    const name = files.find((one) => one.view === view)?.name ?? '';
    try {
      const opened: (PanelFile & DeviceChoice)[] = [];
      for (const { snapshot, device, name: as } of membersOf(await engine.ask('contents', {}), name)) {
        const other = await engine.view({ snapshot, device, bands: 'blocks' });
        if (this.of !== engine) return other.release();
        opened.push({ name: as, snapshot, device, view: other });
      }
      this.opened = opened;
      if (opened.length > 0) this.changed();
    } catch {
      // The engine is gone or refuses them: what is shown can be compared.
    }
  }

  /** All files of the page, each of those in the place of the file that has them. */
  among({ view, files }: PanelPage): readonly PanelFile[] {
    if (this.of !== view.engine || this.opened.length === 0) return files;
    const { snapshot, device } = view.shown;
    const own = this.opened.map((one) => ({
      name: one.name,
      view: one.snapshot === snapshot && one.device === device ? view : one.view,
    }));
    return files.flatMap((file) => (file.view === view ? own : [file]));
  }

  close(): void {
    for (const { view } of this.opened) if (view.alive) view.release();
    this.opened = [];
    this.of = undefined;
  }
}
