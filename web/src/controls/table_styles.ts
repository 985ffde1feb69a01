// A table in a box that scrolls, its head staying in sight.
import { css } from 'lit';

export const tableStyles = css`
  .scroller {
    overflow: auto;
    border: 1px solid var(--line);
    border-radius: 6px;
  }
  .scroller:focus-visible {
    outline-offset: -2px;
  }
  table {
    width: 100%;
    border-collapse: collapse;
    font-variant-numeric: tabular-nums;
  }
  th {
    position: sticky;
    top: 0;
    background: var(--bg);
    color: var(--dim);
    font-weight: 500;
    text-align: left;
  }
  th,
  td {
    padding: 3px 12px;
    white-space: nowrap;
  }
  tbody tr + tr td {
    border-top: 1px solid var(--line);
  }
`;
