// The look of the op table.
import { css } from 'lit';

export const opsStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
    font-size: 12.5px;
  }
  .choices {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 12px;
    padding: 6px 12px;
  }
  .choices .field {
    height: 24px;
    font-size: 12px;
  }
  .choices .dim {
    flex: 1 1 260px;
    min-width: 0;
    font-size: 12px;
  }
  .dim {
    color: var(--dim);
  }
  p {
    margin: 0;
    padding: 4px 12px;
  }
  .sums {
    color: var(--dim);
    font-variant-numeric: tabular-nums;
  }
  .sums b {
    color: var(--text);
    font-weight: 600;
    white-space: nowrap;
  }
  .scroller {
    flex: 1;
    min-height: 0;
    overflow: auto;
    overflow-anchor: none;
    border-top: 1px solid var(--line);
  }
  .bar {
    position: relative;
    min-width: 960px;
    overflow: hidden;
  }
  .rows {
    position: absolute;
    inset: 0 0 auto 0;
  }
  .head,
  .row {
    display: flex;
    align-items: center;
    height: 24px;
    min-width: 960px;
    font-variant-numeric: tabular-nums;
  }
  .head {
    position: sticky;
    top: 0;
    z-index: 1;
    border-bottom: 1px solid var(--line);
    background: var(--bg);
    color: var(--dim);
  }
  .row {
    border-bottom: 1px solid var(--line);
    cursor: pointer;
  }
  .row:hover {
    background: var(--hover);
  }
  .row.lit {
    background: var(--accent-soft);
  }
  .scroller:focus-visible .row.current {
    box-shadow: inset 2px 0 0 var(--accent);
    background: var(--hover);
  }
  .number {
    flex: 0 0 108px;
    min-width: 0;
    padding: 0 8px;
    text-align: right;
    white-space: nowrap;
  }
  .calls {
    flex-basis: 68px;
    color: var(--dim);
  }
  .negative {
    color: var(--warn);
  }
  .name {
    flex: 1;
    min-width: 0;
    padding: 0 12px;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .why {
    margin-left: 10px;
    color: var(--warn);
    font-size: 11.5px;
  }
  .sort {
    height: 23px;
    padding: 0;
    border: 0;
    background: none;
    color: inherit;
    cursor: pointer;
  }
  .sort:hover,
  .sort[aria-pressed='true'] {
    color: var(--text);
  }
  .twist {
    display: inline-block;
    width: 18px;
    padding: 0;
    border: 0;
    background: none;
    color: var(--dim);
    text-align: left;
    cursor: pointer;
  }
`;
