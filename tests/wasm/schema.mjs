// Answers against the schemas that `gpustrata schema` prints: no member too many, none missing.

/** What columns are in JavaScript, by the word that a schema has for them. */
const columns = {
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
  u8: Uint8Array,
  rgba: Uint8ClampedArray,
};
const kinds = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isInteger,
  number: (value) => typeof value === 'number',
  string: (value) => typeof value === 'string',
  array: (value) => Array.isArray(value) || ArrayBuffer.isView(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/**
 * The first place where `value` is not as `schema` says, or undefined. Of the standard what our schemas use.
 * @returns {string | undefined}
 */
export function wrong(schema, value, defs, at = '') {
  const { $ref, anyOf, oneOf, allOf, type, properties = {}, items, additionalProperties: others } = schema;
  if ($ref !== undefined) return wrong(defs[$ref.split('/').at(-1)], value, defs, at);
  if (anyOf !== undefined) {
    const found = anyOf.map((each) => wrong(each, value, defs, at));
    return found.includes(undefined) ? undefined : found[0];
  }
  if (oneOf !== undefined) {
    const found = oneOf.map((each) => wrong(each, value, defs, at));
    const fit = found.filter((each) => each === undefined).length;
    return fit === 1 ? undefined : fit > 1 ? `${at}: is ${fit} things at once` : found.join(', nor: ');
  }
  if (allOf !== undefined) return wrong(allOf[0], value, defs, at);
  if (type !== undefined && !kinds[type](value)) return `${at}: ${JSON.stringify(value)} is no ${type}`;
  if (schema.enum !== undefined && !schema.enum.includes(value)) return `${at}: ${value} is no such word`;
  if (schema.column !== undefined || ArrayBuffer.isView(value))
    return value.constructor === columns[schema.column]
      ? undefined
      : `${at}: is no column of ${schema.column}`;
  if (Array.isArray(value))
    return first(
      value.map((one, i) => [items, one, `${at}[${i}]`]),
      defs,
    );
  if (!kinds.object(value)) return undefined;
  const missing = (schema.required ?? []).find((name) => !(name in value));
  if (missing !== undefined) return `${at}.${missing} is missing`;
  const more = Object.keys(value).find((name) => !(name in properties) && others === false);
  if (more !== undefined) return `${at}.${more} is too many`;
  return first(
    Object.entries(value).map(([name, one]) => [properties[name] ?? others, one, `${at}.${name}`]),
    defs,
  );
}

function first(parts, defs) {
  for (const [schema, value, at] of parts) {
    const found = schema === undefined || schema === false ? undefined : wrong(schema, value, defs, at);
    if (found !== undefined) return found;
  }
  return undefined;
}
