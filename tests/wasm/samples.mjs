// Questions made of the types of their arguments alone, so that a new question is asked without a line in a test.

/** Values of types that are not words or objects; `info` is of the view, if there is one. */
const plain = (type, name, info) =>
  ({
    flag: false,
    text: '',
    real: 1,
    whole: name === 'count' ? 50 : ['Width', 'Pixels'].includes(type.name) ? 20 : 0,
    event: Math.floor((info?.events ?? 0) / 2),
    rank: 0,
  })[type.kind];

/**
 * Arguments of a signature, "a: A, b?: B[]": in the middle of what can be, what may be left out left out; and the same with every
 * other word in turn where an argument is one of several, with both flags, with lists that are not empty.
 */
export function samplesOf(signature, types, info) {
  const fields = signature === '' ? [] : signature.split(', ').map((field) => field.split(': '));
  const valuesOf = (name, text) => {
    const list = text.endsWith('[]');
    const type = types.get(list ? text.slice(0, -2) : text);
    let values = [plain(type, name, info)];
    if (type.kind === 'flag') values = [false, true];
    if (type.kind === 'word') values = type.words;
    if (type.kind === 'object') values = samplesOf(type.content, types, info);
    return list ? [[], values] : values;
  };
  const choices = fields
    .filter(([name]) => !name.endsWith('?'))
    .map(([name, text]) => [name, valuesOf(name, text)]);
  const first = Object.fromEntries(choices.map(([name, [value]]) => [name, value]));
  const others = choices.flatMap(([name, [, ...rest]]) => rest.map((value) => ({ ...first, [name]: value })));
  return [first, ...others];
}
