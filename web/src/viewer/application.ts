// What a page that is there for the viewer alone lends to it (page/application.ts). An element inside somebody else's
// page has none of it: it acts on the keys, drops and pastes inside its own root, keeps no settings and no address.
import type { TemplateResult } from 'lit';
import type { Address } from '../model/link_walk.ts';
import type { SettingsStore } from '../model/settings.ts';

export interface Application {
  /** Where keys, drops and pastes are listened for: the document. */
  readonly events: EventTarget;
  readonly address: Address;
  readonly settings: SettingsStore;
  /** Beside which the samples lie; undefined = there are none (the one-file page). */
  readonly site: string | undefined;
  /** Of the server behind the page (`Served`), whose files it shows; undefined = there is none. */
  readonly server: string | undefined;
  /** Of a page that a server sent; its code comes after the page's. */
  served?: ServedPage;
}

export interface ServedPage {
  /** Who reads the file that is shown, and whether it is followed, for the top bar. */
  badge(): TemplateResult;
  /** New contents take the place of the file that is shown. */
  readonly isFollowing: boolean;
  /** Back to the end of the file that is shown; false if it is not one that is written. */
  goOn(): boolean;
}

/** What a viewer tells the page around it, with the event `viewer-change`. */
export interface ViewerChange {
  state: 'empty' | 'loading' | 'ready' | 'error';
  /** Name of the file that is shown. */
  file: string | undefined;
  theme: 'light' | 'dark';
}
