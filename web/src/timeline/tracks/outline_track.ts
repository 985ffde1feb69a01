// Keeps the outline of a band, or of all of a group, for what is visible.
import { LatestOnly } from '../../base/latest_only.ts';
import { covers } from '../../draw/plot.ts';
import type { Band, ColourBy, Columns, Edges, GroupAt } from '../../../engine/index.ts';
import type { Rank } from '../../base/units.ts';
import type { Groups } from './device_tracks.ts';
import type { Outline, Stage } from './stage.ts';

/** A band, stacked by group or not; or all of a kind. */
export type Outlined = { rank: Rank; by?: ColourBy } | { kind: number; by: ColourBy };

export const outlined = (one: Band | (GroupAt & Groups), stacking: Stage['stacking']): Outlined =>
  'rank' in one ? { rank: one.rank, ...stacking } : { kind: one.kind, by: one.by };

interface Question {
  of: Outlined;
  columns: Columns;
}

export class OutlineTrack {
  private kept: (Outline & { key: string }) | undefined;
  private asked = '';
  private readonly latest: LatestOnly<Question, Edges>;

  constructor(
    private readonly stage: Stage,
    changed: () => void,
  ) {
    this.latest = new LatestOnly(
      ({ of, columns }) =>
        'rank' in of
          ? stage.device.ask('outline', { ...of, columns })
          : stage.device.ask('groupOutline', { ...of, columns }),
      (edges, { of, columns }) => {
        this.kept = { key: JSON.stringify(of), columns, ...edges };
        changed();
      },
      () => undefined, // a dead engine is told by its client; a refusal leaves what is shown
    );
  }

  forget(): void {
    this.latest.forget();
    this.kept = undefined;
    this.asked = '';
  }

  /** What there is of the outline; asks for what is missing, unless it has to wait. */
  of(what: Outlined | undefined, mayAsk = true): Outline | undefined {
    if (!what) return undefined;
    const columns = this.stage.columns();
    const { kept } = this;
    const usable =
      kept?.key === JSON.stringify(what) && kept.columns.axis === columns.axis ? kept : undefined;
    if (mayAsk && (!usable || !covers(usable.columns, columns))) this.ask({ of: what, columns });
    return usable;
  }

  private ask(question: Question): void {
    const key = JSON.stringify(question);
    if (key === this.asked) return;
    this.asked = key;
    this.latest.request(question);
  }
}
