// What is true at the cursor, below the timeline.
import { html, type TemplateResult } from 'lit';
import { formatBytes, formatCount, formatMoment, formatShare, plural } from '../base/format.ts';
import type { Bytes } from '../base/units.ts';
import { hasReserved } from '../model/bands.ts';
import type { GroupAt, Pick, ViewInfo } from '../../engine/index.ts';

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

/** What is reserved and in no block: free memory of the cache, and what is lost to rounding. */
function gap({ level, reserved }: Pick): TemplateResult | '' {
  if (reserved <= level) return '';
  const bytes = reserved - level;
  return html`<span
    data-readout="gap"
    data-bytes=${bytes}
    title="Reserved and in no block: free memory of the cache, and what is lost to rounding; the hatched part of the picture"
    ><b>${formatBytes(bytes)}</b> gap</span
  >`;
}

interface Device {
  info: ViewInfo;
  /** Null = not known. */
  capacity: Bytes | null;
}

/** Of what the device had. */
function left({ reserved }: Pick, { info, capacity }: Device): TemplateResult | '' {
  if (capacity === null || capacity < reserved) return '';
  const of =
    capacity === info.capacity
      ? 'that it had for this process at the out of memory'
      : 'that you gave it; the driver and other libraries take some of it';
  return html`<span
    data-readout="left"
    data-bytes=${capacity - reserved}
    title="On the device, of ${formatBytes(capacity)} ${of}"
    ><b>${formatBytes(capacity - reserved)}</b> left</span
  >`;
}

/** A group of the stack under the cursor, with its name. */
export interface NamedGroup {
  group: GroupAt;
  name: string;
}

function groupWords({ group, name }: NamedGroup, { level }: Pick): TemplateResult {
  const { bytes, blocks } = group;
  return html`<span data-readout="group" data-group=${name} data-bytes=${bytes} data-blocks=${blocks}
    ><b>${name}</b> ${formatBytes(bytes)},
    ${formatShare(bytes, level)}${blocks > 0 ? `, ${plural(blocks, 'block')}` : ''}</span
  >`;
}

/** One line in words: the moment under the cursor. */
export function readout(
  pick: Pick | undefined,
  named: NamedGroup | undefined,
  device: Device,
  hasGap: boolean,
): TemplateResult {
  const { info } = device;
  if (!pick)
    return html`<span class="hint by-mouse"
        ><span class="long">Wheel zooms, drag moves, click pins.</span> <kbd>?</kbd> all keys</span
      ><span class="hint by-touch">Pinch to zoom, drag to move, tap to pin</span>`;
  const time =
    pick.time_us !== null && info.first_time_us !== null
      ? formatMoment(pick.time_us - info.first_time_us)
      : undefined;
  return html`
    ${allocated(pick, info)}
    ${
      hasReserved(info)
        ? html`<span data-readout="reserved" data-bytes=${pick.reserved}
            ><b>${formatBytes(pick.reserved)}</b> reserved</span
          >`
        : ''
    }
    <span data-readout="event"
      >${pick.event < 0 ? (!info.has_history ? 'when it was saved' : 'before the first event') : html`<span class="least">event </span>${formatCount(pick.event)}`}</span
    >
    ${time ? html`<span class="optional">${time}</span>` : ''} ${hasReserved(info) ? left(pick, device) : ''}
    ${hasGap ? gap(pick) : ''} ${named ? groupWords(named, pick) : ''}
  `;
}

/** The same for a screen reader, whose cursor goes by keys. */
export function spokenMoment(
  { event, level, reserved }: Pick,
  named: string | undefined,
  info: ViewInfo,
): string {
  const where =
    event >= 0
      ? `event ${formatCount(event)}`
      : !info.has_history
        ? 'when it was saved'
        : 'before the first event';
  const levels =
    info.bands === 'segments'
      ? []
      : [`${formatBytes(level)} ${info.bands === 'pools' ? 'with pools' : 'allocated'}`];
  return [where, ...levels, ...(hasReserved(info) ? [`${formatBytes(reserved)} reserved`] : []), named ?? []]
    .flat()
    .join(', ');
}
