// What the flame graph and its table show: shape, of which blocks, by what, which frames, what is looked for.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatCount } from '../../base/format.ts';
import { groupStyles } from '../../controls/piece_styles.ts';
import { base } from '../../controls/styles.ts';
import { momentsOf, type MomentName } from '../moments.ts';
import type { PanelFile, PanelPage } from '../panel.ts';
import { atFirst, byWays, framesWays, ofWays, weightWays, type FlameChoices } from './choices.ts';

const shapes = [
  { id: 'icicle', name: 'Icicle' },
  { id: 'flame', name: 'Flame' },
  { id: 'table', name: 'Table' },
] as const;

/** Tells `choices` with what changed. */
@element('gpustrata-flame-bar')
export class FlameBar extends LitElement {
  @property({ attribute: false }) chosen: FlameChoices = atFirst;
  @property({ attribute: false }) page!: PanelPage;
  /** What the search found. */
  @property() found = '';

  private tell(change: Partial<FlameChoices>): void {
    this.dispatchEvent(new CustomEvent('choices', { detail: change }));
  }

  protected override render(): TemplateResult {
    const { chosen } = this;
    return html`
      <div class="group" role="group" aria-label="Shape">
        ${shapes.map(
          ({ id, name }) =>
            html`<button
              class="button small"
              data-shape=${id}
              aria-pressed=${chosen.shape === id ? 'true' : 'false'}
              @click=${() => this.tell({ shape: id })}>
              ${name}
            </button>`,
        )}
      </div>
      ${this.select('Which blocks', 'of', ofWays, chosen.of)}
      ${this.select('Weight', 'weight', weightWays, chosen.weight)}
      ${this.select('Merged', 'by', byWays, chosen.by)}
      ${this.select('Frames', 'frames', framesWays, chosen.frames)}
      <button
        class="button small"
        data-inverted
        title="From who asked to its callers"
        aria-pressed=${chosen.inverted ? 'true' : 'false'}
        @click=${() => this.tell({ inverted: !chosen.inverted, path: [] })}>
        Inverted
      </button>
      ${
        this.page.highlight !== ''
          ? html`<button
              class="button small"
              data-only
              title="Only the blocks that the filter means"
              aria-pressed=${chosen.onlyFiltered ? 'true' : 'false'}
              @click=${() => this.tell({ onlyFiltered: !chosen.onlyFiltered })}>
              Only the filter's
            </button>`
          : nothing
      }
      ${chosen.of === 'difference' ? this.base() : nothing}
      <input
        class="field"
        type="search"
        aria-label="Look for a frame"
        placeholder="Look for a frame"
        .value=${chosen.search}
        @input=${(event: Event) => this.tell({ search: (event.target as HTMLInputElement).value })} />
      <output data-found>${this.found}</output>
    `;
  }

  /** The other moment of a difference, of this file or of another one. */
  private base(): TemplateResult {
    const { base: held, other } = this.chosen;
    const others = this.page.files.filter(({ view }) => view !== this.page.view);
    const file = others.find(({ name }) => name === other?.file);
    return html`
      ${
        others.length > 0
          ? html`<select
              class="field"
              aria-label="Less which file"
              data-other-file
              @change=${({ target }: Event) => {
                const { value } = target as HTMLSelectElement;
                const other = value === '' ? undefined : { file: value, moment: 'peak' as const };
                const weight = other && this.chosen.weight === 'time' ? 'bytes' : this.chosen.weight;
                this.tell({ other, weight, path: [] });
              }}>
              <option value="" ?selected=${!file}>Less: this file</option>
              ${others.map(({ name }) => html`<option value=${name} ?selected=${name === file?.name}>Less: ${name}</option>`)}
            </select>`
          : nothing
      }
      ${file && other ? this.moment(file, other.moment) : this.hold(held)}
    `;
  }
  private moment({ name, view }: PanelFile, chosen: MomentName): TemplateResult {
    return html`<select
      class="field"
      aria-label="Moment of the other file"
      data-other-moment
      @change=${({ target }: Event) =>
        this.tell({ other: { file: name, moment: (target as HTMLSelectElement).value as MomentName } })}>
      ${momentsOf(view, this.page).map(([moment, says]) => html`<option value=${moment} ?selected=${moment === chosen}>${says}</option>`)}
    </select>`;
  }
  private hold(held: number | undefined): TemplateResult {
    return held === undefined
      ? html`<button
          class="button small"
          data-hold
          title="The difference begins here; then choose another moment"
          @click=${() => this.tell({ base: this.page.event })}>
          Hold this moment
        </button>`
      : html`<button
          class="button small"
          data-hold
          aria-pressed="true"
          @click=${() => this.tell({ base: undefined })}>
          ${held < 0 ? 'Start' : `Event ${formatCount(held)}`} held
        </button>`;
  }

  private choose(name: 'of' | 'weight' | 'by' | 'frames', value: string): void {
    // Time passes differently in two runs: bytes x time are those of one file.
    const alone = name === 'weight' && value === 'time' ? { other: undefined } : {};
    this.tell({ [name]: value, path: [], ...alone });
  }

  private select(
    label: string,
    name: 'of' | 'weight' | 'by' | 'frames',
    ways: readonly { id: string; name: string }[],
    value: string,
  ): TemplateResult {
    return html`<select
      class="field"
      aria-label=${label}
      data-choice=${name}
      @change=${(event: Event) => this.choose(name, (event.target as HTMLSelectElement).value)}>
      ${ways.map(({ id, name: text }) => html`<option value=${id} ?selected=${id === value}>${text}</option>`)}
    </select>`;
  }

  static override styles = [
    base,
    groupStyles,
    css`
      :host {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 4px 6px;
        padding: 6px 12px 4px;
      }
      .field {
        height: 24px;
        max-width: 100%;
        padding: 0 4px;
        font-size: 12px;
      }
      input.field {
        width: 148px;
        padding: 0 6px;
      }
      output {
        color: var(--dim);
        font-size: 12px;
        font-variant-numeric: tabular-nums;
      }
      @media print {
        :host {
          display: none;
        }
      }
    `,
  ];
}
