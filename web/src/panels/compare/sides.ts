// The two sides of a comparison: which file, which moment of it.
import type { LinkField } from '../link_field.ts';
import { compare } from '../../model/outliers.ts';
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

/** Microseconds since 1970 in September 2001: clocks that count from elsewhere stay below. */
const wallClock = 1e15;

/** When its recording began, on a clock that other files have too. */
function madeAt({ view }: PanelFile): number | undefined {
  const time = view.info.first_time_us;
  return time !== null && time >= wallClock ? time : undefined;
}
/** Below 0: `a` was made first, or is named so where that is not known. */
function order(a: PanelFile, b: PanelFile): number {
  const [one, other] = [madeAt(a), madeAt(b)];
  return one !== undefined && other !== undefined && one !== other
    ? one - other
    : a.name.localeCompare(b.name, 'en', { numeric: true });
}

/** Of many, one that is like most; undefined = nothing tells them apart. */
function typicalFor(shown: PanelFile, files: readonly PanelFile[]): [PanelFile, PanelFile] | undefined {
  const peaks = files.map(({ view, damaged }) => (damaged ? null : view.info.peak.bytes));
  const { median, odd } = compare(peaks);
  const firstOdd = files[odd.indexOf(true)];
  if (median === null || !firstOdd) return undefined;
  const distance = (at: number): number => Math.abs((peaks[at] ?? 0) - median);
  const usual = files.map((_, at) => at).filter((at) => !odd[at] && !files[at]?.damaged);
  const typical =
    files[usual.reduce((best, at) => (distance(at) < distance(best) ? at : best), usual[0] ?? 0)];
  return typical && [typical, odd[files.indexOf(shown)] ? shown : firstOdd];
}

/** Of devices of one process: one that did not fail, with the highest peak, then one that did; undefined = all did, or none. */
function failedFor(shown: PanelFile, files: readonly PanelFile[]): [PanelFile, PanelFile] | undefined {
  const devices = files.filter(({ view }) => view.engine === shown.view.engine);
  const failed = devices.filter(({ view }) => view.info.oom_events.length > 0);
  const [fullest] = devices
    .filter((one) => !failed.includes(one))
    .sort((a, b) => b.view.info.peak.bytes - a.view.info.peak.bytes);
  const [first] = failed.includes(shown) ? [shown] : failed;
  return fullest && first && [fullest, first];
}

/** Two files in the order in which they were made; of many, one that is like most, then the odd one. */
function usualPair({ files, view }: PanelPage): [PanelFile, PanelFile] {
  const shown = files.find((one) => one.view === view) ?? { name: '', view };
  const at = files.indexOf(shown);
  const other = files[at > 0 ? at - 1 : 1] ?? shown;
  const typical = typicalFor(shown, files);
  if (typical) return typical;
  // Devices of one process are no runs that follow each other; one that ran out of memory is compared with the fullest other.
  if (other.view.engine === view.engine) return failedFor(shown, files) ?? [shown, shown];
  return order(other, shown) > 0 ? [shown, other] : [other, shown];
}

/** Both at their peaks; one file from its start to its end. */
export function sidesOf(
  page: PanelPage,
  before: SideChoice,
  after: SideChoice,
): { before: Side; after: Side } {
  const { files, event } = page;
  const [other, shown] = usualPair(page);
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
