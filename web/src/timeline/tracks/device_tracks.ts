// The tracks of one device, kept while another one is shown: going back shows it in the same frame.
import { enginePalette, type Theme } from '../../draw/colors.ts';
import { colorsOfKinds } from '../../draw/palettes.ts';
import { Projection, type PlotArea } from '../../draw/plot.ts';
import type { Axis, ColourBy, ViewInfo } from '../../engine/answers.ts';
import type { EngineClient } from '../../engine/client.ts';
import { boundsOf, fitAll, type Viewport } from '../../model/viewport.ts';
import { KindsTrack } from './kinds_track.ts';
import { MarksTrack } from './marks_track.ts';
import { PictureTrack, type PictureStyle } from './picture_track.ts';

const largestPrepared = 4_000_000; // device pixels; beyond that many files would hold too much memory

export class DeviceTracks {
  readonly picture: PictureTrack;
  readonly kinds: KindsTrack;
  readonly marks: MarksTrack;
  /** When it was left. */
  axis: Axis = 'event';
  view: Viewport | undefined;
  /** What `prepare` asked for. */
  private prepared = '';

  constructor(
    engine: EngineClient,
    private readonly info: ViewInfo,
    changed: { picture(): void; kinds(): void; marks(): void },
  ) {
    this.picture = new PictureTrack(engine, () => changed.picture());
    this.kinds = new KindsTrack(engine, () => changed.kinds());
    this.marks = new MarksTrack(engine, info, () => changed.marks());
  }

  /** `highlight` changes with the filter; `litKind`: -1 = none. */
  style(theme: Theme, highlight: string, litKind: number): PictureStyle {
    const { kinds } = this;
    const kind = kinds.by === 'allocation' ? -1 : litKind;
    return {
      key: [theme, kinds.by, highlight, kind].join('|'),
      palette: enginePalette(theme, colorsOfKinds(kinds.kinds, theme)),
      dimOthers: highlight !== '',
      colourBy: kinds.by,
      kind,
    };
  }

  /** Asks for the first picture of a device that was not shown yet. */
  prepare(area: PlotArea, wantedAxis: Axis, theme: Theme, colourBy: ColourBy): void {
    if (area.width < 2 || area.width * area.height > largestPrepared) return;
    const { info, kinds, picture } = this;
    const axis = info.extent.time_us === null ? 'event' : wantedAxis;
    const extent = (axis === 'event' ? info.extent.event : info.extent.time_us) ?? 1;
    const bounds = boundsOf(extent, info.peak.bytes, info.reserved_peak);
    kinds.want(colourBy);
    if (kinds.by !== colourBy) return; // comes again when they are known
    const style = this.style(theme, '', -1);
    const prepared = [area.width, area.height, axis, style.key].join();
    if (prepared === this.prepared || this.view) return;
    this.prepared = prepared;
    picture.want(new Projection(fitAll(bounds), area), axis, bounds, style);
  }
}
