// Colours, sizes and the look of small controls, shared by all parts of the page.
import { css } from 'lit';

const light = css`
  --bg: #f5f6f8;
  --surface: #ffffff;
  --raised: #ffffff;
  --text: #16202b;
  --dim: #56616d;
  --line: #dfe3e8;
  --line-strong: #c3cad2;
  --hover: #eceff3;
  --accent: #1f63c8;
  --accent-text: #ffffff;
  --accent-soft: #e6eefb;
  --bad: #b3261e;
  --bad-soft: #fdecea;
  --warn: #8a5300;
  --warn-soft: #fdf3e0;
  --code: #f0f2f5;
  --reserved: #b45309;
  --envelope: #d3d6da;
  --allocated: #16202b;
  --shadow: 0 12px 40px rgba(16, 24, 36, 0.18);
  --mono: ui-monospace, 'SF Mono', 'Cascadia Mono', 'JetBrains Mono', Menlo, Consolas, monospace;
  color-scheme: light;
`;

/** On the viewer's host; on paper always light. Inherited by every shadow root inside it. */
export const tokens = css`
  :host {
    ${light}
  }
  :host([data-theme='dark']) {
    --bg: #0c0f13;
    --surface: #11151a;
    --raised: #181d24;
    --text: #e6ebf1;
    --dim: #9aa6b3;
    --line: #232a33;
    --line-strong: #3a4450;
    --hover: #1d232b;
    --accent: #7aaeff;
    --accent-text: #0b1220;
    --accent-soft: #18263d;
    --bad: #ff8f85;
    --bad-soft: #33191a;
    --warn: #f2b45c;
    --warn-soft: #2d2314;
    --code: #1a2027;
    --reserved: #f2b45c;
    --envelope: #3b4148;
    --allocated: #eef3f8;
    --shadow: 0 12px 40px rgba(0, 0, 0, 0.6);
    color-scheme: dark;
  }
  @media (prefers-contrast: more) {
    :host {
      --dim: #2b343d;
      --line: #7b858f;
      --line-strong: #3d4751;
    }
    :host([data-theme='dark']) {
      --dim: #d3dbe4;
      --line: #77828e;
      --line-strong: #a9b4c0;
    }
  }
  @media print {
    :host([data-theme='dark']) {
      ${light}
      /* What was drawn in dark: printing does not wait for another picture. Hues stay as they are. */
      --on-paper: invert(1) hue-rotate(180deg) brightness(1.1);
    }
  }
`;

