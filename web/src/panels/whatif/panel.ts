// The recorded run once more under other circumstances: what would have been, and how far that can be believed.
import { reasonOf } from '../../base/reason.ts';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import {
  formatBytes,
  formatCount,
  formatExactBytes,
  formatNeeded,
  formatSigned,
  plural,
} from '../../base/format.ts';
import { bytesCell, bytesColumn, countColumn, tableOf, type TableCell } from '../../controls/table.ts';
import { tableStyles } from '../../controls/table_styles.ts';
import { formStyles } from '../../controls/form_styles.ts';
import { base } from '../../controls/styles.ts';
import { textField } from '../../controls/text_field.ts';
import {
  EngineFailure,
  type Bytes,
  type EngineView,
  type Rehearsal,
  type Scenario,
  type WhatIf,
} from '../../../engine/index.ts';
import { tell, type Kept, type LoadedPanel, type PanelPage } from '../panel.ts';
import { runsOf, type Runs, type ShownRun, type Tried } from '../runs.ts';
import { curves, scatter } from './pictures.ts';
import {
  callsOf,
  fieldsOf,
  nameOf,
  ranked,
  scenarioOf,
  wrongOf,
  type FieldName,
  type Fields,
  type Wrong,
} from './scenario.ts';
import './states.ts';
import { styles } from './styles.ts';

/** What it remembers of a view. */
interface Memory {
  fields: Fields | undefined;
  answer: { scenario: Scenario; whatIf: WhatIf } | undefined;
  smallest: { scenario: Scenario; bytes: Bytes } | undefined;
  tried: readonly Tried[];
}
type Task = 'rehearsal' | 'run' | 'smallest' | 'search' | 'states' | 'file';

const columns = 600;

type Numbers = WhatIf['recorded'];
const comparedNumbers: readonly {
  name: string;
  key: string;
  of: (numbers: Numbers) => number;
  inBytes: boolean;
}[] = [
  { name: 'Peak reserved', key: 'peak_reserved', of: (is) => is.peak_reserved_bytes, inBytes: true },
  { name: 'Peak allocated', key: 'peak_allocated', of: (is) => is.peak_allocated_bytes, inBytes: true },
  { name: 'Calls for device memory', key: 'device_allocs', of: (is) => is.device_allocs, inBytes: false },
  { name: 'Calls that release memory', key: 'device_frees', of: (is) => is.device_frees, inBytes: false },
  { name: 'Out of memory', key: 'ooms', of: (is) => is.ooms, inBytes: false },
];
const numberCell = (is: number, inBytes: boolean): TableCell =>
  inBytes ? bytesCell(is) : { text: formatCount(is) };

