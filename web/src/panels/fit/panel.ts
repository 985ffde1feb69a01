// What fits: runs of one program with different batches or lengths are open, and the engine foretells the memory of others.
import { reasonOf } from '../../base/reason.ts';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount, formatShare, plural } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import { fieldOf } from '../../base/sizes.ts';
import { formStyles } from '../../controls/form_styles.ts';
import { base } from '../../controls/styles.ts';
import { bytesColumn, countColumn, tableOf } from '../../controls/table.ts';
import { tableStyles } from '../../controls/table_styles.ts';
import { textField } from '../../controls/text_field.ts';
import { EngineFailure, type EngineView, type Fit } from '../../../engine/index.ts';
import { maybeText } from '../link_field.ts';
import type { Kept, LoadedPanel, PanelPage } from '../panel.ts';
import './curve.ts';
import {
  askedOf,
  mostParameters,
  stepOf,
  tableField,
  tableFor,
  tableOfNames,
  valueOf,
  valuesOfCurve,
  type Asked,
  type Table,
  type Wrong,
} from './fields.ts';
import { fittingOf, type Fitting, type Reading } from './fitting.ts';
import {
  answerOf,
  heldText,
  mostTerms,
  needs,
  otherPoints,
  pointsOf,
  sureness,
  type Found,
} from './results.ts';
import { styles } from './styles.ts';

/** What it remembers of a view. */
interface Memory {
  table: Table | undefined;
  capacity: string | undefined;
  conf: string | undefined;
  /** Of the first parameter, that is looked at. */
  value: string | undefined;
  /** Of the others, with a comma between; undefined = those of the largest recording. */
  held: string | undefined;
  found: Found | undefined;
}

/** The curve goes so far beyond the largest value that fits, or that was recorded. */
const beyond = 1.3;

@element('gpustrata-fit')
export class FitPanel extends LitElement {
  @property({ attribute: false }) page!: PanelPage;
  @property({ attribute: false }) kept!: Kept<Memory>;
  @state() private task: 'answer' | 'curve' | undefined;
  @state() private reading: Reading | undefined;
  @state() private wrong: Wrong | undefined;
  @state() private problem = '';
  /** At the chosen value. */
  @state() private looked: { value: number; fit: Fit | undefined; problem: string } | undefined;
  /** Of what is running; another one = its answer is dropped. */
  private round = 0;
  private view: EngineView | undefined;
  private readonly looking = new LatestOnly<{ found: Found; value: number }, Fit>(
    ({ found, value }) =>
      this.fitting.ask(found.asked, { at: [{ values: [value, ...found.held] }], largest: false }),
    (fit, { found, value }) => {
      if (this.kept.value.found === found) this.looked = { value, fit, problem: '' };
    },
    (error) => {
      if (error instanceof EngineFailure && error.reason.code === 'cancelled') return;
      const { found } = this.kept.value;
      this.looked = found && { value: this.valueIn(found), fit: undefined, problem: reasonOf(error) };
    },
  );

