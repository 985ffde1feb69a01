// What the element is to the page around it: attributes, methods, events. The types of the npm package (site/package).

/** A URL or text is an address, relative to the page; the page's Content-Security-Policy has the last word. */
export type SnapshotSource = Blob | URL | string | ReadableStream<Uint8Array>;

export interface OpenOptions {
  /** What the file is called; else as the source says. */
  name?: string;
}

/** What to choose: the state after an event (-1 = before the first), a block by its rank, the peak; null = nothing. */
export type Choice = { event: number } | { block: number } | 'peak' | null;

export interface LoadDetail {
  file: string;
}
export interface ErrorDetail {
  file: string;
  /** A word for programs, such as `truncated`, `invalid_format`, `unreadable`, `cancelled`. */
  code: string;
  /** A sentence for people. */
  message: string;
  /** Byte in the file, -1 = nowhere. */
  offset: number;
}
export interface SelectDetail {
  /** The moment that is shown: the state after this event, -1 = before the first. */
  event: number;
  block: { rank: number; name: string; bytes: number } | null;
}
export interface ViewChangeDetail {
  /** What `setState` takes. */
  state: string;
}

/** Events of `<gpustrata-viewer>`; none of them bubbles. */
export interface ViewerEvents {
  /** A file was read, and is shown if it was the first of those chosen together. */
  load: CustomEvent<LoadDetail>;
  /** A file could not be read, or its engine stopped. */
  error: CustomEvent<ErrorDetail>;
  /** Another moment or block was chosen, by whomever. */
  select: CustomEvent<SelectDetail>;
  /** Something else is shown; told at most five times a second. */
  viewchange: CustomEvent<ViewChangeDetail>;
}

export interface ViewerElement extends HTMLElement {
  /** Addresses of files, apart by white space. What it named before is closed. */
  src: string | null;
  /** As chosen; `auto`: as the system has it. */
  theme: 'light' | 'dark' | 'auto' | null;
  /** Resolves when the file is read. Rejected with an `Error` that has `code` and `offset`. */
  open(source: SnapshotSource, options?: OpenOptions): Promise<LoadDetail>;
  select(what: Choice): Promise<void>;
  /** What is shown, without any data; undefined while there is nothing. */
  getState(): string | undefined;
  /** Shows it, as soon as the file that it names is open. False = this is no such text. */
  setState(state: string): boolean;
  /** Closes all files and ends their workers. */
  dispose(): void;
  addEventListener<K extends keyof ViewerEvents>(
    type: K,
    listener: (event: ViewerEvents[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}
