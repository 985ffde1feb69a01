// What operators and modules did with memory, from MemoryTracker: any number of the largest, forward and backward apart.
import { reasonOf } from '../base/reason.ts';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatBytes, formatCount, formatExactBytes } from '../base/format.ts';
import { LatestOnly } from '../base/latest_only.ts';
import type { Bytes } from '../base/units.ts';
import type { Engine, Operators, SeriesPart } from '../../engine/index.ts';
import { base } from '../controls/styles.ts';
import { tableStyles } from '../controls/table_styles.ts';
import { seriesStyles } from './styles.ts';

const firstMost = 20;
const most = 1000;

const signed = (bytes: Bytes): TemplateResult =>
  html`<span title=${formatExactBytes(bytes)}>${bytes > 0 ? '+' : ''}${formatBytes(bytes)}</span>`;

@element('gpustrata-operators')
export class OperatorsView extends LitElement {
  @property({ attribute: false }) engine!: Engine;
  @property({ attribute: false }) of!: SeriesPart;
  @state() private wanted = firstMost;
  @state() private found: Operators | undefined;
  @state() private problem: string | undefined;

  private readonly asking = new LatestOnly<{ part: SeriesPart; most: number }, Operators>(
    ({ part, most: wanted }) => this.engine.ask('operators', { part: part.part, most: wanted }),
    (found, { part }) => part === this.of && (this.found = found),
    (error) => this.engine.alive && (this.problem = reasonOf(error)),
  );

  protected override willUpdate(changed: PropertyValues): void {
    if (!changed.has('of') && !changed.has('wanted')) return;
    this.problem = undefined;
    this.asking.request({ part: this.of, most: this.wanted });
  }

  private readonly choose = (event: Event): void => {
    const number = Math.trunc(Number((event.target as HTMLInputElement).value));
    if (number >= 1) this.wanted = Math.min(number, most);
  };

  protected override render(): TemplateResult {
    const { found } = this;
    if (this.problem !== undefined) return html`<p role="alert">${this.problem}</p>`;
    if (!found) return html`<p class="dim">Looking at the operators…</p>`;
    return html`${this.facts(found)}
      <div class="tables">${this.operators(found)}${this.modules(found)}</div>`;
  }

  private facts({
    peak,
    active_peak_bytes,
    reserved_peak_bytes,
    unused,
    retries,
    phases,
  }: Operators): TemplateResult {
    const fact = (name: string, text: string, more?: string): TemplateResult =>
      html`<div>
        <dt>${name}</dt>
        <dd title=${more ?? nothing}>${text}</dd>
      </div>`;
    return html`<dl class="facts">
      ${peak ? fact('Allocated at most', `${formatBytes(peak.allocated_bytes)} at operator ${formatCount(peak.op)}`, formatExactBytes(peak.allocated_bytes)) : nothing}
      ${active_peak_bytes === null ? nothing : fact('Active at most', formatBytes(active_peak_bytes), formatExactBytes(active_peak_bytes))}
      ${reserved_peak_bytes === null ? nothing : fact('Reserved at most', formatBytes(reserved_peak_bytes), formatExactBytes(reserved_peak_bytes))}
      ${unused ? fact('Reserved and not allocated', `${formatBytes(unused.bytes)} of ${formatBytes(unused.reserved_bytes)} at operator ${formatCount(unused.op)}`) : nothing}
      ${phases.map(({ name, first_op, last_op, delta_bytes }) => fact(name.charAt(0).toUpperCase() + name.slice(1), `${delta_bytes > 0 ? '+' : ''}${formatBytes(delta_bytes)}, operators ${formatCount(first_op)} to ${formatCount(last_op)}`))}
      ${retries === null ? nothing : fact('Retries of allocations', formatCount(retries))}
    </dl>`;
  }

  private operators({ top }: Operators): TemplateResult {
    return html`<section>
      <h3>
        <label
          >Operators that took most:
          <input
            class="field"
            type="number"
            min="1"
            max=${most}
            .value=${String(this.wanted)}
            @change=${this.choose}
        /></label>
      </h3>
      <p class="dim">
        Allocated after the operator less that after the one before it, what was freed in between included.
      </p>
      <div class="scroller" tabindex="0" role="region" aria-label="Operators that took most">
        <table data-operators=${top.length}>
          <thead>
            <tr>
              <th scope="col" class="number">Change</th>
              <th scope="col" class="number">Operator</th>
              <th scope="col">Name</th>
            </tr>
          </thead>
          <tbody>
            ${top.map(
              ({ op, name, delta_bytes }) =>
                html`<tr data-op=${op} data-bytes=${delta_bytes}>
                  <td class="number">${signed(delta_bytes)}</td>
                  <td class="number">${formatCount(op)}</td>
                  <td class="name" title=${name}>${name}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </section>`;
  }

  private modules({ modules }: Operators): TemplateResult {
    return html`<section>
      <h3>Modules</h3>
      <p class="dim">
        Operators of a parent after a child returned carry the child's name: MemoryTracker never sets it back.
      </p>
      <div class="scroller" tabindex="0" role="region" aria-label="Modules">
        <table>
          <thead>
            <tr>
              <th scope="col" class="number">Change</th>
              <th scope="col" class="number">Operators</th>
              <th scope="col">Module</th>
            </tr>
          </thead>
          <tbody>
            ${modules.map(
              ({ module, ops, delta_bytes }) =>
                html`<tr data-module=${module} data-bytes=${delta_bytes}>
                  <td class="number">${signed(delta_bytes)}</td>
                  <td class="number">${formatCount(ops)}</td>
                  <td class="name" title=${module}>${module === '' ? 'the root, or before any' : module}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </section>`;
  }

  static override styles = [base, tableStyles, seriesStyles];
}
