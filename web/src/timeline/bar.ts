// The controls around the timeline: what it shows and how, above it; what its lines are and tools, below it.
import { html, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { formatBytes } from '../base/format.ts';
import { sizeOf } from '../base/sizes.ts';
import type { Bytes } from '../base/units.ts';
import { bandsNames, bandsWays, hasReserved } from '../model/bands.ts';
import { colourNames, colourWays } from '../model/colours.ts';
import { stackingNames, stackingWays, type Look, type Stacking } from '../model/stacking.ts';
import type { Axis, Bands, ColourBy, ViewInfo } from '../../engine/index.ts';
import type { Tool } from './tracks/drag_tool.ts';
import { symbols } from '../controls/symbols.ts';

/** A petabyte is a slip of the finger. */
const mostBytes: Bytes = 2 ** 50;

export interface BarState {
  info: ViewInfo;
  /** What is reserved and in no block is hatched. */
  gap: boolean;
  /** Of the device; null = not known. */
  capacity: Bytes | null;
  axis: Axis;
  colourBy: ColourBy;
  stacking: Stacking;
  tool: Tool;
  /** A stretch is measured. */
  measured: boolean;
  /** What was there before the first event; undefined = nothing was. */
  earlier: 'shown' | 'hidden' | undefined;
  /** Another view of the device is on its way. */
  switching: boolean;
}

export interface BarActions {
  fit(): void;
  zoomStep(factor: number): void;
  toggleBox(): void;
  measure(): void;
  hideEarlier(): void;
  /** Undefined = as the recording tells. */
  changeCapacity(bytes: Bytes | undefined): void;
  changeBands(bands: Bands): void;
  changeAxis(axis: Axis): void;
  changeLook(change: Partial<Look>): void;
}

export function timelineBar(state: BarState, act: BarActions): TemplateResult {
  const { info, axis, colourBy, stacking, switching } = state;
  const noTimes = info.extent.time_us === null;
  const axisButton = (name: Axis, label: string, disabled: boolean): TemplateResult =>
    html`<label class=${disabled ? 'disabled' : ''}>
      <input
        type="radio"
        name="axis"
        .value=${name}
        .checked=${axis === name}
        ?disabled=${disabled}
        aria-label=${disabled ? `${label}: the events of this file carry no times` : label}
        @change=${() => act.changeAxis(name)} /><span>${label}</span>
    </label>`;
  return html`<div class="bar">
    <slot name="tabs"></slot>
    <select
      class="field"
      aria-label="View"
      title="What the timeline shows (V)"
      data-bands=${info.bands}
      ?disabled=${switching}
      .value=${live(info.bands)}
      @change=${(event: Event) => act.changeBands((event.target as HTMLSelectElement).value as Bands)}>
      ${bandsWays.map((way) => html`<option value=${way} ?selected=${way === info.bands}>${bandsNames[way]}</option>`)}
    </select>
    <fieldset class="axis" title=${noTimes ? 'The events of this file carry no times.' : 'Axis (E)'}>
      <legend class="visually-hidden">Horizontal axis</legend>
      ${axisButton('event', 'Events', false)} ${axisButton('time', 'Time', noTimes)}
    </fieldset>
    <label class="colour">
      <span class="word">Colour</span>
      <select
        class="field"
        aria-label="Colour by"
        title="What the colours mean (C)"
        .value=${live(colourBy)}
        @change=${(event: Event) => act.changeLook({ colour: (event.target as HTMLSelectElement).value as ColourBy })}>
        ${colourWays.map((way) => html`<option value=${way} ?selected=${way === colourBy}>${colourNames[way]}</option>`)}
      </select>
    </label>
    <fieldset
      class="axis"
      ?hidden=${info.bands === 'pools'}
      data-stacking=${stacking}
      title="By colour, or the oldest block below (Y)">
      <legend class="visually-hidden">Stacked by</legend>
      ${stackingWays.map(
        (way) =>
          html`<label>
            <input
              type="radio"
              name="stacking"
              .value=${way}
              .checked=${live(way === stacking)}
              @change=${() => act.changeLook({ stacking: way })} /><span>${stackingNames[way]}</span>
          </label>`,
      )}
    </fieldset>
  </div>`;
}

/** What the lines of the picture are. */
export function lineKeys(
  { info, gap, capacity }: Pick<BarState, 'info' | 'gap' | 'capacity'>,
  act: BarActions,
): TemplateResult {
  return html`<div class="legend" role="group" aria-label="Lines">
    ${info.bands === 'segments' ? '' : html`<span><i class="line allocated"></i>${info.bands === 'pools' ? 'in use' : 'allocated'}</span>`}
    ${hasReserved(info) ? html`<span><i class="line reserved"></i>reserved</span>` : ''}
    ${gap ? html`<span title="Reserved and in no block"><i class="gap"></i>gap</span>` : ''}
    ${info.pools ? html`<span><i class="kept"></i>kept by pools, unused</span>` : ''}
    ${hasReserved(info) ? capacityField(capacity, act) : ''}
  </div>`;
}

function capacityField(capacity: Bytes | null, act: BarActions): TemplateResult {
  const typed = (field: HTMLInputElement): void => {
    const bytes = field.value.trim() === '' ? undefined : sizeOf(field.value);
    const wrong = field.value.trim() !== '' && (bytes === undefined || bytes <= 0 || bytes > mostBytes);
    field.setCustomValidity(wrong ? 'Write a size as 80 GiB.' : '');
    if (wrong) field.reportValidity();
    else act.changeCapacity(bytes);
  };
  return html`<label
    class="capacity"
    title="Memory of the device, such as 80 GiB: a line in the picture, and what is left below it at the cursor">
    <i></i>
    <input
      placeholder="device"
      aria-label="Memory of the device"
      autocomplete="off"
      .value=${live(capacity === null ? '' : formatBytes(capacity))}
      @change=${({ target }: Event) => typed(target as HTMLInputElement)} />
  </label>`;
}

/** What is left out, zoom and measuring. */
export function tools(
  { tool, measured, earlier }: Pick<BarState, 'tool' | 'measured' | 'earlier'>,
  act: BarActions,
): TemplateResult {
  return html`<div class="tools" role="toolbar" aria-label="Timeline">
    ${
      earlier === undefined
        ? ''
        : html`<button
            class="button small quiet"
            title="Hide what was there before the first event (Shift H)"
            aria-label="Hide what was there before the first event"
            aria-pressed=${earlier === 'hidden' ? 'true' : 'false'}
            data-tool="earlier"
            @click=${() => act.hideEarlier()}>
            Recorded only
          </button>`
    }
    <button class="button small quiet" title="Show everything (F)" @click=${() => act.fit()}>
      ${symbols.fit}<span class="word">Fit</span>
    </button>
    <button
      class="button small quiet icon"
      title="Zoom in (W)"
      aria-label="Zoom in"
      @click=${() => act.zoomStep(0.5)}>
      ${symbols.plus}
    </button>
    <button
      class="button small quiet icon"
      title="Zoom out (S)"
      aria-label="Zoom out"
      @click=${() => act.zoomStep(2)}>
      ${symbols.minus}
    </button>
    <button
      class="button small quiet icon"
      title="Zoom to a box: drag one (or Shift and drag)"
      aria-label="Zoom to a box"
      aria-pressed=${tool === 'box' ? 'true' : 'false'}
      data-tool="box"
      @click=${() => act.toggleBox()}>
      ${symbols.box}
    </button>
    <button
      class="button small quiet icon"
      title="Measure: drag from one point to another (M)"
      aria-label="Measure"
      aria-pressed=${tool === 'ruler' || measured ? 'true' : 'false'}
      data-tool="ruler"
      @click=${() => act.measure()}>
      ${symbols.ruler}
    </button>
  </div>`;
}
