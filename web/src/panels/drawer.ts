// The rooms of answers, beside the picture and below it: a bar of tabs that is always there, and the panel that is open.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { property, query } from 'lit/decorators.js';
import { element } from '../controls/element.ts';
import { differs } from '../base/differs.ts';
import { base, column } from '../controls/styles.ts';
import '../controls/tabs.ts';
import type { Tab } from '../controls/tabs.ts';
import type { PanelPage } from './panel.ts';
import './panel_slot.ts';
import type { PanelSlot } from './panel_slot.ts';
import { panelOf } from './registry.ts';

/** Beside the answers: what is chosen, which the page shows in their place. */
export const detailsTab: Tab = { id: 'details', name: 'Details', key: '' };

/** Below the picture. Tells `toggle-panel` with the id of a panel. */
@element('gpustrata-drawer')
export class DrawerView extends LitElement {
  @property({ attribute: false, hasChanged: differs }) tabs: readonly Tab[] = [];
  @property({ attribute: false }) open: string | undefined;
  @property({ attribute: false }) page!: PanelPage;
  @query('gpustrata-panel') private slotted!: PanelSlot | null;
  /** The panel that was just asked for. */
  private shows: string | undefined;
  protected readonly label: string = 'Tools';

  /** Its keys work at once. */
  async focusPanel(): Promise<void> {
    await this.updateComplete;
    this.slotted?.focus();
  }

  protected get openTab(): string | undefined {
    return this.open;
  }
  protected choose(id: string): void {
    this.shows = id;
    this.dispatchEvent(new CustomEvent('toggle-panel', { detail: id }));
  }
  /** On a narrow page the panel lies below what is seen. */
  protected override updated(): void {
    const { open, shows } = this;
    if (open === undefined || open !== shows) return;
    this.shows = undefined;
    requestAnimationFrame(() => {
      const below = this.slotted && this.slotted.getBoundingClientRect().top > innerHeight - 100;
      if (below) this.scrollIntoView({ block: 'start' });
    });
  }

  protected override render(): TemplateResult {
    const { open, openTab } = this;
    return html`
      <gpustrata-tabs
        label=${this.label}
        closable
        narrow
        .tabs=${this.tabs}
        .open=${openTab}
        @near=${(event: CustomEvent<string>) => prepare(event.detail, this.page)}
        @open=${({ detail }: CustomEvent<string | null>) => {
          const id = detail ?? openTab;
          if (id !== undefined) this.choose(id);
        }}></gpustrata-tabs>
      ${
        open === undefined
          ? nothing
          : html`<gpustrata-panel
              role="tabpanel"
              aria-label=${panelOf(open)?.name ?? ''}
              .of=${open}
              .page=${this.page}></gpustrata-panel>`
      }
    `;
  }

  static override styles = [
    base,
    column,
    css`
      :host {
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
      @container (max-width: 899px) {
        gpustrata-panel {
          min-height: 400px; /* room to scroll to it before its answer is there */
        }
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

/** Beside the picture. Tells `show-details` with whether they are to be seen, too. */
@element('gpustrata-answers')
export class AnswersView extends DrawerView {
  /** Details lie over the panel, where there is one column for both. */
  @property({ type: Boolean, reflect: true }) covered = false;
  protected override readonly label = 'Answers';

  protected override get openTab(): string | undefined {
    return this.covered ? detailsTab.id : this.open;
  }
  protected override choose(id: string): void {
    if (id !== detailsTab.id) super.choose(id);
    else this.dispatchEvent(new CustomEvent('show-details', { detail: !this.covered }));
  }

  static override styles = [
    ...DrawerView.styles,
    css`
      gpustrata-tabs {
        height: 36px;
        border-top: 0;
        border-bottom: 1px solid var(--line);
      }
      @media screen {
        @container (min-width: 900px) {
          :host([covered]) gpustrata-panel {
            display: none;
          }
        }
      }
    `,
  ];
}

/** Who points at a tab may open it: what takes longest is begun now. */
export function prepare(id: string, { view }: PanelPage): void {
  const panel = panelOf(id);
  void panel?.load().catch(() => undefined); // told when it is opened
  if (panel?.needs?.includes('states')) void view.prepare();
}
