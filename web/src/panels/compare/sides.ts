// The two sides of a comparison: which file, which moment of it.
import { formatCount } from '../../base/format.ts';
import type { EngineView, ViewInfo } from '../../../engine/index.ts';
import type { PanelFile, PanelPage } from '../panel.ts';

export type MomentName = 'start' | 'peak' | 'end' | 'oom' | 'chosen';

/** A file as it is kept: its name, which is its own among the open ones. */
export interface SideChoice {
  file: string | undefined;
  moment: MomentName | undefined;
}
export interface Side extends PanelFile {
  moment: MomentName;
  /** After which event; -1 = before the first. */
  event: number;
}

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
  if (info.events === 0) return [['end', 'when it was saved']];
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

/** Two files at their peaks; one file from its start to its end. */
export function sidesOf(
  page: PanelPage,
  before: SideChoice,
  after: SideChoice,
): { before: Side; after: Side } {
  const { files, view, event } = page;
  const shown = files.find((one) => one.view === view) ?? { name: '', view };
  const at = files.indexOf(shown);
  const other = files[at > 0 ? at - 1 : 1] ?? shown;
  const side = (choice: SideChoice, usual: PanelFile, moments: readonly MomentName[]): Side => {
    const file = files.find(({ name }) => name === choice.file) ?? usual;
    const possible = momentsOf(file.view, page).map(([name]) => name);
    const moment =
      [choice.moment, ...moments, possible[0]].find((one) => one !== undefined && possible.includes(one)) ??
      'end';
    return { ...file, moment, event: eventOf(moment, file.view, event) };
  };
  const alone = (choice: SideChoice): boolean => (choice.file ?? other.name) === (after.file ?? shown.name);
  return {
    before: side(before, other, alone(before) ? ['start'] : ['peak', 'end']),
    after: side(after, shown, alone(before) ? ['end'] : ['peak', 'end']),
  };
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
