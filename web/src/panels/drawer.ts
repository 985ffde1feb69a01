// The room below the picture: a bar of tabs that is always there, and the panel that is open.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property, query } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { base } from '../controls/styles.ts';
import '../controls/tabs.ts';
import type { Tab } from '../controls/tabs.ts';
import type { PanelPage } from './panel.ts';
import './panel_slot.ts';
import type { PanelSlot } from './panel_slot.ts';
import { panelOf } from './registry.ts';

/** Tells `open-panel` with the id of a panel, or undefined to close. */
@element('gpustrata-drawer')
export class DrawerView extends LitElement {
  @property({ attribute: false }) tabs: readonly Tab[] = [];
  @property({ attribute: false }) open: string | undefined;
  @property({ attribute: false }) page!: PanelPage;
  @property({ type: Number }) round = 0;
  @query('gpustrata-panel') private slotted!: PanelSlot | null;

  /** Its keys work at once. */
  async focusPanel(): Promise<void> {
    await this.updateComplete;
    this.slotted?.focus();
  }

  protected override render(): TemplateResult {
    const { open } = this;
    return html`
      <gpustrata-tabs
        label="Answers"
        closable
        .tabs=${this.tabs}
        .open=${open}
        @near=${(event: CustomEvent<string>) => prepare(event.detail, this.page)}
        @open=${(event: CustomEvent<string | null>) => this.dispatchEvent(new CustomEvent('open-panel', { detail: event.detail ?? undefined }))}></gpustrata-tabs>
      ${
        open === undefined
          ? nothing
          : html`<gpustrata-panel
              role="tabpanel"
              aria-label=${panelOf(open)?.name ?? ''}
              .of=${open}
              .page=${this.page}
              .round=${this.round}></gpustrata-panel>`
      }
    `;
  }

  static override styles = [
    base,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-width: 0;
        min-height: 0;
        background: var(--surface);
      }
      gpustrata-tabs {
        height: 32px;
        padding: 0 8px;
        border-top: 1px solid var(--line);
        background: var(--bg);
      }
      gpustrata-panel {
        flex: 1;
      }
      @media print {
        :host {
          display: block;
        }
        gpustrata-tabs {
          display: none;
        }
      }
    `,
  ];
}

/** Who points at a tab may open it: what takes longest is begun now. */
export function prepare(id: string, { view }: PanelPage): void {
  const panel = panelOf(id);
  void panel?.load().catch(() => undefined); // told when it is opened
  if (panel?.needs.includes('states')) void view.prepare();
}
