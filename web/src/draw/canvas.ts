// The size of a canvas in device pixels. Setting it empties the canvas, even where it is the size it has: it is set only if it is another.
import type { DevicePx } from '../base/units.ts';

export function resizeTo(canvas: HTMLCanvasElement, width: DevicePx, height: DevicePx): void {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

/** As large as `place` is on the page; false if that is not there. */
export function resizeToPlace(canvas: HTMLCanvasElement, place: Element = canvas): boolean {
  const width = Math.round(place.clientWidth * devicePixelRatio);
  const height = Math.round(place.clientHeight * devicePixelRatio);
  if (width < 1 || height < 1) return false;
  resizeTo(canvas, width, height);
  return true;
}
