import { css } from 'lit';

export const styles = css`
  :host {
    --fields: 400px;
  }
  .empty {
    max-width: 70ch;
  }
  [role='status']:not(:empty) {
    margin-bottom: 8px;
  }
  .answer {
    max-width: 110ch;
    margin: 2px 0 8px;
  }
  .answer strong {
    display: block;
    font-size: 16px;
    font-weight: 600;
    overflow-wrap: anywhere;
  }
  h2 {
    margin-top: 16px;
  }
  code {
    font-family: var(--mono);
    font-size: 12px;
  }
  .recordings th,
  .recordings td {
    padding: 3px 8px 3px 0;
    vertical-align: middle;
  }
  .recordings .name {
    display: flex;
    align-items: center;
    gap: 2px;
  }
  .recordings .name .field,
  .recordings td .field {
    width: 84px;
    color: var(--text);
    font-size: 13px;
  }
  .fields .file {
    display: flex;
    gap: 6px;
    align-items: center;
    min-height: 28px;
    color: inherit;
    font-size: inherit;
  }
  .file span {
    overflow-wrap: anywhere;
  }
  [data-included='false'] .file span {
    color: var(--dim);
  }
  .value {
    text-align: right;
    font-variant-numeric: tabular-nums;
  }
  .small-button {
    width: 24px;
    height: 24px;
    padding: 0;
    border: 0;
    border-radius: 4px;
    background: none;
    color: var(--dim);
    cursor: pointer;
  }
  .small-button:hover {
    background: var(--hover);
    color: var(--text);
  }
`;
