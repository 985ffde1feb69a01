// Key presses on the page become actions (actions.ts), unless something that has the focus needs them.
import { actionOf, movementsOf, type ActionTarget } from './actions.ts';
import type { Movement } from '../timeline/tracks/motion.ts';

export interface KeyTarget extends ActionTarget {
  readonly timeline: (ActionTarget['timeline'] & Movable) | null;
  /** False while keys mean nothing. */
  readonly takesKeys: boolean;
  readonly letterKeys: boolean;
  /** Views in which arrow keys scroll. */
  readonly scrolling: readonly (EventTarget | null)[];
}
interface Movable {
  press(movement: Movement): void;
  release(movement: Movement): void;
}

export class KeyPresses {
  constructor(private readonly page: KeyTarget) {}

  private events: EventTarget | undefined;

  connect(events: EventTarget): void {
    this.events = events;
    events.addEventListener('keydown', this.down as EventListener);
    events.addEventListener('keyup', this.up as EventListener);
  }
  disconnect(): void {
    this.events?.removeEventListener('keydown', this.down as EventListener);
    this.events?.removeEventListener('keyup', this.up as EventListener);
  }

  private readonly down = (event: KeyboardEvent): void => {
    const { page } = this;
    if (event.defaultPrevented || !page.takesKeys) return;
    const path = event.composedPath();
    if (path.some((node) => node instanceof HTMLDialogElement)) return;
    const target = path[0];
    const typing =
      target instanceof HTMLSelectElement ||
      target instanceof HTMLTextAreaElement ||
      (target instanceof HTMLElement && target.isContentEditable) ||
      (target instanceof HTMLInputElement && target.type !== 'radio' && target.type !== 'file');
    if (typing) return;
    const isLetter = event.key.length === 1 && event.key !== ' ';
    if (isLetter && !event.ctrlKey && !event.metaKey && !page.letterKeys) return;
    const action = actionOf(event);
    if (!action) return;
    if (action.movement) {
      const ownArrows =
        event.code.startsWith('Arrow') &&
        (target instanceof HTMLInputElement || page.scrolling.some((view) => view && path.includes(view)));
      if (!page.timeline || ownArrows) return;
      page.timeline.press(action.movement);
      event.preventDefault();
    } else if (action.run?.(page, target) !== false) event.preventDefault();
  };

  private readonly up = (event: KeyboardEvent): void => {
    for (const one of movementsOf(event.code)) this.page.timeline?.release(one);
  };
}

/** Chromium tells the selection of a shadow root only through that root. */
export function somethingSelected(roots: readonly (ShadowRoot | null)[]): boolean {
  if (document.getSelection()?.type === 'Range') return true;
  return roots.some((root) => {
    const asking: (ShadowRoot & { getSelection?: () => Selection | null }) | null = root;
    return asking?.getSelection?.()?.type === 'Range';
  });
}
