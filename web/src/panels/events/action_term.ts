// The term of the filter that says which actions are listed, as people choose it from a list.
const term = /(^|\s)action:(\S+)(?=\s|$)/g;

/** Its value; empty = there is none, or more than one. */
export function actionOf(filter: string): string {
  const found = [...filter.matchAll(term)];
  return found.length === 1 ? (found[0]?.[2] ?? '') : '';
}

/** The same filter for another action; empty = for all. */
export function withAction(filter: string, action: string): string {
  const rest = filter.replace(term, '$1').trim();
  if (action === '') return rest;
  if (rest === '') return `action:${action}`;
  // Beside `or` it would hold of one side only.
  return `action:${action} ${/(^|\s)or(\s|$)/i.test(rest) && !rest.startsWith('(') ? `(${rest})` : rest}`;
}
