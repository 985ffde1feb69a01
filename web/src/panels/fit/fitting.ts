// Fits in an engine of its own, that of the recording with the largest values: the page answers meanwhile, and to cancel is to end it.
import { EngineFailure, type Args, type EngineView, type Fit } from '../../../engine/index.ts';
import type { Elsewhere } from '../panel.ts';
import type { Asked, FittedFile } from './fields.ts';
import { tellRequests } from './tell.ts';

/** Which recording is read, of how many. */
export interface Reading {
  file: string;
  done: number;
  of: number;
}

interface Mine {
  recordings: readonly FittedFile[];
  stop: AbortController;
  view: Promise<EngineView>;
  opened?: EngineView;
}

/** Panels come and go with their tabs: what is read for a view stays. */
const kept = new WeakMap<EngineView, Fitting>();
export function fittingOf(view: EngineView, elsewhere: Elsewhere): Fitting {
  const known = kept.get(view) ?? new Fitting(elsewhere);
  kept.set(view, known);
  return known;
}

const isSame = (a: readonly FittedFile[], b: readonly FittedFile[]): boolean =>
  a.length === b.length && a.every(({ view }, at) => view === b[at]?.view);

export class Fitting {
  private mine: Mine | undefined;

  constructor(private readonly elsewhere: Elsewhere) {}

  /** `reads` hears of each recording that is read for it; those of the last fit are there already. */
  async ask(
    { parameters, recordings, capacity, conf }: Asked,
    { at, largest, leaveOut = false }: Pick<Args<'fit'>, 'at' | 'largest' | 'leaveOut'>,
    reads: (reading: Reading) => void = () => undefined,
  ): Promise<Fit> {
    const view = await this.view(recordings, reads);
    return view.ask('fit', {
      parameters,
      recordings: recordings.map(({ name, values }) => ({ file: name, values })),
      at,
      largest: largest && capacity !== undefined,
      leaveOut,
      ...(capacity !== undefined && { capacity }),
      ...(conf !== undefined && { conf }),
    });
  }

  /** Ends whatever is asked; a later question reads the recordings again. */
  cancel(): void {
    const { mine } = this;
    this.mine = undefined;
    mine?.stop.abort();
    mine?.view.then(({ engine }) => engine.close()).catch(() => undefined);
  }

  private view(recordings: readonly FittedFile[], reads: (reading: Reading) => void): Promise<EngineView> {
    const { mine } = this;
    // A server closes what is not asked for long.
    if (mine && (mine.opened?.alive === false || !isSame(mine.recordings, recordings))) this.cancel();
    if (this.mine) return this.mine.view;
    const stop = new AbortController();
    const made: Mine = { recordings, stop, view: this.read(recordings, stop.signal, reads) };
    this.mine = made;
    made.view.then(
      (view) => (made.opened = view),
      () => {
        if (this.mine === made) this.mine = undefined;
      },
    );
    return made.view;
  }

  private async read(
    recordings: readonly FittedFile[],
    signal: AbortSignal,
    reads: (reading: Reading) => void,
  ): Promise<EngineView> {
    const of = recordings.length;
    const tell = (done: number): void => reads({ file: recordings[done]?.name ?? '', done, of });
    tell(of - 1);
    const largest = await this.elsewhere.open(signal, recordings[of - 1]?.view);
    try {
      for (const [number, { name, view }] of recordings.slice(0, -1).entries()) {
        tell(number);
        const other = await this.elsewhere.open(signal, view);
        const carried = await other
          .ask('requests', {})
          .catch((error: unknown) => {
            throw error instanceof EngineFailure && error.reason.code !== 'cancelled'
              ? new EngineFailure({ ...error.reason, message: `${name}: ${error.reason.message}` })
              : error;
          })
          .finally(() => other.engine.close());
        await tellRequests(carried, largest, number);
      }
    } catch (error) {
      largest.engine.close();
      throw error;
    }
    return largest;
  }
}
