// The look of what is told beside charts: headings, tables, compositions.
import { css } from 'lit';

export const seriesStyles = css`
  :host {
    display: block;
    flex: 1;
    min-width: 0;
    min-height: 0;
    overflow: auto;
    container-type: inline-size;
    background: var(--surface);
    font-size: 13px;
    line-height: 1.45;
  }
  .page {
    display: grid;
    grid-template: 'header' 'answer' 'tracks' 'more' / minmax(0, 1fr);
    gap: 8px 32px;
    padding: 12px 16px;
  }
  @container (min-width: 1000px) {
    .page {
      grid-template: 'header header' 'tracks answer' 'more more' / minmax(0, 5fr) minmax(340px, 3fr);
    }
  }
  header {
    grid-area: header;
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 4px 16px;
  }
  header label {
    display: flex;
    align-items: center;
    gap: 8px;
  }
  header p + label {
    margin-left: auto;
  }
  .answer {
    grid-area: answer;
    min-width: 0;
  }
  .tracks {
    grid-area: tracks;
    min-width: 0;
  }
  .more {
    grid-area: more;
  }
  h2 {
    margin: 0;
    font-size: 18px;
    letter-spacing: -0.01em;
  }
  h3 {
    margin: 20px 0 4px;
    font-size: 13px;
    font-weight: 600;
  }
  section {
    min-width: 0;
  }
  p {
    margin: 2px 0;
  }
  .now {
    min-height: 20px;
    margin: 12px 0 4px;
    color: var(--dim);
    font-variant-numeric: tabular-nums;
  }
  .value {
    margin: 12px 0 0;
    font-size: 22px;
    font-weight: 600;
    letter-spacing: -0.01em;
    font-variant-numeric: tabular-nums;
  }
  ul {
    display: grid;
    gap: 2px;
    max-width: 620px;
    margin: 6px 0 0;
    padding: 0;
    list-style: none;
  }
  .peak li {
    display: grid;
    grid-template-columns: 150px 80px minmax(0, 1fr);
    align-items: center;
    gap: 12px;
  }
  .peak li i {
    order: 3;
    height: 10px;
    border-radius: 2px;
    opacity: 0.7;
  }
  b {
    font-weight: 600;
    text-align: right;
    font-variant-numeric: tabular-nums;
  }
  .scroll {
    max-height: 320px;
  }
  .name {
    width: 100%;
    min-width: 120px;
    max-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .highest td {
    font-weight: 600;
  }
  .facts {
    display: flex;
    flex-wrap: wrap;
    gap: 4px 28px;
    margin: 12px 0 0;
  }
  .facts div {
    min-width: 0;
  }
  dl {
    margin: 0;
  }
  dt {
    color: var(--dim);
    font-size: 12px;
  }
  dd {
    margin: 0;
    font-weight: 600;
    font-variant-numeric: tabular-nums;
  }
  .finding {
    display: grid;
    grid-template-columns: 92px minmax(0, 1fr);
    gap: 2px 12px;
    max-width: 900px;
    padding: 4px 0;
  }
  .finding .by {
    color: var(--dim);
  }
  .finding .error {
    color: var(--bad);
  }
  .finding .warning {
    color: var(--warn);
  }
  .tables {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(100%, 460px), 1fr));
    gap: 0 24px;
  }
  input.field {
    width: 76px;
    height: 26px;
  }
`;
