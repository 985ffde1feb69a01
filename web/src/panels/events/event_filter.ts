// The fields above the list of events: which ones are listed, and jumps to those that matter.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { live } from 'lit/directives/live.js';
import { formatCount, plural } from '../../base/format.ts';
import type { StateInfo } from '../../../engine/index.ts';
import { actionGroups, isEmpty, noFields, type EventFields } from './event_fields.ts';
import { base } from '../../controls/styles.ts';
import { symbols } from '../../controls/symbols.ts';

/** What one can jump to: actions, and the event of the highest level. */
export type EventKind = 'peak' | 'oom' | 'snapshot' | 'annotate' | 'segment_alloc' | 'segment_free';

const groupNames: Readonly<Record<string, string>> = {
  blocks: 'Of blocks',
  segments: 'Of segments',
  markers: 'Markers and out of memory',
};
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

/** Tells `fields` with EventFields, and `jump` with a Jump. */
@element('gpustrata-event-filter')
export class EventFilterView extends LitElement {
  @property({ attribute: false }) fields: EventFields = noFields;
  /** The one that is wrong. */
  @property({ attribute: false }) wrong: keyof EventFields | undefined;
  @property({ attribute: false }) info: StateInfo | undefined;
  @property({ type: Number }) found = 0;
  @state() private more = false;
  @state() private kind: EventKind | undefined;

  private change(change: Partial<EventFields>): void {
    this.dispatchEvent(new CustomEvent<EventFields>('fields', { detail: { ...this.fields, ...change } }));
  }

  private jump(kind: EventKind, backwards: boolean): void {
    this.dispatchEvent(new CustomEvent<Jump>('jump', { detail: { kind, backwards } }));
  }

  protected override render(): TemplateResult {
    const { fields, info, found } = this;
    const unfolded =
      this.more ||
      [fields.frame, fields.leastSize, fields.mostSize, fields.stream].some((text) => text !== '');
    return html`
      <div class="line">
        <select
          class="field action"
          aria-label="Action"
          .value=${live(fields.actions)}
          @change=${(event: Event) => this.change({ actions: (event.target as HTMLSelectElement).value })}>
          <option value="" ?selected=${fields.actions === ''}>All actions</option>
          ${Object.keys(actionGroups).map(
            (name) =>
              html`<option value=${name} ?selected=${fields.actions === name}>
                ${groupNames[name] ?? name}
              </option>`,
          )}
        </select>
        ${this.input('address', 'Address or name', 'Address or name', 'wide')}
        <button
          class="button small quiet"
          aria-expanded=${unfolded ? 'true' : 'false'}
          title="More fields: stack frame, size, stream"
          @click=${() => (this.more = !unfolded)}>
          ${unfolded ? symbols.up : symbols.down}<span>More</span>
        </button>
      </div>
      ${
        unfolded
          ? html`<div class="line">
              ${this.input('frame', 'Stack frame', 'Stack frame', 'wide')}
              ${this.input('leastSize', 'Least size', '≥ 1 MiB', 'narrow')}
              ${this.input('mostSize', 'Largest size', '≤ size', 'narrow')}
              ${this.input('stream', 'Stream', 'stream', 'narrow')}
            </div>`
          : nothing
      }
      <div class="line below">
        <span class="found" role="status" data-found=${found}>
          ${
            isEmpty(fields)
              ? plural(found, 'event')
              : html`${formatCount(found)} of ${plural(info?.events ?? 0, 'event')}
                  <button class="button small quiet" @click=${() => this.change(noFields)}>Clear</button>`
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

  private input(name: keyof EventFields, label: string, hint: string, width: string): TemplateResult {
    return html`<input
      class="field ${width}"
      type="search"
      data-field=${name}
      aria-label=${label}
      placeholder=${hint}
      spellcheck="false"
      autocomplete="off"
      aria-invalid=${this.wrong === name ? 'true' : 'false'}
      .value=${live(this.fields[name])}
      @input=${(event: Event) => this.change({ [name]: (event.target as HTMLInputElement).value })} />`;
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
      .wide {
        flex: 1 1 120px;
      }
      .narrow {
        flex: 0 1 76px;
      }
      .field[aria-invalid='true'] {
        border-color: var(--bad);
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
