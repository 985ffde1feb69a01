// A name that is shortened in its middle: what tells names apart is mostly at their ends.
import { css, html, type TemplateResult } from 'lit';

const tail = 14; // letters that are seen whole, if there is room
const head = 4; // letters at least, with room for the first one and an ellipsis

/** In an element of class `middle`. */
export function middle(name: string): TemplateResult {
  if (name.length <= tail) return html`<span>${name}</span>`;
  const at = Math.max(name.length - tail, head);
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
  /* The head gives way first, but for an ellipsis; then the tail loses its beginning right behind that. */
  .middle span:not(:last-child) {
    flex-shrink: 10000;
    min-width: 1.6em;
    text-align: end;
  }
  .middle span + span {
    display: flex;
    justify-content: flex-end;
  }
`;
