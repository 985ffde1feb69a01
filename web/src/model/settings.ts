// What is remembered on this computer between visits.
import { colourWays } from '../draw/palettes.ts';
import type { ColourBy } from '../engine/answers.ts';

export type ThemeChoice = 'auto' | 'light' | 'dark';

interface Settings {
  theme: ThemeChoice;
  /** Width of the details pane in CSS pixels. */
  detailsWidth: number;
  colour: ColourBy;
  /** Height of the panel below the timeline in CSS pixels. */
  panelHeight: number;
}

const key = 'memstrata';
const defaults: Settings = { theme: 'auto', detailsWidth: 360, colour: 'allocation', panelHeight: 340 };

export function loadSettings(): Settings {
  try {
    const stored = JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Settings>;
    const theme = stored.theme === 'light' || stored.theme === 'dark' ? stored.theme : 'auto';
    const width = Number(stored.detailsWidth);
    const height = Number(stored.panelHeight);
    return {
      theme,
      detailsWidth: width >= 200 && width <= 1200 ? width : defaults.detailsWidth,
      colour: colourWays.find((one) => one === stored.colour) ?? defaults.colour,
      panelHeight: height >= 100 && height <= 4000 ? height : defaults.panelHeight,
    };
  } catch {
    return { ...defaults }; // storage may be forbidden, or hold something else
  }
}

export function saveSettings(change: Partial<Settings>): void {
  try {
    localStorage.setItem(key, JSON.stringify({ ...loadSettings(), ...change }));
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
