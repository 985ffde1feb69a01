// The look of a sheet (sheet.ts): `--row` is the height of a row, `--columns` the widths.
import { css } from 'lit';

export const sheetStyles = css`
  :host {
    font-size: 12.5px;
    font-variant-numeric: tabular-nums;
  }
  .scroller {
    flex: 1;
    min-height: 0;
    overflow: auto;
    overflow-anchor: none;
  }
  .scroller:focus-visible {
    outline-offset: -2px;
  }
  .heads {
    position: sticky;
    top: 0;
    z-index: 2;
    min-width: var(--sheet-width, 100%);
    border-bottom: 1px solid var(--line);
    background: var(--bg);
    color: var(--dim);
  }
  .bar {
    position: relative;
    min-width: var(--sheet-width, 100%);
    overflow: clip;
  }
  .rows {
    position: absolute;
    inset: 0 0 auto 0;
  }
  [role='row'] {
    display: grid;
    grid-template-columns: var(--columns);
    height: var(--row);
    line-height: calc(var(--row) - 1px);
  }
  .rows > .row {
    border-bottom: 1px solid var(--line);
    background: var(--surface);
    cursor: pointer;
  }
  .rows > .row:hover {
    background: var(--hover);
  }
  .rows > .row[aria-selected='true'],
  .rows > .row.lit {
    background: var(--accent-soft);
  }
  .rows > .row.current {
    box-shadow: inset 2px 0 var(--accent);
  }
  .rows > .row.framed.current {
    box-shadow: inset 0 0 0 2px var(--accent);
  }
  [role='columnheader'],
  [role='gridcell'] {
    min-width: 0;
    padding: 0 8px;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .number,
  .first {
    text-align: right;
  }
  .first {
    position: sticky;
    left: 0;
    z-index: 1;
    background: inherit;
    font-weight: 500;
  }
  .name.first {
    text-align: left;
  }
  .heads > [role='row'] {
    background: inherit;
  }
  .dim,
  small {
    color: var(--dim);
  }
  .odd,
  .negative,
  .why {
    color: var(--warn);
  }
  .odd {
    font-weight: 650;
  }
  .why {
    margin-left: 10px;
    font-size: 11.5px;
  }
  small {
    font-size: 11.5px;
  }
  .share {
    position: relative;
    text-align: right;
  }
  .share i {
    position: absolute;
    inset: 4px auto 4px 0;
    border-radius: 2px;
    background: var(--accent-soft);
  }
  [aria-selected='true'] .share i {
    background: var(--surface);
  }
  .share b {
    position: relative;
    font-weight: 400;
  }
  .time:empty {
    padding: 0;
  }
  .pinned .name {
    font-weight: 700;
    text-decoration: underline;
    text-underline-offset: 2px;
  }
  .segment .action {
    color: var(--reserved);
  }
  .oom {
    color: var(--bad);
    font-weight: 600;
  }
  .follows .action {
    padding-left: 14px;
    color: var(--dim);
  }
  .follows .action::before {
    content: '└ ';
  }
  .mark {
    float: left;
    width: 7px;
    height: 9px;
    margin-top: 8px;
    background: var(--accent);
    clip-path: polygon(0 0, 100% 50%, 0 100%);
  }
  .twist {
    display: inline-block;
    width: 18px;
  }
  [role='row'] button {
    max-width: 100%;
    min-height: calc(var(--row) - 2px);
    padding: 0;
    border: 0;
    overflow: hidden;
    background: none;
    color: inherit;
    text-overflow: ellipsis;
    cursor: pointer;
  }
  [role='row'] button:hover,
  [role='row'] button[aria-pressed='true'] {
    color: var(--text);
  }
  [role='row'] .link {
    color: var(--accent);
  }
  [role='row'] .link:hover {
    color: var(--accent);
    text-decoration: underline;
  }
  p {
    margin: 8px 12px;
    color: var(--dim);
  }
`;
