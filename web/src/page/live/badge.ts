// What following does, in the top bar: live, holding still, or ended, and the way back to the end.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { formatCount, plural } from '../../base/format.ts';
import { element } from '../../controls/element.ts';
import { base } from '../../controls/styles.ts';

export type LiveState =
  /** `period`: ms from one reading to the next. */
  | { is: 'following'; process: number; period: number }
  /** `newer`: events that came since; undefined = not known. */
  | { is: 'holding' | 'paused'; process: number; newer: number | undefined; grown: boolean }
  | { is: 'closed' | 'left'; process: number }
  | { is: 'away'; why: string };

/** Longer is told: it follows twice a second otherwise. */
const usualMs = 600;

const names = {
  following: 'Live',
  holding: 'Holding',
  paused: 'Paused',
  closed: 'Ended',
  left: 'Stopped',
  away: 'Not following',
};

/** Tells `toggle`. */
@element('gpustrata-live')
export class LiveBadge extends LitElement {
  @property({ attribute: false }) state: LiveState = { is: 'away', why: '' };

  protected override willUpdate(): void {
    const { state } = this;
    this.dataset['live'] = state.is;
    this.dataset['newer'] = String('newer' in state ? (state.newer ?? '') : '');
  }

  protected override render(): TemplateResult {
    const { state } = this;
    const name = names[state.is];
    const says = [name, more(state)].filter(Boolean).join(' · ');
    const isOver = state.is === 'closed' || state.is === 'left' || state.is === 'away';
    return html`
      ${
        isOver
          ? html`<span class="badge" title=${about(state)}><i></i>${says}</span>`
          : html`<button
              class="badge"
              title=${about(state)}
              aria-label="${says}: ${about(state)}"
              data-action="live"
              @click=${() => this.dispatchEvent(new CustomEvent('toggle'))}>
              ${state.is === 'following' ? html`<i></i>` : bars}<span class="name">${name}</span
              >${more(state) ? html`<span class="more">${more(state)}</span>` : nothing}
            </button>`
      }
      <span class="visually-hidden" role="status">${isOver ? about(state) : name}</span>
    `;
  }

  static override styles = [
    base,
    css`
      :host {
        flex: none;
      }
      .badge {
        display: inline-flex;
        align-items: center;
        gap: 6px;
        height: 28px;
        padding: 0 10px;
        border: 1px solid var(--line-strong);
        border-radius: 14px;
        background: var(--surface);
        color: var(--dim);
        font: inherit;
        font-size: 12.5px;
        font-weight: 550;
        white-space: nowrap;
        font-variant-numeric: tabular-nums;
      }
      button.badge {
        color: var(--text);
        cursor: pointer;
      }
      button.badge:hover {
        background: var(--hover);
      }
      .more {
        color: var(--dim);
        font-weight: 450;
      }
      /* Two bars say so, too. */
      :host(:not([data-live='following'])) .name:not(:last-child) {
        display: none;
      }
      i {
        width: 8px;
        height: 8px;
        border-radius: 50%;
        background: var(--line-strong);
      }
      svg {
        width: 8px;
        height: 10px;
        fill: currentColor;
      }
      :host([data-live='following']) i {
        background: var(--bad);
        animation: pulse 2s ease-in-out infinite;
      }
      :host([data-live='holding']) .badge,
      :host([data-live='paused']) .badge {
        border-color: var(--accent);
        background: var(--accent-soft);
        color: var(--accent);
      }
      :host([data-live='holding']) .more,
      :host([data-live='paused']) .more {
        color: inherit;
      }
      :host([data-live='left']) .badge,
      :host([data-live='away']) .badge {
        border-color: var(--warn);
        background: var(--warn-soft);
        color: var(--warn);
      }
      :host([data-live='left']) i,
      :host([data-live='away']) i {
        background: currentColor;
      }
      @keyframes pulse {
        50% {
          opacity: 0.35;
        }
      }
      @media (prefers-reduced-motion: reduce) {
        i {
          animation: none !important;
        }
      }
      @media print {
        :host {
          display: none;
        }
      }
    `,
  ];
}

const bars = html`<svg viewBox="0 0 8 10" aria-hidden="true">
  <rect width="2.6" height="10" rx="0.8"></rect>
  <rect x="5.4" width="2.6" height="10" rx="0.8"></rect>
</svg>`;

function more(state: LiveState): string {
  if (state.is === 'following') return state.period > usualMs ? `every ${seconds(state.period)}` : '';
  if (state.is !== 'holding' && state.is !== 'paused') return '';
  if (!state.grown) return '';
  return state.newer === undefined ? 'newer events' : plural(state.newer, 'newer event');
}

function about(state: LiveState): string {
  switch (state.is) {
    case 'following': {
      const slow = ` The file is large: it is read again every ${seconds(state.period)}, so that the server spends at most half of its time on it.`;
      return `Following what process ${state.process} writes.${state.period > usualMs ? slow : ''} Click to pause.`;
    }
    case 'holding':
      return 'The picture holds still while you look back or have something chosen. Click to go on following (End).';
    case 'paused':
      return 'Click to go on following (End).';
    case 'closed':
      return `Process ${state.process} closed its recording: nothing follows.`;
    case 'left':
      return `Process ${state.process} does not run on the server's machine any more, and did not close its recording. This is what it wrote.`;
    case 'away':
      return state.why;
  }
}

function seconds(ms: number): string {
  return `${formatCount(Math.ceil(ms / 1000))} s`;
}
