// Colours of the kinds by which blocks are coloured, for both themes.
//
// Kinds without an order: Paul Tol's "muted" scheme (nine hues that colour-blind readers tell apart), two greys-in-hue
// and grey for "others", least visible last. Kinds in order: one hue from pale to deep, so that the order is seen and
// survives grey; what has no place in the order (never freed, from before) stands apart in sand and grey.
import type { Kinds, Look } from '../../engine/index.ts';
import { colorsOf, enginePalette, type Theme, type ThemeName } from './colors.ts';

const unordered: Record<ThemeName, readonly string[]> = {
  light: [
    '#332288', '#88ccee', '#44aa99', '#ddcc77', '#cc6677', '#117733',
    '#aa4499', '#999933', '#882255', '#6699cc', '#997700', '#b4bac2',
  ], // prettier-ignore
  dark: [
    '#7a6fd0', '#88ccee', '#44aa99', '#ddcc77', '#cc6677', '#3f9b5b',
    '#bf6bb0', '#a8a84a', '#b0567f', '#5f8fc4', '#b08f2e', '#5a646f',
  ], // prettier-ignore
};

// The same in every file, so that ranks and runs can be compared by eye; what is not known is grey.
const hueOfCategory: ReadonlyMap<string, number> = new Map([
  ['activation', 0],
  ['optimizer_state', 1],
  ['parameter', 2],
  ['persistent', 2],
  ['preexisting', 2],
  ['temporary', 3],
  ['gradient', 4],
  ['workspace', 5],
  ['communication', 6],
  ['input', 7],
  ['optimizer_scratch', 8],
  ['backward_scratch', 9],
  ['unknown', 11],
  ['other', 11],
]);
const hueOfStack: ReadonlyMap<string, number> = new Map([['no stack', 11]]);

/** Pale to deep; in the dark theme deep to pale, so that more stands out more. */
const ramp: Record<ThemeName, readonly [from: string, to: string]> = {
  light: ['#d3e6f5', '#123b78'],
  dark: ['#1d3556', '#b9dcf7'],
};
const apart: Record<ThemeName, { never: string; before: string }> = {
  light: { never: '#c4a35a', before: '#a3abb5' },
  dark: { never: '#a08343', before: '#5f6a76' },
};

/** One colour per kind; the bands of the theme where every block has a colour of its own. */
export function colorsOfKinds(kinds: Kinds | undefined, theme: Theme): readonly string[] {
  if (!kinds || kinds.kinds.length === 0) return colorsOf(theme).bands;
  if (!kinds.ordered) {
    const hues = unordered[theme.name];
    const last = hues.length - 1;
    const named = kinds.by === 'category' ? hueOfCategory : hueOfStack;
    const free = [...hues.keys()].filter(
      (hue) => hue < last && !kinds.kinds.some(({ label }) => named.get(label) === hue),
    );
    return kinds.kinds.map(({ label, merged }) => {
      const hue = merged > 0 ? last : (named.get(label) ?? free.shift() ?? last);
      return hues[hue] ?? '#888888';
    });
  }
  const inOrder = kinds.kinds.filter(({ label }) => !isApart(label));
  let place = 0;
  return kinds.kinds.map(({ label }) => {
    if (label.startsWith('never')) return apart[theme.name].never;
    if (isApart(label)) return apart[theme.name].before;
    const part = inOrder.length > 1 ? place / (inOrder.length - 1) : 1;
    place += 1;
    return between(ramp[theme.name][0], ramp[theme.name][1], part);
  });
}

/** From all in use to all free, for the engine and for a legend. */
const freeRamp: Record<ThemeName, readonly [from: string, to: string]> = {
  light: ['#f3e7d3', '#b8460e'],
  dark: ['#33291c', '#f2a13c'],
};
const freeSteps = 17;

export function shadesOfFree(theme: Theme): readonly string[] {
  return Array.from({ length: freeSteps }, (_, step) =>
    between(...freeRamp[theme.name], step / (freeSteps - 1)),
  );
}

/** How a panel wants blocks coloured: as the timeline does, but for a kind that is lit. */
export function lookOf(kinds: Kinds | undefined, theme: Theme, highlight: string): Look {
  return {
    palette: enginePalette(theme, colorsOfKinds(kinds, theme)),
    colourBy: kinds?.by ?? 'allocation',
    filter: highlight,
    kind: -1,
  };
}

function isApart(label: string): boolean {
  return label.startsWith('never') || label.startsWith('from before');
}

/** Of two colours, `part` of the way. */
export function between(from: string, to: string, part: number): string {
  const channel = (color: string, at: number): number => Number.parseInt(color.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) =>
    Math.round(channel(from, at) + (channel(to, at) - channel(from, at)) * part),
  );
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
