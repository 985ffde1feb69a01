// The uppermost line: the name, which file and device are shown, and the few things that concern the whole page.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { live } from 'lit/directives/live.js';
import { formatBytes, formatExactBytes, plural } from '../base/format.ts';
import type { ThemeName } from '../draw/colors.ts';
import { bandsNames } from '../model/bands.ts';
import { choiceOf, deviceName, snapshotName, type DeviceChoice } from '../model/devices.ts';
import { hasPlaces, type OpenFile } from '../model/open_files.ts';
import type { ActionId } from './actions.ts';
import '../files/file_button.ts';
import { base } from '../controls/styles.ts';
import { middle, middleStyles } from '../controls/middle.ts';
import { symbols } from '../controls/symbols.ts';

/** `Device 1 · 78.3 GiB · OOM`, as far as it is known. */
function deviceText({ devicePeaks, snapshot, views }: OpenFile, device: number, events: number): string {
  const peak = devicePeaks?.[snapshot]?.find((one) => one.device === device)?.bytes;
  const ranOut = [...views].some(
    ([key, view]) => key.startsWith(`${snapshot},${device},`) && view.info.oom_events.length > 0,
  );
  const size = peak !== undefined ? formatBytes(peak) : events > 0 ? plural(events, 'event') : 'state only';
  return [deviceName(device), size, ...(ranOut ? ['OOM'] : [])].join(' · ');
}

/**
 * Tells `served` (the list of a server's files is wanted), `device` with a DeviceChoice, `files` (bubbling from the button) and
 * `act` with an ActionId.
 */
@element('gpustrata-top-bar')
export class TopBarView extends LitElement {
  @property({ attribute: false }) file: OpenFile | undefined;
  /** Changes with the file's contents, which is the same object. */
  @property({ attribute: false }) view: OpenFile['view'];
  @property() theme: ThemeName = 'light';
  /** What is shown has an address; without one there is nothing to copy. */
  @property({ type: Boolean }) linkable = false;
  @property({ type: Boolean }) switching = false;
  /** The page runs over a server that has files. */
  @property({ type: Boolean }) hasServer = false;

  protected override render(): TemplateResult {
    const { file } = this;
    const other = this.theme === 'dark' ? 'light' : 'dark';
    return html`<header>
      <div class="brand">
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <rect x="2" y="12.5" width="16" height="4.5" rx="1.2" class="b1"></rect>
          <rect x="5" y="7.5" width="11" height="4" rx="1.2" class="b2"></rect>
          <rect x="8" y="3" width="5.5" height="3.5" rx="1.2" class="b3"></rect>
        </svg>
        <h1>gpustrata</h1>
      </div>
      ${file ? this.fileChoice(file) : nothing}
      <slot></slot>
      <div class="end">
        ${file && hasPlaces(file) && this.linkable ? this.button('link', 'Copy a link to this view', 'U', symbols.link) : nothing}
        ${file?.view ? this.button('picture', 'Save the picture', 'I', symbols.save) : nothing}
        ${file ? this.button('about', 'About this file', 'B', symbols.info) : nothing}
        ${this.button('theme', `Use the ${other} theme`, 'T', this.theme === 'dark' ? symbols.sun : symbols.moon)}
        ${this.button('keys', 'Keys', '?', html`?`)}
      </div>
    </header>`;
  }

  private button(action: ActionId, label: string, key: string, symbol: TemplateResult): TemplateResult {
    return html`<button
      class="button quiet icon"
      title="${label} (${key})"
      aria-label=${label}
      data-action=${action}
      @click=${() => this.dispatchEvent(new CustomEvent<ActionId>('act', { detail: action }))}>
      ${symbol}
    </button>`;
  }

  private choose(choice: DeviceChoice | undefined): void {
    if (choice) this.dispatchEvent(new CustomEvent<DeviceChoice>('device', { detail: choice }));
  }

