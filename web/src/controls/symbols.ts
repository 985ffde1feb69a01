// Small line drawings for buttons; the button carries the label.
import { html, svg, type SVGTemplateResult, type TemplateResult } from 'lit';

const symbol = (paths: SVGTemplateResult): TemplateResult =>
  html`<svg class="symbol" viewBox="0 0 16 16" aria-hidden="true">${paths}</svg>`;

export const symbols = {
  copy: symbol(
    svg`<rect x="5.5" y="5.5" width="8" height="8" rx="1.5" /><path d="M10.5 3.5v-.2c0-.7-.6-1.3-1.3-1.3H3.8C3 2 2.5 2.6 2.5 3.3v5.4c0 .7.6 1.3 1.3 1.3H4" />`,
  ),
  done: symbol(svg`<path d="m3 8.5 3.2 3.2L13 4.8" />`),
  close: symbol(svg`<path d="m4 4 8 8M12 4l-8 8" />`),
  up: symbol(svg`<path d="m4 10 4-4 4 4" />`),
  down: symbol(svg`<path d="m4 6 4 4 4-4" />`),
  right: symbol(svg`<path d="m6 4 4 4-4 4" />`),
  plus: symbol(svg`<path d="M8 3.5v9M3.5 8h9" />`),
  minus: symbol(svg`<path d="M3.5 8h9" />`),
  fit: symbol(svg`<path d="M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10" />`),
  box: symbol(
    svg`<rect x="2.5" y="2.5" width="8" height="8" rx="1" stroke-dasharray="2.2 1.8" /><path d="m10.5 10.5 3 3" />`,
  ),
  sun: symbol(
    svg`<circle cx="8" cy="8" r="3" /><path d="M8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1" />`,
  ),
  moon: symbol(svg`<path d="M13.3 9.6A5.6 5.6 0 0 1 6.4 2.7a5.6 5.6 0 1 0 6.9 6.9Z" />`),
  alert: symbol(svg`<path d="M8 1.8 14.8 14H1.2L8 1.8ZM8 6.4v3.6M8 12v.1" />`),
  search: symbol(svg`<circle cx="7" cy="7" r="4.2" /><path d="m10.3 10.3 3.2 3.2" />`),
  link: symbol(
    svg`<path d="M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.2-2.2A2.6 2.6 0 0 0 9 3.3l-.8.8M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.3 9A2.6 2.6 0 0 0 7 12.7l.8-.8" />`,
  ),
  save: symbol(svg`<path d="M8 2v8M4.8 7 8 10.2 11.2 7M2.5 12v1.5h11V12" />`),
  info: symbol(svg`<circle cx="8" cy="8" r="6" /><path d="M8 7.4v3.6M8 5v.1" />`),
  ruler: symbol(
    svg`<rect x="1.5" y="5.5" width="13" height="5" rx="1" /><path d="M4.5 5.5v2M8 5.5v2.6M11.5 5.5v2" />`,
  ),
  pin: symbol(svg`<path d="M6 2h4l-.5 4.2 2 2.3H4.5l2-2.3L6 2ZM8 8.6V14" />`),
};
