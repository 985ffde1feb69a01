// The page's engine: one file, one view at a time. Gives each question what the page has chosen before (view, filter,
// list of events), since the engine itself keeps nothing.
import { Engine, type EngineView } from '../../engine/engine.ts';
import { WorkerTransport, type EngineParts } from '../../engine/transport/worker.ts';
import type { EngineError } from './answers.ts';
import type { Calls, Columns, Kind, Progress, Request, Rows } from './protocol.ts';
import type { EventFilter } from './state_calls.ts';

export { EngineFailure } from '../../engine/transport/transport.ts';
export type { EngineParts };

export class EngineClient {
  private readonly engine: Engine;
  private view: EngineView | undefined;
  /** The last one that the engine took. */
  private filter = '';
  private listed: EventFilter = {};
  /** Of the last pictures: words are asked for by their columns. */
  private readonly drawn: { columns: Columns; rows: Rows }[] = [];

  constructor(parts: EngineParts) {
    this.engine = new Engine(new WorkerTransport(parts));
  }

  set onDeath(told: ((error: EngineError) => void) | undefined) {
    this.engine.onDeath = told;
  }

  get alive(): boolean {
    return this.engine.alive;
  }

  async call<K extends Kind>(
    kind: K,
    args: Calls[K]['args'],
    progress?: (progress: Progress) => void,
  ): Promise<Calls[K]['answer']> {
    // The pairing of kind, arguments and answer is what `Calls` says; TypeScript cannot follow it into the union.
    return (await this.answer({ kind, id: 0, args } as Request, progress)) as Calls[K]['answer'];
  }

  /** Ends the worker at once, whatever it does; open questions are refused as cancelled. */
  terminate(): void {
    this.engine.close();
  }

  /** `told` hears which share of the states of the device shown is found, 1 = all; until the answer is called. */
  watchPreparation(told: (share: number) => void): () => void {
    return this.shown.watchPreparation(told);
  }

  private get shown(): EngineView {
    if (!this.view) throw new Error('No device is shown.');
    return this.view;
  }

  private async show(shown: Calls['view']['args']): Promise<Calls['view']['answer']> {
    const view = await this.engine.view(shown);
    this.view?.release();
    this.view = view;
    this.filter = '';
    this.listed = {};
    this.drawn.length = 0;
    return { view: view.info, diagnostics: view.diagnostics };
  }

  private async answer(request: Request, progress?: (progress: Progress) => void): Promise<unknown> {
    switch (request.kind) {
      case 'open': {
        const contents = await this.engine.open(request.args.source, request.args.budget, progress);
        const start = contents.default;
        const shown = start ? await this.show({ ...start, bands: 'blocks' }) : undefined;
        const diagnostics = shown?.diagnostics ?? contents.diagnostics;
        return { contents, view: shown?.view, diagnostics, hash: contents.hash };
      }
      case 'view':
        return this.show(request.args);
      case 'peaks':
        return this.engine.ask('peaks', {});
      case 'picture': {
        const { columns, rows, ...look } = request.args;
        this.drawn.unshift({ columns, rows });
        this.drawn.length = Math.min(this.drawn.length, 4);
        return this.shown.ask('picture', { columns, rows, look: this.look(look) });
      }
      case 'labels': {
        const { columns } = request.args;
        const picture = this.drawn.find(
          ({ columns: has }) =>
            has.axis === columns.axis &&
            has.width === columns.width &&
            has.first <= columns.first &&
            has.first + has.count >= columns.first + columns.count,
        );
        return picture ? this.shown.ask('labels', { ...request.args, rows: picture.rows }) : [];
      }
      case 'probe': {
        const { axis, column, width, bytes, known } = request.args; // the page's own may have more
        return this.shown.ask('probe', { axis, column: Math.floor(column), width, bytes, known });
      }
      case 'filter': {
        const answer = await this.shown.ask('filter', request.args);
        this.filter = request.args.text;
        return answer;
      }
      case 'match':
        return this.shown.ask('match', { ...request.args, filter: this.filter });
      case 'shares':
        return this.shown.ask('shares', { ...request.args, filter: this.filter });
      case 'filterEvents': {
        const answer = await this.shown.ask('filterEvents', { filter: request.args });
        this.listed = request.args;
        return answer;
      }
      case 'eventRows':
        return this.shown.ask('eventRows', { ...request.args, filter: this.listed });
      case 'rowOfEvent':
        return this.shown.ask('rowOfEvent', { ...request.args, filter: this.listed });
      case 'addressMap': {
        const { palette, dimOthers, colourBy, kind, ...place } = request.args;
        return this.shown.ask('addressMap', {
          ...place,
          look: this.look({ palette, dimOthers, colourBy, kind }),
        });
      }
      default:
        return this.shown.ask(request.kind, request.args);
    }
  }

  private look({ palette, dimOthers, colourBy, kind }: Omit<Calls['picture']['args'], 'columns' | 'rows'>) {
    const bands = [...palette.bands];
    return { palette: { ...palette, bands }, colourBy, filter: dimOthers ? this.filter : '', kind };
  }
}
