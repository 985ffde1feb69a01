// The requests of one recording, told to the engine of another one in parts that a question can carry.
import type { Args, EngineView, RequestsOfRecording } from '../../../engine/index.ts';

type Part = Args<'tellRequests'>['part'];

/** Items of a list, and characters of texts, in one part: a question has at most 65,536 values and 1 MiB. */
const mostItems = 8_000;
const mostCharacters = 100_000;

const nothing: Omit<Part, 'about'> = {
  texts: [],
  names: [],
  files: [],
  lines: [],
  frames: [],
  callers: [],
  poolGraphs: [],
  poolUsers: [],
  requests: [],
  sizes: [],
  streams: [],
  subjects: [],
  stacks: [],
};
const texts = ['texts'] as const;
/** Lists of one length stand together, each group behind those that it refers to. */
const groups = [
  ['names', 'files', 'lines'],
  ['frames', 'callers'],
  ['poolGraphs', 'poolUsers'],
  ['requests', 'sizes', 'streams', 'subjects', 'stacks'],
] as const;

function* partsOf(carried: RequestsOfRecording): Generator<Omit<Part, 'about'>> {
  for (let from = 0; from < carried.texts.length;) {
    let [until, characters] = [from, 0];
    while (until < carried.texts.length && until - from < mostItems) {
      characters += carried.texts[until]?.length ?? 0;
      if (characters > mostCharacters && until > from) break;
      until += 1;
    }
    yield { ...nothing, [texts[0]]: carried.texts.slice(from, until) };
    from = until;
  }
  for (const group of groups) {
    const { length } = carried[group[0]];
    for (let from = 0; from < length; from += mostItems) {
      const lists = group.map((name) => [name, Array.from(carried[name].subarray(from, from + mostItems))]);
      yield { ...nothing, ...(Object.fromEntries(lists) as Partial<Part>) };
    }
  }
}

/** `other`: its number among those that are told. */
export async function tellRequests(
  carried: RequestsOfRecording,
  to: EngineView,
  other: number,
): Promise<void> {
  const { about } = carried;
  let anew = true;
  for (const part of partsOf(carried)) {
    await to.ask('tellRequests', { other, anew, part: { about, ...part } });
    anew = false;
  }
}
