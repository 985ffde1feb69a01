// Nodes of a trace's paths of ops under the numbers of whoever is told of them: each one once, behind its parent.
import type { Args, EngineView } from '../../../engine/index.ts';

export type Part = Omit<Args<'tellMadeIn'>, 'anew'>;
interface Made {
  event: number;
  /** Of the trace. */
  node: number;
}

const mostNodes = 2000; // of a question, whose names may be long
const mostLetters = 400_000;

export class NodesToTell {
  private readonly numbers = new Map<number, number>([[-1, -1]]);

  constructor(private readonly trace: EngineView) {}

  /** What is to be told, in its order: nodes that are new, then the allocations. At least one part. */
  async parts(made: readonly Made[]): Promise<Part[]> {
    const parts: Part[] = [];
    let part = { parents: [] as number[], names: [] as string[], ops: [] as number[], letters: 0 };
    const finish = (events: readonly Made[]): void => {
      const { parents, names, ops } = part;
      parts.push({
        parents,
        names,
        ops,
        events: events.map(({ event }) => event),
        nodes: events.map(({ node }) => this.numbers.get(node) ?? -1),
      });
      part = { parents: [], names: [], ops: [], letters: 0 };
    };
    for (const [node, { parent, name, op }] of await this.unknown(made)) {
      if (part.names.length === mostNodes || part.letters > mostLetters) finish([]);
      part.parents.push(this.numbers.get(parent) ?? -1);
      part.names.push(name);
      part.ops.push(op);
      part.letters += name.length;
      this.numbers.set(node, this.numbers.size - 1);
    }
    finish(made);
    return parts;
  }

  /** With those around them, parents first: theirs are lower numbers. */
  private async unknown(
    made: readonly Made[],
  ): Promise<[number, { parent: number; name: string; op: number }][]> {
    const found = new Map<number, { parent: number; name: string; op: number }>();
    let wanted = new Set(made.map(({ node }) => node).filter((node) => !this.numbers.has(node)));
    while (wanted.size > 0) {
      const nodes = [...wanted].slice(0, mostNodes);
      const { parent, names, op } = await this.trace.ask('opPaths', { nodes });
      nodes.forEach((node, at) =>
        found.set(node, { parent: parent[at] ?? -1, name: names[at] ?? '', op: op[at] ?? 0 }),
      );
      const around = [...parent].filter((node) => !this.numbers.has(node));
      wanted = new Set([...wanted, ...around].filter((node) => !found.has(node)));
    }
    return [...found].sort(([a], [b]) => a - b);
  }
}
