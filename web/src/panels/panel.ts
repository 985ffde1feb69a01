// What a panel is told and tells. A panel is an element with the one property `page`. It tells what is chosen in it by
// events that bubble up to the viewer: the types `PanelEvents`.
import type { Rank } from '../base/units.ts';
import type { Theme } from '../draw/colors.ts';
import type { Axis, BlockDetails, ColourBy, ViewInfo } from '../engine/answers.ts';
import type { EngineClient } from '../engine/client.ts';
import type { Thing } from '../model/things.ts';
import type { Viewport } from '../model/viewport.ts';

/** What a panel knows of the page; the same object as long as nothing of it changes. */
export interface PanelPage {
  engine: EngineClient;
  info: ViewInfo;
  theme: Theme;
  axis: Axis;
  colourBy: ColourBy;
  /** Changes with every filter; empty = nothing is dimmed. */
  highlight: string;
  /** The pinned block. */
  pinned: BlockDetails | undefined;
  /** The chosen moment: the state after this event, -1 = before the first. */
  event: number;
  /** What the timeline shows; undefined before it shows anything. */
  view: Viewport | undefined;
}

/** `bubbles` and `composed`; see `tell`. */
export interface PanelEvents {
  /** The moment that all views show. `step`: one of many, which makes no entry in the history; `told`: a thing about it follows. */
  'choose-event': { event: number; step: boolean; told?: true };
  /** The block that all views show; undefined = none. */
  'choose-block': Rank | undefined;
  /** What the details show while the pointer is on it; undefined = no longer. */
  'point-thing': Thing | undefined;
  /** What the details show until something else is chosen. */
  'choose-thing': Thing | undefined;
}

/** Whoever listens finds null in place of an undefined detail. */
export function tell<K extends keyof PanelEvents>(from: HTMLElement, name: K, detail: PanelEvents[K]): void {
  from.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
}
