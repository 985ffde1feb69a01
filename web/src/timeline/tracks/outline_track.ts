// Keeps the outline of a band for what is visible.
import { LatestOnly } from '../../base/latest_only.ts';
import type { Args, Band, Columns, Edges } from '../../../engine/index.ts';
import type { Outline, Stage } from './stage.ts';

type Question = Args<'outline'>;

export class OutlineTrack {
  private kept: Outline | undefined;
  private asked = '';
  private readonly latest: LatestOnly<Question, Edges>;

  constructor(
    private readonly stage: Stage,
    changed: () => void,
  ) {
    this.latest = new LatestOnly(
      (question) => stage.device.ask('outline', question),
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
    this.asked = '';
  }

  /** What there is of the block's outline; asks for what is missing, unless it has to wait. */
  of(block: Band | undefined, mayAsk = true): Outline | undefined {
    if (!block) return undefined;
    const columns = this.stage.columns();
    const { kept } = this;
    const usable = kept?.rank === block.rank && kept.columns.axis === columns.axis ? kept : undefined;
    if (mayAsk && (!usable || !covers(usable.columns, columns))) this.ask({ rank: block.rank, columns });
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
