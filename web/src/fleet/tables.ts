// Groups of ranks against each other, and who holds memory at the peaks: two tables, whose rows light ranks.
import { html, nothing, type TemplateResult } from 'lit';
import { formatCount, formatShare } from '../base/format.ts';
import { bytesCell, countColumn, tableOf, type TableColumn } from '../controls/table.ts';
import type { FleetChoice } from '../model/fleet_choice.ts';
import type { FleetFacts } from '../model/fleet_facts.ts';
import { rankName } from '../words/fleet_text.ts';

const mostRows = 500;

type Light = (lit: NonNullable<FleetChoice['lit']>) => void;

const dataColumn = <Row>(name: string, of: (row: Row) => number | null): TableColumn<Row> => ({
  name,
  look: 'number',
  cell: (row) => ({ ...bytesCell(of(row)), data: { bytes: of(row) } }),
});

function lightButton(text: string, says: string, lit: boolean, light: () => void): TemplateResult {
  return html`<button class="link" aria-pressed=${lit ? 'true' : 'false'} title=${says} @click=${light}>
    ${text}
  </button>`;
}

function more(count: number): TemplateResult | typeof nothing {
  return count > mostRows
    ? html`<p class="dim">… ${formatCount(count - mostRows)} more are in the file.</p>`
    : nothing;
}

export function groupsTable(facts: FleetFacts, { lit }: FleetChoice, light: Light): TemplateResult {
  const { groups } = facts.fleet;
  if (groups.length === 0)
    return html`<p class="dim">
      No groups are known. <code>gpustrata fleet --groups FILE</code> takes them: tensor parallel, pipeline
      stages, data parallel.
    </p>`;
  const lights = (at: number): boolean => lit?.of === 'group' && lit.at === at;
  const title = ({ kind, name }: (typeof groups)[number]): string => `${kind ?? ''} ${name ?? ''}`;
  return html`${tableOf(groups.slice(0, mostRows), {
    label: 'Groups of ranks',
    framed: true,
    data: { groups: groups.length },
    row: (group, at) => ({ look: lights(at) ? 'lit' : undefined, data: { group: title(group) } }),
    columns: [
      {
        name: 'Group',
        cell: (group, at) =>
          lightButton(title(group), 'Light its ranks', lights(at), () => light({ of: 'group', at })),
      },
      facts.runs > 1 && { name: 'Run', cell: ({ run }) => String(run ?? '') },
      countColumn('Ranks', ({ rows }) => rows),
      dataColumn('Median peak', ({ median_peak }) => median_peak),
      dataColumn('Least', ({ least_peak }) => least_peak),
      dataColumn('Most', ({ most_peak }) => most_peak),
      { name: 'Highest', cell: ({ most_row }) => (most_row === null ? '–' : rankName(facts, most_row)) },
      {
        name: 'Out of memory',
        look: 'number',
        cell: ({ ooms }) => (ooms > 0 ? { text: formatCount(ooms), look: 'bad' } : '–'),
      },
    ],
  })}
  ${more(groups.length)}`;
}

export function stacksTable(facts: FleetFacts, { lit }: FleetChoice, light: Light): TemplateResult {
  const { stacks } = facts.fleet;
  if (stacks.length === 0) return html`<p class="dim">The recordings have no stacks.</p>`;
  const lights = (at: number): boolean => lit?.of === 'stack' && lit.at === at;
  return html`${tableOf(stacks.slice(0, mostRows), {
    label: 'Stacks at the peaks',
    framed: true,
    data: { stacks: stacks.length },
    row: ({ stack }, at) => ({ look: lights(at) ? 'lit' : undefined, data: { stack: stack ?? '' } }),
    columns: [
      {
        name: 'Who holds memory at the peaks',
        cell: ({ who, stack }) => ({ text: who ?? stack ?? '', says: stack ?? '', look: 'who mono' }),
      },
      facts.runs > 1 && { name: 'Run', cell: ({ run }) => String(run ?? '') },
      {
        name: 'Share',
        look: 'number',
        cell: ({ share }) => (share === null ? '–' : formatShare(share, 1)),
      },
      dataColumn('In all', ({ total }) => total),
      countColumn('Ranks', ({ rows }) => rows),
      dataColumn('Median', ({ median }) => median),
      dataColumn('Most', ({ most }) => most),
      {
        name: 'Highest',
        cell: ({ most_row }, at) =>
          most_row === null
            ? '–'
            : lightButton(rankName(facts, most_row), 'Light the rank', lights(at), () =>
                light({ of: 'stack', at }),
              ),
      },
    ],
  })}
  ${more(stacks.length)}`;
}
