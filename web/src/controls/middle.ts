// A name that is shortened in its middle: what tells names apart is mostly at their ends.
import { css, html, type TemplateResult } from 'lit';

const tail = 14; // letters that are always seen

/** In an element of class `middle`. */
export function middle(name: string): TemplateResult {
  const at = name.length - tail;
  if (at <= 0) return html`<span>${name}</span>`;
  const end = name[at] === ' ' ? at + 1 : at;
  return html`<span>${name.slice(0, end)}</span><span>${name.slice(end)}</span>`;
}

export const middleStyles = css`
  .middle {
    display: flex;
    min-width: 0;
    white-space: pre;
  }
  .middle span {
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .middle span + span {
    flex: none;
  }
`;
