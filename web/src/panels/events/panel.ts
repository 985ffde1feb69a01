// The events of the device as a list that one filters and steps through.
import { html } from 'lit';
import { anyText } from '../link_field.ts';
import type { LoadedPanel } from '../panel.ts';
import type { EventsKept } from './event_list.ts';
import './event_list.ts';

export const panel: LoadedPanel<EventsKept> = {
  reads: ['event', 'pinned'],
  initial: { filter: '' },
  linked: { filter: anyText },
  show: (page, kept) =>
    html`<gpustrata-event-list
      role="region"
      aria-label="Events"
      .page=${page}
      .kept=${kept}></gpustrata-event-list>`,
};
