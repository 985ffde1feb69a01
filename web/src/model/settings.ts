// What a reader prefers. Where it is kept between visits is the page's business (page/stored_settings.ts); an element
// inside another page keeps it to itself.
import type { ColourBy } from '../../engine/index.ts';
import { colourWays } from './colours.ts';
import { editorFrom, noEditor, type EditorChoice } from './editor.ts';
import { stackingOf, type Stacking } from './stacking.ts';

export type ThemeChoice = 'auto' | 'light' | 'dark';

export interface Settings {
  theme: ThemeChoice;
  /** Width of answers and details in CSS pixels. */
  detailsWidth: number;
  /** Undefined: never chosen; a file opens by what tells it apart. */
  colour: ColourBy | undefined;
  stacking: Stacking;
  /** Height of the panel below the picture in CSS pixels. */
  panelHeight: number;
  /** The details stay open when nothing is chosen. */
  detailsOpen: boolean;
  /** Where frames open. */
  editor: EditorChoice;
  /** Keys of one letter, digit or sign act; others always do. */
  letterKeys: boolean;
}

export interface SettingsStore {
  load(): Settings;
  save(change: Partial<Settings>): void;
}

const usual: Settings = {
  theme: 'auto',
  detailsWidth: 470,
  colour: undefined,
  stacking: 'blocks',
  panelHeight: 440,
  detailsOpen: false,
  editor: noEditor,
  letterKeys: true,
};

/** Whatever was stored, by this version or another; what cannot be right is as usual. */
export function settingsFrom(stored: unknown): Settings {
  const said = (typeof stored === 'object' && stored !== null ? stored : {}) as Partial<Settings>;
  const width = Number(said.detailsWidth);
  const height = Number(said.panelHeight);
  const colour = colourWays.find((one) => one === said.colour) ?? usual.colour;
  return {
    theme: said.theme === 'light' || said.theme === 'dark' ? said.theme : usual.theme,
    detailsWidth: width >= 200 && width <= 1200 ? width : usual.detailsWidth,
    colour,
    stacking: stackingOf(said.stacking, colour ?? 'allocation'),
    detailsOpen: said.detailsOpen === true,
    editor: editorFrom(said.editor),
    letterKeys: said.letterKeys !== false,
    panelHeight: height >= 100 && height <= 4000 ? height : usual.panelHeight,
  };
}

/** As long as the object lives. */
export class OwnSettings implements SettingsStore {
  private settings = settingsFrom(undefined);

  load(): Settings {
    return this.settings;
  }
  save(change: Partial<Settings>): void {
    this.settings = { ...this.settings, ...change };
  }
}
