// A few words beside what the pointer or the keyboard is on.
import { css, html, type TemplateResult } from 'lit';
import type { CssPx } from '../base/units.ts';

/** `x` of `width` along the box that holds it: it never leaves the box. `y`: its upper edge there. */
export function tip(x: CssPx, width: CssPx, y: CssPx, lines: readonly string[]): TemplateResult {
  const part = Math.min(Math.max((100 * x) / Math.max(width, 1), 0), 100);
  const place = `left: ${part}%; top: ${y}px; transform: translateX(-${part}%)`;
  const [title, ...rest] = lines;
  return html`<div class="tip" aria-hidden="true" .style=${place}>
    <b>${title}</b>${rest.map((line) => html`<span>${line}</span>`)}
  </div>`;
}

export const tipStyles = css`
  .tip {
    position: absolute;
    z-index: 4;
    display: grid;
    gap: 2px;
    width: max-content;
    max-width: min(420px, 100%);
    padding: 6px 10px;
    border: 1px solid var(--line-strong);
    border-radius: 6px;
    background: var(--raised);
    box-shadow: var(--shadow);
    color: var(--dim);
    font-size: 12px;
    font-variant-numeric: tabular-nums;
    overflow-wrap: anywhere;
    pointer-events: none;
  }
  .tip b {
    color: var(--text);
    font-weight: 600;
  }
`;
