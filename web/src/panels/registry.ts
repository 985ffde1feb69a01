// All panels, in the order of their tabs and keys: 2, 3, 4 for the main ones (1 is the timeline), 5 and on for the
// drawer. To add one: a folder with a panel.ts, and a line here.
import type { ViewInfo } from '../../engine/index.ts';
import type { Panel } from './panel.ts';

export const panels = [
  { id: 'state', name: 'State', place: 'main', needs: ['states'], load: () => import('./state/panel.ts') },
  {
    id: 'map',
    name: 'Address map',
    place: 'main',
    needs: ['states'],
    lacks: ({ reserved_peak }) =>
      reserved_peak > 0 ? undefined : 'The file names no segment of this device, so it has no addresses.',
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
    lacks: ({ events }) =>
      events > 0 ? undefined : 'No events in this file: what is shown is the state when it was saved.',
    load: () => import('./events/panel.ts'),
  },
  {
    id: 'settings',
    name: 'Settings',
    place: 'drawer',
    needs: [],
    lacks: ({ settings }) =>
      settings !== null && Object.keys(settings ?? {}).length > 0
        ? undefined
        : 'The file does not say how the allocator was set. Newer versions of PyTorch write it in allocator_settings.',
    load: () => import('./settings/panel.ts'),
  },
] as const satisfies readonly Panel[];

export type PanelId = (typeof panels)[number]['id'];
/** The timeline is there always; beside a main panel it is a strip. */
export type MainId = 'timeline' | PanelId;

export function panelOf(id: string): Panel | undefined {
  return panels.find((one) => one.id === id);
}

/** Why a panel has nothing to show of a view; undefined = it has, or there is no such panel. */
export function lacking(id: string, info: ViewInfo | undefined): string | undefined {
  return info && panelOf(id)?.lacks?.(info);
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
