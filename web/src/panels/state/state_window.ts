// Arithmetic of the part of the state's picture that is seen: zoom 1 shows all of it.
import type { DevicePx } from '../../base/units.ts';
import type { Colouring } from '../free_shares.ts';
import type { StatePlace, StateWindow } from '../../../engine/index.ts';

/** What the panel keeps of a view. */
export interface StateMemory {
  window: StateWindow;
  colouring: Colouring;
}

const mostZoom = 100_000;

export const wholeState = (width: DevicePx, height: DevicePx): StateWindow => ({
  width,
  height,
  zoom: 1,
  left: 0,
  top: 0,
});

/** Zoom and place held within what there is. */
export function within(window: StateWindow): StateWindow {
  const zoom = Math.min(Math.max(window.zoom, 1), mostZoom);
  const { width, height } = window;
  return {
    width,
    height,
    zoom,
    left: Math.min(Math.max(window.left, 0), width * (zoom - 1)),
    top: Math.min(Math.max(window.top, 0), height * (zoom - 1)),
  };
}

/** What lies under (x, y) stays there; factors above 1 come closer. */
export function zoomedAt(window: StateWindow, x: DevicePx, y: DevicePx, factor: number): StateWindow {
  const zoom = Math.min(Math.max(window.zoom * factor, 1), mostZoom);
  const by = zoom / window.zoom;
  return within({
    ...window,
    zoom,
    left: (window.left + x) * by - x,
    top: (window.top + y) * by - y,
  });
}

export function pannedBy(window: StateWindow, dx: DevicePx, dy: DevicePx): StateWindow {
  return within({ ...window, left: window.left + dx, top: window.top + dy });
}

/** Another size of the canvas shows the same part. */
export function resizedTo(window: StateWindow, width: DevicePx, height: DevicePx): StateWindow {
  const [x, y] = [width / Math.max(1, window.width), height / Math.max(1, window.height)];
  return within({ width, height, zoom: window.zoom, left: window.left * x, top: window.top * y });
}

/** Moves to a place of the picture if its block is not seen now. */
export function revealing(window: StateWindow, { block_x, block_width, y, height }: StatePlace): StateWindow {
  const middleX = block_x + block_width / 2;
  const middleY = y + height / 2;
  const seen =
    middleX >= window.left &&
    middleX <= window.left + window.width &&
    middleY >= window.top &&
    middleY <= window.top + window.height;
  if (seen) return window;
  return within({ ...window, left: middleX - window.width / 2, top: middleY - window.height / 2 });
}
