// What one looks at: the parts that all views share. Views read parts, change them, and watch those that they show; no view
// reaches into another. No DOM: it runs in Node.
//
// Moment, selection and choices in panels belong to a view of a device (an EngineView, the same object whenever one comes back to it): they change
// together with it, and are kept for as long as it is. The range and the viewport go with the view.
import { Listeners, type Stop } from '../base/listeners.ts';
import type { AxisUnits, Bytes } from '../base/units.ts';
import type { Axis, Band, EngineError, EngineView, FilterAnswer } from '../../engine/index.ts';
import { nothingBeside, type Beside } from './beside/files.ts';
import type { OpenFile } from './open_file.ts';
import type { Look } from './stacking.ts';
import type { Thing } from './detail_subject.ts';
import type { Viewport } from './viewport.ts';

/** A stretch of an axis that the reader marked. */
export interface Range {
  axis: Axis;
  from: AxisUnits;
  to: AxisUnits;
}

export interface Selection {
  /** The pinned block, or whatever else is a band. */
  block: Band | undefined;
  /** What the details tell instead of it. */
  thing: Thing | undefined;
}

export interface Filter {
  /** What the field says, in force as soon as the engine took it. */
  text: string;
  /** Why it means nothing. */
  error: EngineError | undefined;
  /** What it means here; undefined = nothing, or it is not known yet. */
  found: FilterAnswer | undefined;
  /** Number of the match that is shown; -1 = none. */
  match: number;
  /** The text whose blocks are lit while the others fade; empty = none fade. */
  highlight: string;
}

/** Choices in panels, as texts: `flame.by` and what it is. */
export type PanelTexts = Readonly<Record<string, string>>;

export interface Parts {
  file: OpenFile | undefined;
  /** The device of it that is shown, as certain bands. */
  view: EngineView | undefined;
  axis: Axis;
  /** What of the timeline is seen; undefined before anything is. */
  viewport: Viewport | undefined;
  /** The state after this event, -1 = before the first; undefined = none was chosen, see `momentOf`. */
  moment: number | undefined;
  range: Range | undefined;
  selection: Selection;
  filter: Filter;
  look: Look;
  /** What the device has, as the reader said; undefined = as the recording tells, if it does. */
  capacity: Bytes | undefined;
  /** The main picture that was chosen; undefined = what says most of a device. */
  main: string | undefined;
  /** The answer beside it; undefined = none. */
  side: string | undefined;
  /** The panel that is open below it; undefined = none. */
  answer: string | undefined;
  /** What was chosen in panels; what is as at first is left out. */
  panels: PanelTexts;
  /** How other files of the run lie beside the one that is shown. */
  beside: Beside;
}
export type Part = keyof Parts;

export interface Workspace {
  get<K extends Part>(part: K): Parts[K];
  /**
   * All at once; who watches one of them is told once. `step`: one can go back to what was before; steps that have the same
   * name and follow each other quickly are one.
   */
  change(parts: Readonly<Partial<Parts>>, step?: boolean | string): void;
  /** Tells which of `parts` changed, after each change. Returns how to stop. */
  watch(parts: readonly Part[], changed: (changed: ReadonlySet<Part>) => void): Stop;
  /** Lets go of what it held of files and views, and begins anew. */
  dispose(): void;
}

/** Kept with a view. */
type Chosen = Pick<Parts, 'moment' | 'selection' | 'panels'>;

const nothingChosen: Chosen = {
  moment: undefined,
  selection: { block: undefined, thing: undefined },
  panels: {},
};
export const noFilter: Filter = { text: '', error: undefined, found: undefined, match: -1, highlight: '' };

const atFirst: Parts = {
  file: undefined,
  view: undefined,
  axis: 'event',
  viewport: undefined,
  range: undefined,
  ...nothingChosen,
  filter: noFilter,
  look: { colour: 'allocation', stacking: 'blocks' },
  capacity: undefined,
  main: undefined,
  side: undefined,
  answer: undefined,
  beside: nothingBeside,
};

/** `step` makes the change it is given, as one that one can go back from. */
export function createWorkspace(
  step: (change: () => void, name: string) => void = (change) => change(),
): Workspace {
  const now: Parts = { ...atFirst };
  let kept = new WeakMap<EngineView, Chosen>();
  const watchers = new Listeners<ReadonlySet<Part>>();

  const set = (parts: Readonly<Partial<Parts>>): void => {
    const wanted = { ...parts };
    if ('view' in parts && parts.view !== now.view) {
      if (now.view) kept.set(now.view, { moment: now.moment, selection: now.selection, panels: now.panels });
      const before = parts.view && kept.get(parts.view);
      Object.assign(wanted, {
        viewport: undefined,
        range: undefined,
        ...(before ?? nothingChosen),
        ...parts,
      });
    }
    const changed = new Set((Object.keys(wanted) as Part[]).filter((part) => wanted[part] !== now[part]));
    if (changed.size === 0) return;
    Object.assign(now, wanted);
    watchers.tell(changed);
  };

  return {
    get: (part) => now[part],
    change: (parts, isStep = false) =>
      isStep === false ? set(parts) : step(() => set(parts), isStep === true ? '' : isStep),
    watch: (parts, changed) =>
      watchers.add((all) => {
        const mine = new Set(parts.filter((part) => all.has(part)));
        if (mine.size > 0) changed(mine);
      }),
    dispose() {
      kept = new WeakMap();
      Object.assign(now, atFirst);
    },
  };
}

/** The moment that is shown: the chosen one; else where memory ran out, which one looks for first; else the peak. */
export function momentOf(workspace: Workspace): number {
  const info = workspace.get('view')?.info;
  return workspace.get('moment') ?? info?.oom_events.at(-1) ?? info?.peak.event ?? -1;
}
