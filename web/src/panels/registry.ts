// All panels, in the order of their tabs and keys: 2, 3, 4 for the main ones (1 is the timeline), 5 and on for the
// drawer. To add one: a folder with a panel.ts, and a line here.
import type { Panel } from './panel.ts';

export const panels = [
  { id: 'state', name: 'State', place: 'main', needs: ['states'], load: () => import('./state/panel.ts') },
  {
    id: 'map',
    name: 'Address map',
    place: 'main',
    needs: ['states'],
    load: () => import('./address_map/panel.ts'),
  },
  {
    id: 'overview',
    name: 'Overview',
    place: 'drawer',
    needs: [],
    load: () => import('./overview/panel.ts'),
  },
  {
    id: 'events',
    name: 'Events',
    place: 'drawer',
    needs: ['states'],
    load: () => import('./events/panel.ts'),
  },
  { id: 'settings', name: 'Settings', place: 'drawer', needs: [], load: () => import('./settings/panel.ts') },
] as const satisfies readonly Panel[];

export type PanelId = (typeof panels)[number]['id'];
/** The timeline is there always; beside a main panel it is a strip. */
export type MainId = 'timeline' | PanelId;

export function panelOf(id: string): Panel | undefined {
  return panels.find((one) => one.id === id);
}

const at = (place: Panel['place']): readonly { id: PanelId; name: string }[] =>
  panels.filter((one) => one.place === place);

/** Each with the key that opens it. */
export const mainTabs: readonly { id: MainId; name: string; key: string }[] = [
  { id: 'timeline', name: 'Timeline', key: '1' },
  ...at('main').map(({ id, name }, index) => ({ id, name, key: String(index + 2) })),
];
export const answerTabs: readonly { id: PanelId; name: string; key: string }[] = at('drawer').map(
  ({ id, name }, index) => ({ id, name, key: String((index + 5) % 10) }),
);
