// Which rows of a long list are seen, for lists that are longer than a browser can lay out.
//
// Browsers lay out some 17 to 33 million pixels, which is under a million rows; libraries for long lists inherit that
// limit. So the scroll bar of a longer list is a map: it has `tallest` pixels, and a place of it stands for a place of
// the list. A wheel moves the list itself (`moveBy`), the bar follows. Of what the bar tells, small steps (a finger)
// move the list by as many pixels as they are long; only larger ones (the bar itself) are mapped. After small steps bar
// and list disagree a little: `resync` says where the bar belongs, once it rests.
import type { CssPx } from '../base/units.ts';

export class RowWindow {
  /** Pixels of the list above the window. */
  top = 0;
  private rows = 0;
  private height: CssPx = 0;
  private barAt: CssPx = 0;

  constructor(
    readonly rowHeight: CssPx,
    private readonly tallest: CssPx = 8_000_000,
  ) {}

  resize(rows: number, height: CssPx): void {
    this.rows = rows;
    this.height = height;
    this.top = Math.min(this.top, this.lowest);
  }

  /** Of everything that the bar scrolls over. */
  get barHeight(): CssPx {
    return Math.min(this.rows * this.rowHeight, this.tallest);
  }
  get first(): number {
    return Math.floor(this.top / this.rowHeight);
  }
  /** Behind the last one that is seen. */
  get end(): number {
    return Math.min(this.rows, Math.ceil((this.top + this.height) / this.rowHeight));
  }
  /** Rows that are seen as a whole. */
  get page(): number {
    return Math.max(1, Math.floor(this.height / this.rowHeight));
  }

  /** The bar stands for more than itself. */
  get isMapped(): boolean {
    return this.scale > 1;
  }

  moveBy(pixels: CssPx): void {
    this.top = this.clamp(this.top + pixels);
  }

  /** The bar was moved. */
  scrolled(barAt: CssPx): void {
    const by = barAt - this.barAt;
    this.barAt = barAt;
    if (by === 0) return;
    const small = this.isMapped && Math.abs(by) <= this.height;
    this.top = this.clamp(small ? this.top + by : barAt * this.scale);
  }

  /** Moves as little as shows the row with some rows around it. */
  show(row: number): void {
    const air = Math.min(3, Math.floor((this.page - 1) / 2)) * this.rowHeight;
    const from = row * this.rowHeight - air;
    const to = (row + 1) * this.rowHeight + air;
    if (from < this.top) this.top = this.clamp(from);
    else if (to > this.top + this.height) this.top = this.clamp(to - this.height);
  }
  /** The row into the middle. */
  centre(row: number): void {
    this.top = this.clamp((row + 0.5) * this.rowHeight - this.height / 2);
  }

  /** Where the bar belongs; what it then tells is taken for nothing new. */
  resync(): CssPx {
    this.barAt = Math.round(this.top / this.scale);
    return this.barAt;
  }

  private get lowest(): CssPx {
    return Math.max(0, this.rows * this.rowHeight - this.height);
  }
  /** Pixels of the list per pixel of the bar. */
  private get scale(): number {
    return Math.max(1, this.lowest / Math.max(1, this.barHeight - this.height));
  }
  private clamp(top: number): number {
    return Math.min(Math.max(top, 0), this.lowest);
  }
}
