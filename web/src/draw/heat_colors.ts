// Colours of a heat map, for both themes.
import type { Theme, ThemeName } from './colors.ts';
import { between } from './palettes.ts';

/**
 * Memory of a heat map, from next to nothing to most: lightness goes one way all along, so that grey and every kind of colour
 * blindness keep the order, and hue from yellow over green to blue adds steps (ColorBrewer's YlGnBu; in the dark theme from
 * deep to pale). Nothing at all has the grey that is farthest from
 * all of them, for every eye.
 */
const heat: Record<ThemeName, readonly string[]> = {
  light: ['#ffffd9', '#edf8b1', '#c7e9b4', '#7fcdbb', '#41b6c4', '#1d91c0', '#225ea8', '#253494', '#081d58'],
  dark: ['#14233f', '#1b3566', '#225088', '#1f72a3', '#2b97b3', '#55b8b8', '#94d3b6', '#ccebb0', '#f6fbc4'],
};
export const heatOfNothing: Record<ThemeName, string> = { light: '#d3d5d9', dark: '#2b2f35' };

/** A colour for each byte of a curve; 0 = nothing. */
export function heatColors(theme: Theme): readonly string[] {
  const stops = heat[theme.name];
  return Array.from({ length: 256 }, (_, byte) => {
    if (byte === 0) return heatOfNothing[theme.name];
    const place = ((byte - 1) / 254) * (stops.length - 1);
    const low = Math.min(Math.floor(place), stops.length - 2);
    return between(stops[low] ?? '#000000', stops[low + 1] ?? '#000000', place - low);
  });
}
