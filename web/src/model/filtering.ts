// Asks the engine what the filter means; the workspace's `filter` is what it said.
import { LatestOnly } from '../base/latest_only.ts';
import type { Rank } from '../base/units.ts';
import { EngineFailure, type EngineView, type FilterAnswer } from '../../engine/index.ts';
import { noFilter, type Filter, type Workspace } from './workspace.ts';

const meansNothing = { found: undefined, match: -1, highlight: '' };

/** A filter: no block that was there before the first event. */
export const recordedOnly = '-born:before';

export class Filtering {
  private view: EngineView | undefined;
  private latest: LatestOnly<string, FilterAnswer> | undefined;

  constructor(private readonly workspace: Workspace) {}

  /** Another device is shown; the text stays and is asked for there, unless it is known. Undefined = nothing can be filtered. */
  show(view: EngineView | undefined, known?: FilterAnswer): void {
    this.latest?.forget();
    this.latest = undefined;
    this.view = view;
    if (!view) {
      this.change(noFilter); // the field goes, and its text with it
      return;
    }
    if (!known) this.change({ ...meansNothing, error: undefined });
    this.latest = new LatestOnly(
      (text) => view.ask('filter', { text }),
      (answer, text) => this.answered(answer, text),
      (error) => {
        if (!(error instanceof EngineFailure) || !view.alive) return;
        // What the one before meant is not what the field says.
        this.change({ ...meansNothing, error: error.reason });
      },
    );
    const { text } = this.now;
    if (known) this.answered(known, text);
    else if (text !== '') this.latest.request(text);
  }

  set(text: string): void {
    this.change({ text, error: undefined }, 'filter');
    this.latest?.request(text);
  }

  /** What words mean has changed: asks again. */
  again(): void {
    const { text } = this.now;
    if (text === '') return;
    this.change({ ...meansNothing, error: undefined });
    this.latest?.request(text);
  }

  /** The match after the one shown, or before it; undefined = none, or another was asked for meanwhile. */
  async step(by: 1 | -1): Promise<Rank | undefined> {
    const { found, highlight: filter, match: before } = this.now;
    const count = found?.count ?? 0;
    if (!this.view || count === 0) return undefined;
    const from = before < 0 && by < 0 ? 0 : before;
    const match = (from + by + count) % count;
    this.change({ match });
    const rank = await this.view.ask('match', { filter, index: match });
    return rank < 0 || found !== this.now.found || match !== this.now.match ? undefined : rank;
  }

  private get now(): Filter {
    return this.workspace.get('filter');
  }
  private change(change: Partial<Filter>, step: false | string = false): void {
    this.workspace.change({ filter: { ...this.now, ...change } }, step);
  }

  private answered(answer: FilterAnswer, text: string): void {
    this.change({
      match: -1,
      error: undefined,
      found: text === '' ? undefined : answer,
      highlight: text !== '' && answer.count > 0 ? text : '',
    });
  }
}
