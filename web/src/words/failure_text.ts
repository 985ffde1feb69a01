// What a file says of a device that did not run out of memory in it.
import type { ViewInfo } from '../../engine/index.ts';

/** Undefined: it did. */
export const noFailure = ({ oom_events, has_history }: ViewInfo): string | undefined =>
  oom_events.length > 0
    ? undefined
    : has_history
      ? 'This device was not out of memory in the recording.'
      : 'Without a history it is not known whether this device ran out of memory.';
