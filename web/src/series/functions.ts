// What was noticed about counters, and what profiled functions did with memory.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatBytes, formatCount, formatDuration, formatExactBytes, plural } from '../base/format.ts';
import type { Engine, FunctionCall, SeriesPart, Telemetry } from '../../engine/index.ts';
import { base } from '../controls/styles.ts';
import { bytesColumn, countColumn, tableOf } from '../controls/table.ts';
import { tableStyles } from '../controls/table_styles.ts';
import { nameOfDevice, placeOf } from '../words/series_text.ts';
import { seriesStyles } from './styles.ts';

const mostCalls = 500; // listed

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
      ${tableOf(functions, {
        label: 'Functions',
        framed: true,
        data: { functions: functions.length },
        row: ({ name }) => ({ data: { function: name } }),
        columns: [
          { name: 'Function', look: 'name', cell: ({ name }) => ({ text: name, says: name }) },
          countColumn('Calls', ({ calls }) => calls),
          {
            name: 'Mean time',
            look: 'number',
            cell: ({ calls, total_time_s }) => formatDuration((total_time_s / Math.max(calls, 1)) * 1e6),
          },
          bytesColumn('Kept', ({ net_bytes }) => net_bytes),
          bytesColumn('Highest level', ({ peak_bytes }) => peak_bytes),
          bytesColumn('Over its beginning', ({ peak_over_entry_bytes }) => peak_over_entry_bytes),
        ],
      })}
    </section>`;
  }

  private listOfCalls(): TemplateResult {
    const { of: part, calls } = this;
    return html`<section>
      <h3>Calls</h3>
      ${part.calls > calls.length ? html`<p class="dim">The first ${formatCount(calls.length)} of ${formatCount(part.calls)}.</p>` : nothing}
      ${tableOf(calls, {
        label: 'Calls',
        framed: true,
        data: { calls: calls.length },
        columns: [
          { name: 'At', cell: ({ position }) => (position === null ? '–' : placeOf(part, position)) },
          { name: 'Function', look: 'name', cell: ({ function: name }) => ({ text: name, says: name }) },
          bytesColumn('Before', ({ before }) => before),
          bytesColumn('Peak', ({ peak }) => peak),
          bytesColumn('After', ({ after }) => after),
          bytesColumn('Kept', ({ net }) => net),
          {
            name: 'Time',
            look: 'number',
            cell: ({ seconds }) => (seconds === null ? '–' : formatDuration(seconds * 1e6)),
          },
        ],
      })}
    </section>`;
  }

  static override styles = [base, tableStyles, seriesStyles];
}
