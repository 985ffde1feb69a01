// What is reserved but of no use: over the recording, and at the chosen moment by pool and stream, with what holds it back.
import { css, html, nothing, type TemplateResult } from 'lit';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount, plural } from '../../base/format.ts';
import { bytesColumn, tableOf } from '../../controls/table.ts';
import type { Fragmentation } from '../../../engine/index.ts';
import { AnswerPanel } from '../answer_panel.ts';
import { answerStyles } from '../answer_styles.ts';
import { tell, type LoadedPanel, type PanelPage } from '../panel.ts';
import './never_full.ts';
import './over_time.ts';

@element('gpustrata-fragmentation')
export class FragmentationPanel extends AnswerPanel<Fragmentation> {
  protected override readonly waiting = 'Finding what is cached…';

  protected override keyOf({ event, info }: PanelPage): string {
    return String(Math.min(event, info.events - 1));
  }
  protected ask({ view, event, info }: PanelPage): Promise<Fragmentation> {
    return view.ask('fragmentation', { event: Math.min(event, info.events - 1) });
  }

  protected show(found: Fragmentation): TemplateResult {
    const { event, share } = found;
    return html`${
        this.page.info.has_history
          ? html`<gpustrata-fragmentation-over-time
              .page=${this.page}
              @moment=${({ detail }: CustomEvent<number>) => tell(this, 'choose-event', { event: detail, step: true })}></gpustrata-fragmentation-over-time>`
          : nothing
      }
      <div data-fragmentation=${event} data-share=${share} data-held-back=${found.held_back_bytes}>
        <h2>
          ${event < 0 ? (!this.page.info.has_history ? 'When it was saved' : 'Before the first event') : `After event ${formatCount(event)}`}
        </h2>
        <p class="text">${found.text}</p>
        <div class="columns">
          <section aria-label="What holds it back">
            <h3>
              What holds it
              back${found.pinned_segments > found.pins.length ? `, the first ${found.pins.length} of ${plural(found.pinned_segments, 'segment')}` : ''}
            </h3>
            ${found.pins.length === 0 ? html`<p class="dim">Nothing.</p>` : this.pins(found)}
          </section>
          <section aria-label="By pool and stream">
            <h3>By pool and stream</h3>
            ${places(found)}
            <p>
              <button
                class="link"
                data-way="map"
                @click=${() => tell(this, 'go', { to: 'panel', panel: 'map' })}>
                segments over time
              </button>
              <button
                class="link"
                data-way="state"
                @click=${() => tell(this, 'go', { to: 'panel', panel: 'state', event })}>
                the gaps then
              </button>
            </p>
          </section>
          <gpustrata-never-full .page=${this.page}></gpustrata-never-full>
        </div>
      </div>`;
  }

  private pins({ pins, event }: Fragmentation): TemplateResult {
    return tableOf(pins, {
      label: 'What holds memory back',
      row: ({ segment, held_back_bytes }) => ({ data: { pin: segment, bytes: held_back_bytes } }),
      columns: [
        bytesColumn('Held back', ({ held_back_bytes }) => held_back_bytes),
        {
          name: 'By',
          cell: ({ rank, who, blocks, pinned_bytes, since_event }) =>
            html`<button class="link" ?disabled=${rank < 0} @click=${() => this.follow({ rank })}>
                ${who ?? 'no stack'}
              </button>
              <div class="dim">
                ${plural(blocks, 'block')} of
                ${formatBytes(pinned_bytes)}${this.page.info.has_history ? sinceText(since_event) : ''}
              </div>`,
        },
        {
          name: 'In the segment',
          cell: ({ row, segment, segment_bytes, expandable }) =>
            html`<button
                class="link"
                @click=${() => tell(this, 'go', { to: 'segment', segment: row, at: event })}>
                ${formatBytes(segment_bytes)}
              </button>
              <div class="dim">${segment}${expandable ? ', expandable' : ''}</div>`,
        },
      ],
    });
  }

  static override styles = [
    answerStyles,
    css`
      .text {
        max-width: 90ch;
      }
      section {
        min-width: 0;
      }
      .link:disabled {
        color: var(--text);
        cursor: default;
        text-decoration: none;
      }
      td .dim {
        font-size: 12px;
      }
    `,
  ];
}

function places({ places: all, places_left_out }: Fragmentation): TemplateResult {
  if (all.length === 0) return html`<p class="dim">No segment is there.</p>`;
  return html`${tableOf(all, {
    label: 'Cached memory by pool and stream',
    row: ({ name, cached_bytes }) => ({ data: { place: name, bytes: cached_bytes } }),
    columns: [
      { name: 'Pool and stream', cell: ({ name }) => name },
      bytesColumn(
        'Reserved',
        ({ reserved_bytes }) => reserved_bytes,
        ({ segments }) => ` in ${plural(segments, 'segment')}`,
      ),
      bytesColumn(
        'Cached',
        ({ cached_bytes }) => cached_bytes,
        ({ blocks }) => ` in ${plural(blocks, 'piece')}`,
      ),
      bytesColumn('Largest piece', ({ largest_free_bytes }) => largest_free_bytes),
    ],
  })}
  ${places_left_out > 0 ? html`<p class="dim">and ${formatCount(places_left_out)} more</p>` : nothing}`;
}

const sinceText = (event: number): string =>
  `, since ${event < 0 ? 'before the first event' : `event ${formatCount(event)}`}`;

export const panel: LoadedPanel = {
  reads: ['settled', 'event', 'theme'],
  initial: {},
  show: (page) =>
    html`<gpustrata-fragmentation
      role="region"
      aria-label="Fragmentation"
      .page=${page}></gpustrata-fragmentation>`,
};
