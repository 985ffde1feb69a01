// How the timeline's frame looks; what is inside the canvas is draw/.
import { css } from 'lit';

export const timelineStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 120px;
    container: timeline / size;
    background: var(--surface);
  }
  .bar {
    display: flex;
    align-items: center;
    gap: 4px 10px;
    min-height: 36px;
    padding: 4px 12px 4px 8px;
    border-bottom: 1px solid var(--line);
    flex-wrap: wrap;
    font-size: 12px;
  }
  .bar > select {
    width: 126px;
    margin-left: auto;
  }
  @container timeline (max-width: 1279px) {
    .colour .word {
      display: none;
    }
  }
  @container timeline (max-width: 860px) {
    .hint .long {
      display: none;
    }
    .bar {
      gap: 4px 8px;
    }
    .bar ::slotted(*) {
      --tab-padding: 6px;
    }
  }
  .bar slot {
    display: flex;
    align-self: stretch;
    min-width: 0;
    max-width: 100%;
    margin: -4px 0;
  }
  .tools {
    display: flex;
    flex: none;
    margin-left: auto;
  }
  .axis {
    display: flex;
    margin: 0;
    padding: 0;
    border: 1px solid var(--line-strong);
    border-radius: 6px;
  }
  .axis label {
    position: relative;
    cursor: pointer;
  }
  .axis label.disabled {
    cursor: not-allowed;
  }
  .axis input {
    position: absolute;
    inset: 0;
    margin: 0;
    opacity: 0;
    cursor: inherit;
  }
  .axis span {
    display: block;
    padding: 3px 10px;
    border-radius: 5px;
    color: var(--dim);
    font-weight: 500;
  }
  .axis input:checked + span {
    background: var(--accent-soft);
    color: var(--accent);
  }
  .axis .disabled span {
    text-decoration: line-through;
  }
  .axis input:focus-visible + span {
    outline: 2px solid var(--accent);
    outline-offset: 1px;
  }
  .colour {
    display: flex;
    align-items: center;
    gap: 6px;
    color: var(--dim);
  }
  .bar .field {
    height: 26px;
    padding: 0 2px 0 6px;
    font-size: 12px;
  }
  .legend {
    display: flex;
    flex-wrap: wrap;
    flex: 0 1 auto;
    gap: 0 12px;
    min-width: 0;
    color: var(--dim);
    white-space: nowrap;
  }
  .legend span {
    display: inline-flex;
    align-items: center;
    gap: 6px;
  }
  .line {
    width: 16px;
    border-top: 2px solid var(--allocated);
  }
  .line.reserved {
    border-color: var(--reserved);
  }
  .gap {
    width: 14px;
    height: 10px;
    border: 1px solid color-mix(in srgb, var(--reserved) 50%, transparent);
    background: repeating-linear-gradient(
      135deg,
      transparent 0 3px,
      color-mix(in srgb, var(--reserved) 50%, transparent) 3px 4px
    );
    print-color-adjust: exact;
  }
  .capacity {
    display: inline-flex;
    align-items: center;
    gap: 6px;
  }
  .capacity i {
    width: 16px;
    border-top: 1px dashed var(--bad);
  }
  .capacity input {
    width: 68px;
    height: 22px;
    padding: 0 4px;
    border: 1px solid transparent;
    border-radius: 4px;
    background: none;
    color: var(--text);
    font: inherit;
  }
  .capacity input:hover,
  .capacity input:focus {
    border-color: var(--line-strong);
  }
  .capacity input::placeholder {
    color: var(--dim);
    opacity: 0.7;
  }
  .kept {
    width: 10px;
    height: 10px;
    border-radius: 2px;
    background: var(--envelope);
    print-color-adjust: exact;
  }
  .foot {
    display: flex;
    align-items: center;
    gap: 4px 16px;
    min-height: 30px;
    padding: 0 8px 0 12px;
    border-top: 1px solid var(--line);
    font-size: 12px;
  }
  .readout {
    display: flex;
    flex: 1 1 0;
    /* What has no room is left out as a whole. */
    flex-wrap: wrap;
    gap: 0 14px;
    min-width: 0;
    height: 30px;
    color: var(--dim);
    font-variant-numeric: tabular-nums;
    line-height: 30px;
    white-space: nowrap;
    overflow: hidden;
  }
  .readout kbd {
    line-height: normal;
  }
  .readout b {
    color: var(--text);
    font-weight: 600;
  }
  .plot {
    position: relative;
    flex: 1;
    min-height: 60px;
    overflow: hidden;
  }
  .plot:focus-visible {
    outline-offset: -2px;
  }
  canvas {
    position: absolute;
    inset: 0;
    width: 100%;
    height: 100%;
  }
  .overlay {
    cursor: crosshair;
    touch-action: none;
  }
  .overlay.scrub {
    cursor: ew-resize;
  }
  .problem {
    position: absolute;
    inset: auto 16px 40px;
    width: fit-content;
    margin: 0 auto;
    padding: 8px 16px;
    border: 1px solid var(--line-strong);
    border-radius: 6px;
    background: var(--raised);
    font-size: 13px;
    pointer-events: none;
  }
  .note {
    margin: 0;
    padding: 8px 16px;
    border-bottom: 1px solid var(--line);
    background: var(--bg);
    font-size: 13px;
    line-height: 1.5;
  }
  .note code {
    font-family: var(--mono);
    font-size: 0.92em;
  }
  /* What helps when there is room. */
  @container timeline (max-height: 420px) {
    gpustrata-counters {
      display: none;
    }
  }
  @container timeline (max-height: 400px) {
    gpustrata-regions,
    gpustrata-lanes {
      display: none;
    }
  }
  @container timeline (max-height: 330px) {
    gpustrata-minimap,
    gpustrata-legend {
      display: none;
    }
  }
  @container timeline (max-height: 240px) {
    .foot,
    .note {
      display: none;
    }
  }
  @media print {
    :host {
      container: none;
    }
    .tools,
    .axis,
    .colour,
    .readout,
    .overlay,
    gpustrata-minimap {
      display: none;
    }
    .plot {
      flex: none;
    }
  }
  @container (max-width: 640px) {
    .word,
    .optional {
      display: none;
    }
    .bar {
      gap: 4px 8px;
    }
    .bar slot {
      flex: 1 1 100%; /* a line of its own */
      height: 36px;
      margin: -4px 0 0;
    }
    .foot {
      flex-wrap: wrap;
      gap: 0 12px;
      padding: 0 8px;
    }
    .readout {
      flex: 1 0 100%;
      order: -1;
      column-gap: 12px;
    }
  }
  @container (max-width: 360px) {
    .least {
      display: none;
    }
    .readout {
      column-gap: 8px;
      font-size: 11px;
    }
  }
`;
