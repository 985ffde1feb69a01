// The line between two panes; drag it, or move it with the arrow keys.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from './element.ts';
import { base } from './styles.ts';

const step = 16; // by key

/** Tells `resize` with the wanted size while it moves, and `resized` when that is over. */
@element('gpustrata-splitter')
export class SplitterView extends LitElement {
  /** Of the pane to the right, or of the one below, in CSS pixels. */
  @property({ type: Number }) size = 360;
  @property({ type: Number }) least = 0;
  @property({ type: Number }) most = 900;
  /** Room that the other pane keeps. */
  @property({ type: Number }) rest = 320;
  /** What the size is of: the pane to the right has a width, the one below a height. */
  @property({ reflect: true }) direction: 'width' | 'height' = 'width';
  @property() label = '';

  private readonly start = (event: PointerEvent): void => {
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    event.preventDefault();
  };
  private readonly move = (event: PointerEvent): void => {
    if (!(event.currentTarget as HTMLElement).hasPointerCapture(event.pointerId)) return;
    const around = this.parentElement?.getBoundingClientRect();
    if (!around) return;
    this.resize(this.direction === 'width' ? around.right - event.clientX : around.bottom - event.clientY);
  };
  private readonly end = (): void => void this.dispatchEvent(new CustomEvent('resized'));
  private readonly key = (event: KeyboardEvent): void => {
    const [more, less] = this.direction === 'width' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
    if (event.key !== more && event.key !== less) return;
    event.preventDefault();
    this.resize(this.size + (event.key === more ? step : -step));
    this.end();
  };

  private resize(wanted: number): void {
    const around = this.parentElement;
    if (!around) return;
    const room = this.direction === 'width' ? around.clientWidth : around.clientHeight;
    const size = Math.round(Math.max(this.least, Math.min(wanted, this.most, room - this.rest)));
    this.dispatchEvent(new CustomEvent<number>('resize', { detail: size }));
  }

  protected override render(): TemplateResult {
    return html`<div
      role="separator"
      tabindex="0"
      aria-orientation=${this.direction === 'width' ? 'vertical' : 'horizontal'}
      aria-label=${this.label}
      aria-valuemin=${this.least}
      aria-valuemax=${this.most}
      aria-valuenow=${this.size}
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
      :host([direction='height']) div {
        height: 1px;
        cursor: row-resize;
      }
      :host([direction='height']) div::after {
        inset: -4px 0;
      }
      div:hover,
      div:focus-visible {
        background: var(--accent);
        box-shadow: 0 0 0 1px var(--accent);
        outline: none;
      }
      @container (max-width: 899px) {
        :host([direction='width']) div {
          pointer-events: none;
        }
        :host([direction='width']) div::after {
          display: none;
        }
      }
    `,
  ];
}