  private get fitting(): Fitting {
    return fittingOf(this.page.view, this.page.elsewhere);
  }
  private get table(): Table {
    return tableFor(this.kept.value.table, this.page.files);
  }
  private get capacity(): string {
    const known = this.page.files.flatMap(({ view }) => view.info.capacity ?? []);
    return this.kept.value.capacity ?? (known.length > 0 ? fieldOf(Math.max(...known)) : '');
  }
  private get asked(): ReturnType<typeof askedOf> {
    return askedOf(this.table, this.page.files, this.capacity, this.kept.value.conf);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('page') || !this.page.settled || this.view === this.page.view) return;
    this.view = this.page.view;
    this.round += 1;
    this.task = this.reading = this.wrong = this.looked = undefined;
    this.problem = '';
    this.looking.forget();
    const { found } = this.kept.value;
    if (found) this.look(found);
    else if ('asked' in this.asked) void this.run();
  }

  private change(change: Partial<Memory>): void {
    this.kept.keep(change);
    this.wrong = undefined;
    this.requestUpdate();
  }
  private changeTable(change: (table: Table) => Table): void {
    this.change({ table: change(this.table) });
  }

  /** Asks for the answer, then for the curve. */
  private async run(): Promise<void> {
    const { asked } = this;
    if ('wrong' in asked) return void (this.wrong = asked.wrong);
    this.round += 1;
    const { round, kept, fitting } = this;
    const isOver = (): boolean => round !== this.round;
    this.task = 'answer';
    this.problem = '';
    this.wrong = this.looked = undefined;
    this.looking.forget();
    try {
      const { recordings } = asked.asked;
      const held = this.heldOf(asked.asked);
      const fit = await fitting.ask(
        asked.asked,
        {
          at: held.length > 0 ? [{ values: [recordings.at(-1)?.values[0] ?? 1, ...held] }] : [],
          largest: true,
        },
        (reading) => {
          if (this.task) this.reading = reading; // also of a run that began before this one
        },
      );
      if (isOver()) return;
      this.reading = undefined;
      kept.keep({ found: { asked: asked.asked, fit, held, curve: undefined } });
      this.task = 'curve';
      const recorded = recordings.map(({ values }) => values[0] ?? 1);
      const largest = fit.largest ?? 0;
      const last =
        Math.ceil(largest > 0 ? Math.max(...recorded, largest) * beyond : Math.max(...recorded) * 4) + 1;
      const step = stepOf(recorded, fit.repeats.length > 0);
      const also = [...recorded, largest, largest + step];
      const at = valuesOfCurve(last, also, { step, from: recorded[0] ?? 1 });
      const curve = await fitting.ask(asked.asked, {
        at: at.map((value) => ({ values: [value, ...held] })),
        largest: false,
        leaveOut: true,
      });
      if (isOver()) return;
      const found = { asked: asked.asked, fit, held, curve };
      kept.keep({ found });
      this.look(found);
    } catch (error) {
      if (isOver()) return;
      const field = error instanceof EngineFailure ? error.reason.inside : undefined;
      if (field === 'conf' || field === 'capacity') this.wrong = { field, message: reasonOf(error) };
      else this.problem = reasonOf(error);
    } finally {
      if (!isOver()) this.task = this.reading = undefined;
    }
  }

  private heldOf({ recordings, parameters }: Asked): number[] {
    const given = (this.kept.value.held ?? '').split(',').map(valueOf);
    return parameters.slice(1).map((_, at) => given[at] ?? recordings.at(-1)?.values[at + 1] ?? 1);
  }

  /** The chosen value: of a link, else the largest that fits, else the largest recorded. */
  private valueIn({ fit, curve, asked }: Found): number {
    const last = curve?.at.at(-1)?.value ?? 1;
    const usual = fit.largest ?? asked.recordings.at(-1)?.values[0] ?? 1;
    return Math.min(valueOf(this.kept.value.value ?? '') ?? usual, last);
  }
  private look(found: Found): void {
    if (!found.curve) return;
    this.looking.request({ found, value: this.valueIn(found) });
  }
  private choose(value: number): void {
    this.kept.keep({ value: String(value) });
    const { found } = this.kept.value;
    if (found) this.look(found);
    this.requestUpdate();
  }

  private cancel(): void {
    this.round += 1;
    this.fitting.cancel();
    this.task = this.reading = undefined;
    this.problem = 'Cancelled.';
  }

  protected override render(): TemplateResult {
    const { files } = this.page;
    if (files.length < 2 && !this.kept.value.found)
      return html`<div class="empty" data-empty>
        <p>
          Open a second recording of the same program, with another batch or sequence length: what a run needs
          with others is foretold from two or three small ones.
        </p>
        <p class="dim">
          Record the same steps each time, with room for all of them. Parameters are read from the names of
          files (<code>run-b4-seq512.pickle</code>), or typed.
        </p>
      </div>`;
    return html`<form
      @submit=${(submit: Event) => {
        submit.preventDefault();
        void this.run();
      }}>
      ${this.outcome()}
      <div class="columns" data-task=${this.task ?? 'none'}>
        <div class="fields">${this.recordings()} ${this.device()}</div>
        <div class="results">${this.results()}</div>
      </div>
    </form>`;
  }

  // -- What is asked.

  private recordings(): TemplateResult {
    const { table } = this;
    const { parameters, rows } = table;
    const invalid = (field: string): typeof nothing | 'true' =>
      this.wrong?.field === field ? 'true' : nothing;
    return html`<div class="scroll" tabindex="0" role="group" aria-label="Recordings and their parameters">
        <table class="recordings" data-parameters=${parameters.length}>
          <thead>
            <tr>
              <th scope="col">Recordings</th>
              ${parameters.map(
                (name, at) =>
                  html`<th scope="col">
                    <span class="name">
                      <input
                        class="field"
                        name="parameter-${at}"
                        aria-label="Name of parameter ${at + 1}"
                        aria-invalid=${invalid(`parameter-${at}`)}
                        autocomplete="off"
                        spellcheck="false"
                        .value=${name}
                        @input=${({ target }: Event) =>
                          this.changeTable((now) => ({
                            ...now,
                            parameters: now.parameters.map((one, i) =>
                              i === at ? (target as HTMLInputElement).value : one,
                            ),
                          }))} />
                      ${
                        parameters.length > 1
                          ? html`<button
                              type="button"
                              class="small-button"
                              data-remove=${at}
                              aria-label="Remove the parameter ${name}"
                              title="Remove the parameter ${name}"
                              @click=${() => this.removeParameter(at)}>
                              ×
                            </button>`
                          : nothing
                      }
                    </span>
                  </th>`,
              )}
            </tr>
          </thead>
          <tbody>
            ${rows.map(
              (row, at) =>
                html`<tr data-file=${row.file} data-included=${row.included}>
                  <th scope="row">
                    <label class="file">
                      <input
                        type="checkbox"
                        .checked=${row.included}
                        @change=${({ target }: Event) =>
                          this.changeRow(at, { included: (target as HTMLInputElement).checked })} />
                      <span>${row.file}</span>
                    </label>
                  </th>
                  ${row.values.map(
                    (value, parameter) =>
                      html`<td>
                        <input
                          class="field value"
                          name="value-${at}-${parameter}"
                          inputmode="numeric"
                          autocomplete="off"
                          aria-label="${parameters[parameter]} of ${row.file}"
                          aria-invalid=${invalid(`value-${at}-${parameter}`)}
                          ?disabled=${!row.included}
                          .value=${value}
                          @input=${({ target }: Event) =>
                            this.changeRow(at, {
                              values: row.values.map((one, i) =>
                                i === parameter ? (target as HTMLInputElement).value : one,
                              ),
                            })} />
                      </td>`,
                  )}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      <div class="buttons">
        <button
          type="button"
          class="button small"
          data-add
          ?disabled=${parameters.length >= mostParameters}
          @click=${() =>
            this.changeTable((now) => ({
              parameters: [...now.parameters, now.parameters.includes('seq') ? '' : 'seq'],
              rows: now.rows.map((row) => ({ ...row, values: [...row.values, ''] })),
            }))}>
          Add a parameter
        </button>
        <button
          type="button"
          class="button small"
          data-names
          @click=${() => this.change({ table: tableOfNames(this.page.files) })}>
          Read the names again
        </button>
      </div>`;
  }
  private changeRow(at: number, change: Partial<Table['rows'][number]>): void {
    this.changeTable((now) => ({
      ...now,
      rows: now.rows.map((row, i) => (i === at ? { ...row, ...change } : row)),
    }));
  }
  private removeParameter(at: number): void {
    const without = <T>(list: readonly T[]): T[] => list.filter((_, i) => i !== at);
    this.changeTable((now) => ({
      parameters: without(now.parameters),
      rows: now.rows.map((row) => ({ ...row, values: without(row.values) })),
    }));
  }

  private device(): TemplateResult {
    const { parameters } = this.table;
    const { asked, kept } = this;
    const held = 'asked' in asked ? this.heldOf(asked.asked) : [];
    return html`${this.text('capacity', 'Device memory', 'as 80 GiB; empty: the curve alone', this.capacity)}
      ${this.text('conf', 'Settings', 'as recorded; PYTORCH_CUDA_ALLOC_CONF', kept.value.conf ?? '')}
      ${held.map(
        (value, at) =>
          html`<label
            >${parameters[at + 1]} of the answer and the curve
            <input
              class="field value"
              name="held-${at}"
              inputmode="numeric"
              autocomplete="off"
              .value=${String(value)}
              @change=${({ target }: Event) =>
                this.change({
                  held: held.map((one, i) => (i === at ? (target as HTMLInputElement).value : one)).join(','),
                })} />
          </label>`,
      )}
      <div class="buttons">
        <button class="button primary">Foretell</button>
        ${
          this.task
            ? html`<button type="button" class="button" data-cancel @click=${() => this.cancel()}>
                Cancel
              </button>`
            : nothing
        }
      </div>`;
  }

  private text(name: 'capacity' | 'conf', label: string, placeholder: string, value: string): TemplateResult {
    return textField({
      ...{ name, label, placeholder, value },
      wrong: this.wrong?.field === name ? this.wrong : undefined,
      input: (text) => this.change({ [name]: name === 'conf' && text === '' ? undefined : text }),
    });
  }

  // -- What came of it.

  private outcome(): TemplateResult {
    const { task, reading, problem, wrong } = this;
    const found = this.kept.value.found;
    const elsewhere = wrong && wrong.field !== 'capacity' && wrong.field !== 'conf' ? wrong.message : '';
    return html`<div role="status">
      ${problem === '' ? nothing : html`<p role="alert" class="bad" data-problem>${problem}</p>`}
      ${elsewhere === '' ? nothing : html`<p role="alert" class="bad" data-wrong>${elsewhere}</p>`}
      ${
        task === undefined
          ? nothing
          : html`<p class="dim">
              ${
                reading
                  ? html`<progress max=${reading.of} .value=${reading.done}></progress> Reading
                      ${reading.file}…`
                  : task === 'answer'
                    ? 'Matching requests…'
                    : 'Running the curve…'
              }
            </p>`
      }
      ${
        !found && task === undefined && problem === '' && elsewhere === ''
          ? html`<p class="dim" data-missing>
              Write what differs between the recordings, such as their batch, and press Foretell.
            </p>`
          : nothing
      }
      ${found && found.fit.answer !== '' ? answerOf(found.fit) : nothing}
      ${
        found?.fit.answer === ''
          ? html`<p class="dim">
              With the memory of a device, the largest ${found.fit.parameter} that fits is told.
            </p>`
          : nothing
      }
    </div>`;
  }

  private results(): TemplateResult | typeof nothing {
    const { found } = this.kept.value;
    if (!found) return nothing;
    const { fit, curve, asked, held } = found;
    return html`${
      curve
        ? html`<gpustrata-fit-curve
              .parameter=${fit.parameter}
              .points=${curve.at}
              .recorded=${pointsOf(found)}
              .capacity=${asked.capacity}
              .largest=${fit.largest ?? undefined}
              .chosen=${this.valueIn(found)}
              .theme=${this.page.theme}
              @value=${({ detail }: CustomEvent<number>) => this.choose(detail)}></gpustrata-fit-curve>
            ${held.length > 0 ? html`<p class="dim">Along the curve, ${heldText(fit, held)}. ${otherPoints(found)}</p>` : nothing}`
        : nothing
    }
    ${this.at(found)} ${sureness(fit)}`;
  }

  /** At the chosen value: what it needs, and what that is made of. */
  private at(found: Found): TemplateResult | typeof nothing {
    const { looked } = this;
    if (looked && !looked.fit) return html`<p role="alert" class="bad" data-untold>${looked.problem}</p>`;
    const one = looked?.fit?.at[0];
    if (!looked?.fit || !one) return nothing;
    const { terms, terms_bytes } = looked.fit;
    const rest = terms.slice(mostTerms);
    return html`<section
      data-value=${looked.value}
      data-requested=${one.requested_peak_bytes}
      data-reserved=${one.reserved_peak_bytes}
      data-fits=${String(one.fits)}>
      <h2>
        ${looked.fit.parameter}
        ${formatCount(looked.value)}${found.held.length > 0 ? `, ${heldText(looked.fit, found.held)}` : ''}
      </h2>
      <p class="says" aria-live="polite">${needs(one, found.asked.capacity)}</p>
      ${tableOf(terms.slice(0, mostTerms), {
        label: 'What the peak is made of, by line and growth',
        data: { terms: terms.length },
        row: ({ grows, bytes }) => ({ data: { grows, bytes } }),
        columns: [
          bytesColumn('Peak requested', ({ bytes }) => bytes),
          { name: 'Share', look: 'number', cell: ({ bytes }) => formatShare(bytes, terms_bytes) },
          countColumn('Blocks', ({ blocks }) => blocks),
          { name: 'Changes with', cell: ({ grows }) => html`<code>${grows}</code>` },
          { name: 'Requested by', names: true, cell: ({ who }) => who ?? 'code without a stack' },
        ],
      })}
      ${
        rest.length === 0
          ? nothing
          : html`<p class="dim">
              ${plural(rest.length, 'more line')}:
              ${formatBytes(rest.reduce((sum, { bytes }) => sum + bytes, 0))}.
            </p>`
      }
    </section>`;
  }

  static override styles = [base, tableStyles, formStyles, styles];
}

export const panel: LoadedPanel<Memory> = {
  reads: ['files', 'settled', 'theme'],
  initial: {
    table: undefined,
    capacity: undefined,
    conf: undefined,
    value: undefined,
    held: undefined,
    found: undefined,
  },
  linked: { table: tableField, capacity: maybeText, conf: maybeText, value: maybeText, held: maybeText },
  show: (page, kept) => html`<gpustrata-fit .page=${page} .kept=${kept}></gpustrata-fit>`,
};
