// The events of the device as a list that one filters and steps through.
import { html } from 'lit';
import type { LoadedPanel } from '../panel.ts';
import { noFields, type EventFields } from './event_fields.ts';
import './event_list.ts';

export const panel: LoadedPanel<EventFields> = {
  reads: ['event', 'pinned'],
  initial: noFields,
  show: (page, kept) =>
    html`<gpustrata-event-list
      role="region"
      aria-label="Events"
      .page=${page}
      .kept=${kept}></gpustrata-event-list>`,
};
