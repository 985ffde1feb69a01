// The look of panels that ask something with a form: its fields at the left, what came of it beside them or, on a narrow page,
// below. `--fields`: the width of the fields.
import { css } from 'lit';

export const formStyles = css`
  :host {
    display: block;
    padding: 8px 16px 16px;
    overflow: auto;
    font-size: 13px;
    line-height: 1.45;
  }
  .columns {
    display: grid;
    grid-template-columns: minmax(260px, var(--fields)) minmax(0, 1fr);
    gap: 8px 32px;
    align-items: start;
  }
  .columns > * {
    min-width: 0;
  }
  @container (max-width: 740px) {
    .columns {
      grid-template-columns: minmax(0, 1fr);
    }
  }
  .fields {
    display: grid;
    gap: 8px;
  }
  .fields label {
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
  .buttons {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
  }
  [aria-invalid='true'] {
    border-color: var(--bad);
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
  mark {
    background: var(--bad-soft);
    color: var(--bad);
    text-decoration: underline wavy;
  }
  details {
    color: var(--dim);
  }
  p {
    margin: 6px 0;
  }
  .says {
    max-width: 90ch;
    overflow-wrap: anywhere;
  }
  h2 {
    margin: 8px 0 4px;
    font-size: 13px;
    overflow-wrap: anywhere;
  }
  progress {
    width: 140px;
    vertical-align: middle;
  }
  .results table {
    max-width: 900px;
  }
`;
