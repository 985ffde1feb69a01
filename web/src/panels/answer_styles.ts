// The look of panels that answer in words, tables and bars.
import { css } from 'lit';
import { base } from '../controls/styles.ts';
import { tableStyles } from '../controls/table_styles.ts';

const styles = css`
  ${tableStyles}
  :host {
    display: block;
    overflow: auto;
    font-size: 13px;
    line-height: 1.45;
    font-variant-numeric: tabular-nums;
  }
  .answer {
    padding: 10px 16px 16px;
  }
  p {
    margin: 4px 0 0;
  }
  :host > p {
    color: var(--dim);
  }
  :host > p {
    margin: 16px;
  }
  h2 {
    margin: 0;
    font-size: 13px;
    font-weight: 600;
  }
  h3 {
    margin: 16px 0 4px;
    color: var(--dim);
    font-size: 12px;
    font-weight: 500;
  }
  .columns {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr));
    gap: 4px 32px;
    align-items: start;
  }
  @media print {
    :host {
      overflow: visible;
    }
    .button,
    select,
    input {
      display: none;
    }
  }
  .bad {
    color: var(--bad);
  }
  .code {
    display: flex;
    align-items: center;
    gap: 4px;
    max-width: 560px;
    margin-top: 6px;
    padding: 2px 2px 2px 8px;
    border-radius: 5px;
    background: var(--code);
  }
  code {
    flex: 1;
    min-width: 0;
    font-family: var(--mono);
    font-size: 11.5px;
    overflow-wrap: anywhere;
  }
  summary {
    min-height: 24px;
    cursor: pointer;
  }
  details ol {
    margin: 2px 0 6px;
    padding-left: 16px;
    color: var(--dim);
    font-family: var(--mono);
    font-size: 11.5px;
    list-style: none;
    overflow-wrap: anywhere;
  }
`;

export const answerStyles = [base, styles];
