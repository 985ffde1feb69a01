// Runs in engines of their own: the page answers meanwhile, and to cancel is to end them.
import type {
  Answer,
  Args,
  EngineView,
  ExplainedOutOfMemory,
  Kind,
  Rehearsal,
  RunNumbers,
  Scenario,
} from '../../engine/index.ts';
import type { Elsewhere } from './panel.ts';

/** A line of a search. */
export interface Tried {
  conf: string;
  numbers: RunNumbers;
}

/** A run that is a snapshot of its engine, beside the recording. */
export interface ShownRun {
  recorded: EngineView;
  simulated: EngineView;
  snapshot: number;
}

/** An engine for what one asks after another. */
interface Mine {
  stop: AbortController;
  view: Promise<EngineView>;
  opened?: EngineView;
}

/** Panels come and go with their tabs: what runs for a view goes on, in one engine for all of them. */
const kept = new WeakMap<EngineView, Runs>();
export function runsOf(view: EngineView, elsewhere: Elsewhere): Runs {
  const known = kept.get(view) ?? new Runs(elsewhere);
  kept.set(view, known);
  return known;
}

export class Runs {
  private rehearsed: Promise<Rehearsal> | undefined;
  private remedies: Promise<readonly ExplainedOutOfMemory[]> | undefined;
  private readonly stopped = new Set<AbortController>();
  private mine: Mine | undefined;
  private shown: { key: string; run: Promise<ShownRun> } | undefined;

  constructor(private readonly elsewhere: Elsewhere) {}

  /** One after another, in one engine. */
  async ask<K extends Kind>(kind: K, args: Args<K>): Promise<Answer<K>> {
    return (await this.view()).ask(kind, args);
  }

  /** Asked for once. */
  rehearsal(): Promise<Rehearsal> {
    this.rehearsed ??= this.ask('rehearsal', {});
    this.rehearsed.catch(() => (this.rehearsed = undefined));
    return this.rehearsed;
  }
  /** The failures, with what helps tried; asked for once. */
  triedRemedies(): Promise<readonly ExplainedOutOfMemory[]> {
    this.remedies ??= this.ask('triedRemedies', {});
    this.remedies.catch(() => (this.remedies = undefined));
    return this.remedies;
  }

  /** The run as a view, made once. */
  show(scenario: Scenario): Promise<ShownRun> {
    const key = JSON.stringify(scenario);
    if (this.shown?.key !== key) {
      const run = this.view().then((recorded) => runIn(recorded, scenario));
      run.catch(() => undefined); // told to who asked
      this.shown = { key, run };
    }
    return this.shown.run;
  }

  /** The run as a file of the page. */
  async open(scenario: Scenario, name: string): Promise<void> {
    const stop = this.started();
    const recorded = await this.elsewhere.open(stop.signal);
    try {
      const { simulated } = await runIn(recorded, scenario);
      recorded.release();
      await this.elsewhere.show(simulated, name);
    } catch (error) {
      recorded.engine.close();
      throw error;
    } finally {
      this.stopped.delete(stop); // the engine is the page's
    }
  }

  /** All settings, as many at the same time as there are cores. `found` hears of each. */
  async search(confs: readonly string[], scenario: Scenario, found: (tried: Tried) => void): Promise<void> {
    const stop = this.started();
    const left = [...confs];
    const work = async (): Promise<void> => {
      if (left.length === 0) return;
      const view = await this.elsewhere.open(stop.signal);
      try {
        for (let conf = left.shift(); conf !== undefined; conf = left.shift()) {
          const { simulated } = await view.ask('whatIf', { scenario: { ...scenario, conf }, columns: 0 });
          found({ conf, numbers: simulated });
        }
      } finally {
        view.engine.close();
      }
    };
    const engines = Math.min(this.elsewhere.most, confs.length);
    try {
      await Promise.all(Array.from({ length: engines }, work));
    } finally {
      stop.abort(); // one that failed ends the others
      this.stopped.delete(stop);
    }
  }

  /** Ends whatever runs; a later question opens an engine again. */
  cancel(): void {
    for (const stop of this.stopped) stop.abort();
    this.stopped.clear();
    const { mine } = this;
    this.mine = undefined;
    this.shown = undefined;
    mine?.stop.abort();
    mine?.view.then(({ engine }) => engine.close()).catch(() => undefined);
  }

  private view(): Promise<EngineView> {
    // A server closes what is not asked for long.
    if (this.mine?.opened?.alive === false) this.mine = this.shown = undefined;
    if (!this.mine) {
      const stop = new AbortController();
      const mine: Mine = { stop, view: this.elsewhere.open(stop.signal) };
      this.mine = mine;
      mine.view.then(
        (view) => (mine.opened = view),
        () => {
          if (this.mine === mine) this.mine = undefined;
        },
      );
    }
    return this.mine.view;
  }
  private started(): AbortController {
    const stop = new AbortController();
    this.stopped.add(stop);
    return stop;
  }
}

async function runIn(recorded: EngineView, scenario: Scenario): Promise<ShownRun> {
  const snapshot = await recorded.ask('addRun', { scenario });
  const { device } = recorded.info;
  const simulated = await recorded.engine.view({ snapshot, device, bands: 'blocks' });
  return { recorded, simulated, snapshot };
}
