// How lanes of ops look around their canvases.
import { css } from 'lit';

export const lanesStyles = css`
  :host {
    position: relative;
    display: block;
    flex: none;
    z-index: 3;
    border-bottom: 1px solid var(--line);
  }
  .scroller {
    max-height: min(240px, 34cqh);
    overflow: hidden auto;
    scrollbar-width: thin;
  }
  .head {
    display: flex;
    align-items: center;
    gap: 6px;
    width: 100%;
    height: 22px;
    padding: 0 12px;
    border: 0;
    background: var(--surface);
    color: var(--text);
    font-size: 11.5px;
    text-align: left;
    white-space: nowrap;
    overflow: hidden;
    text-overflow: ellipsis;
    cursor: pointer;
  }
  .head:hover {
    background: var(--hover);
  }
  .head:focus-visible {
    outline-offset: -2px;
  }
  .dim {
    color: var(--dim);
    overflow: hidden;
    text-overflow: ellipsis;
  }
  canvas {
    display: block;
    width: 100%;
    cursor: pointer;
    touch-action: none;
  }
  canvas:focus-visible {
    outline-offset: -2px;
  }
  .note {
    margin: 0;
    padding: 2px 12px;
    color: var(--dim);
    font-size: 11.5px;
  }
  @media print {
    .scroller {
      max-height: none;
    }
  }
`;
