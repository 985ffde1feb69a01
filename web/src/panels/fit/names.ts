// What differs between the runs of one program, as the names of their files tell it: `run-b4-seq512.pickle`.
//
// Read are a few words for the batch and for the length with a whole number behind them, and any word with `=`. What is written twice
// with two values is not known; nor is `b1.5`, `4k`, or a number behind another word (`step100`, `gpt2`).

const words: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['b', 'bs', 'mbs', 'batch', 'batchsize', 'microbatch'].map((word) => [word, 'batch']),
  ),
  ...Object.fromEntries(
    [
      's',
      'sl',
      'seq',
      'seqlen',
      'seqlength',
      'sequence',
      'sequencelength',
      'len',
      'length',
      'ctx',
      'context',
      'tokens',
    ].map((word) => [word, 'seq']),
  ),
};
const endings = /(?:\.(?:pickle|pkl|json|gz|zst|zip|html))+$/i;
const pattern = /(?<![a-z0-9])([a-z]+(?:[_-](?:size|len|length))?)([=_-]?)(\d+)(?![a-z0-9]|\.\d)/gi;
/** As the engine takes them. */
export const largestValue = 2 ** 31 - 1;

/** Of one name, by parameter. */
export function parametersIn(name: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const unclear = new Set<string>();
  for (const part of name.replace(endings, '').split(/[\\/]/)) {
    for (const [, word = '', sign = '', digits = ''] of part.matchAll(pattern)) {
      const plain = word.toLowerCase();
      const known = words[plain.replace(/[_-]/g, '')];
      // "rank-s-1": one letter says too little.
      const parameter = sign === '=' ? (known ?? plain) : plain.length > 1 || sign === '' ? known : undefined;
      const value = Number(digits);
      if (parameter === undefined || value < 1 || value > largestValue) continue;
      if (found.has(parameter) && found.get(parameter) !== value) unclear.add(parameter);
      found.set(parameter, value);
    }
  }
  for (const parameter of unclear) found.delete(parameter);
  return found;
}

export interface Told {
  /** In the order in which the names have them. */
  parameters: readonly string[];
  /** By name of a file, then by parameter; undefined = its name does not say. */
  values: readonly (readonly (number | undefined)[])[];
}

/** Of names together: what several of them say, with different values; where nothing is, what some of them say and others do not. */
export function parametersOf(names: readonly string[]): Told {
  const all = names.map(parametersIn);
  const said = [...new Set(all.flatMap((one) => [...one.keys()]))];
  const different = said.filter(
    (parameter) => new Set(all.flatMap((one) => one.get(parameter) ?? [])).size > 1,
  );
  const missing = said.filter((parameter) => all.some((one) => !one.has(parameter)));
  const parameters = (different.length > 0 ? different : missing).slice(0, 4);
  return { parameters, values: all.map((one) => parameters.map((parameter) => one.get(parameter))) };
}
