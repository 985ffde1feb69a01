// The line between the timeline and the details; drag it, or move it with the arrow keys.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { base } from './styles.ts';

const narrowest = 260; // of the pane to the right
const widest = 900;
const step = 16; // by key

/** Tells `resize` with the wanted width while it moves, and `resized` when that is over. */
@customElement('memstrata-splitter')
export class SplitterView extends LitElement {
  /** Width of the pane to the right in CSS pixels. */
  @property({ type: Number }) width = 360;

  private readonly start = (event: PointerEvent): void => {
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    event.preventDefault();
  };
  private readonly move = (event: PointerEvent): void => {
    if (!(event.currentTarget as HTMLElement).hasPointerCapture(event.pointerId)) return;
    this.resize((this.parentElement?.getBoundingClientRect().right ?? innerWidth) - event.clientX);
  };
  private readonly end = (): void => void this.dispatchEvent(new CustomEvent('resized'));
  private readonly key = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: step, ArrowRight: -step }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.resize(this.width + by);
    this.end();
  };

  private resize(wanted: number): void {
    const most = Math.min(widest, (this.parentElement?.clientWidth ?? innerWidth) - 320);
    const width = Math.round(Math.max(narrowest, Math.min(wanted, most)));
    this.dispatchEvent(new CustomEvent<number>('resize', { detail: width }));
  }

  protected override render(): TemplateResult {
    return html`<div
      role="separator"
      tabindex="0"
      aria-orientation="vertical"
      aria-label="Width of the details"
      aria-valuemin=${narrowest}
      aria-valuemax=${widest}
      aria-valuenow=${this.width}
      @pointerdown=${this.start}
      @pointermove=${this.move}
      @pointerup=${this.end}
      @keydown=${this.key}></div>`;
  }

  static override styles = [
    base,
    css`
      :host {
        display: block;
      }
      div {
        position: relative;
        height: 100%;
        background: var(--line);
        cursor: col-resize;
        touch-action: none;
      }
      div::after {
        content: '';
        position: absolute;
        inset: 0 -4px;
        z-index: 1;
      }
      div:hover,
      div:focus-visible {
        background: var(--accent);
        box-shadow: 0 0 0 1px var(--accent);
        outline: none;
      }
      @media (max-width: 899px) {
        div {
          pointer-events: none;
        }
        div::after {
          display: none;
        }
      }
    `,
  ];
}
