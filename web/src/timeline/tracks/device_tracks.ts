// The tracks of one device, kept while another one is shown: going back shows it in the same frame.
import { Listeners } from '../../base/listeners.ts';
import { enginePalette, type Theme } from '../../draw/colors.ts';
import { colorsOfKinds } from '../../draw/palettes.ts';
import { Projection, type PlotArea } from '../../draw/plot.ts';
import type { Axis, ColourBy, EngineView, ViewInfo } from '../../../engine/index.ts';
import type { Look, Stacking } from '../../model/stacking.ts';
import { boundsOf, fitAll, type Viewport } from '../../model/viewport.ts';
import { KindsTrack } from './kinds_track.ts';
import { MarksTrack } from './marks_track.ts';
import { PictureTrack, type PictureStyle } from './picture_track.ts';

/** Where the plot of the last timeline lay: that of the next one will most likely, too. */
let lastArea: PlotArea | undefined;
export function rememberArea(area: PlotArea): void {
  lastArea = area;
}

const kept = new WeakMap<EngineView, DeviceTracks>();

/** Of a device, the same whenever it is asked for. */
export function tracksOf(device: EngineView): DeviceTracks {
  const known = kept.get(device);
  if (known) return known;
  const made = new DeviceTracks(device);
  kept.set(device, made);
  return made;
}

/**
 * Asks for the first picture of a device before there is an element to show it: the engine draws while the page is laid
 * out. If the plot turns out to lie elsewhere, the element asks again.
 */
export function prepareFirst(device: EngineView, axis: Axis, theme: Theme, look: Look): void {
  if (lastArea) tracksOf(device).prepare(lastArea, axis, theme, look);
}

const largestPrepared = 4_000_000; // device pixels; beyond that many files would hold too much memory

/** What the stack by group is made of, and the filter of which one asks what it means of a group. */
export interface Groups {
  by: ColourBy;
  filter: string;
}

export class DeviceTracks {
  readonly picture: PictureTrack;
  readonly kinds: KindsTrack;
  readonly marks: MarksTrack;
  /** When it was left. */
  axis: Axis = 'event';
  view: Viewport | undefined;
  /** What `prepare` asked for. */
  private prepared = '';
  /** For when the kinds are known. */
  private again: (() => void) | undefined;
  /** Which of the three has an answer. */
  readonly answers = new Listeners<'picture' | 'kinds' | 'marks'>();

  private readonly info: ViewInfo;

  constructor(device: EngineView) {
    this.info = device.info;
    this.picture = new PictureTrack(device, () => this.answers.tell('picture'));
    this.kinds = new KindsTrack(device, () => this.kindsKnown());
    this.marks = new MarksTrack(device, () => this.answers.tell('marks'));
  }

  /** Whoever shows it asks for its pictures from here on. */
  showing(): void {
    this.again = undefined;
  }

  private kindsKnown(): void {
    this.again?.();
    this.answers.tell('kinds');
  }

  /** Undefined = stacked by age, as pools are, whose envelopes hold their blocks together; or the kinds of the colours are not known yet. */
  groups(stacking: Stacking, filter: string): Groups | undefined {
    const { by } = this.kinds;
    const isByAge = stacking === 'blocks' || this.info.bands === 'pools' || by === 'allocation';
    return isByAge ? undefined : { by, filter };
  }

  /** `filter`: its blocks are lit, empty = all; `litKind`: -1 = none. */
  style(theme: Theme, stacking: Stacking, filter: string, litKind: number): PictureStyle {
    const { kinds } = this;
    const by = this.groups(stacking, filter)?.by;
    const kind = kinds.by === 'allocation' ? -1 : litKind;
    return {
      key: [theme.key, kinds.by, by, kind, filter].join('|'),
      ...(by && { by }),
      look: {
        palette: enginePalette(theme, colorsOfKinds(kinds.kinds, theme)),
        colourBy: kinds.by,
        filter,
        kind,
      },
    };
  }

  /** Asks for the first picture of a device that was not shown yet. */
  prepare(area: PlotArea, wantedAxis: Axis, theme: Theme, look: Look): void {
    if (area.width < 2 || area.width * area.height > largestPrepared) return;
    const { info, kinds, picture } = this;
    const axis = info.extent.time_us === null ? 'event' : wantedAxis;
    const extent = (axis === 'event' ? info.extent.event : info.extent.time_us) ?? 1;
    const bounds = boundsOf(extent, info);
    const style = this.style(theme, look.stacking, '', -1);
    const prepared = [area.width, area.height, axis, style.key].join();
    if (prepared !== this.prepared && !this.view)
      picture.want(new Projection(fitAll(bounds), area), axis, bounds, style);
    this.prepared = prepared;
    // What kinds there are takes longer to find than a picture without them to draw.
    kinds.want(look.colour);
    this.again = kinds.settled ? undefined : () => this.prepare(area, wantedAxis, theme, look);
  }
}
