// The place of one panel: loads it, gives it what it reads of the page and what it keeps of the view.
import { css, html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { base } from '../controls/styles.ts';
import { around, tell, type LoadedPanel, type PanelPage } from './panel.ts';
import { keptOf, textsOf } from './panel_memory.ts';
import { lacking, panelOf, panels } from './registry.ts';

const loaded = new Map<string, LoadedPanel>();

async function load(id: string): Promise<LoadedPanel | undefined> {
  const module = await panelOf(id)?.load();
  if (module) loaded.set(id, module.panel);
  return module?.panel;
}

@element('gpustrata-panel')
export class PanelSlot extends LitElement {
  /** Of the registry. */
  @property({ attribute: false }) of = '';
  @property({ attribute: false }) page!: PanelPage;
  @state() private problem: string | undefined;

  private given: PanelPage | undefined;
  private kept: ReturnType<typeof keptOf> | undefined;

  /** Its keys work at once. */
  override focus(): void {
    void this.focusInside();
  }
  private async focusInside(): Promise<void> {
    await this.updateComplete;
    if (!loaded.has(this.of)) await load(this.of).catch(() => undefined);
    await this.updateComplete;
    const inside = this.renderRoot.querySelector<LitElement>('*');
    await inside?.updateComplete;
    inside?.focus();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const panel = loaded.get(this.of);
    if (!panel) {
      this.problem = undefined;
      // What the panel before it was told and kept is not this one's.
      this.given = undefined;
      this.kept = undefined;
      load(this.of).then(
        () => this.requestUpdate(),
        () => (this.problem = 'This part of the page could not be loaded. Is the server still there?'),
      );
      return;
    }
    const before = changed.has('of') ? undefined : this.given;
    const { page } = this;
    const same = (part: keyof PanelPage): boolean => before?.[part] === page[part];
    if (!before || !same('view') || !panel.reads.every(same)) this.given = page;
    const isOther = changed.has('of') || before?.view !== page.view;
    if (!this.kept || isOther || this.kept.texts !== textsOf(page.texts, this.of)) {
      const { of } = this;
      this.kept = keptOf(page.view, of, panel, page.texts, (texts) =>
        tell(this, 'choose-texts', { panel: of, texts }),
      );
    }
  }

  protected override render(): TemplateResult {
    const panel = loaded.get(this.of);
    const lacks = lacking(this.of, this.page.info, around(this.page));
    if (lacks !== undefined) return html`<p class="dim" data-lacks>${lacks}</p>`;
    if (this.problem !== undefined) return html`<p role="alert">${this.problem}</p>`;
    if (!panel || !this.given || !this.kept) return html`<p class="dim">Loading…</p>`;
    return panel.show(this.given, this.kept);
  }

  static override styles = [
    base,
    css`
      :host {
        display: grid;
        grid-template: minmax(0, 1fr) / minmax(0, 1fr);
        min-width: 0;
        min-height: 0;
        background: var(--surface);
        container-type: inline-size;
      }
      p {
        margin: 16px;
        font-size: 13px;
      }
      @media print {
        :host {
          display: block;
          container-type: normal;
        }
      }
    `,
  ];
}

/** All of them, so that opening one later causes no request. */
export async function loadAll(): Promise<void> {
  for (const { id } of panels) await load(id).catch(() => undefined); // told when it is opened
}
