// The look of the table of frames; its rows are as high as `--row` says.
import { css } from 'lit';

export const tableStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
    font-size: 12.5px;
    font-variant-numeric: tabular-nums;
  }
  .grid {
    display: flex;
    flex: 1;
    flex-direction: column;
    min-height: 0;
  }
  .head,
  .row {
    display: flex;
    align-items: center;
    gap: 12px;
    height: var(--row);
    padding: 0 12px;
    white-space: nowrap;
  }
  .head {
    flex: none;
    border-bottom: 1px solid var(--line);
    color: var(--dim);
  }
  .head button {
    padding: 0;
    border: 0;
    background: none;
    color: inherit;
    font-weight: 500;
    cursor: pointer;
  }
  .head button:hover {
    color: var(--text);
  }
  .number {
    flex: 0 0 92px;
    text-align: right;
  }
  .share {
    position: relative;
    flex: 0 0 96px;
    text-align: right;
  }
  .share i {
    position: absolute;
    inset: 4px auto 4px 0;
    border-radius: 2px;
    background: var(--accent-soft);
  }
  .share b {
    position: relative;
    font-weight: 400;
  }
  .name {
    flex: 1;
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .name small {
    color: var(--dim);
    font-size: 11.5px;
  }
  .scroller {
    position: relative;
    flex: 1;
    min-height: 48px;
    overflow: hidden auto;
    overflow-anchor: none;
  }
  .scroller:focus-visible {
    outline-offset: -2px;
  }
  .window {
    position: sticky;
    top: 0;
    height: 100%;
    overflow: hidden;
  }
  .row {
    position: absolute;
    top: 0;
    left: 0;
    width: 100%;
    cursor: pointer;
  }
  .row:hover {
    background: var(--hover);
  }
  .row[data-current] {
    box-shadow: inset 2px 0 var(--accent);
  }
  .row[aria-selected='true'] {
    background: var(--accent-soft);
  }
  .row[aria-selected='true'] .share i {
    background: var(--surface);
  }
  p {
    margin: 8px 12px;
    color: var(--dim);
  }
  .foot {
    display: flex;
    align-items: center;
    flex: none;
    gap: 8px;
    padding: 3px 12px;
    border-top: 1px solid var(--line);
    color: var(--dim);
    font-size: 12px;
  }
  .foot span[role='status'] {
    flex: 1;
  }
`;
