// What is reserved but of no use: over the recording, and at the chosen moment by pool and stream, with what holds it back.
import { css, html, nothing, type TemplateResult } from 'lit';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount, formatExactBytes, plural } from '../../base/format.ts';
import { base } from '../../controls/styles.ts';
import type { Fragmentation } from '../../../engine/index.ts';
import { AnswerPanel } from '../answer_panel.ts';
import { answerStyles } from '../answer_styles.ts';
import { tell, type LoadedPanel, type PanelPage } from '../panel.ts';
import './never_full.ts';
import './over_time.ts';

@element('gpustrata-fragmentation')
export class FragmentationPanel extends AnswerPanel<Fragmentation> {
  protected readonly waiting = 'Finding what is cached…';

  protected keyOf({ event, info }: PanelPage): string {
    return String(Math.min(event, info.events - 1));
  }
  protected ask({ view, event, info }: PanelPage): Promise<Fragmentation> {
    return view.ask('fragmentation', { event: Math.min(event, info.events - 1) });
  }

  protected show(found: Fragmentation): TemplateResult {
    const { event, share } = found;
    return html`${
        this.page.info.events > 0
          ? html`<gpustrata-fragmentation-over-time
              .page=${this.page}
              @moment=${({ detail }: CustomEvent<number>) => tell(this, 'choose-event', { event: detail, step: true })}></gpustrata-fragmentation-over-time>`
          : nothing
      }
      <div data-fragmentation=${event} data-share=${share} data-held-back=${found.held_back_bytes}>
        <h2>
          ${event < 0 ? (this.page.info.events === 0 ? 'When it was saved' : 'Before the first event') : `After event ${formatCount(event)}`}
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
    return html`<div class="scroll" tabindex="0" role="group" aria-label="What holds memory back">
      <table>
        <thead>
          <tr>
            <th scope="col" class="number">Held back</th>
            <th scope="col">By</th>
            <th scope="col">In the segment</th>
          </tr>
        </thead>
        <tbody>
          ${pins.map(
            (pin) =>
              html`<tr data-pin=${pin.segment} data-bytes=${pin.held_back_bytes}>
                <td class="number" title=${formatExactBytes(pin.held_back_bytes)}>
                  ${formatBytes(pin.held_back_bytes)}
                </td>
                <td>
                  <button
                    class="link"
                    ?disabled=${pin.rank < 0}
                    @click=${() => this.follow({ rank: pin.rank })}>
                    ${pin.who ?? 'no stack'}
                  </button>
                  <div class="dim">
                    ${plural(pin.blocks, 'block')} of ${formatBytes(pin.pinned_bytes)}, since
                    ${pin.since_event < 0 ? 'before the recording' : `event ${formatCount(pin.since_event)}`}
                  </div>
                </td>
                <td>
                  <button
                    class="link"
                    @click=${() => tell(this, 'go', { to: 'segment', segment: pin.row, at: event })}>
                    ${formatBytes(pin.segment_bytes)}
                  </button>
                  <div class="dim">${pin.segment}${pin.expandable ? ', expandable' : ''}</div>
                </td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
  }

  static override styles = [
    base,
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
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Cached memory by pool and stream">
    <table>
      <thead>
        <tr>
          <th scope="col">Pool and stream</th>
          <th scope="col" class="number">Reserved</th>
          <th scope="col" class="number">Cached</th>
          <th scope="col" class="number">Largest piece</th>
        </tr>
      </thead>
      <tbody>
        ${all.map(
          (place) =>
            html`<tr data-place=${place.name} data-bytes=${place.cached_bytes}>
              <td>${place.name}</td>
              <td
                class="number"
                title="${formatExactBytes(place.reserved_bytes)} in ${plural(place.segments, 'segment')}">
                ${formatBytes(place.reserved_bytes)}
              </td>
              <td
                class="number"
                title="${formatExactBytes(place.cached_bytes)} in ${plural(place.blocks, 'piece')}">
                ${formatBytes(place.cached_bytes)}
              </td>
              <td class="number" title=${formatExactBytes(place.largest_free_bytes)}>
                ${formatBytes(place.largest_free_bytes)}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
    ${places_left_out > 0 ? html`<p class="dim">and ${formatCount(places_left_out)} more</p>` : nothing}
  </div>`;
}

export const panel: LoadedPanel = {
  reads: ['settled', 'event'],
  initial: {},
  show: (page) =>
    html`<gpustrata-fragmentation
      role="region"
      aria-label="Fragmentation"
      .page=${page}></gpustrata-fragmentation>`,
};
