// The look of a fleet: what is odd, the picture, the tables.
import { css } from 'lit';

export const fleetStyles = css`
  :host {
    display: block;
    min-width: 0;
    min-height: 0;
    overflow: auto;
    background: var(--surface);
    font-size: 13px;
    line-height: 1.45;
    --heat-height: clamp(260px, 46vh, 1100px);
    --table-height: clamp(260px, 50vh, 900px);
  }
  .column {
    max-width: 2400px;
    margin: 0 auto;
    padding: 16px;
  }
  header {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 4px 16px;
    margin-bottom: 12px;
  }
  h2 {
    margin: 0;
    font-size: 18px;
    letter-spacing: -0.01em;
    overflow-wrap: anywhere;
  }
  section {
    min-width: 0;
    margin-top: 20px;
  }
  .title {
    margin: 0 0 6px;
    font-size: 13px;
    font-weight: 600;
  }
  p {
    margin: 2px 0;
  }
  .says {
    margin: 0 0 12px;
    padding: 8px 12px 8px 28px;
    border-radius: 6px;
    background: var(--warn-soft);
    color: var(--warn);
    overflow-wrap: anywhere;
  }
  details {
    margin: 0 0 12px;
  }
  summary {
    color: var(--dim);
    cursor: pointer;
  }
  .choices {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 6px 14px;
    margin-bottom: 8px;
  }
  .choices label {
    display: inline-flex;
    align-items: center;
    gap: 6px;
    color: var(--dim);
    min-width: 0;
  }
  .choices .field {
    height: 26px;
    min-width: 0;
    max-width: 190px;
    font-size: 12px;
  }
  .choices input {
    width: 170px;
  }
  .under {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 12px;
    min-height: 34px;
    margin-bottom: 6px;
    border-bottom: 1px solid var(--line);
  }
  .under gpustrata-tabs {
    height: 34px;
  }
  .under .end {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 10px;
    margin-left: auto;
    padding-bottom: 4px;
  }
  .under input {
    height: 26px;
    width: 150px;
    font-size: 12px;
  }
  .missing {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 8px 12px;
    margin: 12px 0 0;
    padding: 10px 12px;
    border: 1px solid var(--line-strong);
    border-radius: 6px;
    background: var(--bg);
  }
  .missing p {
    flex: 1 1 320px;
    margin: 0;
    overflow-wrap: anywhere;
  }
  .scroll {
    max-height: var(--table-height);
  }
  table {
    font-size: 12.5px;
  }
  tr.lit td {
    background: var(--accent-soft);
  }
  .bad {
    color: var(--bad);
  }
  .who {
    width: 40%;
    max-width: 420px;
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .link {
    min-height: 0;
    font-weight: inherit;
  }
  @container (max-width: 560px) {
    .column {
      padding: 12px 8px;
    }
    .who {
      max-width: 200px;
    }
    .under .end {
      margin-left: 0;
    }
  }
`;
