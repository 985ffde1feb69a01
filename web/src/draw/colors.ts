// Colours of the timeline for both themes.
//
// Bands: three cool hues and sand in several lightnesses, so that neighbours stay apart for colour-blind readers
// and in grey too. Everything that speaks (peak, out of memory, selection) has a colour or shape of its own.
import type { Palette } from '../../engine/index.ts';

export type ThemeName = 'light' | 'dark';
/** Custom properties of the element (controls/styles.ts) that canvases follow. */
const tokens = ['bg', 'surface', 'text', 'dim', 'accent', 'bad', 'reserved', 'envelope'] as const;
export type Token = (typeof tokens)[number];

export interface Theme {
  readonly name: ThemeName;
  /** What the page around the element gave those properties instead; `#rrggbb`, or with an alpha `rgba(...)`. */
  readonly own: Readonly<Partial<Record<Token, string>>>;
  /** Another one for other colours. */
  readonly key: string;
  readonly colors: TimelineColors;
}

export interface TimelineColors {
  bands: readonly string[];
  /** What a private pool keeps and no block uses. */
  envelope: string;
  background: string;
  grid: string;
  axis: string;
  text: string;
  allocated: string;
  reserved: string;
  /** Between what is in use and what is reserved: its ground, and the lines on it. */
  gap: string;
  hatch: string;
  lowest: string;
  peak: string;
  peakText: string;
  oom: string;
  snapshot: string;
  annotate: string;
  /** Neighbouring regions take turns; the profiler's steps have colours of their own. */
  regions: readonly [string, string];
  steps: readonly [string, string];
  regionText: string;
  cursor: string;
  cursorChip: string;
  cursorChipText: string;
  outline: string;
  halo: string;
  boxFill: string;
  boxLine: string;
}

const light: TimelineColors = {
  bands: [
    '#4f7fbd',
    '#86add9',
    '#b3cdea',
    '#2f8f8b',
    '#72beb6',
    '#b4ddd6',
    '#7568b3',
    '#a79dd4',
    '#cfc9e8',
    '#c4a35a',
    '#e3cf9c',
    '#8696aa',
  ],
  envelope: '#d3d6da',
  background: '#ffffff',
  grid: 'rgba(20, 32, 48, 0.09)',
  axis: 'rgba(20, 32, 48, 0.25)',
  text: '#525e6b',
  allocated: 'rgba(22, 32, 43, 0.85)',
  reserved: '#b45309',
  gap: 'rgba(180, 83, 9, 0.05)',
  hatch: 'rgba(180, 83, 9, 0.24)',
  lowest: 'rgba(22, 32, 43, 0.35)',
  peak: '#16202b',
  peakText: '#ffffff',
  oom: '#b3261e',
  snapshot: '#1f63c8',
  annotate: '#7a3fb0',
  regions: ['#e3e8ee', '#d1d9e3'],
  steps: ['#d6e4fa', '#bcd4f6'],
  regionText: '#16202b',
  cursor: 'rgba(20, 32, 48, 0.55)',
  cursorChip: '#2a3642',
  cursorChipText: '#ffffff',
  outline: '#0b1118',
  halo: '#ffffff',
  boxFill: 'rgba(31, 99, 200, 0.12)',
  boxLine: '#1f63c8',
};

const dark: TimelineColors = {
  bands: [
    '#3f6ca9',
    '#6593cc',
    '#2c4c7c',
    '#257f7b',
    '#4fa39c',
    '#1e5a58',
    '#685da6',
    '#8f84c6',
    '#494180',
    '#a08343',
    '#786135',
    '#62738a',
  ],
  envelope: '#3b4148',
  background: '#11151a',
  grid: 'rgba(226, 234, 244, 0.09)',
  axis: 'rgba(226, 234, 244, 0.25)',
  text: '#9fabb8',
  allocated: 'rgba(238, 243, 248, 0.85)',
  reserved: '#f2b45c',
  gap: 'rgba(242, 180, 92, 0.05)',
  hatch: 'rgba(242, 180, 92, 0.24)',
  lowest: 'rgba(238, 243, 248, 0.4)',
  peak: '#eef3f8',
  peakText: '#11151a',
  oom: '#ff8f85',
  snapshot: '#7aaeff',
  annotate: '#cda5f5',
  regions: ['#262e38', '#34404d'],
  steps: ['#1f3558', '#2b4a7a'],
  regionText: '#e6ebf1',
  cursor: 'rgba(226, 234, 244, 0.6)',
  cursorChip: '#dfe6ee',
  cursorChipText: '#11151a',
  outline: '#ffffff',
  halo: '#0b0e12',
  boxFill: 'rgba(122, 174, 255, 0.16)',
  boxLine: '#7aaeff',
};

const usual: Record<ThemeName, Record<Token, string>> = {
  light: {
    bg: '#f5f6f8',
    surface: '#ffffff',
    text: '#16202b',
    dim: '#56616d',
    accent: '#1f63c8',
    bad: '#b3261e',
    reserved: '#b45309',
    envelope: '#d3d6da',
  },
  dark: {
    bg: '#0c0f13',
    surface: '#11151a',
    text: '#e6ebf1',
    dim: '#9aa6b3',
    accent: '#7aaeff',
    bad: '#ff8f85',
    reserved: '#f2b45c',
    envelope: '#3b4148',
  },
};

/** `colorOf`: what a property is in the page; empty = nothing that is a colour. */
export function themeOf(name: ThemeName, colorOf: (token: Token) => string): Theme {
  const own: Partial<Record<Token, string>> = {};
  for (const token of tokens) {
    const color = colorOf(token);
    if (color !== '' && color !== usual[name][token]) own[token] = color;
  }
  return { name, own, key: [name, ...Object.entries(own).flat()].join(' '), colors: colorsWith(name, own) };
}
export const themes: Readonly<Record<ThemeName, Theme>> = {
  light: themeOf('light', () => ''),
  dark: themeOf('dark', () => ''),
};

function colorsWith(name: ThemeName, own: Theme['own']): TimelineColors {
  const colors = { ...(name === 'light' ? light : dark) };
  const { surface, text, dim, accent, bad, reserved, envelope } = own;
  if (surface)
    Object.assign(colors, { background: surface, peakText: surface, cursorChipText: surface, halo: surface });
  if (text) Object.assign(colors, { peak: text, allocated: text, cursorChip: text, outline: text });
  if (dim) colors.text = dim;
  if (accent) Object.assign(colors, { snapshot: accent, boxLine: accent });
  if (bad) colors.oom = bad;
  if (reserved) colors.reserved = reserved;
  if (envelope) colors.envelope = envelope;
  return colors;
}

export const colorsOf = (theme: Theme): TimelineColors => theme.colors;

/** Colours of the bands for the engine, which paints them all opaque. */
export function enginePalette(theme: Theme, bands: readonly string[]): Palette {
  return {
    bands: bands.map(packed),
    nothing: 0, // transparent: the grid lies under the picture
    dimmedTowards: packed(theme.name === 'light' ? '#f4f5f7' : '#171b21'),
    envelope: packed(colorsOf(theme).envelope),
  };
}

/** `#rrggbb` as 0xAABBGGRR; of another colour its grey. */
export function packed(color: string): number {
  const value = Number.parseInt(color.startsWith('#') ? color.slice(1) : '888888', 16);
  return ((0xff << 24) | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}
