// Lanes of ops of one trace: asks the engine for their threads once, and for what is seen of their rows with a margin
// to either side, so that moving by less asks nothing.
import { reasonOf } from '../../base/reason.ts';
import type { AxisUnits } from '../../base/units.ts';
import { Listeners } from '../../base/listeners.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import type { Axis, EngineView, Lanes, LaneThreads } from '../../../engine/index.ts';

export interface Lane {
  /** Index in `LaneThreads`. */
  thread: number;
  row: number;
}

/** What is to be seen; x0 and x1 on the axis of the trace. */
export interface Wanted {
  axis: Axis;
  x0: AxisUnits;
  x1: AxisUnits;
  unitsPerPixel: number;
  lanes: readonly Lane[];
  search: string;
}
interface Question extends Omit<Wanted, 'unitsPerPixel'> {
  step: number;
  columns: number;
}
export interface Shown {
  asked: Question;
  lanes: Lanes;
  /** By lane: its first entry; one more than there are lanes. */
  starts: readonly number[];
}

const margin = 0.5; // of what is seen, on either side
const mostColumns = 32768;
const mostCells = 1_000_000;
const leastForName = 20; // columns

const kept = new WeakMap<EngineView, LanesTrack>();
/** Of a view, the same whenever it is asked for. */
export function lanesOf(view: EngineView): LanesTrack {
  const track = kept.get(view) ?? new LanesTrack(view);
  kept.set(view, track);
  return track;
}

export class LanesTrack {
  threads: LaneThreads | undefined;
  shown: Shown | undefined;
  problem: string | undefined;
  /** Threads whose rows are shown. */
  open = new Set<number>([0]);
  /** `lanes`: what is shown; `threads`: these, or the problem. */
  readonly answers = new Listeners<'lanes' | 'threads'>();
  private asked = false;
  private readonly asking = new LatestOnly<Question, Lanes>(
    (question) => this.ask(question),
    (lanes, asked) => {
      this.shown = { asked, lanes, starts: startsOf(lanes, asked.lanes.length) };
      this.failed = undefined;
      if (this.problem !== undefined) {
        this.problem = undefined;
        this.answers.tell('threads');
      }
      this.answers.tell('lanes');
    },
    (error) => {
      this.failed = this.last;
      this.refused(error);
    },
  );
  private last: Question | undefined;
  /** What was refused is not asked for again. */
  private failed: Question | undefined;

  constructor(private readonly view: EngineView) {}

  findThreads(): void {
    if (this.asked) return;
    this.asked = true;
    this.view.ask('laneThreads', {}).then(
      (threads) => {
        this.threads = threads;
        this.answers.tell('threads');
      },
      (error: unknown) => {
        this.asked = this.view.alive; // else once more when it is shown again
        this.refused(error);
      },
    );
  }

  /** True if what is shown is what is wanted. */
  want(wanted: Wanted): boolean {
    if (fits(this.shown?.asked, wanted) || fits(this.failed, wanted)) return true;
    if (!fits(this.last, wanted) || !this.asking.busy) {
      this.last = questionOf(wanted);
      this.asking.request(this.last);
    }
    return false;
  }

  private refused(error: unknown): void {
    if (!this.view.alive) return;
    this.problem = reasonOf(error);
    this.answers.tell('threads');
  }

  private ask({ axis, x0, step, columns, lanes, search }: Question): Promise<Lanes> {
    const threads = lanes.map(({ thread }) => thread);
    const rows = lanes.map(({ row }) => row);
    return this.view.ask('lanes', { axis, from: x0, step, columns, threads, rows, search, leastForName });
  }
}

/** Steps are 1 and 1.5 times powers of two: the largest that is not wider than a pixel. */
function stepOf(unitsPerPixel: number): number {
  const power = 2 ** Math.floor(Math.log2(unitsPerPixel));
  return power * 1.5 <= unitsPerPixel ? power * 1.5 : power;
}

function fits(asked: Question | undefined, wanted: Wanted): boolean {
  if (!asked || asked.axis !== wanted.axis || asked.search !== wanted.search) return false;
  const known = new Set(asked.lanes.map(keyOf));
  return (
    asked.step === stepOf(wanted.unitsPerPixel) &&
    asked.x0 <= wanted.x0 &&
    asked.x1 >= wanted.x1 &&
    wanted.lanes.every((lane) => known.has(keyOf(lane)))
  );
}

function questionOf({ axis, x0, x1, unitsPerPixel, lanes, search }: Wanted): Question {
  const step = stepOf(unitsPerPixel);
  const room = (x1 - x0) * margin;
  const most = Math.min(mostColumns, Math.floor(mostCells / Math.max(lanes.length, 1)));
  const first = Math.floor((x0 - room) / step);
  const columns = Math.min(Math.ceil((x1 + room) / step) - first, most);
  return { axis, x0: first * step, x1: (first + columns) * step, step, columns, lanes, search };
}

export const keyOf = ({ thread, row }: Lane): number => thread * 1024 + row;

function startsOf({ lane }: Lanes, lanes: number): number[] {
  const starts = new Array<number>(lanes + 1).fill(lane.length);
  for (let i = lane.length - 1; i >= 0; i -= 1) starts[lane[i] ?? 0] = i;
  // A lane without entries begins where the next one does.
  for (let i = lanes - 1; i >= 0; i -= 1) starts[i] = Math.min(starts[i] ?? 0, starts[i + 1] ?? 0);
  return starts;
}
