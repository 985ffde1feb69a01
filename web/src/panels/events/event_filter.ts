// What stands above the list of events: the filter that says which are listed, and jumps to those that matter.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { formatCount, plural } from '../../base/format.ts';
import { element } from '../../controls/element.ts';
import { base } from '../../controls/styles.ts';
import { symbols } from '../../controls/symbols.ts';
import type { EngineError, StateInfo } from '../../../engine/index.ts';
import { actionOf, withAction } from './action_term.ts';

/** What one can jump to: actions, and the event of the highest level. */
export type EventKind = 'peak' | 'oom' | 'snapshot' | 'annotate' | 'segment_alloc' | 'segment_free';

const actions: readonly { value: string; name: string }[] = [
  { value: '', name: 'All actions' },
  { value: 'blocks', name: 'Of blocks' },
  { value: 'segments', name: 'Of segments' },
  { value: 'markers', name: 'Markers and out of memory' },
  ...[
    'alloc',
    'free_requested',
    'free_completed',
    'segment_alloc',
    'segment_free',
    'segment_map',
    'segment_unmap',
    'oom',
    'snapshot',
    'annotate',
  ].map((name) => ({ value: name, name })),
];
const jumps: readonly { kind: EventKind; name: string; count: (info: StateInfo) => number }[] = [
  { kind: 'oom', name: 'Out of memory', count: (info) => info.oom_events },
  { kind: 'peak', name: 'Peak', count: () => 1 },
  { kind: 'snapshot', name: 'Snapshot', count: (info) => info.snapshot_events },
  { kind: 'annotate', name: 'Annotation', count: (info) => info.annotate_events },
  { kind: 'segment_alloc', name: 'Segment allocated', count: () => 1 },
  { kind: 'segment_free', name: 'Segment freed', count: () => 1 },
];

export interface Jump {
  kind: EventKind;
  backwards: boolean;
}

/** Tells `filter` with the text, and `jump` with a Jump. */
@element('gpustrata-event-filter')
export class EventFilterView extends LitElement {
  /** In the engine's language. */
  @property() text = '';
  /** What is wrong with it. */
  @property({ attribute: false }) wrong: EngineError | undefined;
  @property({ attribute: false }) info: StateInfo | undefined;
  @property({ type: Number }) found = 0;
  @state() private kind: EventKind | undefined;

  private change(text: string): void {
    this.dispatchEvent(new CustomEvent<string>('filter', { detail: text }));
  }

  private jump(kind: EventKind, backwards: boolean): void {
    this.dispatchEvent(new CustomEvent<Jump>('jump', { detail: { kind, backwards } }));
  }

  protected override render(): TemplateResult {
    const { text, info, found, wrong } = this;
    const chosen = actionOf(text);
    const known = actions.some(({ value }) => value === chosen);
    return html`
      <div class="line">
        <select
          class="field action"
          aria-label="Action"
          .value=${live(chosen)}
          @change=${(event: Event) => this.change(withAction(text, (event.target as HTMLSelectElement).value))}>
          ${known ? nothing : html`<option value=${chosen} selected>${chosen}</option>`}
          ${actions.map(
            ({ value, name }) => html`<option value=${value} ?selected=${value === chosen}>${name}</option>`,
          )}
        </select>
        <input
          class="field text"
          type="search"
          aria-label="Filter of events"
          placeholder="size>1MiB stack:attention"
          title="As blocks are filtered; also action:oom"
          spellcheck="false"
          autocomplete="off"
          autocapitalize="off"
          maxlength="4096"
          aria-invalid=${wrong ? 'true' : 'false'}
          aria-describedby=${wrong ? 'wrong' : nothing}
          .value=${live(text)}
          @input=${(event: Event) => this.change((event.target as HTMLInputElement).value)} />
      </div>
      ${wrong ? html`<p id="wrong" role="alert" data-offset=${wrong.offset}>${wrong.message}</p>` : nothing}
      <div class="line below">
        <span class="found" role="status" data-found=${found}>
          ${
            text.trim() === ''
              ? plural(found, 'event')
              : html`${formatCount(found)} of ${plural(info?.events ?? 0, 'event')}
                  <button class="button small quiet" @click=${() => this.change('')}>Clear</button>`
          }
        </span>
        ${info && info.events > 0 ? this.jumper(info) : nothing}
      </div>
    `;
  }

  private jumper(info: StateInfo): TemplateResult {
    const possible = jumps.filter(({ count }) => count(info) > 0);
    const kind = possible.find((one) => one.kind === this.kind)?.kind ?? possible[0]?.kind ?? 'peak';
    const name = jumps.find((one) => one.kind === kind)?.name ?? kind;
    return html`<span class="jump">
      <button
        class="button small quiet icon"
        aria-label="Previous: ${name}"
        title="Previous: ${name}"
        @click=${() => this.jump(kind, true)}>
        ${symbols.up}
      </button>
      <select
        class="field"
        aria-label="Jump to"
        @change=${(event: Event) => {
          this.kind = (event.target as HTMLSelectElement).value as EventKind;
        }}>
        ${possible.map((one) => html`<option value=${one.kind} ?selected=${one.kind === kind}>${one.name}</option>`)}
      </select>
      <button
        class="button small quiet icon"
        aria-label="Next: ${name}"
        title="Next: ${name}"
        @click=${() => this.jump(kind, false)}>
        ${symbols.down}
      </button>
    </span>`;
  }

  static override styles = [
    base,
    css`
      :host {
        display: block;
        padding: 6px 8px 2px;
        font-size: 12px;
      }
      .line {
        display: flex;
        align-items: center;
        gap: 4px;
        padding-bottom: 4px;
      }
      .field {
        height: 26px;
        min-width: 0;
        padding: 0 6px;
        font-size: 12px;
      }
      .field::placeholder {
        color: var(--dim);
        opacity: 1;
      }
      .action {
        flex: 0 1 116px;
        padding-right: 0;
      }
      .text {
        flex: 1 1 120px;
      }
      .field[aria-invalid='true'] {
        border-color: var(--bad);
        color: var(--bad);
      }
      p {
        margin: 0;
        padding-bottom: 4px;
        color: var(--bad);
      }
      .below {
        justify-content: space-between;
        min-height: 28px;
      }
      .found {
        color: var(--dim);
        font-variant-numeric: tabular-nums;
        white-space: nowrap;
      }
      .jump {
        display: inline-flex;
        align-items: center;
        min-width: 0;
      }
      .jump .field {
        padding: 0;
        border-color: transparent;
        background: none;
        font-weight: 500;
      }
      svg.symbol {
        width: 12px;
        height: 12px;
      }
    `,
  ];
}
