import { html, LitElement } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { PanelPage } from './panels.ts';

@customElement('memstrata-state')
export class StatePanel extends LitElement {
  @property({ attribute: false }) page!: PanelPage;
  protected override render() {
    return html`${this.page.event}`;
  }
}
