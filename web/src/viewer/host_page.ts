// The element's side towards the page around it (element_types.ts): what that page opens, and what it is told.
import type { Stop } from '../base/listeners.ts';
import { isBlock, sizeOf, type Band, type EngineError } from '../../engine/protocol/answers.ts';
import { filesAt, markPicked, type ChosenFiles } from '../files/choose.ts';
import { linkOf, type Shown } from '../model/link.ts';
import type { Entry, OpenFiles } from '../model/open_files.ts';
import { momentOf, type Workspace } from '../model/workspace.ts';
import type {
  Choice,
  LoadDetail,
  OpenOptions,
  SnapshotSource,
  Theme,
  ViewerEvents,
} from './element_types.ts';

const restMs = 200; // a zoom changes the view with every frame

interface Waiting {
  resolve: (detail: LoadDetail) => void;
  reject: (failure: Error) => void;
}

/** The viewer, as far as the page around it goes. */
interface HostTarget extends EventTarget {
  readonly files: OpenFiles;
  readonly workspace: Workspace;
  receive(chosen: ChosenFiles): void;
  readonly filter: { set(text: string): void };
  theme: Theme | null;
  openPanel(id: string): boolean;
  select(what: Choice): Promise<void>;
  shown(): Shown | undefined;
}

export class HostPage {
  /** What was last told of a file: why it failed, or that it is there. */
  private readonly told = new WeakMap<Entry, EngineError | 'load'>();
  private readonly waiting = new Map<Entry, Waiting>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private state = '';
  private selected = '';

  constructor(private readonly viewer: HostTarget) {}

  watch(): Stop {
    const { workspace } = this.viewer;
    return workspace.watch(
      [
        'view',
        'axis',
        'viewport',
        'moment',
        'selection',
        'filter',
        'look',
        'main',
        'side',
        'answer',
        'range',
        'panels',
      ],
      (changed) => {
        if (changed.has('moment') || changed.has('selection') || changed.has('view')) this.tellSelected();
        this.timer ??= setTimeout(() => this.tellView(), restMs);
      },
    );
  }

  async open(source: SnapshotSource, options: OpenOptions = {}): Promise<LoadDetail> {
    const { files } = this.viewer;
    const { name, theme } = options;
    if (theme !== undefined) this.viewer.theme = theme;
    const chosen = await chosenFrom(source, name);
    const before = new Set(files.entries);
    markPicked();
    this.viewer.receive(chosen);
    if ('refused' in chosen) throw failureOf(chosen.refused.error);
    const entry = files.entries.find((one) => !before.has(one));
    if (!entry) throw failureOf(gone);
    const detail = await new Promise<LoadDetail>((resolve, reject) => {
      this.waiting.set(entry, { resolve, reject });
      this.filesChanged();
    });
    if (files.active === entry) this.begin(options);
    return detail;
  }

  /** What the page wants to be seen first. */
  private begin({ panel, filter, event }: OpenOptions): void {
    if (event !== undefined) void this.viewer.select({ event });
    if (panel !== undefined) this.viewer.openPanel(panel);
    if (filter !== undefined) this.viewer.filter.set(filter);
  }

  /** Tells what became of each file, once. */
  filesChanged(): void {
    const { entries } = this.viewer.files;
    for (const entry of entries) {
      const { loading, file, name } = entry;
      const now = entry.error ?? file?.died ?? (file && 'load');
      if (loading || !now || this.told.get(entry) === now) continue;
      this.told.set(entry, now);
      if (now === 'load') {
        this.take(entry)?.resolve({ file: name });
        this.tell('load', { file: name });
      } else {
        const { code, message, offset } = now;
        this.take(entry)?.reject(failureOf(now));
        this.tell('error', { file: name, code, message, offset });
      }
    }
    for (const entry of this.waiting.keys())
      if (!entries.includes(entry)) this.take(entry)?.reject(failureOf(gone));
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private take(entry: Entry): Waiting | undefined {
    const waiting = this.waiting.get(entry);
    this.waiting.delete(entry);
    return waiting;
  }

  private tellSelected(): void {
    const { workspace } = this.viewer;
    if (!workspace.get('view')) return;
    const { block } = workspace.get('selection');
    const detail = { event: momentOf(workspace), block: block ? described(block) : null };
    const selected = JSON.stringify(detail);
    if (selected === this.selected) return;
    this.selected = selected;
    this.tell('select', detail);
  }

  private tellView(): void {
    this.timer = undefined;
    const shown = this.viewer.shown();
    const state = shown ? linkOf(shown) : '';
    if (state === this.state) return;
    this.state = state;
    if (shown) this.tell('viewchange', { state });
  }

  private tell<K extends keyof ViewerEvents>(type: K, detail: ViewerEvents[K]['detail']): void {
    this.viewer.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

const gone: EngineError = { code: 'cancelled', message: 'It was closed before it was read.', offset: -1 };

function failureOf({ code, message, offset }: EngineError): Error {
  return Object.assign(new Error(message), { code, offset });
}

function described(band: Band): { rank: number; name: string; bytes: number } {
  return { rank: band.rank, name: isBlock(band) ? band.name : '', bytes: sizeOf(band) };
}

async function chosenFrom(source: SnapshotSource, name: string | undefined): Promise<ChosenFiles> {
  if (typeof source === 'string' || source instanceof URL) {
    const found = filesAt([String(source)], 'open()', new URL(document.baseURI));
    if (name === undefined || 'refused' in found) return found;
    return { files: found.files.map((file) => ({ ...file, name })) };
  }
  // A stream can be read once, and a file must be there as long as it is open: the browser keeps its bytes.
  const blob = source instanceof Blob ? source : await new Response(source).blob();
  const file = blob instanceof File ? blob : new File([blob], name ?? 'snapshot');
  return { files: [{ name: name ?? file.name, source: { file } }] };
}
