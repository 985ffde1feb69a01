// What each panel below the timeline shows (names and order: model/panel_ids.ts). To add a panel: a name there, a row here.
import { html, type TemplateResult } from 'lit';
import type { PanelId } from '../model/panel_ids.ts';
import './address_map/panel.ts';
import type { PanelPage } from './panel.ts';
import './settings/panel.ts';
import './state/panel.ts';

export const panelViews: Record<PanelId, (page: PanelPage) => TemplateResult> = {
  state: (page) => html`<memstrata-state .page=${page}></memstrata-state>`,
  map: (page) => html`<memstrata-address-map .page=${page}></memstrata-address-map>`,
  settings: (page) => html`<memstrata-settings .page=${page}></memstrata-settings>`,
};
