// What a drag on the timeline does instead of moving it: zooms to a box or measures.
import type { MomentTrack } from './moment_track.ts';
import type { Point } from '../../controls/gestures.ts';
import type { RulerTrack } from './ruler_track.ts';
import type { ViewMotion } from './view_motion.ts';

export type Tool = 'none' | 'box' | 'ruler';

export class DragTool {
  /** Of the next drag. */
  tool: Tool = 'none';
  /** Being drawn. */
  box: { from: Point; to: Point } | undefined;

  constructor(
    private readonly motion: ViewMotion,
    private readonly cursor: MomentTrack,
    private readonly ruler: RulerTrack,
    private readonly changed: { tool(): void; box(): void },
  ) {}

  choose(tool: Tool): void {
    this.tool = tool;
    this.changed.tool();
  }
  toggle(tool: Tool): void {
    this.choose(this.tool === tool ? 'none' : tool);
  }

  /** From the keyboard's cursor, which then moves the other end; else the next drag measures. */
  measure(): void {
    const from = this.cursor.place();
    if (this.ruler.measured) this.ruler.forget();
    else if (from && this.cursor.moment?.byKeyboard) void this.ruler.measure(from, from);
    else this.toggle('ruler');
  }

  /** While a box is drawn; undefined = given up. */
  drag(from: Point, to: Point | undefined): void {
    if (this.tool === 'ruler') {
      if (to) this.ruler.between(from, to);
      else this.ruler.forget();
      return;
    }
    this.box = to && { from, to };
    this.changed.box();
  }
  drop(from: Point, to: Point): void {
    const { tool } = this;
    this.box = undefined;
    this.choose('none');
    if (tool === 'ruler') return this.ruler.between(from, to);
    this.changed.box();
    this.motion.zoomToBox(from, to);
  }

  /** False if there was no tool and nothing measured. */
  giveUp(): boolean {
    if (this.tool === 'none') return this.ruler.measured !== undefined && this.ruler.forget();
    this.choose('none');
    return true;
  }
}
