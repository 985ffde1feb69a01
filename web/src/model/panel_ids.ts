// The panels below the timeline: names, in the order of their tabs and of the keys 1, 2, ... (what each shows:
// panels/registry.ts).

export const panelNames = {
  state: 'State',
  map: 'Address map',
  settings: 'Settings',
} as const;

export type PanelId = keyof typeof panelNames;
export const panelIds = Object.keys(panelNames) as readonly PanelId[];

/** The timeline shows the chosen moment while such a panel is open. */
export function showsMoment(panel: PanelId | undefined): boolean {
  return panel !== undefined && panel !== 'settings';
}

/** Undefined = no panel is called so. */
export function panelOf(text: unknown): PanelId | undefined {
  return panelIds.find((id) => id === text);
}
