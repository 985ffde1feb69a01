// What a panel is, what it is told and what it tells.
//
// A panel is a line of registry.ts and a folder; the folder's panel.ts is loaded when the panel is first opened and
// exports `panel`, a LoadedPanel. Its element has the properties `page` and `kept`, and tells what is chosen in it by
// events that bubble up to the viewer: the types `PanelEvents`.
import type { TemplateResult } from 'lit';
import type { Rank } from '../base/units.ts';
import type { Theme } from '../draw/colors.ts';
import type { Axis, BlockDetails, ColourBy, EngineView, SegmentRow, ViewInfo } from '../../engine/index.ts';
import type { BesideTrace } from '../model/beside/files.ts';
import type { EditorChoice } from '../model/editor.ts';
import type { SourceFolder } from '../model/source_folder.ts';
import type { Thing } from '../model/detail_subject.ts';
import type { Viewport } from '../model/viewport.ts';
import type { PanelTexts, Range } from '../model/workspace.ts';
import type { LinkFields } from './link_field.ts';
import type { Goal } from '../words/described.ts';

/** What a panel knows of the page; the same object as long as nothing of it that the panel reads changes. */
export interface PanelPage {
  /** The device that is shown, as certain bands; what to ask. */
  view: EngineView;
  /** Of it. */
  info: ViewInfo;
  theme: Theme;
  axis: Axis;
  colourBy: ColourBy;
  /** The filter whose blocks are lit while the others fade; empty = none fade. */
  highlight: string;
  /** The pinned block. */
  pinned: BlockDetails | undefined;
  /** The segment that the details tell of; -1 = none. */
  segment: SegmentRow;
  /** The chosen moment: the state after this event, -1 = before the first. */
  event: number;
  /** The stretch that the reader marked with the ruler. */
  range: Range | undefined;
  /** What the timeline shows; undefined before it shows anything. */
  viewport: Viewport | undefined;
  /** Its first picture was drawn: questions delay it no more. */
  settled: boolean;
  /** For what takes long. */
  elsewhere: Elsewhere;
  /** How many the snapshot that is shown has, pinned host memory aside. */
  devices: number;
  /** All open files that can be asked, this one among them, in their order; what is shown of each. */
  files: readonly PanelFile[];
  /** A profiler's trace that lies beside the device that is shown. */
  trace: BesideTrace | undefined;
  /** Where frames open. */
  editor: EditorChoice;
  /** The reader's own source, if it was given. */
  source: SourceFolder | undefined;
  /** What links tell of the choices in panels. */
  texts: PanelTexts;
}

export interface PanelFile {
  name: string;
  view: EngineView;
  /** No number of it is whole: it is not compared with others. */
  damaged?: boolean;
}

/** Engines beside the one that the page asks. */
export interface Elsewhere {
  /** As many at the same time are worth it. */
  readonly most: number;
  /** The same device, or that of another file, in an engine of its own. Whoever asks closes it; aborting does, too. */
  open(signal: AbortSignal, of?: EngineView): Promise<EngineView>;
  /** Shows what such an engine holds as one more file; it is the page's then. */
  show(view: EngineView, name: string): Promise<void>;
}
export type PagePart = keyof PanelPage;

/** `bubbles` and `composed`; see `tell`. */
export interface PanelEvents {
  /** The moment that all views show. `step`: one of many, which makes no entry in the history; `told`: a thing about it follows. */
  'choose-event': { event: number; step: boolean; told?: true };
  /** The block that all views show; undefined = none. */
  'choose-block': Rank | undefined;
  /** What the details show while the pointer is on it; undefined = no longer. */
  'point-thing': Thing | undefined;
  /** What the details show until something else is chosen. */
  'choose-thing': Thing | undefined;
  'choose-editor': EditorChoice;
  'choose-source': SourceFolder | undefined;
  /** What a link tells of the choices in one panel. */
  'choose-texts': { panel: string; texts: PanelTexts };
  /** Another device of the snapshot, at a moment of it if one is named. */
  'choose-device': { device: number; event?: number };
  /** Goes there, as a button of the details does. */
  go: Goal;
}

/** Whoever listens finds null in place of an undefined detail. */
export function tell<K extends keyof PanelEvents>(from: HTMLElement, name: K, detail: PanelEvents[K]): void {
  from.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
}

/** What a panel remembers of one view (a device as certain bands), also while it is closed. */
export interface Kept<S> {
  /** Another one was put here by the page if the object is another one. */
  readonly value: S;
  keep(change: Partial<S>): void;
}

/** What there is besides a view. */
export interface Around {
  /** A profiler's trace lies beside it. */
  trace: boolean;
  /** As `PanelPage` has them. */
  devices: number;
  /** The file is, as `PanelFile` says. */
  damaged: boolean;
}
export const around = ({ trace, devices, files, view }: PanelPage): Around => ({
  trace: trace !== undefined,
  devices,
  damaged: files.some((file) => file.view === view && file.damaged === true),
});

/** A line of registry.ts. */
export interface Panel {
  /** In links and hooks. */
  readonly id: string;
  readonly name: string;
  /** A picture in place of the timeline, an answer beside it, or what needs its width below it. */
  readonly place: 'main' | 'side' | 'drawer';
  /** What the engine builds for it: begun when somebody points at the tab. Absent = nothing. */
  readonly needs?: readonly 'states'[];
  /** Only files of one kind can have it: views of others have no tab of it. Absent = all have. */
  isFor?(info: ViewInfo, around: Around): boolean;
  /** Why it has nothing to show of a view, as a sentence; undefined = it has. Absent = it always has. */
  lacks?(info: ViewInfo, around: Around): string | undefined;
  load(): Promise<{ panel: LoadedPanel }>;
}

/** S: what it remembers of a view. */
export interface LoadedPanel<S extends object = object> {
  /** It is shown anew when one of these changes; the view always counts. */
  readonly reads: readonly PagePart[];
  readonly initial: S;
  /** What of it links tell, and Back brings back. */
  readonly linked?: LinkFields<S>;
  show(page: PanelPage, kept: Kept<S>): TemplateResult;
}
