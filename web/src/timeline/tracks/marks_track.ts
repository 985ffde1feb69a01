// Regions and markers that the program wrote into its recording: asks the engine once, places them on an axis.
import type { AxisUnits } from '../../base/units.ts';
import type { Axis, EngineView, Marks } from '../../../engine/index.ts';

export type Region = Marks['regions'][number];
export type Marker = Marks['markers'][number];

export interface PlacedRegion extends Region {
  from: AxisUnits;
  to: AxisUnits;
}
export interface PlacedMarker extends Marker {
  at: AxisUnits;
}
export interface PlacedMarks {
  axis: Axis;
  /** Ascending by `from`, the outer one first. */
  regions: readonly PlacedRegion[];
  /** Ascending. */
  markers: readonly PlacedMarker[];
  /** Levels of nesting. */
  depths: number;
  regionsLeftOut: number;
  markersLeftOut: number;
}

export class MarksTrack {
  /** On the axis asked for last, as soon as they are known. */
  placed: PlacedMarks | undefined;
  private wanted: Axis | undefined;
  private found: Promise<Marks> | undefined;

  constructor(
    private readonly device: EngineView,
    private readonly changed: () => void,
  ) {}

  /** False until they are known on this axis; asks for them. A refusal counts as none. */
  want(axis: Axis): boolean {
    if (axis !== this.wanted) {
      this.wanted = axis;
      this.place(axis).then(
        (placed) => axis === this.wanted && this.take(placed),
        () => this.refused(axis),
      );
    }
    return this.placed?.axis === axis;
  }

  private refused(axis: Axis): void {
    if (this.device.alive) return axis === this.wanted ? this.take(nothing(axis)) : undefined;
    this.wanted = undefined; // asked again when the device is shown again
    this.found = undefined;
  }

  private take(placed: PlacedMarks): void {
    this.placed = placed;
    this.changed();
  }

  private async place(axis: Axis): Promise<PlacedMarks> {
    this.found ??= this.device.ask('marks', {});
    const marks = await this.found;
    const placeOf = await this.places(axis, marks);
    const { info } = this.device;
    const first = info.first_time_us ?? 0;
    const extent = (axis === 'event' ? info.extent.event : info.extent.time_us) ?? 1;
    const inside = (at: AxisUnits): AxisUnits => Math.min(Math.max(at, 0), extent);
    const border = (event: number, time: number | null): AxisUnits =>
      inside(axis === 'time' && time !== null ? time - first : placeOf(event));
    return {
      axis,
      regions: marks.regions.map((region) => ({
        ...region,
        from: region.cut_start ? 0 : border(region.from_event, region.from_us),
        to: region.cut_end ? extent : border(region.to_event, region.to_us),
      })),
      markers: marks.markers.map((marker) => ({
        ...marker,
        at: placeOf(marker.event) + (axis === 'event' ? 0.5 : 0),
      })),
      depths: marks.regions.reduce((most, { depth }) => Math.max(most, depth + 1), 0),
      regionsLeftOut: marks.regions_left_out,
      markersLeftOut: marks.markers_left_out,
    };
  }

  /** Where events lie that no time of the answer tells. */
  private async places(axis: Axis, { regions, markers }: Marks): Promise<(event: number) => AxisUnits> {
    if (axis === 'event') return (event) => event;
    const events = new Set(markers.map(({ event }) => event));
    for (const { from_event, from_us, to_event, to_us } of regions) {
      if (from_us === null) events.add(from_event);
      if (to_us === null) events.add(Math.min(to_event, this.device.info.events - 1));
    }
    const asked = [...events];
    const positions = await this.device.ask('position', { axis, events: asked });
    const known = new Map(asked.map((event, index) => [event, positions[index] ?? 0]));
    return (event) => known.get(Math.min(event, this.device.info.events - 1)) ?? 0;
  }
}

function nothing(axis: Axis): PlacedMarks {
  return { axis, regions: [], markers: [], depths: 0, regionsLeftOut: 0, markersLeftOut: 0 };
}
