// Keeps the outline of a band, or of a group's area, for what is visible.
import { LatestOnly } from '../../base/latest_only.ts';
import type { Band, Columns, Edges, GroupAt } from '../../../engine/index.ts';
import type { Rank } from '../../base/units.ts';
import type { Groups } from './device_tracks.ts';
import type { Outline, Stage } from './stage.ts';

/** A band, or the area of a kind. */
export type Outlined = { rank: Rank } | (Groups & { kind: number });

export const outlined = (one: Band | (GroupAt & Groups)): Outlined =>
  'rank' in one ? { rank: one.rank } : { kind: one.kind, by: one.by, filter: one.filter };

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

function covers(have: Columns, wanted: Columns): boolean {
  return (
    have.width === wanted.width &&
    have.first <= wanted.first &&
    have.first + have.count >= wanted.first + wanted.count
  );
}
