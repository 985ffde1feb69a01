// Movement over time: keys that are held, and the glide to a new view.
import { between, type Viewport } from '../../model/viewport.ts';

export type Movement = 'zoom-in' | 'zoom-out' | 'left' | 'right' | 'up' | 'down' | 'taller' | 'shorter';

const shortestPress = 0.11; // seconds: a tap moves a visible bit
const glideMs = 170;

const calm = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Calls `step` in every frame while a key is held, a little faster the longer. */
export class HeldKeys {
  private readonly pressed = new Map<Movement, { since: number; released: boolean }>();
  private last = 0;
  private running = false;

  constructor(private readonly step: (movement: Movement, seconds: number) => void) {}

  press(movement: Movement): void {
    if (calm()) {
      this.step(movement, 0.15); // the keyboard repeats
      return;
    }
    const already = this.pressed.get(movement);
    if (already) {
      already.released = false;
      return;
    }
    this.pressed.set(movement, { since: performance.now(), released: false });
    if (this.running) return;
    this.running = true;
    this.last = performance.now();
    requestAnimationFrame(this.frame);
  }

  release(movement: Movement): void {
    const key = this.pressed.get(movement);
    if (key) key.released = true;
  }

  releaseAll(): void {
    this.pressed.clear();
  }

  private readonly frame = (): void => {
    const now = performance.now();
    const seconds = Math.min((now - this.last) / 1000, 0.1);
    this.last = now;
    for (const [movement, key] of this.pressed) {
      const held = (now - key.since) / 1000;
      this.step(movement, seconds * Math.min(1 + held, 2.5));
      if (key.released && held >= shortestPress) this.pressed.delete(movement);
    }
    this.running = this.pressed.size > 0;
    if (this.running) requestAnimationFrame(this.frame);
  };
}

/** Moves from one view to another in a moment, or at once where motion is not wanted. */
export class Glide {
  private run = 0;

  constructor(private readonly show: (view: Viewport) => void) {}

  stop(): void {
    this.run += 1;
  }

  to(from: Viewport, target: Viewport): void {
    this.stop();
    if (calm()) return this.show(target);
    const run = this.run;
    const start = performance.now();
    const frame = (): void => {
      if (run !== this.run) return;
      const part = Math.min((performance.now() - start) / glideMs, 1);
      this.show(part >= 1 ? target : between(from, target, 1 - (1 - part) ** 3));
      if (part < 1) requestAnimationFrame(frame);
    };
    frame();
  }
}
