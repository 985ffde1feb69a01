// The moment under the pointer or the keyboard's cursor, and what is there: asks the engine, keeps the answer.
import { formatBytesAt, formatCount, formatMoment } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest_only.ts';
import type { AxisUnits, Bytes } from '../../base/units.ts';
import type { Cursor } from '../../draw/cursor.ts';
import type { Args, Axis, Band, Columns, GroupAt, Pick } from '../../../engine/index.ts';
import { bringIntoView } from '../../model/viewport.ts';
import type { Point } from '../../controls/gestures.ts';
import type { Groups } from './device_tracks.ts';
import type { Stage } from './stage.ts';
import type { ViewMotion } from './view_motion.ts';

export interface Moment {
  axis: Axis;
  column: number;
  width: AxisUnits;
  bytes: Bytes;
  pick: Pick | undefined;
  /** Of the stack by group. */
  group: (GroupAt & Groups) | undefined;
  /** The block is too low to be told apart: the group is what one points at. */
  isLow: boolean;
  byKeyboard: boolean;
}

export interface MomentTarget {
  /** The moment or its cursor changed. */
  changed(): void;
  /** Another block lies under it. */
  pointed(block: Band): void;
  /** The cursor was sent to an event. */
  went(event: number): void;
  /** What the stack is made of; undefined = blocks. */
  groups(): Groups | undefined;
  /** Grid of the picture on the screen. */
  drawnColumns(): Columns | undefined;
}

type Place = Args<'probe'> & { groups: Groups | undefined };
type Question = Place & { byKeyboard: boolean };

/** Blocks lower than this are seen as their group only: from here on they may take the engine's View::kLeastShaded rows. */
const leastRows = 2.5; // device pixels

/** What lies at a point: a band with all that is known of it, and by group its kind. */
export interface Probed {
  pick: Pick | undefined;
  /** Undefined = there is none, or the one that is known. */
  details: Band | undefined;
  group: (GroupAt & Groups) | undefined;
  isLow: boolean;
}

export class MomentTrack {
  moment: Moment | undefined;
  pointer: Point | undefined;
  private hovered: Band | undefined;
  /** The cursor was last moved by key: the resting pointer does not take it back. */
  private byKeyboard = false;
  /** Where the keyboard's cursor goes; the answer may still be on its way. */
  private aim: number | undefined;
  /** Where the keyboard's event lies on the axis shown, if that is not the event axis. */
  private cursorAt: AxisUnits | undefined;
  private lastView = '';
  /** What is shown is of the recording before it grew. */
  private isOld = false;
  private readonly probes: LatestOnly<Question, Probed>;

  constructor(
    private readonly stage: Stage,
    private readonly motion: ViewMotion,
    private readonly target: MomentTarget,
  ) {
    this.probes = new LatestOnly(
      ({ byKeyboard: _, ...place }) => this.ask(place),
      (answer, question) => this.probed(answer, question),
      () => undefined, // a dead engine is told by its client; a refusal leaves what is shown
    );
  }

  /** The block under the cursor, if it is high enough to be seen. */
  get block(): Band | undefined {
    const { hovered, moment } = this;
    return hovered && !moment?.isLow && moment?.pick?.rank === hovered.rank ? hovered : undefined;
  }

  /** The group under the cursor, whatever block is there. */
  get kind(): (GroupAt & Groups) | undefined {
    const group = this.moment?.group;
    return group && group.by === this.target.groups()?.by ? group : undefined;
  }
  /** The same where no block can be told apart. */
  get group(): (GroupAt & Groups) | undefined {
    return this.moment?.isLow ? this.kind : undefined;
  }

  get event(): number | undefined {
    return this.moment?.pick?.event;
  }

  forget(): void {
    this.probes.forget();
    this.byKeyboard = false;
    this.aim = undefined;
    this.moment = undefined;
    this.hovered = undefined;
    this.pointer = undefined;
  }

  /** The recording has grown: what is shown stays until it is asked for anew. */
  renewed(): void {
    this.probes.forget();
    this.isOld = true;
  }

  /** The keyboard's cursor goes: the moment it stands for is no longer the chosen one. */
  leaveEvent(chosen: number): void {
    if (!this.byKeyboard || !this.moment || this.aim === chosen) return;
    this.probes.forget();
    this.byKeyboard = false;
    this.aim = undefined;
    this.moment = undefined;
    this.target.changed();
  }

  hover(at: Point | undefined): void {
    this.byKeyboard = false;
    this.pointer = at;
    if (!at || !this.stage.projection().contains(at.x, at.y)) {
      this.probes.forget();
      this.moment = undefined;
      this.target.changed();
      return;
    }
    this.probePointer(at);
  }

  /** The view may have moved under a resting pointer, or be stacked in another way. */
  follow(): void {
    const { pointer, stage } = this;
    if (!pointer || this.byKeyboard) return;
    const { x0, x1, y0, y1 } = stage.view;
    const key = JSON.stringify([x0, x1, y0, y1, this.target.groups()]);
    if (key === this.lastView) return;
    this.lastView = key;
    if (stage.projection().contains(pointer.x, pointer.y)) this.probePointer(pointer);
  }

  /** What lies at a point, asked for on its own. */
  async probeOnce(at: Point): Promise<Probed | undefined> {
    const { device } = this.stage;
    try {
      const probed = await this.ask({ ...this.placeOf(at), known: -1, groups: this.target.groups() });
      return device === this.stage.device ? probed : undefined;
    } catch {
      return undefined; // a dead engine is told by its client
    }
  }