/** In every shadow root. */
export const base = css`
  /* Grounds are gone: what is chosen or pressed has a frame; colours that say what is drawn stay. */
  @media (forced-colors: active) {
    [aria-selected='true'],
    [aria-pressed='true'],
    [aria-current='true'] {
      outline: 2px solid Highlight;
      outline-offset: -2px;
    }
    canvas,
    svg path,
    i {
      forced-color-adjust: none;
    }
  }
  /* Chosen in the sheet of keys: what the pointer tells of a number stands beside it. Rows of lists lead to details, which have it. */
  @container style(--exact-bytes: shown) {
    :is(td, th, dd, b, strong, h2, .value, .number)[title*=' byte']::after {
      content: ' ' attr(title);
      margin-left: 4px;
      color: var(--dim);
      font-size: 12px;
      font-weight: 400;
    }
  }
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  [hidden] {
    display: none !important;
  }
  button,
  input,
  select {
    font: inherit;
    color: inherit;
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 1px;
  }
  .button {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    gap: 6px;
    height: 32px;
    padding: 0 12px;
    border: 1px solid var(--line-strong);
    border-radius: 6px;
    background: var(--raised);
    color: var(--text);
    font-weight: 500;
    white-space: nowrap;
    cursor: pointer;
  }
  .button:hover:not(:disabled) {
    background: var(--hover);
  }
  .button:disabled {
    color: var(--dim);
    cursor: not-allowed;
  }
  .button.primary {
    background: var(--accent);
    border-color: var(--accent);
    color: var(--accent-text);
  }
  .button.primary:hover {
    filter: brightness(1.08);
    background: var(--accent);
  }
  .button.quiet {
    border-color: transparent;
    background: transparent;
  }
  .button.quiet:hover:not(:disabled) {
    background: var(--hover);
  }
  .button.small {
    height: 24px;
    padding: 0 8px;
    border-radius: 5px;
    font-size: 12px;
  }
  .button.icon {
    width: 32px;
    padding: 0;
  }
  .button.icon.small {
    width: 24px;
  }
  .button[aria-pressed='true'] {
    background: var(--accent-soft);
    color: var(--accent);
    border-color: var(--accent);
  }
  /* A button in a text. */
  .link {
    min-height: 24px;
    padding: 0;
    border: 0;
    background: none;
    color: var(--accent);
    font-weight: 500;
    text-align: left;
    overflow-wrap: anywhere;
    cursor: pointer;
  }
  .link:hover {
    text-decoration: underline;
    text-underline-offset: 2px;
  }
  .link:disabled {
    color: var(--dim);
    cursor: not-allowed;
  }
  input[type='range'] {
    width: 100%;
    height: 24px;
    margin: 0;
    accent-color: var(--accent);
    cursor: pointer;
  }
  .field {
    height: 32px;
    padding: 0 8px;
    border: 1px solid var(--line-strong);
    border-radius: 6px;
    background: var(--surface);
    color: var(--text);
  }
  select.field {
    padding-right: 4px;
  }
  @media print {
    .button,
    select {
      display: none !important;
    }
    /* As it was drawn, as wide as the paper. */
    canvas {
      position: static !important;
      width: 100% !important;
      height: auto !important;
      filter: var(--on-paper, none);
      print-color-adjust: exact;
    }
  }
  .dim {
    color: var(--dim);
  }
  .mono {
    font-family: var(--mono);
    font-size: 0.92em;
  }
  .visually-hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    margin: -1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  kbd {
    display: inline-block;
    min-width: 20px;
    padding: 1px 5px;
    border: 1px solid var(--line-strong);
    border-bottom-width: 2px;
    border-radius: 4px;
    background: var(--surface);
    font-family: inherit;
    font-size: 11.5px;
    text-align: center;
  }
  svg.symbol {
    width: 16px;
    height: 16px;
    fill: none;
    stroke: currentColor;
    stroke-width: 1.6;
    stroke-linecap: round;
    stroke-linejoin: round;
    flex: none;
  }
`;

/** Words for who points, and for who touches. */
export const byPointer = css`
  .by-touch {
    display: none;
  }
  @media (pointer: coarse) {
    .by-mouse {
      display: none;
    }
    .by-touch {
      display: revert;
    }
  }
`;

/** What is known of something: a word and its value a line. */
export const facts = css`
  dl {
    display: grid;
    grid-template-columns: max-content minmax(0, 1fr);
    gap: 4px 16px;
    margin: 12px 0 0;
  }
  dt {
    color: var(--dim);
  }
  dd {
    margin: 0;
    overflow-wrap: anywhere;
    font-variant-numeric: tabular-nums;
  }
`;

/** A column of parts, one of which takes the room that the others leave. */
export const column = css`
  :host {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
  }
`;

/** Before a file is open: a heading, what the page is, and what to do. */
export const firstScreen = css`
  :host {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    justify-items: center;
    align-content: safe center;
    padding: 32px 16px;
    overflow: auto;
  }
  .column {
    width: 100%;
  }
  h1 {
    margin: 0;
    font-size: 28px;
    line-height: 1.2;
    font-weight: 650;
    letter-spacing: -0.02em;
    text-wrap: balance;
    overflow-wrap: anywhere;
  }
  .lead {
    margin: 12px 0 24px;
    color: var(--dim);
    font-size: 16px;
    line-height: 1.5;
  }
`;

/** A card in the middle of the page: what is being read, or why it cannot be. */
export const card = css`
  :host {
    display: grid;
    place-items: center;
    padding: 16px;
    overflow: auto;
  }
  .card {
    padding: 24px;
    border: 1px solid var(--line);
    border-radius: 12px;
    background: var(--raised);
    line-height: 1.5;
  }
`;

/** Heading of a part of the details, with room for a button at its end. */
export const partTitle = css`
  h3 {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    justify-content: space-between;
    gap: 4px 8px;
    margin: 16px 0 4px;
    padding-top: 12px;
    border-top: 1px solid var(--line);
    font-size: 13px;
    font-weight: 600;
  }
`;
