// What was read of a journal, anew, in the place of what the page shows of it: drawn before it is shown, so that nothing blinks,
// and with what is chosen in panels, filter and look as they are.
import { Projection } from '../../draw/plot.ts';
import type { Engine, EngineView, FilterAnswer } from '../../../engine/index.ts';
import type { Entry, OpenFile } from '../../model/open_files.ts';
import { boundsOf, fitAll, show, type Bounds, type Viewport } from '../../model/viewport.ts';
import { tracksOf } from '../../timeline/tracks/device_tracks.ts';
import { highestEvent } from '../../timeline/tracks/picture_track.ts';
import type { GpustrataViewer } from '../../viewer/viewer.ts';
import type { Place } from './journals.ts';

/** A server's own limit counts. */
const noBudget = 0;
/** A picture that takes longer is drawn when it is shown (ms). */
const patience = 3000;

export interface Next {
  engine: Engine;
  contents: OpenFile['contents'];
  view: EngineView | undefined;
  bytes: number;
  place: Place | undefined;
  /** Whose place it is to take. */
  before: EngineView | undefined;
}

/** Rejected as opening a file is. */
export async function readAnew(viewer: GpustrataViewer, { source, view: before }: OpenFile): Promise<Next> {
  const engine = await viewer.files.pool.take(source);
  try {
    let place: Place | undefined;
    let bytes = 0;
    const contents = await engine.read(source, noBudget, 'contents', {}, (progress) => {
      place = progress.journal ?? undefined;
      bytes = progress.total;
    });
    const first = contents.default && { ...contents.default, bands: 'blocks' as const };
    const shown = before?.shown ?? first;
    // Another run that writes a file of the same name may have other devices.
    const isThere = contents.snapshots[shown?.snapshot ?? 0]?.devices.some(
      ({ device }) => device === shown?.device,
    );
    const wanted = isThere ? shown : first;
    const view = wanted ? await engine.view(wanted, before) : undefined;
    return { engine, contents, view, bytes, place, before };
  } catch (error) {
    engine.close();
    throw error;
  }
}

/** Of a file that is not shown, or of which there is nothing to draw yet. */
export function replace(viewer: GpustrataViewer, entry: Entry, next: Next): void {
  const { file } = entry;
  if (!file) return next.engine.close();
  const { engine, contents, view, bytes } = next;
  viewer.files.renew(file, { engine, contents, view, bytes });
}

/** Asked when all is ready. */
export interface Wish {
  isWanted: () => boolean;
  /** All of it is to be seen, whatever was. */
  isWhole: () => boolean;
}

/** Of the file that is shown. False = it was not replaced. */
export async function replaceShown(
  viewer: GpustrataViewer,
  entry: Entry,
  next: Next,
  { isWanted, isWhole }: Wish,
): Promise<boolean> {
  const { file } = entry;
  const { view } = next;
  const { text } = viewer.workspace.get('filter');
  let found: FilterAnswer | undefined;
  if (view && file?.view) {
    if (text !== '') found = await view.ask('filter', { text }).catch(() => undefined);
    await drawAhead(viewer, view, found !== undefined && found.count > 0 ? text : '', isWhole());
  }
  const { workspace } = viewer;
  // Another device or filter may have been chosen meanwhile.
  const isSame = workspace.get('filter').text === text && file?.view === next.before;
  if (!file || file !== viewer.file || !isSame || !isWanted()) {
    next.engine.close();
    return false;
  }
  if (view && file.view) {
    const first = seenNext(viewer, view, isWhole())?.moved;
    file.view = view;
    viewer.firstView = first;
    workspace.change({ view, panels: workspace.get('panels') });
    viewer.filter.show(view, found);
  }
  replace(viewer, entry, next);
  return true;
}

/** What of the next view is seen: all of it if all is seen now, else as much of its end. */
function seenNext(
  { timeline, workspace, axis }: GpustrataViewer,
  { info }: EngineView,
  isWhole: boolean,
): { bounds: Bounds; seen: Viewport; moved: Viewport | undefined } | undefined {
  const screen = timeline?.onScreen;
  if (!screen) return undefined;
  const { view, bounds: before } = screen.stage;
  const capacity = workspace.get('capacity') ?? info.capacity;
  const extent = (axis === 'event' ? info.extent.event : info.extent.time_us) ?? 1;
  const bounds = boundsOf(extent, { ...info, capacity });
  if (isWhole) return { bounds, seen: fitAll(bounds), moved: undefined };
  const y1 = view.y1 === before.fitTop ? bounds.fitTop : view.y1;
  const x0 = view.x0 === 0 ? 0 : bounds.extent - (view.x1 - view.x0);
  const seen = show({ x0, x1: bounds.extent, y0: view.y0, y1 }, bounds);
  const isAll = view.x0 === 0 && view.y0 === 0 && y1 === bounds.fitTop;
  return { bounds, seen, moved: isAll ? undefined : seen };
}

/** Asks for all that the timeline shows of it, as it will be seen. */
async function drawAhead(
  viewer: GpustrataViewer,
  view: EngineView,
  highlight: string,
  isWhole: boolean,
): Promise<void> {
  const screen = viewer.timeline?.onScreen;
  const next = seenNext(viewer, view, isWhole);
  if (!screen || !next) return;
  const { axis, colour, stacking } = viewer;
  const tracks = tracksOf(view);
  const at = new Projection(next.seen, screen.stage.area);
  const isThere = (): boolean => {
    const { kinds, marks, picture } = tracks;
    kinds.want(colour);
    const isMarked = marks.want(axis);
    if (kinds.by !== colour) return false;
    const style = tracks.style(screen.theme, stacking, highlight, -1);
    if (!picture.want(at, axis, next.bounds, style) || !picture.shown) return false;
    const event = highestEvent(picture.shown, next.seen);
    if (event !== undefined && event >= -1) kinds.wantShares(event, highlight);
    const hasShares = kinds.shares !== undefined || !kinds.kinds?.kinds.length; // without kinds none are kept
    return isMarked && hasShares && picture.backdrop !== undefined;
  };
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, patience);
    const look = (): void => {
      if (!isThere() && view.alive) return;
      clearTimeout(timer);
      stop();
      resolve();
    };
    const stop = tracks.answers.add(look);
    look();
  });
}
