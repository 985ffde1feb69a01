// How the frame of the address map looks; what is inside the canvas is draw/map_rows.ts.
import { css } from 'lit';

export const addressMapStyles = css`
  .head {
    display: flex;
    flex: none;
    flex-wrap: wrap;
    align-items: center;
    gap: 2px 16px;
    padding: 4px 12px;
    border-bottom: 1px solid var(--line);
    font-size: 12px;
  }
  .head label {
    display: inline-flex;
    align-items: center;
    gap: 8px;
    color: var(--dim);
  }
  .head .field {
    height: 26px;
    padding: 0 2px 0 6px;
    font-size: 12px;
  }
  .dim {
    color: var(--dim);
    font-variant-numeric: tabular-nums;
  }
  .legend {
    display: inline-flex;
    align-items: center;
    margin-left: auto;
    white-space: pre;
  }
  .legend i {
    width: 10px;
    height: 10px;
    margin-right: 6px;
    border-radius: 2px;
    background: var(--envelope);
  }
  p {
    margin: 0;
    padding: 12px 16px;
  }
  .scroller {
    position: relative;
    flex: 1;
    min-height: 0;
    overflow-x: hidden;
    overflow-y: auto;
    scrollbar-width: thin;
  }
  .scroller:focus-visible {
    outline-offset: -2px;
  }
  .window {
    position: sticky;
    top: 0;
    height: 100%;
    overflow: clip;
  }
  canvas {
    display: block;
    height: 100%;
    cursor: crosshair;
  }
  .tip {
    position: absolute;
    z-index: 1;
    max-width: 70%;
    padding: 4px 8px;
    border: 1px solid var(--line-strong);
    border-radius: 6px;
    background: var(--raised);
    font-size: 12px;
    font-variant-numeric: tabular-nums;
    pointer-events: none;
  }
  @media print {
    .bar {
      display: none;
    }
  }
  @container (max-width: 520px) {
    .more {
      display: none;
    }
  }
`;
