// The viewer, as the parts of it know it: what they show (file_area.ts) and act on (viewer_actions.ts).
import type { Axis, ColourBy } from '../../engine/index.ts';
import type { Filtering } from '../model/filtering.ts';
import type { DeviceChoice } from '../model/devices.ts';
import type { Shown } from '../model/link.ts';
import type { LinkWalk } from '../model/link_walk.ts';
import type { RankFiles } from '../model/rank_files.ts';
import type { FleetChoice } from '../model/fleet_choice.ts';
import type { SeriesChoice } from '../model/series_choice.ts';
import type { OpenFile, OpenFiles } from '../model/open_files.ts';
import type { Application } from './application.ts';
import type { SettingsStore } from '../model/settings.ts';
import type { Viewport } from '../model/viewport.ts';
import type { Workspace } from '../model/workspace.ts';
import type { ToastView } from '../controls/toast.ts';
import type { EditorChoice } from '../model/editor.ts';
import type { SourceFolder } from '../model/source_folder.ts';
import type { Look, Stacking } from '../model/stacking.ts';
import type { DetailsView } from '../details/details.ts';
import type { AboutView } from '../files/about.ts';
import type { NotesView } from '../files/notes.ts';
import type { ChosenFiles } from '../files/choose.ts';
import type { AnswersView, DrawerView } from '../panels/drawer.ts';
import type { PanelEvents } from '../panels/panel.ts';
import type { PanelSlot } from '../panels/panel_slot.ts';
import type { TimelineView } from '../timeline/timeline.ts';
import type { BandsSwitch } from './bands_switch.ts';
import type { BesideRun } from './beside_run.ts';
import type { Choices } from './choices.ts';
import type { ExportView } from './export_picture.ts';
import type { FilterBar } from './filter_bar.ts';
import type { FirstLook } from './first_look.ts';
import type { KeysView } from './key_sheet.ts';
import type { OnlyThese } from './only_these.ts';
import type { OpenPanels } from './open_panels.ts';
import type { ViewerTheme } from './theme.ts';

/** Elements in it; null while they are not shown. */
interface Elements {
  readonly shadowRoot: ShadowRoot | null;
  readonly updateComplete: Promise<unknown>;
  readonly timeline: TimelineView | null;
  readonly details: DetailsView | null;
  readonly drawer: DrawerView | null;
  readonly answers: AnswersView | null;
  readonly mainPanel: PanelSlot | null;
  readonly filterBar: FilterBar | null;
  readonly keys: KeysView;
  readonly about: AboutView | null;
  readonly exporter: ExportView | null;
  readonly toast: ToastView;
  readonly notes: NotesView | null;
}

/** What its views share. */
interface Shared {
  readonly workspace: Workspace;
  readonly files: OpenFiles;
  /** Chosen together with a fleet, opened when asked for. */
  readonly rankFiles: RankFiles;
  readonly application: Application | undefined;
  readonly file: OpenFile | undefined;
  readonly filter: Filtering;
  readonly links: LinkWalk;
  readonly rooms: OpenPanels;
  readonly choices: Choices;
  readonly bands: BandsSwitch;
  readonly beside: BesideRun;
  readonly onlyThese: OnlyThese;
  readonly themes: ViewerTheme;
  readonly settings: SettingsStore;
  axis: Axis;
  readonly colour: ColourBy;
  readonly stacking: Stacking;
  readonly firstView: Viewport | undefined;
  readonly firstLook: FirstLook;
  detailsWidth: number;
  panelHeight: number;
  detailsOpen: boolean;
  /** They are read instead of the answer beside the picture. */
  detailsInFront: boolean;
  editor: EditorChoice;
  readonly letterKeys: boolean;
  exactBytes: boolean;
  source: SourceFolder | undefined;
}

export interface ViewerParts extends Elements, Shared {
  readonly actions: { stepMatch(by: 1 | -1): void; showOnlyThese(): boolean; hideEarlier(): boolean };
  receive(chosen: ChosenFiles): void;
  shown(): Shown | undefined;
  showDevice(choice: DeviceChoice | undefined): boolean;
  /** True = it is shown, and its timeline is there. */
  goToDevice(choice: DeviceChoice): Promise<boolean>;
  /** Says why if it has nothing to show; false then. */
  openPanel(id: string): boolean;
  /** Opens an answer, or closes it; false if it is not open then. */
  toggleAnswer(id: string): boolean;
  /** Of the timeline; kept for the next visit. */
  setLook(change: Partial<Look>): void;
  /** What links tell of the choices in a panel. */
  choosePanelTexts(chosen: PanelEvents['choose-texts']): void;
  /** What of a fleet is shown. */
  setFleet(file: OpenFile, change: Partial<FleetChoice>): void;
  /** What of a file of counters is shown. */
  setSeries(file: OpenFile, series: SeriesChoice): void;
  /** What a panel asked for; an answer stays in front of the details that it leads to. */
  choose(asked: Event, act: () => unknown): Promise<void>;
  /** False: lets go of what is chosen, and of the place for it. */
  showDetails(shown: boolean): void;
  chooseStat(what: 'peak' | 'oom' | 'notes'): void;
  moved(): void;
  prepareOthers(): void;
  firstPicture(): void;
}
