// The two sides of a comparison: which file, which moment of it.
import type { LinkField } from '../link_field.ts';
import { eventOf, momentNames, momentsOf, type MomentName } from '../moments.ts';
import type { PanelFile, PanelPage } from '../panel.ts';

/** A file as it is kept: its name, which is its own among the open ones. */
export interface SideChoice {
  file: string | undefined;
  moment: MomentName | undefined;
}
export const sideField: LinkField<SideChoice> = {
  text: ({ file, moment }) =>
    file === undefined && moment === undefined ? '' : `${moment ?? ''} ${file ?? ''}`,
  value(text) {
    const [, moment = '', file = ''] = /^(\w*) (.*)$/s.exec(text) ?? [];
    if (moment === '' && file === '') return undefined;
    return { moment: momentNames.find((name) => name === moment), file: file === '' ? undefined : file };
  },
};
export interface Side extends PanelFile {
  moment: MomentName;
  /** After which event; -1 = before the first. */
  event: number;
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
