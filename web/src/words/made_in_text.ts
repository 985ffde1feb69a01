// The op of a profiler's trace that a block was made in, among what is known of the block.
import type { RunningOps } from '../../engine/index.ts';
import type { Described, Fact, Way } from './described.ts';

const mostTold = 4;

/** The op, then what it ran in, its thread, its module. */
function factsOf({ ops, module, thread, thread_name }: RunningOps): Fact[] {
  const [name = '(no name)', ...around] = ops;
  const where = [...around.map((one) => `in ${one}`), thread_name ?? `thread ${thread ?? '?'}`];
  return [
    { label: 'Op', value: name, more: where.join(' · ') },
    ...(module === null ? [] : [{ label: 'Module', value: module }]),
  ];
}

/** What was known, and behind when it was allocated in which op; `ops`: of each thread that had one running. */
export function withOps(described: Described, ops: readonly RunningOps[]): Described {
  const facts: Fact[] =
    ops.length === 0
      ? [{ label: 'Op', value: 'none of the trace ran when it was allocated' }]
      : ops.length === 1
        ? ops.slice(0, 1).flatMap(factsOf)
        : [
            { label: 'Op', value: 'one of these, which is not recorded' },
            ...ops
              .slice(0, mostTold)
              .flatMap(factsOf)
              .map((fact) => ({ ...fact, label: fact.label === 'Op' ? '' : fact.label })),
          ];
  const at = described.facts.findIndex(({ label }) => label === 'Allocated') + 1;
  const single = ops.length === 1;
  const ways: Way[] = ops
    .slice(0, mostTold)
    .filter(({ lane }) => lane !== null)
    .map((op) => ({ label: single ? 'its op' : `op: ${op.ops[0] ?? '?'}`, goal: { to: 'op', op } }));
  return {
    ...described,
    facts: described.facts.toSpliced(at, 0, ...facts),
    ways: [...described.ways, ...ways],
  };
}
