// How links tell what was chosen in a panel. What comes from a link may be any text.

/** A choice as a text, and back; undefined = no such choice. */
export interface LinkField<T> {
  text(value: T): string;
  value(text: string): T | undefined;
}
export type LinkFields<S> = { readonly [K in keyof S]?: LinkField<S[K]> };

export const oneOf = <T extends string>(words: readonly T[]): LinkField<T> => ({
  text: (word) => word,
  value: (text) => words.find((word) => word === text),
});
export const flag: LinkField<boolean> = {
  text: (is) => (is ? 'yes' : 'no'),
  value: (text) => (text === 'yes' ? true : text === 'no' ? false : undefined),
};
export const anyText: LinkField<string> = { text: (text) => text, value: (text) => text };
export const maybeText: LinkField<string | undefined> = {
  text: (text) => text ?? '',
  value: (text) => (text === '' ? undefined : text),
};
/** An event; nothing where there is none. */
export const maybeEvent: LinkField<number | undefined> = {
  text: (event) => (event === undefined ? '' : String(event)),
  value: (text) => (/^(-1|\d{1,15})$/.test(text) ? Number(text) : undefined),
};