  private fileChoice(file: OpenFile): TemplateResult {
    const { snapshots } = file.contents;
    const devices = snapshots[file.snapshot]?.devices ?? [];
    const info = file.view?.info;
    return html`<div class="file">
      <span
        class="file-name middle"
        title="${file.name} · ${file.contents.format} · ${formatBytes(file.bytes)} (${formatExactBytes(file.bytes)})"
        >${middle(file.name)}</span
      >
      <span class="file-size">${formatBytes(file.bytes)}</span>
      <span class="file-size" data-format>${file.contents.format}</span>
      <slot name="served"></slot>
      ${
        this.hasServer
          ? html`<button
              class="button"
              data-action="served"
              @click=${() => this.dispatchEvent(new CustomEvent('served'))}>
              Files…
            </button>`
          : html`<gpustrata-file-button label="Open…"></gpustrata-file-button>`
      }
      ${
        snapshots.length > 1
          ? html`<select
              class="field"
              aria-label="Snapshot"
              .value=${live(String(file.snapshot))}
              @change=${(event: Event) => this.choose(choiceOf(file.contents, Number((event.target as HTMLSelectElement).value)))}>
              ${snapshots.map((_, index) => html`<option value=${index} ?selected=${index === file.snapshot}>${snapshotName(file.contents, index)}</option>`)}
            </select>`
          : nothing
      }
      ${
        devices.length > 1
          ? html`<select
              class="field"
              aria-label="Device"
              ?disabled=${this.switching}
              .value=${live(String(info?.device ?? ''))}
              @change=${(event: Event) =>
                this.choose({
                  snapshot: file.snapshot,
                  device: Number((event.target as HTMLSelectElement).value),
                })}>
              ${devices.map(
                ({ device, events }) =>
                  html`<option value=${device} ?selected=${device === info?.device}>
                    ${deviceText(file, device, events)}
                  </option>`,
              )}
            </select>`
          : devices.length === 1
            ? html`<span class="device">${deviceName(devices[0]!.device, info?.is_processor)}</span>`
            : nothing
      }
      ${info ? html`<span class="on-paper">${deviceName(info.device, info.is_processor)} · ${bandsNames[info.bands]}</span>` : nothing}
    </div>`;
  }

  static override styles = [
    base,
    middleStyles,
    css`
      header {
        display: flex;
        align-items: center;
        gap: 4px 12px;
        min-height: 40px;
        padding: 0 8px 0 12px;
        background: var(--surface);
        border-bottom: 1px solid var(--line);
      }
      .brand {
        display: flex;
        align-items: center;
        gap: 8px;
      }
      .brand svg {
        width: 20px;
        height: 20px;
      }
      .b1 {
        fill: #4f7fbd;
      }
      .b2 {
        fill: #2f8f8b;
      }
      .b3 {
        fill: #c4a35a;
      }
      h1 {
        margin: 0;
        font-size: 15px;
        font-weight: 650;
        letter-spacing: -0.01em;
      }
      .file {
        display: flex;
        align-items: center;
        gap: 8px;
        min-width: 0;
        flex: 0 1 auto;
      }
      .file-name {
        flex: 0 1 auto;
        max-width: 420px;
        font-weight: 550;
      }
      .file-size,
      .device {
        color: var(--dim);
        white-space: nowrap;
        font-variant-numeric: tabular-nums;
      }
      .file .button,
      .file .field {
        height: 28px;
      }
      gpustrata-file-button {
        --button-height: 28px;
      }
      select {
        max-width: 100%;
        min-width: 64px;
        text-overflow: ellipsis;
      }
      select[aria-label='Device'] {
        max-width: 220px;
      }
      ::slotted(gpustrata-stats) {
        flex: none;
      }
      ::slotted(gpustrata-filter) {
        flex: 1 1 280px;
        min-width: 200px;
        max-width: 560px;
        margin-left: auto;
      }
      .end {
        display: flex;
        margin-left: auto;
      }
      ::slotted(gpustrata-filter) ~ .end {
        margin-left: 0;
      }
      .end .button {
        height: 32px;
        font-size: 15px;
      }
      .on-paper {
        display: none;
      }
      @media print {
        .end,
        .device,
        ::slotted(gpustrata-filter),
        gpustrata-file-button {
          display: none;
        }
        .on-paper {
          display: inline;
        }
      }
      @container (max-width: 1679px) {
        .file-size {
          display: none;
        }
      }
      @container (max-width: 1279px) {
        h1 {
          display: none;
        }
      }
      /* Two lines: the file and its buttons, then its numbers and the search. */
      @container (max-width: 1099px) {
        header {
          flex-wrap: wrap;
          padding-bottom: 4px;
        }
        .file {
          flex: 1 1 calc(100% - 240px);
        }
        .end {
          order: 1;
        }
        ::slotted(*) {
          order: 2;
        }
      }
      @container (max-width: 640px) {
        h1 {
          display: block;
        }
        .brand {
          height: 40px;
        }
        .file {
          order: 1;
          flex: 1 0 100%;
          flex-wrap: wrap;
        }
        .file-name {
          flex: 1;
          min-width: 132px;
          max-width: none;
        }
        select[aria-label='Device'] {
          max-width: 128px;
        }
        .end {
          order: 0;
        }
        .end .button {
          width: 28px;
        }
        ::slotted(gpustrata-stats),
        ::slotted(gpustrata-filter) {
          flex: 1 1 100%;
          min-width: 0;
        }
        ::slotted(gpustrata-filter) {
          max-width: none;
        }
      }
    `,
  ];
}
