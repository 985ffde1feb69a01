// Keeps the words in the bands, and by group in what is too small for words, of what is visible. While the view moves the last ones move along.
import { LatestOnly } from '../../base/latest_only.ts';
import type { Args, Kinds } from '../../../engine/index.ts';
import { bandWords, drawLabels, labelRoom, type Label } from '../../draw/labels.ts';
import type { Context, Projection } from '../../draw/plot.ts';
import { kindName, unusedName } from '../../words/group_text.ts';
import { colorIn, type Picture } from './picture_track.ts';
import type { Stage } from './stage.ts';

type Question = Args<'labels'> & { kinds: Kinds | undefined };

export class LabelTrack {
  private kept: { labels: Label[]; question: Question } | undefined;
  private asked = '';
  private readonly latest: LatestOnly<Question, Label[]>;

  constructor(
    private readonly stage: Stage,
    changed: () => void,
  ) {
    this.latest = new LatestOnly(
      (question) => this.ask(question),
      (labels, question) => {
        this.kept = { labels, question };
        changed();
      },
      () => undefined, // bands without words are still bands
    );
  }

  private async ask({ kinds, ...question }: Question): Promise<Label[]> {
    const labels = await this.stage.device.ask('labels', question);
    return labels.map((label) => {
      if (label.kind === undefined) return { ...label, words: bandWords(label) };
      const name = kindName(kinds, label.kind) ?? unusedName;
      // Of a line of code its function, if there is no room for more.
      return { ...label, words: question.by === 'stack' ? [name, name.split(' ')[0] ?? name] : [name] };
    });
  }

  forget(): void {
    this.latest.forget();
    this.kept = undefined;
    this.asked = '';
  }

  /** Asks for those of the visible part; `picture` shows it exactly. */
  want(picture: Picture, kinds: Kinds | undefined): void {
    const { columns, rows } = picture;
    const { view, area } = this.stage;
    const perColumn = columns.width / this.stage.projection().unitsPerPixel;
    const from = Math.max(Math.floor(view.x0 / columns.width), columns.first);
    const to = Math.min(Math.ceil(view.x1 / columns.width), columns.first + columns.count);
    if (to <= from) return;
    const question = {
      columns: { ...columns, first: from, count: to - from },
      rows,
      leastColumns: Math.max(1, Math.floor((labelRoom.width * area.ratio) / perColumn)),
      leastRows: Math.max(1, Math.floor(labelRoom.height * area.ratio)),
      ...this.stage.stacking,
      kinds,
    };
    const key = JSON.stringify([{ ...question, kinds: undefined }, picture.style]);
    if (key === this.asked) return;
    this.asked = key;
    this.latest.request(question);
  }

  /** True if the labels of the last question are there. */
  get settled(): boolean {
    return !this.latest.busy;
  }

  draw(ctx: Context, at: Projection, picture: Picture | undefined): void {
    if (!this.kept || !picture || this.kept.question.columns.axis !== picture.columns.axis) return;
    if (picture.columns.axis !== this.stage.axis) return;
    drawLabels(ctx, at, this.kept.labels, (x, y) => colorIn(picture, at.units(x), at.bytes(y)));
  }
}
