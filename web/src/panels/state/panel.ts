// The allocator's state history: the list of events, and the state after the chosen one.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { customElement, property, query } from 'lit/decorators.js';
import { noFields } from './event_fields.ts';
import './event_list.ts';
import type { EventListView } from './event_list.ts';
import type { PanelPage } from '../panel.ts';
import './picture.ts';
import { base } from '../../controls/styles.ts';

@customElement('memstrata-state')
export class StatePanel extends LitElement {
  @property({ attribute: false }) page!: PanelPage;
  @query('memstrata-event-list') private list!: EventListView | null;

  override focus(): void {
    this.list?.focus();
  }

  /** Lists the events of one address or name only. */
  async listOf(address: string): Promise<void> {
    await this.updateComplete;
    this.list?.filter({ ...noFields, address });
  }

  protected override render(): TemplateResult {
    const { page } = this;
    return html`
      <memstrata-event-list role="region" aria-label="Events" .page=${page}></memstrata-event-list>
      <memstrata-state-picture role="region" aria-label="State" .page=${page}></memstrata-state-picture>
    `;
  }

  static override styles = [
    base,
    css`
      :host {
        display: grid;
        grid-template: minmax(0, 1fr) / minmax(344px, 2fr) minmax(0, 3fr);
      }
      memstrata-state-picture {
        border-left: 1px solid var(--line);
      }
      @container (max-width: 600px) {
        :host {
          grid-template: minmax(0, 2fr) minmax(0, 3fr) / minmax(0, 1fr);
        }
        memstrata-state-picture {
          border-left: 0;
          border-top: 1px solid var(--line);
        }
      }
    `,
  ];
}

declare global {
  interface HTMLElementTagNameMap {
    'memstrata-state': StatePanel;
  }
}
