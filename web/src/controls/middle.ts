// A name that is shortened in its middle: what tells names apart is mostly at their ends.
import { css, html, type TemplateResult } from 'lit';

const tail = 14; // letters that are always seen

/** In an element of class `middle`. */
export function middle(name: string): TemplateResult {
  return html`<span>${name.slice(0, -tail)}</span><span>${name.slice(-tail)}</span>`;
}

export const middleStyles = css`
  .middle {
    display: flex;
    min-width: 0;
    white-space: pre;
  }
  .middle span:first-child {
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .middle span:last-child {
    flex: none;
  }
`;
