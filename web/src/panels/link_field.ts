// How links tell what was chosen in a panel. What comes from a link may be any text.
import type { Stretch } from '../series/stretch.ts';

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
/** A part of an axis; nothing = all of it. */
export const maybeStretch: LinkField<Stretch | undefined> = {
  text: (stretch) => (stretch ? `${short(stretch.x0)},${short(stretch.x1)}` : ''),
  value: (text) => {
    const [x0 = NaN, x1 = NaN] = text.split(',').map(Number);
    return x0 >= 0 && x1 > x0 && Number.isFinite(x1) ? { x0, x1 } : undefined;
  },
};
const short = (place: number): string => String(Number(place.toPrecision(12)));
