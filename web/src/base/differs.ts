/** Whether two values say something else: lists and plain objects do if what they hold does. For what is made anew whenever it is asked for. */
export function differs(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return false;
  if (!isPlain(a) || !isPlain(b)) return true;
  const names = Object.keys(a);
  return names.length !== Object.keys(b).length || names.some((name) => differs(a[name], b[name]));
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const kind: unknown = Object.getPrototypeOf(value);
  return kind === Object.prototype || kind === Array.prototype;
}
