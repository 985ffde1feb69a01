// The filter of the blocks: its text, what the engine says of it, and the match that is shown.
import { LatestOnly } from '../base/latest_only.ts';
import type { Rank } from '../base/units.ts';
import type { EngineError, FilterAnswer } from '../engine/answers.ts';
import { EngineFailure, type EngineClient } from '../engine/client.ts';

export class Filtering {
  /** What the field says, in force as soon as the engine took it. */
  text = '';
  error: EngineError | undefined;
  found: FilterAnswer | undefined;
  /** Number of the match that is shown; -1 = none. */
  match = -1;
  /** Changes with every filter; empty = nothing is dimmed. */
  highlight = '';
  private filters = 0;
  private engine: EngineClient | undefined;
  private latest: LatestOnly<string, FilterAnswer> | undefined;

  constructor(private readonly changed: () => void) {}

  /** Another device is shown; the text stays and is asked for there. Undefined = nothing can be filtered. */
  show(engine: EngineClient | undefined): void {
    this.latest?.forget();
    this.latest = undefined;
    this.engine = engine;
    this.found = undefined;
    this.match = -1;
    this.highlight = '';
    this.error = undefined;
    if (!engine) {
      this.text = ''; // the field goes, and its text with it
      return;
    }
    this.latest = new LatestOnly(
      (text) => engine.call('filter', { text }),
      (answer, text) => this.answered(answer, text),
      (error) => {
        if (!(error instanceof EngineFailure) || !engine.alive) return;
        this.error = error.reason;
        this.found = undefined; // what the one before meant is not what the field says
        this.match = -1;
        this.highlight = '';
        this.changed();
      },
    );
    if (this.text !== '') this.latest.request(this.text);
  }

  set(text: string): void {
    this.text = text;
    this.error = undefined;
    this.latest?.request(text);
    this.changed();
  }

  /** The match after the one shown, or before it; undefined = none, or another was asked for meanwhile. */
  async step(by: 1 | -1): Promise<Rank | undefined> {
    const { engine, found } = this;
    const count = found?.count ?? 0;
    if (!engine || count === 0) return undefined;
    const from = this.match < 0 && by < 0 ? 0 : this.match;
    const match = (from + by + count) % count;
    this.match = match;
    this.changed();
    const rank = await engine.call('match', { index: match });
    return rank < 0 || found !== this.found || match !== this.match ? undefined : rank;
  }

  private answered(answer: FilterAnswer, text: string): void {
    this.filters += 1;
    this.match = -1;
    this.error = undefined;
    this.found = text === '' ? undefined : answer;
    this.highlight = text !== '' && answer.count > 0 ? String(this.filters) : '';
    this.changed();
  }
}
