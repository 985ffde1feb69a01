// Memory by how much of its segment is free, instead of by its blocks: the choice, and what the shades mean.
import { css, html, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import type { Theme } from '../draw/colors.ts';
import { shadesOfFree } from '../draw/palettes.ts';

export type Colouring = 'blocks' | 'free';

const names: Record<Colouring, string> = { blocks: 'Blocks', free: 'Free share' };

export function chooseColouring(
  label: string,
  value: Colouring,
  choose: (colouring: Colouring) => void,
): TemplateResult {
  return html`<select
    class="field"
    aria-label=${label}
    .value=${live(value)}
    @change=${(event: Event) => choose((event.target as HTMLSelectElement).value as Colouring)}>
    ${(['blocks', 'free'] as const).map((one) => html`<option value=${one} ?selected=${one === value}>${names[one]}</option>`)}
  </select>`;
}

export function legendOfFree(theme: Theme): TemplateResult {
  return html`nothing free<i
      class="ramp"
      .style=${`background: linear-gradient(to right, ${shadesOfFree(theme).join()})`}></i
    >all free`;
}

export const rampStyles = css`
  .legend i.ramp {
    width: 72px;
    height: 10px;
    margin: 0 6px;
    border: 0;
    border-radius: 2px;
  }
`;
