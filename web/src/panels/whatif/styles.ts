import { css } from 'lit';

export const styles = css`
  :host {
    --fields: 340px;
    padding-top: 0;
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
  .fidelity[data-exact='false'] strong {
    color: var(--warn);
  }
  details ul {
    margin: 4px 0;
    padding-left: 20px;
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
  .fields .checks label {
    display: flex;
    gap: 6px;
    align-items: center;
    min-height: 24px;
    color: var(--text);
    font-size: 13px;
  }
  .ways {
    display: flex;
    flex-wrap: wrap;
    gap: 8px 16px;
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
    color: var(--dim);
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
`;
