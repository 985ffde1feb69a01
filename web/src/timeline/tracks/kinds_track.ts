// By which kinds the blocks are coloured, and what share each kind has of a moment: asks the engine, keeps the answer.
import { LatestOnly } from '../../base/latest_only.ts';
import type { Args, ColourBy, EngineView, Kinds, Shares } from '../../../engine/index.ts';

export class KindsTrack {
  kinds: Kinds | undefined;
  shares: Shares | undefined;
  private wantedBy: ColourBy | undefined;
  private wantedShares = '';
  private readonly asking: LatestOnly<ColourBy, Kinds>;
  private readonly sharing: LatestOnly<Args<'shares'>, Shares>;

  constructor(device: EngineView, changed: () => void) {
    const refused = (): void => {
      this.wantedBy = this.kinds?.by; // asked again when it is drawn next
    };
    this.asking = new LatestOnly(
      (by) => device.ask('kinds', { by }),
      (kinds) => {
        this.kinds = kinds;
        this.shares = undefined;
        this.wantedShares = '';
        changed();
      },
      refused,
    );
    this.sharing = new LatestOnly(
      (question) => device.ask('shares', question),
      (shares, { by }) => {
        if (by !== this.kinds?.by) return;
        this.shares = shares;
        changed();
      },
      () => {
        if (!device.alive) this.wantedShares = ''; // asked again when the device is shown again
      },
    );
  }

  /** In force: the way wanted, or the one before until its kinds are known. */
  get by(): ColourBy {
    return this.kinds?.by ?? 'allocation';
  }

  /** What is wanted is in force. */
  get settled(): boolean {
    return !this.asking.busy;
  }

  want(by: ColourBy): void {
    if (by === (this.wantedBy ?? 'allocation')) return;
    this.wantedBy = by;
    this.asking.request(by);
  }

  /** The share of what the filter means is told, too. */
  wantShares(event: number, filter: string): void {
    const key = `${this.by} ${event} ${filter}`;
    if (key === this.wantedShares || (!this.kinds?.kinds.length && filter === '')) return;
    this.wantedShares = key;
    this.sharing.request({ by: this.by, event, filter });
  }
}
