// The line above what lies beside a recording: which file it is, how its clock meets, and how far it is nudged.
import { css, html, nothing, type TemplateResult } from 'lit';
import type { BesideChange, BesideFile } from '../../model/beside/files.ts';

interface BesideLine {
  file: BesideFile;
  /** How it lies to the recording. */
  text: string;
  /** Of several that could lie there. */
  all?: readonly { name: string; hash: string }[];
  more?: TemplateResult | typeof nothing;
}

/** Bubbles up to the viewer. */
export function tellBeside(from: HTMLElement, detail: BesideChange): void {
  from.dispatchEvent(new CustomEvent('beside-change', { detail, bubbles: true, composed: true }));
}

export function besideLineOf(from: HTMLElement, { file, text, all = [], more }: BesideLine): TemplateResult {
  const { hash, name, nudge } = file;
  const nudged = (event: Event): void => {
    const value = (event.target as HTMLInputElement).valueAsNumber;
    if (Number.isFinite(value)) tellBeside(from, { hash, nudge: value });
  };
  return html`<div class="beside">
    ${
      all.length < 2
        ? nothing
        : html`<select
            class="field"
            aria-label="Trace whose ops are drawn"
            data-trace
            @change=${(event: Event) => {
              const chosen = all[(event.target as HTMLSelectElement).selectedIndex];
              if (chosen) tellBeside(from, { hash: chosen.hash, trace: true });
            }}>
            ${all.map((one) => html`<option ?selected=${one.hash === hash}>${one.name}</option>`)}
          </select>`
    }
    <span data-beside=${name}>${text}</span>
    <label
      title="Microseconds that are added to this recording's clock, so that it agrees with that of ${name}"
      >Nudge
      <input
        type="number"
        class="field"
        data-nudge=${name}
        aria-label="Nudge ${name}, in microseconds"
        step="any"
        .value=${String(nudge)}
        @change=${nudged} />
      µs</label
    >
    ${more ?? nothing}
  </div>`;
}

export const besideStyles = css`
  .beside {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 2px 16px;
    padding: 2px 12px;
    color: var(--dim);
    font-size: 11.5px;
  }
  .beside label {
    display: flex;
    align-items: center;
    gap: 4px;
  }
  .beside input,
  .beside select {
    width: 110px;
    height: 22px;
    padding: 0 4px;
    font-size: 11.5px;
  }
  .beside select {
    width: auto;
    max-width: 220px;
  }
`;
