// Moments of open files, and names for the files: what panels offer that look at more than one.
import { formatCount } from '../base/format.ts';
import type { EngineView, ViewInfo } from '../../engine/index.ts';
import type { PanelFile, PanelPage } from './panel.ts';

export const momentNames = ['start', 'peak', 'end', 'oom', 'chosen'] as const;
export type MomentName = (typeof momentNames)[number];

const lastOf = ({ events }: ViewInfo): number => events - 1;

export function eventOf(moment: MomentName, view: EngineView, chosen: number): number {
  const { info } = view;
  switch (moment) {
    case 'start':
      return -1;
    case 'peak':
      return Math.min(info.peak.event, lastOf(info));
    case 'end':
      return lastOf(info);
    case 'oom':
      return info.oom_events.at(-1) ?? lastOf(info);
    case 'chosen':
      return Math.min(chosen, lastOf(info));
  }
}

/** Those that mean something for the file. Only that of the shown file can be chosen in the timeline. */
export function momentsOf(view: EngineView, { view: shown, event }: PanelPage): [MomentName, string][] {
  const { info } = view;
  if (!info.has_history) return [['end', 'when it was saved']];
  return [
    ['start', 'at the start'],
    ['peak', 'at the peak'],
    ...(info.oom_events.length > 0 ? [['oom', 'out of memory'] as [MomentName, string]] : []),
    ['end', 'at the end'],
    ...(view === shown
      ? [
          ['chosen', `at the moment, ${event < 0 ? 'the start' : `event ${formatCount(event)}`}`] as [
            MomentName,
            string,
          ],
        ]
      : []),
  ];
}

/** What tells names apart, without the folders that all have in common. */
export function shortNames(files: readonly PanelFile[]): string[] {
  const names = files.map(({ name }) => name);
  let common = 0;
  const [first = ''] = names;
  while (common < first.length && names.every((name) => name[common] === first[common])) common += 1;
  const cut = Math.max(first.lastIndexOf('/', common - 1), first.lastIndexOf('_', common - 1)) + 1;
  return names.length < 2 || cut === 0 ? names : names.map((name) => `…${name.slice(cut)}`);
}
