// The look of the flame graph.
import { css } from 'lit';

export const graphStyles = css`
  :host {
    position: relative;
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
  }
  .scroller {
    position: relative;
    flex: 1;
    min-height: 40px;
    overflow: hidden auto;
    scrollbar-gutter: stable;
  }
  .scroller:focus-visible {
    outline-offset: -2px;
  }
  canvas {
    position: sticky;
    top: 0;
    display: block;
    width: 100%;
    height: 100%;
    cursor: pointer;
    filter: var(--on-paper, none);
  }
  .space {
    position: absolute;
    top: 0;
    width: 1px;
    pointer-events: none;
  }
  .tip {
    position: absolute;
    z-index: 1;
    max-width: min(460px, 70%);
    padding: 5px 9px;
    border: 1px solid var(--line-strong);
    border-radius: 6px;
    background: var(--raised);
    font-size: 12px;
    font-variant-numeric: tabular-nums;
    line-height: 1.45;
    white-space: pre-line;
    overflow-wrap: anywhere;
    pointer-events: none;
  }
  .problem {
    margin: 12px 16px;
    color: var(--dim);
  }
  .legend {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    flex: none;
    gap: 0 16px;
    min-height: 26px;
    padding: 0 12px;
    border-top: 1px solid var(--line);
    color: var(--dim);
    font-size: 12px;
  }
  .legend span {
    display: inline-flex;
    align-items: center;
    gap: 6px;
  }
  .legend i {
    width: 12px;
    height: 10px;
  }
  .hint {
    margin-left: auto;
  }
`;
