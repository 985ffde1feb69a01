// The look of a table (table.ts).
import { css } from 'lit';

export const tableStyles = css`
  .scroll {
    overflow-x: auto;
  }
  table {
    width: 100%;
    border-collapse: collapse;
    font-variant-numeric: tabular-nums;
  }
  th,
  td {
    padding: 4px 12px 4px 0;
    border-bottom: 1px solid var(--line);
    font-weight: 400;
    text-align: left;
    vertical-align: baseline;
  }
  thead th {
    color: var(--dim);
    font-size: 12px;
    white-space: nowrap;
  }
  .number {
    text-align: right;
    white-space: nowrap;
  }
  .framed {
    overflow: auto;
    border: 1px solid var(--line);
    border-radius: 6px;
  }
  .framed:focus-visible {
    outline-offset: -2px;
  }
  .framed th,
  .framed td {
    padding: 3px 12px;
    white-space: nowrap;
  }
  .framed thead th {
    position: sticky;
    top: 0;
    background: var(--bg);
    font-weight: 500;
  }
  .framed tr:last-child td {
    border-bottom: 0;
  }
  @media print {
    .scroll {
      overflow: visible;
    }
  }
`;
