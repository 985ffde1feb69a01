import { css } from 'lit';

export const styles = css`
  :host {
    display: block;
    padding: 8px 16px 16px;
    overflow: auto;
    font-size: 13px;
    line-height: 1.45;
  }
  .columns {
    display: grid;
    grid-template-columns: minmax(280px, 400px) minmax(0, 1fr);
    gap: 8px 32px;
    align-items: start;
  }
  .columns > * {
    min-width: 0;
  }
  @container (max-width: 760px) {
    .columns {
      grid-template-columns: minmax(0, 1fr);
    }
  }
  .fields {
    display: grid;
    gap: 10px;
  }
  .empty {
    max-width: 70ch;
  }
  p {
    margin: 6px 0;
  }
  .dim,
  details {
    color: var(--dim);
  }
  .bad,
  .wrong {
    color: var(--bad);
    overflow-wrap: anywhere;
  }
  .wrong {
    display: block;
    font-size: 12px;
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
  .says {
    max-width: 90ch;
    overflow-wrap: anywhere;
  }
  h2 {
    margin: 16px 0 4px;
    font-size: 13px;
    font-weight: 600;
  }
  .fields label:not(.file) {
    display: grid;
    gap: 2px;
    color: var(--dim);
    font-size: 12px;
  }
  label .field {
    width: 100%;
    color: var(--text);
    font-size: 13px;
  }
  input[name='conf'],
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
  .file {
    display: flex;
    gap: 6px;
    align-items: center;
    min-height: 28px;
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
  .buttons {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
  }
  [aria-invalid='true'] {
    border-color: var(--bad);
  }
  progress {
    width: 120px;
    vertical-align: middle;
  }
  .results table {
    max-width: 900px;
  }
`;
