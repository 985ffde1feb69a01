// What of a fleet is shown: kept with the file, told in links. No DOM: it runs in Node.

export const fleetTables = ['ranks', 'groups', 'stacks'] as const;
export type FleetTable = (typeof fleetTables)[number];

export interface FleetChoice {
  curve: 'allocated' | 'reserved';
  /** Name of a column; empty = the order of the file. */
  sort: string;
  descending: boolean;
  /** Rows stand together by `run`, `host` or a kind of groups (`tp`); empty = they do not. */
  by: string;
  /** Only ranks with this text. */
  find: string;
  /** The chosen row; -1 = none. */
  row: number;
  /** What lights its rows: number of a finding, a group or a stack. */
  lit: { of: 'finding' | 'group' | 'stack'; at: number } | undefined;
  table: FleetTable;
}

export const usualChoice: FleetChoice = {
  curve: 'allocated',
  sort: '',
  descending: false,
  by: '',
  find: '',
  row: -1,
  lit: undefined,
  table: 'ranks',
};

const longest = 200; // letters of a word in a link

/** Its words in a link (model/link.ts); what is as usual is left out. */
export function addFleet(parts: URLSearchParams, choice: FleetChoice): void {
  parts.set('fleet', '1');
  if (choice.curve !== 'allocated') parts.set('curve', choice.curve);
  if (choice.sort !== '') parts.set('sort', (choice.descending ? '-' : '') + choice.sort);
  if (choice.by !== '') parts.set('by', choice.by);
  if (choice.find !== '') parts.set('find', choice.find);
  if (choice.row >= 0) parts.set('row', String(choice.row));
  if (choice.lit) parts.set('lit', `${choice.lit.of} ${choice.lit.at}`);
  if (choice.table !== 'ranks') parts.set('table', choice.table);
}

/** Undefined = the link is not of a fleet. */
export function fleetIn(parts: URLSearchParams): FleetChoice | undefined {
  if (parts.get('fleet') === null) return undefined;
  const text = (name: string): string => (parts.get(name) ?? '').slice(0, longest);
  const whole = (word: string): number => (/^\d{1,9}$/.test(word) ? Number(word) : -1);
  const sort = text('sort');
  const [of, at] = text('lit').split(' ');
  const lit = whole(at ?? '');
  return {
    curve: text('curve') === 'reserved' ? 'reserved' : 'allocated',
    sort: sort.replace(/^-/, ''),
    descending: sort.startsWith('-'),
    by: text('by'),
    find: text('find'),
    row: whole(text('row')),
    lit: lit >= 0 && (of === 'finding' || of === 'group' || of === 'stack') ? { of, at: lit } : undefined,
    table: fleetTables.find((one) => one === text('table')) ?? 'ranks',
  };
}
