import { css } from 'lit';

export const styles = css`
  :host {
    display: block;
    padding: 0 16px 16px;
    overflow: auto;
    font-size: 13px;
    line-height: 1.45;
  }
  .columns {
    display: grid;
    grid-template-columns: minmax(260px, 340px) minmax(0, 1fr);
    gap: 8px 32px;
    align-items: start;
  }
  .columns > * {
    min-width: 0;
  }
  /* The buttons and what came of them stay while one reads the rest. */
  .asked {
    position: sticky;
    top: 0;
    z-index: 1;
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 4px 20px;
    padding: 8px 0;
    border-bottom: 1px solid var(--line);
    background: var(--surface);
  }
  .asked .button {
    height: 28px;
  }
  .outcome {
    flex: 1 1 320px;
    min-width: 0;
    font-size: 13px;
    overflow-wrap: anywhere;
  }
  .outcome p:first-child {
    margin-top: 0;
  }
  @container (max-width: 720px) {
    .columns {
      grid-template-columns: minmax(0, 1fr);
    }
  }
  p {
    margin: 6px 0;
  }
  .fidelity[data-exact='false'] strong {
    color: var(--warn);
  }
  .dim,
  details,
  .key {
    color: var(--dim);
  }
  details ul {
    margin: 4px 0;
    padding-left: 20px;
  }
  .bad,
  .wrong {
    color: var(--bad);
  }
  .fields {
    display: grid;
    gap: 8px;
  }
  label {
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
  input[name='filter'] {
    font-family: var(--mono);
    font-size: 12px;
  }
  .pair {
    display: grid;
    grid-template-columns: minmax(0, 1fr) 72px;
    gap: 8px;
    align-items: start;
  }
  .checks {
    display: flex;
    flex-wrap: wrap;
    gap: 4px 16px;
  }
  .checks label {
    display: flex;
    gap: 6px;
    align-items: center;
    min-height: 24px;
    color: var(--text);
    font-size: 13px;
  }
  .buttons,
  .ways {
    display: flex;
    flex-wrap: wrap;
    gap: 8px 16px;
  }
  .buttons {
    gap: 8px;
  }
  [aria-invalid='true'] {
    border-color: var(--bad);
  }
  .wrong {
    display: block;
    font-size: 12px;
    overflow-wrap: anywhere;
  }
  mark {
    background: var(--bad-soft);
    color: var(--bad);
    text-decoration: underline wavy;
  }
  .link {
    padding: 0;
    border: 0;
    background: none;
    color: var(--accent);
    text-align: left;
    text-decoration: underline;
    cursor: pointer;
  }
  .link:disabled {
    color: var(--dim);
    cursor: not-allowed;
  }
  h2 {
    margin: 8px 0 4px;
    font-size: 13px;
    overflow-wrap: anywhere;
  }
  .says {
    max-width: 90ch;
  }
  .plot {
    max-width: 900px;
    margin: 8px 0;
  }
  svg.scatter {
    display: block;
    width: 100%;
    height: 160px;
    border: 1px solid var(--line);
    background: var(--bg);
  }
  circle {
    fill: var(--accent);
    stroke: var(--surface);
    stroke-width: 1.5;
    cursor: pointer;
  }
  circle.recorded {
    fill: var(--reserved);
    cursor: default;
  }
  circle.fails {
    fill: var(--bad);
  }
  .key {
    display: flex;
    flex-wrap: wrap;
    gap: 2px 16px;
    margin: 2px 0 0;
    font-size: 12px;
  }
  .key span::before {
    content: '';
    display: inline-block;
    width: 12px;
    height: 3px;
    margin-right: 6px;
    vertical-align: middle;
    background: var(--accent);
  }
  .key .recorded::before {
    background: var(--reserved);
  }
  .key .fails::before {
    background: var(--bad);
  }
  table {
    max-width: 900px;
  }
  progress {
    width: 160px;
    vertical-align: middle;
  }
`;
