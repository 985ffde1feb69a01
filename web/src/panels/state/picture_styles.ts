import { css } from 'lit';
import { tipStyles } from '../../controls/piece_styles.ts';

export const pictureStyles = css`
  ${tipStyles}
  gpustrata-state-numbers {
    flex: none;
  }
  .picture {
    position: relative;
    flex: 1;
    min-height: 80px;
    overflow: hidden;
    border-top: 1px solid var(--line);
  }
  .picture:focus-visible {
    outline-offset: -2px;
  }
  canvas {
    position: absolute;
    inset: 0;
    width: 100%;
    height: 100%;
    cursor: crosshair;
    touch-action: none;
  }
  .tools {
    position: absolute;
    right: 8px;
    bottom: 8px;
    display: flex;
    gap: 2px;
    opacity: 0.4;
  }
  .picture:hover .tools,
  .tools:focus-within {
    opacity: 1;
  }
  .tip {
    --tip-width: 320px;
  }
  .problem.aside {
    inset: auto auto 8px 8px;
    padding: 4px 10px;
    font-size: 12px;
  }
  .problem {
    position: absolute;
    inset: 16px 16px auto;
    margin: 0 auto;
    width: fit-content;
    padding: 8px 16px;
    border-radius: 6px;
    background: var(--raised);
    color: var(--dim);
    font-size: 13px;
    pointer-events: none;
  }
  .legend {
    display: flex;
    flex-wrap: wrap;
    flex: none;
    align-items: center;
    gap: 2px 16px;
    padding: 3px 12px;
    border-top: 1px solid var(--line);
    color: var(--dim);
    font-size: 12px;
  }
  .legend > span {
    display: inline-flex;
    align-items: center;
    gap: 6px;
    max-width: 240px;
  }
  .legend span span {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .legend i {
    flex: none;
    width: 12px;
    height: 10px;
    border: 1px solid;
    print-color-adjust: exact;
    filter: var(--on-paper, none);
  }
`;
