// What panels have in common that tell one answer of the engine about the device: it is asked for when the picture is
// there, dropped if the device is shown no more, and what went wrong is said in its place.
import { reasonOf } from '../base/reason.ts';
import { html, LitElement, type CSSResultGroup, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { type EngineView, type Proof } from '../../engine/index.ts';
import { answerStyles } from './answer_styles.ts';
import { tell, type PanelPage } from './panel.ts';

export abstract class AnswerPanel<Answer> extends LitElement {
  @property({ attribute: false }) page!: PanelPage;
  @state() private known: { of: EngineView; key: string; answer: Answer } | undefined;
  @state() private refused: { of: EngineView; key: string; why: string } | undefined;
  private asked: { of: EngineView; key: string } | undefined;
  private busy = false;

  /** Answers of equal keys are the same; the view counts always. */
  protected keyOf(_page: PanelPage): string {
    return '';
  }
  protected abstract ask(page: PanelPage): Promise<Answer>;
  protected abstract show(answer: Answer): TemplateResult;
  /** While nothing is known yet. */
  protected readonly waiting: string = 'Looking…';

  protected override willUpdate(_changed: PropertyValues<this>): void {
    void this.find();
  }

  /** One question at a time: moments may follow each other quickly. */
  private async find(): Promise<void> {
    const { page } = this;
    const wanted = { of: page.view, key: this.keyOf(page) };
    if (!page.settled || this.busy || isSame(this.asked, wanted)) return;
    this.asked = wanted;
    this.busy = true;
    try {
      const answer = await this.ask(page);
      [this.known, this.refused] = [{ ...wanted, answer }, undefined];
    } catch (error) {
      if (!page.view.alive)
        this.asked = undefined; // asked again when the device is shown again
      else this.refused = { ...wanted, why: reasonOf(error) };
    }
    this.busy = false;
    if ((this.asked ?? page !== this.page) && this.isConnected) void this.find();
  }

  protected override render(): TemplateResult {
    const { view } = this.page;
    if (this.refused && isSame(this.refused, this.asked))
      return html`<p role="alert">${this.refused.why}</p>`;
    // An answer of another moment stays until the next one is there, and so does one of a file that has grown since.
    return this.known?.of.run === view.run
      ? html`<div class="answer" data-answered=${this.known.key}>${this.show(this.known.answer)}</div>`
      : html`<p class="dim" data-waiting>${this.waiting}</p>`;
  }

  protected follow({ event, rank, filter, more }: Partial<Proof>): void {
    if (this.known?.of !== this.page.view) return; // ranks are of the view that was asked
    tell(this, 'go', {
      to: 'proof',
      event: event ?? null,
      rank: rank ?? null,
      filter: filter ?? null,
      more: more ?? null,
    });
  }

  static override styles: CSSResultGroup = answerStyles;
}

const isSame = (
  a: { of: EngineView; key: string } | undefined,
  b: { of: EngineView; key: string } | undefined,
): boolean => a !== undefined && a.of === b?.of && a.key === b.key;
