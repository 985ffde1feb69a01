// What is true at the cursor, below the timeline.
import { html, type TemplateResult } from 'lit';
import { formatBytes, formatCount, formatMoment } from '../base/format.ts';
import type { Pick, ViewInfo } from '../../engine/index.ts';

function allocated({ level, allocated: used }: Pick, { bands }: ViewInfo): TemplateResult | '' {
  if (bands === 'segments') return '';
  if (bands === 'pools') {
    return html`<span data-readout="level" data-bytes=${level}
        ><b>${formatBytes(level)}</b> allocated with pools</span
      >
      <span data-readout="allocated" data-bytes=${used}><b>${formatBytes(used)}</b> in use</span>`;
  }
  return html`<span data-readout="allocated" data-bytes=${used}><b>${formatBytes(used)}</b> allocated</span>
    ${level > used ? html`<span class="optional">${formatBytes(level - used)} waiting to be freed</span>` : ''}`;
}

/** One line in words: the moment under the cursor. */
export function readout(pick: Pick | undefined, info: ViewInfo): TemplateResult {
  if (!pick)
    return html`<span class="hint">Wheel zooms, drag moves, click pins. <kbd>?</kbd> all keys</span>`;
  const time =
    pick.time_us !== null && info.first_time_us !== null
      ? formatMoment(pick.time_us - info.first_time_us)
      : undefined;
  return html`
    <span data-readout="event"
      >${pick.event < 0 ? 'before the first event' : html`<span class="least">event </span>${formatCount(pick.event)}`}</span
    >
    ${time ? html`<span class="optional">${time}</span>` : ''} ${allocated(pick, info)}
    <span data-readout="reserved" data-bytes=${pick.reserved}
      ><b>${formatBytes(pick.reserved)}</b> reserved</span
    >
  `;
}
