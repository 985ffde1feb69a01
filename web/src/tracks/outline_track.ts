// Keeps the outline of the chosen band for what is visible.
import { LatestOnly } from '../base/latest_only.ts';
import type { Rank } from '../base/units.ts';
import type { Band } from '../engine/answers.ts';
import type { Columns, Edges } from '../engine/protocol.ts';
import type { Outline, Stage } from './stage.ts';

interface Question {
  rank: Rank;
  columns: Columns;
}

export class OutlineTrack {
  private kept: Outline | undefined;
  private readonly latest: LatestOnly<Question, Edges>;

  constructor(
    private readonly stage: Stage,
    changed: () => void,
  ) {
    this.latest = new LatestOnly(
      ({ rank, columns }) => stage.engine.call('outline', { rank, columns }),
      (edges, question) => {
        this.kept = { ...question, ...edges };
        changed();
      },
      () => undefined, // a dead engine is told by its client; a refusal leaves what is shown
    );
  }

  forget(): void {
    this.latest.forget();
    this.kept = undefined;
  }

  /** What there is of the block's outline; asks for what is missing. */
  of(block: Band | undefined): Outline | undefined {
    if (!block) return undefined;
    const columns = this.stage.columns();
    const { kept } = this;
    const usable = kept?.rank === block.rank && kept.columns.axis === columns.axis ? kept : undefined;
    if (!usable || !covers(usable.columns, columns)) this.latest.request({ rank: block.rank, columns });
    return usable;
  }
}

function covers(have: Columns, wanted: Columns): boolean {
  return (
    have.width === wanted.width &&
    have.first <= wanted.first &&
    have.first + have.count >= wanted.first + wanted.count
  );
}
