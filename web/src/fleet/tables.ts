// Groups of ranks against each other, and who holds memory at the peaks: two tables, whose rows light ranks.
import { html, nothing, type TemplateResult } from 'lit';
import { formatBytes, formatCount, formatExactBytes, formatShare } from '../base/format.ts';
import type { FleetChoice } from '../model/fleet_choice.ts';
import type { FleetFacts } from '../model/fleet_facts.ts';
import { rankName } from '../words/fleet_text.ts';

const mostRows = 500;

type Light = (lit: NonNullable<FleetChoice['lit']>) => void;

function bytes(value: number | null): TemplateResult {
  return value === null
    ? html`<td class="number">–</td>`
    : html`<td class="number" data-bytes=${value} title=${formatExactBytes(value)}>
        ${formatBytes(value)}
      </td>`;
}

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
  return html`<div class="scroller" tabindex="0" role="region" aria-label="Groups of ranks">
      <table data-groups=${groups.length}>
        <thead>
          <tr>
            <th scope="col">Group</th>
            ${facts.runs > 1 ? html`<th scope="col">Run</th>` : nothing}
            <th scope="col" class="number">Ranks</th>
            <th scope="col" class="number">Median peak</th>
            <th scope="col" class="number">Least</th>
            <th scope="col" class="number">Most</th>
            <th scope="col">Highest</th>
            <th scope="col" class="number">Out of memory</th>
          </tr>
        </thead>
        <tbody>
          ${groups.slice(0, mostRows).map((group, at) => {
            const chosen = lit?.of === 'group' && lit.at === at;
            const { kind, name, run, rows, median_peak, least_peak, most_peak, most_row, ooms } = group;
            return html`<tr class=${chosen ? 'lit' : ''} data-group="${kind ?? ''} ${name ?? ''}">
              <td>
                ${lightButton(`${kind ?? ''} ${name ?? ''}`, 'Light its ranks', chosen, () => light({ of: 'group', at }))}
              </td>
              ${facts.runs > 1 ? html`<td>${run}</td>` : nothing}
              <td class="number">${formatCount(rows)}</td>
              ${bytes(median_peak)}${bytes(least_peak)}${bytes(most_peak)}
              <td>${most_row === null ? '–' : rankName(facts, most_row)}</td>
              <td class="number ${ooms > 0 ? 'bad' : ''}">${ooms > 0 ? formatCount(ooms) : '–'}</td>
            </tr>`;
          })}
        </tbody>
      </table>
    </div>
    ${more(groups.length)}`;
}

export function stacksTable(facts: FleetFacts, { lit }: FleetChoice, light: Light): TemplateResult {
  const { stacks } = facts.fleet;
  if (stacks.length === 0) return html`<p class="dim">The recordings have no stacks.</p>`;
  return html`<div class="scroller" tabindex="0" role="region" aria-label="Stacks at the peaks">
      <table data-stacks=${stacks.length}>
        <thead>
          <tr>
            <th scope="col">Who holds memory at the peaks</th>
            ${facts.runs > 1 ? html`<th scope="col">Run</th>` : nothing}
            <th scope="col" class="number">Share</th>
            <th scope="col" class="number">In all</th>
            <th scope="col" class="number">Ranks</th>
            <th scope="col" class="number">Median</th>
            <th scope="col" class="number">Most</th>
            <th scope="col">Highest</th>
          </tr>
        </thead>
        <tbody>
          ${stacks.slice(0, mostRows).map((one, at) => {
            const chosen = lit?.of === 'stack' && lit.at === at;
            const { who, stack, run, rows, total, share, median, most, most_row } = one;
            return html`<tr class=${chosen ? 'lit' : ''} data-stack=${stack ?? ''}>
              <td class="who mono" title=${stack ?? ''}>${who ?? stack}</td>
              ${facts.runs > 1 ? html`<td>${run}</td>` : nothing}
              <td class="number">${share === null ? '–' : formatShare(share, 1)}</td>
              ${bytes(total)}
              <td class="number">${formatCount(rows)}</td>
              ${bytes(median)}${bytes(most)}
              <td>
                ${
                  most_row === null
                    ? '–'
                    : lightButton(rankName(facts, most_row), 'Light the rank', chosen, () =>
                        light({ of: 'stack', at }),
                      )
                }
              </td>
            </tr>`;
          })}
        </tbody>
      </table>
    </div>
    ${more(stacks.length)}`;
}
