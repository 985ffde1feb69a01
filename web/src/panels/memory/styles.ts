// The look of who holds memory.
import { css } from 'lit';
import { groupStyles } from '../../controls/piece_styles.ts';

export const styles = css`
  ${groupStyles}
  :host {
    font-size: 12.5px;
    font-variant-numeric: tabular-nums;
  }
  .bar {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 12px;
    flex: none;
    padding: 6px 12px;
    border-bottom: 1px solid var(--line);
  }
  .moment,
  .rules {
    color: var(--dim);
    font-size: 12px;
  }
  .rules {
    display: inline-flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px;
    margin-left: auto;
  }
  .table {
    flex: 1;
    min-height: 0;
    overflow: auto;
  }
  table {
    width: 100%;
    border-collapse: collapse;
  }
  th {
    position: sticky;
    top: 0;
    z-index: 1;
    background: var(--surface);
    color: var(--dim);
    font-weight: 500;
    text-align: left;
  }
  th,
  td {
    height: 24px;
    padding: 0 6px;
    white-space: nowrap;
  }
  th:first-child,
  td:first-child {
    padding-left: 12px;
  }
  .number {
    min-width: 64px;
    text-align: right;
  }
  .share {
    min-width: 132px;
    text-align: right;
  }
  td.share {
    padding-left: 12px;
  }
  .meter {
    position: relative;
    float: left;
    width: 64px;
    height: 8px;
    margin-top: 4px;
    border-radius: 2px;
    background: var(--hover);
    overflow: hidden;
  }
  .meter i {
    position: absolute;
    inset: 0 auto 0 0;
    min-width: 1px;
    background: var(--accent);
  }
  .faded .meter i {
    opacity: 0.35;
  }
  .meter i.lit {
    box-shadow: inset 0 -3px var(--reserved);
    background: none;
  }
  .who {
    max-width: 0;
    width: 100%;
    padding-right: 12px;
  }
  .who button {
    display: block;
    max-width: 100%;
    min-height: 24px;
    padding: 0;
    border: 0;
    overflow: hidden;
    background: none;
    text-align: left;
    text-overflow: ellipsis;
    cursor: pointer;
  }
  .who button:hover {
    text-decoration: underline;
    text-underline-offset: 2px;
  }
  tr:hover td {
    background: var(--hover);
  }
  tr.chosen td {
    background: var(--accent-soft);
  }
  tr.faded .who {
    color: var(--dim);
  }
  p {
    margin: 8px 12px;
    color: var(--dim);
  }
  p[role='alert'] {
    color: var(--bad);
  }
`;
