// What a file says of a device that did not run out of memory in it.
import type { ViewInfo } from '../../engine/index.ts';

/** Undefined: it did. `damaged`: a part of the file is missing. */
export const noFailure = ({ oom_events, has_history }: ViewInfo, damaged: boolean): string | undefined =>
  oom_events.length > 0
    ? undefined
    : has_history
      ? damaged
        ? 'In what was read of the file this device was not out of memory; whether it was later is not known.'
        : 'This device was not out of memory in the recording.'
      : 'Without a history it is not known whether this device ran out of memory.';
