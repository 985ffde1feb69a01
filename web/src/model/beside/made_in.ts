// The ops that a block was made in, by the trace that is shown or lies beside: asked for the block that is looked at.
import { LatestOnly } from '../../base/latest_only.ts';
import type { Microseconds } from '../../base/units.ts';
import type { BlockDetails, EngineView, RunningOps } from '../../../engine/index.ts';

/** A trace, and what is added to times of the recording for its clock. */
export interface TraceOfRun {
  view: EngineView;
  nudge: Microseconds;
  /** Of the recording. */
  device: number;
}
interface Asked {
  block: BlockDetails;
  trace: TraceOfRun;
}

export class MadeIn {
  private known: (Asked & { ops: readonly RunningOps[] }) | undefined;
  private asked: Asked | undefined;
  private readonly asking = new LatestOnly<Asked, readonly RunningOps[]>(
    ({ block, trace: { view, nudge, device } }) => {
      const time = (block.born_time_us ?? NaN) + nudge - (view.info.first_time_us ?? NaN);
      if (!Number.isFinite(time)) return Promise.resolve([]);
      const address = Number(block.address);
      const record = Number.isSafeInteger(address) ? { device, address } : {};
      // It happened in the microsecond from its time on.
      return view.ask('opsAt', { time: time + 0.5, ...record });
    },
    (ops, asked) => {
      this.known = { ...asked, ops };
      this.changed();
    },
    () => undefined, // the trace was closed
  );

  constructor(private readonly changed: () => void) {}

  /** Innermost first, thread by thread; undefined = not known yet, or it was there before the first event. */
  of(block: BlockDetails, trace: TraceOfRun): readonly RunningOps[] | undefined {
    if (block.born_event < 0) return undefined;
    const is = (one: Asked | undefined): boolean => one?.block === block && one.trace === trace;
    if (is(this.known)) return this.known?.ops;
    if (!is(this.asked)) {
      this.asked = { block, trace };
      this.asking.request(this.asked);
    }
    return undefined;
  }
}
