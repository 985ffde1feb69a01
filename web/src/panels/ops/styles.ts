// The look of the op table.
import { css } from 'lit';

export const opsStyles = css`
  :host {
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
  gpustrata-sheet {
    --sheet-width: 1132px;
    flex: 1;
    border-top: 1px solid var(--line);
  }
`;
