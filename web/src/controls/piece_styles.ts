// Looks that several elements share: a tip beside the pointer, buttons that are one choice.
import { css } from 'lit';

export const tipStyles = css`
  .tip {
    position: absolute;
    z-index: 1;
    max-width: min(var(--tip-width, 460px), 70%);
    padding: 5px 9px;
    border: 1px solid var(--line-strong);
    border-radius: 6px;
    background: var(--raised);
    font-size: 12px;
    font-variant-numeric: tabular-nums;
    line-height: 1.45;
    white-space: pre-line;
    overflow-wrap: anywhere;
    pointer-events: none;
  }
`;

export const groupStyles = css`
  .group {
    display: inline-flex;
  }
  .group .button:not(:first-child) {
    margin-left: -1px;
    border-top-left-radius: 0;
    border-bottom-left-radius: 0;
  }
  .group .button:not(:last-child) {
    border-top-right-radius: 0;
    border-bottom-right-radius: 0;
  }
`;