  private async ask({ groups, ...place }: Place): Promise<Probed> {
    const { pick, details, group } = await this.stage.device.ask('probe', { ...place, ...groups });
    const isLow =
      group !== undefined && (pick?.size ?? 0) < leastRows * this.stage.projection().bytesPerPixel;
    return {
      pick: pick ?? undefined,
      details: isLow ? undefined : (details ?? undefined),
      group: group && groups && { ...group, ...groups },
      isLow,
    };
  }

  /** The cursor to an event; the view follows if it lies outside. */
  async moveTo(event: number, bytes: Bytes): Promise<void> {
    const { stage } = this;
    this.byKeyboard = true;
    this.aim = event;
    this.target.went(event);
    const { device } = stage;
    const position = (await stage.positionOf(event)) ?? event;
    if (device !== stage.device) return;
    this.probes.request({
      axis: 'event',
      column: event,
      width: 1,
      bytes,
      known: this.hovered?.rank ?? -1,
      groups: this.target.groups(),
      byKeyboard: true,
    });
    const { view, bounds } = stage;
    if (position >= view.x0 && position <= view.x1) return;
    const place = { from: position, to: position + 1 };
    this.motion.to(bringIntoView(view, bounds, place, { from: view.y0, to: view.y1 }));
  }

  /** To the event before or after; the chosen moment counts if one is shown. */
  stepEvent(by: 1 | -1, chosen: number | undefined): void {
    const { events } = this.stage.info;
    if (events === 0) return;
    const current = chosen ?? (this.byKeyboard ? this.aim : this.event) ?? (by > 0 ? -1 : events);
    const event = Math.min(Math.max(current + by, 0), events - 1);
    void this.moveTo(event, this.moment?.bytes ?? this.stage.view.y1 / 3);
  }

  /** What zooming keeps in place: the pointer, or the cursor if that moved last. Undefined = neither is in view. */
  centre(): { x: AxisUnits; y: Bytes } | undefined {
    const { pointer, stage } = this;
    const at = stage.projection();
    if (pointer && !this.byKeyboard && at.contains(pointer.x, pointer.y))
      return { x: at.units(pointer.x), y: at.bytes(pointer.y) };
    const place = this.place();
    return place && place.x >= stage.view.x0 && place.x <= stage.view.x1 ? place : undefined;
  }

  /** The cursor's place on the axis shown. */
  place(): { x: AxisUnits; y: Bytes } | undefined {
    const { moment, stage } = this;
    if (!moment?.pick) return undefined;
    const x = moment.axis === stage.axis ? (moment.column + 0.5) * moment.width : this.cursorAt;
    return x === undefined ? undefined : { x, y: moment.byKeyboard ? moment.pick.level : moment.bytes };
  }

  /** As lines and labels. */
  cursor(): Cursor | undefined {
    const { moment, stage } = this;
    if (!moment?.pick) return undefined;
    const { pick, byKeyboard } = moment;
    let from = moment.column * moment.width;
    if (moment.axis !== stage.axis) {
      if (this.cursorAt === undefined) return undefined;
      from = this.cursorAt;
    }
    const start = stage.info.first_time_us;
    const label =
      stage.axis === 'time' && pick.time_us !== null && start !== null
        ? formatMoment(pick.time_us - start)
        : pick.event < 0
          ? 'start'
          : formatCount(pick.event);
    return {
      from,
      to: from + (moment.axis === stage.axis ? moment.width : 1),
      bytes: byKeyboard ? undefined : moment.bytes,
      label,
      bytesLabel: formatBytesAt(moment.bytes, stage.projection().bytesPerPixel),
    };
  }

  /** The pixel's own column and row: the state the picture shows there, not that of the pointer's event. */
  private placeOf(at: Point): { axis: Axis; column: number; width: AxisUnits; bytes: Bytes } {
    const { stage } = this;
    const projection = stage.projection();
    const drawn = this.target.drawnColumns();
    const { width } = drawn?.axis === stage.axis ? drawn : stage.columns();
    const last = Math.ceil(stage.bounds.extent / width) - 1;
    const column = Math.floor(projection.units(Math.floor(at.x) + 0.5) / width);
    const bytes = projection.bytes(Math.floor(at.y) + 0.5);
    return { axis: stage.axis, column: Math.min(Math.max(column, 0), last), width, bytes };
  }

  private probePointer(at: Point): void {
    this.probes.request({
      ...this.placeOf(at),
      known: this.isOld ? -1 : (this.hovered?.rank ?? -1),
      groups: this.target.groups(),
      byKeyboard: false,
    });
  }

  private probed(answer: Probed, question: Question): void {
    const { axis, column, width, bytes, byKeyboard } = question;
    const { pick, details, group, isLow } = answer;
    const old = this.moment;
    this.moment = { axis, column, width, bytes, pick, group, isLow, byKeyboard };
    if (byKeyboard && pick) void this.placeCursor(pick.event);
    if (details || this.isOld) this.hovered = details;
    this.isOld = false;
    if (pick && pick.rank >= 0 && !isLow && (details || old?.pick?.rank !== pick.rank) && this.hovered)
      this.target.pointed(this.hovered);
    this.target.changed();
  }

  private async placeCursor(event: number): Promise<void> {
    if (this.stage.axis === 'event') return;
    this.cursorAt = await this.stage.positionOf(event);
    this.target.changed();
  }
}
