// The look of the flame graph.
import { css } from 'lit';
import { tipStyles } from '../../controls/piece_styles.ts';

export const graphStyles = css`
  ${tipStyles}
  :host {
    position: relative;
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
  }
  .space {
    position: absolute;
    top: 0;
    width: 1px;
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
    print-color-adjust: exact;
    filter: var(--on-paper, none);
  }
  .hint {
    margin-left: auto;
  }
`;
