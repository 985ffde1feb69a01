// What operators and modules did with memory, from MemoryTracker: any number of the largest, forward and backward apart.
import { reasonOf } from '../base/reason.ts';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { formatBytes, formatCount, formatExactBytes, formatSigned } from '../base/format.ts';
import { LatestOnly } from '../base/latest_only.ts';
import type { Bytes } from '../base/units.ts';
import type { Engine, Operators, SeriesPart } from '../../engine/index.ts';
import { base } from '../controls/styles.ts';
import { bytesCell, countColumn, tableOf, type TableColumn } from '../controls/table.ts';
import { tableStyles } from '../controls/table_styles.ts';
import { seriesStyles } from './styles.ts';

const firstMost = 20;
const most = 1000;

const changeColumn: TableColumn<{ delta_bytes: Bytes }> = {
  name: 'Change',
  look: 'number',
  cell: ({ delta_bytes }) => bytesCell(delta_bytes, { signed: true }),
};

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
      ${reserved_peak_bytes === null ? nothing : fact('Peak reserved', formatBytes(reserved_peak_bytes), formatExactBytes(reserved_peak_bytes))}
      ${unused ? fact('Reserved and not allocated', `${formatBytes(unused.bytes)} of ${formatBytes(unused.reserved_bytes)} at operator ${formatCount(unused.op)}`) : nothing}
      ${phases.map(({ name, first_op, last_op, delta_bytes }) => fact(name.charAt(0).toUpperCase() + name.slice(1), `${formatSigned(delta_bytes)}, operators ${formatCount(first_op)} to ${formatCount(last_op)}`))}
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
      ${tableOf(top, {
        label: 'Operators that took most',
        framed: true,
        data: { operators: top.length },
        row: ({ op, delta_bytes }) => ({ data: { op, bytes: delta_bytes } }),
        columns: [
          changeColumn,
          countColumn('Operator', ({ op }) => op),
          { name: 'Name', look: 'name', cell: ({ name }) => ({ text: name, says: name }) },
        ],
      })}
    </section>`;
  }

  private modules({ modules }: Operators): TemplateResult {
    return html`<section>
      <h3>Modules</h3>
      <p class="dim">
        Operators of a parent after a child returned carry the child's name: MemoryTracker never sets it back.
      </p>
      ${tableOf(modules, {
        label: 'Modules',
        framed: true,
        row: ({ module, delta_bytes }) => ({ data: { module, bytes: delta_bytes } }),
        columns: [
          changeColumn,
          countColumn('Operators', ({ ops }) => ops),
          {
            name: 'Module',
            look: 'name',
            cell: ({ module }) => ({
              text: module === '' ? 'the root, or before any' : module,
              says: module,
            }),
          },
        ],
      })}
    </section>`;
  }

  static override styles = [base, tableStyles, seriesStyles];
}
