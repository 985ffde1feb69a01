// The room below the timeline: a bar of tabs that is always there, and the panel that is open.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { panelIds, panelNames, showsMoment, type PanelId } from '../model/panel_ids.ts';
import type { PanelPage } from './panel.ts';
import { panelViews } from './registry.ts';
import { base } from '../controls/styles.ts';
import { symbols } from '../controls/symbols.ts';

/** Tells `open-panel` with a PanelId, or undefined to close. */
@customElement('memstrata-panels')
export class PanelArea extends LitElement {
  @property({ attribute: false }) open: PanelId | undefined;
  @property({ attribute: false }) page!: PanelPage;

  private ask(panel: PanelId | undefined): void {
    this.dispatchEvent(new CustomEvent('open-panel', { detail: panel }));
  }

  /** Its keys work at once. */
  async focusPanel(): Promise<void> {
    await this.updateComplete;
    const panel = this.renderRoot.querySelector<LitElement>('.panel > *');
    await panel?.updateComplete;
    panel?.focus();
  }

  /** Who points at a tab may open it: what takes longest is begun now. */
  private prepare(panel: PanelId): void {
    if (showsMoment(panel) && panel !== this.open) this.page.engine.call('states', {}).catch(() => undefined);
  }

  /** Arrows, Home and End move among the tabs; an open panel follows the focus. */
  private readonly key = (event: KeyboardEvent): void => {
    const tabs = [...this.renderRoot.querySelectorAll<HTMLButtonElement>('[role=tab]')];
    const at = tabs.indexOf(event.target as HTMLButtonElement);
    const to = {
      ArrowLeft: (at + tabs.length - 1) % tabs.length,
      ArrowRight: (at + 1) % tabs.length,
      Home: 0,
      End: tabs.length - 1,
    }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    tabs[to]?.focus();
    if (this.open) this.ask(panelIds[to]);
  };

  protected override render(): TemplateResult {
    const { open } = this;
    const focusable = open ?? panelIds[0];
    return html`
      <div class="bar">
        <div class="tabs" role="tablist" aria-label="Panels" @keydown=${this.key}>
          ${panelIds.map(
            (id, index) =>
              html`<button
                role="tab"
                id="tab-${id}"
                data-panel=${id}
                aria-controls="panel"
                aria-selected=${id === open ? 'true' : 'false'}
                tabindex=${id === focusable ? 0 : -1}
                title="${id === open ? 'Close' : 'Open'} (${index + 1})"
                @pointerenter=${() => this.prepare(id)}
                @focus=${() => this.prepare(id)}
                @click=${() => this.ask(id === open ? undefined : id)}>
                ${panelNames[id]}<kbd aria-hidden="true">${index + 1}</kbd>
              </button>`,
          )}
        </div>
        ${
          open
            ? html`<button
                class="button small quiet icon close"
                title="Close the panel"
                aria-label="Close the panel"
                @click=${() => this.ask(undefined)}>
                ${symbols.close}
              </button>`
            : nothing
        }
      </div>
      <div
        id="panel"
        class="panel"
        role="tabpanel"
        aria-labelledby="tab-${focusable}"
        ?hidden=${open === undefined}>
        ${open ? panelViews[open](this.page) : nothing}
      </div>
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
      .bar {
        display: flex;
        flex: none;
        align-items: center;
        height: 32px;
        padding: 0 8px;
        border-top: 1px solid var(--line);
        background: var(--bg);
      }
      .tabs {
        display: flex;
        flex: 1;
        min-width: 0;
        height: 100%;
        overflow-x: auto;
        scrollbar-width: none;
      }
      .tabs button {
        display: inline-flex;
        flex: none;
        align-items: center;
        gap: 8px;
        height: 100%;
        padding: 0 12px;
        border: 0;
        border-bottom: 2px solid transparent;
        background: none;
        color: var(--dim);
        font-size: 12.5px;
        font-weight: 500;
        cursor: pointer;
      }
      .tabs button:hover {
        background: var(--hover);
        color: var(--text);
      }
      .tabs button[aria-selected='true'] {
        border-color: var(--accent);
        background: var(--surface);
        color: var(--text);
      }
      .tabs button:focus-visible {
        outline-offset: -2px;
      }
      .tabs kbd {
        min-width: 0;
        padding: 0 4px;
        border: 0;
        background: none;
        color: var(--dim);
        font-weight: 400;
      }
      .panel {
        flex: 1;
        min-height: 0;
        display: grid;
        grid-template: minmax(0, 1fr) / minmax(0, 1fr);
        container-type: inline-size;
      }
      @media (hover: none) {
        .tabs kbd {
          display: none;
        }
      }
    `,
  ];
}

declare global {
  interface HTMLElementTagNameMap {
    'memstrata-panels': PanelArea;
  }
}
