// The other snapshots and devices of the file that is shown, as files to compare with: the ranks of one archive, GPUs of one
// process. They are opened when a comparison is, and let go with it.
import type { Contents } from '../../../engine/index.ts';
import { deviceName, hostDevice, snapshotName, type DeviceChoice } from '../../model/devices.ts';
import { mostEvents, OpenedViews } from '../opened_views.ts';
import type { PanelFile, PanelPage } from '../panel.ts';

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
  private readonly opened: OpenedViews<Member>;

  /** `changed`: there are more of them. */
  constructor(changed: () => void) {
    this.opened = new OpenedViews(changed);
  }

  /** Asks for those of the file that is shown, once. */
  async open({ view, files }: PanelPage): Promise<void> {
    const name = files.find((one) => one.view === view)?.name ?? '';
    // The engine may be gone or refuse them: what is shown can be compared.
    await this.opened.open(view.engine, '', (contents) => membersOf(contents, name)).catch(() => undefined);
  }

  /** All files of the page, each of those in the place of the file that has them. */
  among({ view, files }: PanelPage): readonly PanelFile[] {
    const { all } = this.opened;
    if (!this.opened.isOf(view.engine) || all.length === 0) return files;
    const { snapshot, device } = view.shown;
    const own = all.map((one) => ({
      name: one.name,
      view: one.snapshot === snapshot && one.device === device ? view : one.view,
    }));
    return files.flatMap((file) => (file.view === view ? own : [file]));
  }

  close(): void {
    this.opened.close();
  }
}