@element('gpustrata-whatif')
export class WhatIfPanel extends LitElement {
  @property({ attribute: false }) page!: PanelPage;
  @property({ attribute: false }) kept!: Kept<Memory>;
  @state() private rehearsal: Rehearsal | undefined;
  @state() private task: Task | undefined;
  @state() private wrong: Wrong | undefined;
  @state() private problem = '';
  @state() private shown: ShownRun | undefined;
  @state() private searching: { done: number; of: number } | undefined;
  /** Of what is running; another one = its answer is dropped. */
  private round = 0;
  private view: EngineView | undefined;

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('page') || !this.page.settled || this.view === this.page.view) return;
    this.view = this.page.view;
    this.rehearsal = this.shown = this.wrong = this.task = this.searching = undefined;
    this.problem = '';
    this.round += 1;
    void this.rehearse();
  }

  private get runs(): Runs {
    return runsOf(this.page.view, this.page.elsewhere);
  }

  /** Runs `work` unless something runs; its errors are told. */
  private async during(task: Task, work: () => Promise<void>): Promise<void> {
    if (this.task) return;
    const { round } = this;
    this.task = task;
    this.problem = '';
    this.wrong = undefined;
    try {
      await work();
    } catch (error) {
      if (round !== this.round) return;
      const reason = error instanceof EngineFailure ? error.reason : undefined;
      this.wrong = reason && wrongOf(reason);
      if (!this.wrong) this.problem = reasonOf(error);
    } finally {
      if (round === this.round) this.task = this.searching = undefined;
    }
  }

  private async rehearse(): Promise<void> {
    const { runs, round } = this;
    await this.during('rehearsal', async () => {
      const rehearsal = await runs.rehearsal();
      if (round !== this.round) return;
      this.rehearsal = rehearsal;
      if (!this.kept.value.fields) this.kept.keep({ fields: fieldsOf(rehearsal) });
    });
    if (round === this.round && this.rehearsal && !this.kept.value.answer) void this.run();
  }

  private get fields(): Fields | undefined {
    return this.kept.value.fields ?? (this.rehearsal && fieldsOf(this.rehearsal));
  }
  private change(change: Partial<Fields>): void {
    const { fields } = this;
    if (fields) this.kept.keep({ fields: { ...fields, ...change } });
    this.wrong = undefined;
    this.requestUpdate();
  }

  /** Of the form; undefined = a field is wrong, which is told. */
  private scenario(): Scenario | undefined {
    const { fields, rehearsal, page } = this;
    if (!fields || !rehearsal) return undefined;
    const asked = scenarioOf(fields, rehearsal, page.event);
    if ('scenario' in asked) return asked.scenario;
    this.wrong = asked.wrong;
    return undefined;
  }

  private async run(): Promise<void> {
    const scenario = this.scenario();
    const { runs, kept, round } = this;
    if (!scenario) return;
    await this.during('run', async () => {
      const whatIf = await runs.ask('whatIf', { scenario, columns });
      kept.keep({ answer: { scenario, whatIf } });
      if (round === this.round) this.shown = undefined;
    });
  }

  private async findSmallest(): Promise<void> {
    const scenario = this.scenario();
    const { runs, kept } = this;
    if (!scenario) return;
    await this.during('smallest', async () => {
      const bytes = await runs.ask('smallestCapacity', { scenario });
      kept.keep({ smallest: { scenario, bytes } });
    });
  }

  private async search(): Promise<void> {
    const scenario = this.scenario();
    const { runs, kept, rehearsal, round } = this;
    if (!scenario || !rehearsal) return;
    const { tries } = rehearsal;
    kept.keep({ tried: [] });
    await this.during('search', async () => {
      this.searching = { done: 0, of: tries.length };
      await runs.search(tries, scenario, (tried) => {
        if (round !== this.round) return;
        kept.keep({ tried: ranked([...kept.value.tried, tried]) });
        this.searching = { done: kept.value.tried.length, of: tries.length };
      });
    });
  }

  private async compareStates(): Promise<void> {
    const { runs, round } = this;
    const scenario = this.kept.value.answer?.scenario;
    if (!scenario) return;
    await this.during('states', async () => {
      const run = await runs.show(scenario);
      if (round === this.round) this.shown = run;
    });
  }

  private async openAsFile(): Promise<void> {
    const { runs } = this;
    const scenario = this.kept.value.answer?.scenario;
    if (scenario) await this.during('file', () => runs.open(scenario, `Run: ${nameOf(scenario)}`));
  }

  private cancel(): void {
    this.round += 1;
    this.runs.cancel();
    this.task = this.searching = this.shown = undefined;
    if (!this.rehearsal) this.problem = 'Cancelled.';
  }

  protected override render(): TemplateResult {
    const { rehearsal, fields, problem } = this;
    if (!rehearsal || !fields)
      return html`<p class="dim" role=${problem === '' ? nothing : 'alert'} data-task=${this.task ?? nothing}>
        ${problem === '' ? 'Running the recorded requests once more as they were…' : problem}
        ${this.task ? this.cancelButton() : html`<button class="button small" @click=${() => void this.rehearse()}>Try again</button>`}
      </p>`;
    return html`
      <form
        @submit=${(submit: Event) => {
          submit.preventDefault();
          void this.run();
        }}>
        ${this.buttons()}
        <div class="columns" data-task=${this.task ?? 'none'}>
          <div class="fields">${this.form(rehearsal, fields)}${this.fidelity(rehearsal)}</div>
          <div class="results">${this.answer(rehearsal)} ${this.ranking()}</div>
        </div>
      </form>
    `;
  }

  // -- How well it repeats.

  private fidelity({ exact, fidelity_text, first_deviation, guesses, requests }: Rehearsal): TemplateResult {
    return html`<p class="fidelity" data-exact=${exact}>
        <strong>${exact ? 'Exact.' : 'Not exact.'}</strong> Run again as it was, it ${fidelity_text}
        (${plural(requests, 'request')}, frees among them).
        ${
          first_deviation === null
            ? nothing
            : html`<button
                class="link"
                data-way="deviation"
                @click=${() => tell(this, 'choose-event', { event: first_deviation, step: false })}>
                Show event ${formatCount(first_deviation)}
              </button>`
        }
      </p>
      ${
        guesses.length === 0
          ? nothing
          : html`<details>
              <summary>
                ${plural(guesses.length, 'thing is', 'things are')} not in the file and guessed
              </summary>
              <ul>
                ${guesses.map((guess) => html`<li>${guess}</li>`)}
              </ul>
            </details>`
      }`;
  }

  // -- What is asked.

  private form(rehearsal: Rehearsal, fields: Fields): TemplateResult {
    const { event } = this.page;
    const moment = event < 0 ? 'the beginning' : `event ${formatCount(event)}`;
    const known = rehearsal.capacity === null ? 'room for all' : formatBytes(rehearsal.capacity);
    return html`${this.text('conf', 'Settings', 'PYTORCH_CUDA_ALLOC_CONF', fields)}
      <label class="presets"
        >Presets
        <select
          class="field"
          name="preset"
          @change=${(change: Event) => this.change({ conf: (change.target as HTMLSelectElement).value })}>
          <option value=${rehearsal.conf} ?selected=${fields.conf === rehearsal.conf}>
            as recorded: ${rehearsal.conf || 'no settings'}
          </option>
          ${rehearsal.tries.map(
            (conf) =>
              html`<option value=${conf} ?selected=${fields.conf === conf}>${conf || 'no settings'}</option>`,
          )}
        </select>
      </label>
      ${this.text('capacity', 'Device memory', `as recorded: ${known}`, fields)}
      <div class="pair">
        ${this.text('filter', 'Leave out or scale', 'a filter: size>1GiB', fields)}
        ${this.text('factor', 'times', '0', fields)}
      </div>
      ${this.text('take', `One more request after ${moment}`, '4 GiB', fields)}
      <div class="checks">
        <label
          ><input
            type="checkbox"
            name="empty"
            .checked=${fields.empty}
            @change=${(change: Event) => this.change({ empty: (change.target as HTMLInputElement).checked })} />
          empty_cache() after ${moment}</label
        >
        <label
          ><input
            type="checkbox"
            name="uncached"
            .checked=${fields.uncached}
            @change=${(change: Event) => this.change({ uncached: (change.target as HTMLInputElement).checked })} />
          without a cache</label
        >
      </div>`;
  }

  /** They stay in sight, with what came of them. */
  private buttons(): TemplateResult {
    return html`<div class="asked">
      <div class="buttons">
        <button class="button primary" ?disabled=${this.task !== undefined}>Run</button>
        <button
          type="button"
          class="button"
          ?disabled=${this.task !== undefined}
          @click=${() => void this.findSmallest()}>
          Smallest device
        </button>
        <button
          type="button"
          class="button"
          ?disabled=${this.task !== undefined}
          @click=${() => void this.search()}>
          Try settings
        </button>
        ${this.task ? this.cancelButton() : nothing}
      </div>
      ${this.outcome()}
    </div>`;
  }

  /** In a sentence, where the button was pressed. */
  private outcome(): TemplateResult {
    const { answer, smallest, tried } = this.kept.value;
    const { task, problem, searching } = this;
    const best = tried[0];
    return html`<div class="outcome" role="status">
      ${problem === '' ? nothing : html`<p role="alert" class="bad">${problem}</p>`}
      ${
        task === undefined
          ? nothing
          : html`<p class="dim">
              ${searching ? html`<progress max=${searching.of} .value=${searching.done}></progress> ${searching.done} of ${searching.of} settings` : 'Running…'}
            </p>`
      }
      ${answer ? html`<p class="says" data-recommendation>${answer.whatIf.recommendation}</p>` : nothing}
      ${
        smallest
          ? html`<p data-smallest=${smallest.bytes}>
              Smallest device that fits the recorded requests,
              ${nameOf({ ...smallest.scenario, capacity: undefined })}:
              <strong title=${formatExactBytes(smallest.bytes)}>${formatNeeded(smallest.bytes)}</strong> for
              this allocator.${answer?.whatIf.complete === false ? ' The whole run may need more.' : ''}
            </p>`
          : nothing
      }
      ${
        best && !searching
          ? html`<p>
              Best of ${plural(tried.length, 'setting')}: <strong>${best.conf || 'no settings'}</strong>,
              ${formatBytes(best.numbers.peak_reserved_bytes)} peak
              reserved${best.numbers.ooms > 0 ? `, out of memory ${plural(best.numbers.ooms, 'time')}` : ''}.
            </p>`
          : nothing
      }
    </div>`;
  }

  private cancelButton(): TemplateResult {
    return html`<button type="button" class="button" data-cancel @click=${() => this.cancel()}>
      Cancel
    </button>`;
  }

  private text(name: FieldName, label: string, placeholder: string, fields: Fields): TemplateResult {
    return textField({
      ...{ name, label, placeholder },
      value: String(fields[name]),
      wrong: this.wrong?.field === name ? this.wrong : undefined,
      input: (text) => this.change({ [name]: text }),
    });
  }

  // -- What came of it.

  private answer(rehearsal: Rehearsal): TemplateResult {
    const { answer } = this.kept.value;
    if (!answer) return html`<p class="dim">Change something and press Run.</p>`;
    const { whatIf, scenario } = answer;
    const { recorded, simulated } = whatIf;
    const oom = simulated.first_oom;
    return html`<section data-run=${nameOf(scenario)}>
      <h2>${nameOf(scenario)}</h2>
      <div class="plot">${curves(whatIf, this.page)}</div>
      ${tableOf(comparedNumbers, {
        row: ({ key, of }) => ({ data: { number: key, recorded: of(recorded), simulated: of(simulated) } }),
        columns: [
          { name: '', names: true, cell: ({ name }) => name },
          { name: 'recorded', look: 'number', cell: ({ of, inBytes }) => numberCell(of(recorded), inBytes) },
          {
            name: 'in the run',
            look: 'number',
            cell: ({ of, inBytes }) => numberCell(of(simulated), inBytes),
          },
          {
            name: 'difference',
            look: 'number',
            cell: ({ of, inBytes }) => {
              const more = of(simulated) - of(recorded);
              return more === 0 ? 'the same' : formatSigned(more, inBytes ? formatBytes : formatCount);
            },
          },
        ],
      })}
      <p class="ways">
        ${
          oom
            ? html`<button
                class="link"
                data-way="oom"
                @click=${() => tell(this, 'choose-event', { event: oom.event, step: false })}>
                First out of memory: ${formatBytes(oom.requested_bytes)} at event ${formatCount(oom.event)}
              </button>`
            : nothing
        }
        ${
          scenario.caching === false
            ? nothing
            : html`<button
                  class="link"
                  data-way="states"
                  ?disabled=${this.task !== undefined}
                  @click=${() => void this.compareStates()}>
                  Both states at the chosen moment
                </button>
                <button
                  class="link"
                  data-way="file"
                  ?disabled=${this.task !== undefined}
                  @click=${() => void this.openAsFile()}>
                  Open the run beside the file
                </button>`
        }
      </p>
      ${
        this.shown
          ? html`<gpustrata-run-states
              .run=${this.shown}
              .event=${this.page.event}
              .theme=${this.page.theme}></gpustrata-run-states>`
          : nothing
      }
      ${rehearsal.settings_are_known ? nothing : html`<p class="dim">The file does not say how the allocator was set: no settings are taken for the recorded ones.</p>`}
    </section>`;
  }

  private ranking(): TemplateResult | typeof nothing {
    const { tried, answer } = this.kept.value;
    const { searching } = this;
    if (tried.length === 0 && !searching) return nothing;
    const choose = (conf: string): void => {
      this.change({ conf });
      void this.run();
    };
    const recorded = answer && { conf: 'recorded', numbers: answer.whatIf.recorded };
    return html`<section data-tried=${tried.length}>
      <h2>Settings tried, the best first</h2>
      ${
        recorded && tried.length > 0
          ? html`<div class="plot">
              ${scatter(tried, recorded, choose)}
              <p class="key">
                to the right: more reserved; upwards: more calls to the device;
                <span class="recorded">recorded</span> <span class="simulated">tried</span>
                <span class="fails">out of memory</span>
              </p>
            </div>`
          : nothing
      }
      ${tableOf(tried, {
        row: ({ conf }) => ({ data: { conf } }),
        columns: [
          {
            name: 'Settings',
            names: true,
            cell: ({ conf }) =>
              html`<button class="link" @click=${() => choose(conf)}>${conf || 'no settings'}</button>`,
          },
          bytesColumn('peak reserved', ({ numbers }) => numbers.peak_reserved_bytes),
          countColumn('calls', ({ numbers }) => callsOf(numbers)),
          countColumn('out of memory', ({ numbers }) => numbers.ooms),
        ],
      })}
    </section>`;
  }

  static override styles = [base, tableStyles, formStyles, styles];
}

export const panel: LoadedPanel<Memory> = {
  reads: ['event', 'theme', 'settled'],
  initial: { fields: undefined, answer: undefined, smallest: undefined, tried: [] },
  show: (page, kept) => html`<gpustrata-whatif .page=${page} .kept=${kept}></gpustrata-whatif>`,
};
