// What was noticed about counters, and what profiled functions did with memory.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatBytes, formatCount, formatDuration, formatExactBytes, plural } from '../base/format.ts';
import type { Bytes } from '../base/units.ts';
import type { Engine, FunctionCall, SeriesPart, Telemetry } from '../../engine/index.ts';
import { base } from '../controls/styles.ts';
import { tableStyles } from '../controls/table_styles.ts';
import { nameOfDevice, placeOf } from '../words/series_text.ts';
import { seriesStyles } from './styles.ts';

const mostCalls = 500; // listed

const bytesOf = (bytes: Bytes | null): TemplateResult =>
  bytes === null ? html`–` : html`<span title=${formatExactBytes(bytes)}>${formatBytes(bytes)}</span>`;

@element('gpustrata-functions')
export class FunctionsView extends LitElement {
  @property({ attribute: false }) engine!: Engine;
  @property({ attribute: false }) of!: SeriesPart;
  @state() private told: Telemetry | undefined;
  @state() private calls: readonly FunctionCall[] = [];

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('engine') || changed.has('of')) void this.load();
  }

  private async load(): Promise<void> {
    const { engine, of: part } = this;
    try {
      const told = await engine.ask('telemetry', {});
      const calls =
        part.calls > 0 ? await engine.ask('calls', { part: part.part, first: 0, count: mostCalls }) : [];
      if (engine === this.engine && part === this.of) Object.assign(this, { told, calls });
    } catch {
      // a dead engine is told by the page
    }
  }

  protected override render(): TemplateResult {
    const { told } = this;
    if (!told) return html``;
    return html`${this.findings(told)}${this.devices(told)}
    ${told.functions.length > 0 ? this.functions(told) : nothing}
    ${this.calls.length > 0 ? this.listOfCalls() : nothing}`;
  }

  private findings({ findings }: Telemetry): TemplateResult {
    return html`<section>
      <h3>Noticed</h3>
      ${
        findings.length === 0
          ? html`<p class="dim">Nothing. Counters know nothing of what came and went between two samples.</p>`
          : nothing
      }
      ${findings.map(
        ({ name, by, severity, text }) =>
          html`<div class="finding" data-finding=${name} data-by=${by}>
            <span class="by">${by === 'gpustrata' ? 'gpustrata' : 'gpumemprof'}</span>
            <span
              ><span class=${severity}
                >${severity === 'info' ? '' : severity === 'error' ? 'Serious. ' : 'Look at it. '}</span
              >${text}</span
            >
          </div>`,
      )}
      ${findings.some(({ by }) => by === 'gpumemprof') ? html`<p class="dim">Lines of gpumemprof are flags that its bundle raised.</p>` : nothing}
    </section>`;
  }

  private devices({ devices }: Telemetry): TemplateResult {
    return html`<dl class="facts">
      ${devices.map(
        ({ device, samples, peak_allocated_bytes, peak_reserved_bytes }) =>
          html`<div data-device=${device ?? 'unknown'} data-bytes=${peak_allocated_bytes ?? nothing}>
            <dt>
              ${nameOfDevice(device) === '' ? 'The device' : nameOfDevice(device)},
              ${plural(samples, 'sample')}
            </dt>
            <dd title=${peak_allocated_bytes === null ? nothing : formatExactBytes(peak_allocated_bytes)}>
              ${peak_allocated_bytes === null ? 'not known what was' : formatBytes(peak_allocated_bytes)}
              allocated at
              most${peak_reserved_bytes === null ? '' : `, ${formatBytes(peak_reserved_bytes)} reserved`}
            </dd>
          </div>`,
      )}
    </dl>`;
  }

  private functions({ functions }: Telemetry): TemplateResult {
    return html`<section>
      <h3>Functions</h3>
      <div class="scroller" tabindex="0" role="region" aria-label="Functions">
        <table data-functions=${functions.length}>
          <thead>
            <tr>
              <th scope="col">Function</th>
              <th scope="col" class="number">Calls</th>
              <th scope="col" class="number">Mean time</th>
              <th scope="col" class="number">Kept</th>
              <th scope="col" class="number">Highest level</th>
              <th scope="col" class="number">Over its beginning</th>
            </tr>
          </thead>
          <tbody>
            ${functions.map(
              ({ name, calls, total_time_s, net_bytes, peak_bytes, peak_over_entry_bytes }) =>
                html`<tr data-function=${name}>
                  <td class="name" title=${name}>${name}</td>
                  <td class="number">${formatCount(calls)}</td>
                  <td class="number">${formatDuration((total_time_s / Math.max(calls, 1)) * 1e6)}</td>
                  <td class="number">${bytesOf(net_bytes)}</td>
                  <td class="number">${bytesOf(peak_bytes)}</td>
                  <td class="number">${bytesOf(peak_over_entry_bytes)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </section>`;
  }

  private listOfCalls(): TemplateResult {
    const { of: part, calls } = this;
    return html`<section>
      <h3>Calls</h3>
      ${part.calls > calls.length ? html`<p class="dim">The first ${formatCount(calls.length)} of ${formatCount(part.calls)}.</p>` : nothing}
      <div class="scroller" tabindex="0" role="region" aria-label="Calls">
        <table data-calls=${calls.length}>
          <thead>
            <tr>
              <th scope="col">At</th>
              <th scope="col">Function</th>
              <th scope="col" class="number">Before</th>
              <th scope="col" class="number">Peak</th>
              <th scope="col" class="number">After</th>
              <th scope="col" class="number">Kept</th>
              <th scope="col" class="number">Time</th>
            </tr>
          </thead>
          <tbody>
            ${calls.map(
              (call) =>
                html`<tr>
                  <td>${call.position === null ? '–' : placeOf(part, call.position)}</td>
                  <td class="name" title=${call.function}>${call.function}</td>
                  <td class="number">${bytesOf(call.before)}</td>
                  <td class="number">${bytesOf(call.peak)}</td>
                  <td class="number">${bytesOf(call.after)}</td>
                  <td class="number">${bytesOf(call.net)}</td>
                  <td class="number">${call.seconds === null ? '–' : formatDuration(call.seconds * 1e6)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </section>`;
  }

  static override styles = [base, tableStyles, seriesStyles];
}
