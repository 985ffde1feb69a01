// All panels, in the order of their tabs and keys: 2, 3, 4 for the first main ones (1 is the timeline), 5 to 9 and 0 for the
// first six of the others. To add one: a folder with a panel.ts, and a line here.
import type { ViewInfo } from '../../engine/index.ts';
import { noFailure } from '../words/failure_text.ts';
import type { Around, Panel } from './panel.ts';

const noSegments =
  "A profiler's trace names no segments: where blocks lie in device memory is not known. Ops tells who allocated.";
const withoutSegments =
  (then: string) =>
  ({ reserved_peak, has_ops }: ViewInfo): string | undefined =>
    has_ops
      ? noSegments
      : reserved_peak > 0
        ? undefined
        : `The file names no segment of this device, ${then}`;
const withoutBlocks = ({ blocks }: ViewInfo): string | undefined =>
  blocks > 0 ? undefined : 'There is no block on this device.';

export const panels = [
  {
    id: 'state',
    name: 'State',
    place: 'main',
    needs: ['states'],
    lacks: ({ has_ops }) => (has_ops ? noSegments : undefined),
    load: () => import('./state/panel.ts'),
  },
  {
    id: 'map',
    name: 'Address map',
    place: 'main',
    needs: ['states'],
    lacks: withoutSegments('so it has no addresses.'),
    load: () => import('./address_map/panel.ts'),
  },
  {
    id: 'flame',
    name: 'Flame graph',
    place: 'main',
    lacks: withoutBlocks,
    load: () => import('./flame/panel.ts'),
  },
  {
    id: 'devices',
    name: 'Devices',
    place: 'main',
    isFor: (_, { devices }) => devices > 1,
    lacks: (_, { devices }) =>
      devices > 1 ? undefined : 'There is one device in this snapshot: nothing to see side by side.',
    load: () => import('./devices/panel.ts'),
  },
  {
    id: 'overview',
    name: 'Overview',
    place: 'side',
    needs: ['states'],
    load: () => import('./overview/panel.ts'),
  },
  {
    id: 'oom',
    name: 'Out of memory',
    place: 'side',
    needs: ['states'],
    lacks: (info, { damaged }) => noFailure(info, damaged),
    load: () => import('./oom/panel.ts'),
  },
  {
    id: 'leaks',
    name: 'Leaks',
    place: 'side',
    needs: ['states'],
    lacks: ({ has_history }) =>
      has_history ? undefined : 'No history of this device: what grows cannot be told from one moment.',
    load: () => import('./leaks/panel.ts'),
  },
  {
    id: 'fragmentation',
    name: 'Fragmentation',
    place: 'side',
    needs: ['states'],
    lacks: withoutSegments('so what is cached is not known.'),
    load: () => import('./fragmentation/panel.ts'),
  },
  {
    id: 'compare',
    name: 'Compare',
    place: 'drawer',
    load: () => import('./compare/panel.ts'),
  },
  {
    id: 'events',
    name: 'Events',
    place: 'drawer',
    needs: ['states'],
    lacks: ({ events }) =>
      events > 0 ? undefined : 'No events of this device: what is shown is the state when it was saved.',
    load: () => import('./events/panel.ts'),
  },
  {
    id: 'memory',
    name: 'Memory',
    place: 'drawer',
    lacks: withoutBlocks,
    load: () => import('./memory/panel.ts'),
  },
  {
    id: 'whatif',
    name: 'What if',
    place: 'drawer',
    lacks: ({ events, device, has_ops }) =>
      device < 0
        ? 'Pinned host memory has another allocator: its requests cannot be run again.'
        : has_ops
          ? `${noSegments} A run could not be compared with it.`
          : events > 0
            ? undefined
            : 'No events of this device: there are no requests that could be run again.',
    load: () => import('./whatif/panel.ts'),
  },
  { id: 'fit', name: 'Fit', place: 'drawer', needs: [], load: () => import('./fit/panel.ts') },
  {
    id: 'source',
    name: 'Source',
    place: 'drawer',
    lacks: ({ has_stacks, events }) =>
      has_stacks || events === 0 ? undefined : 'No event has a stack: no line of source is known.',
    load: () => import('./source/panel.ts'),
  },
  {
    id: 'settings',
    name: 'Settings',
    place: 'drawer',
    lacks: ({ settings }, { damaged }) =>
      settings !== null && Object.keys(settings ?? {}).length > 0
        ? undefined
        : damaged
          ? 'What was read of the file does not say how the allocator was set.'
          : 'The file does not say how the allocator was set. Newer versions of PyTorch write it in allocator_settings.',
    load: () => import('./settings/panel.ts'),
  },
  {
    id: 'ops',
    name: 'Ops',
    place: 'drawer',
    isFor: ({ has_ops }, { trace }) => has_ops || trace,
    lacks: ({ has_ops }, { trace }) =>
      has_ops || trace
        ? undefined
        : 'This is no trace of a profiler: it names no ops. Stacks say who asked for memory.',
    load: () => import('./ops/panel.ts'),
  },
  {
    id: 'series',
    name: 'Counters',
    place: 'drawer',
    isFor: ({ has_series }) => has_series,
    lacks: ({ has_series }) =>
      has_series ? undefined : 'The file has no counters over time besides what the timeline shows.',
    load: () => import('./series/panel.ts'),
  },
] as const satisfies readonly Panel[];

export type PanelId = (typeof panels)[number]['id'];
/** The timeline is there always; beside a main panel it is a strip. */
export type MainId = 'timeline' | PanelId;

export function panelOf(id: string): Panel | undefined {
  return panels.find((one) => one.id === id);
}

/** Tabs of panels that a file of this kind can have. */
export function tabsFor<T extends { id: string }>(
  tabs: readonly T[],
  info: ViewInfo,
  around: Around,
): readonly T[] {
  return tabs.filter(({ id }) => panelOf(id)?.isFor?.(info, around) ?? true);
}

/** Why a panel has nothing to show of a view; undefined = it has, or there is no such panel. */
export function lacking(id: string, info: ViewInfo, around: Around): string | undefined {
  return panelOf(id)?.lacks?.(info, around);
}

const at = (place: Panel['place']): readonly { id: PanelId; name: string }[] =>
  panels.filter((one) => one.place === place);

/** Each with the key that opens it; 5 is that of the first answer. */
export const mainTabs: readonly { id: MainId; name: string; key: string }[] = [
  { id: 'timeline', name: 'Timeline', key: '1' },
  ...at('main').map(({ id, name }, index) => ({ id, name, key: index < 3 ? String(index + 2) : '' })),
];
/** Beside the picture, then below it. */
export const answerTabs: readonly { id: PanelId; name: string; key: string }[] = [
  ...at('side'),
  ...at('drawer'),
].map(({ id, name }, index) => ({ id, name, key: index < 6 ? String((index + 5) % 10) : '' }));

export function isBeside({ id }: { id: string }): boolean {
  return panelOf(id)?.place === 'side';
}
