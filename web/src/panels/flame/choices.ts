// What the flame graph and its table show, as chosen in their bar, and the tree to ask for. No DOM.
import {
  blocksOfWords,
  frameKeyWords,
  frameOrderWords,
  framesOfWords,
  weightByWords,
  type BlocksOf,
  type CallTree,
  type FrameKey,
  type FrameOrder,
  type FramesOf,
  type WeightBy,
} from '../../../engine/index.ts';
import type { Range } from '../../model/workspace.ts';
import { anyText, flag, maybeEvent, oneOf, type LinkFields } from '../link_field.ts';
import { eventOf, momentNames, type MomentName } from '../moments.ts';
import type { PanelFile, PanelPage } from '../panel.ts';

export interface FlameChoices {
  shape: 'icicle' | 'flame' | 'table';
  of: BlocksOf;
  weight: WeightBy;
  by: FrameKey;
  frames: FramesOf;
  inverted: boolean;
  onlyFiltered: boolean;
  search: string;
  /** Keys of the frames from the root to the one that fills the width. */
  path: readonly number[];
  /** The moment that a difference begins with, if one was held. */
  base: number | undefined;
  /** A moment of another open file, by its name, that a difference begins with instead. */
  other: { file: string; moment: MomentName } | undefined;
  order: FrameOrder;
  descending: boolean;
}

export const atFirst: FlameChoices = {
  shape: 'icicle',
  of: 'moment',
  weight: 'bytes',
  by: 'line',
  frames: 'own',
  inverted: false,
  onlyFiltered: false,
  search: '',
  path: [],
  base: undefined,
  other: undefined,
  order: 'total',
  descending: true,
};

/** Not the frame that fills the width: its key is one engine's. */
export const linked: LinkFields<FlameChoices> = {
  shape: oneOf(['icicle', 'flame', 'table']),
  of: oneOf(blocksOfWords),
  weight: oneOf(weightByWords),
  by: oneOf(frameKeyWords),
  frames: oneOf(framesOfWords),
  inverted: flag,
  onlyFiltered: flag,
  search: anyText,
  base: maybeEvent,
  other: {
    text: (other) => (other ? `${other.moment} ${other.file}` : ''),
    value(text) {
      const moment = momentNames.find((name) => text.startsWith(`${name} `));
      return moment && { moment, file: text.slice(moment.length + 1) };
    },
  },
  order: oneOf(frameOrderWords),
  descending: flag,
};

export const ofWays: readonly { id: BlocksOf; name: string; ranged: boolean }[] = [
  { id: 'moment', name: 'Alive at the moment', ranged: false },
  { id: 'allocated', name: 'Allocated in the range', ranged: true },
  { id: 'kept', name: 'Allocated in it, alive at its end', ranged: true },
  { id: 'passed', name: 'Came and went in the range', ranged: true },
  { id: 'difference', name: 'Difference of two moments', ranged: true },
];
export const weightWays: readonly { id: WeightBy; name: string }[] = [
  { id: 'bytes', name: 'Bytes' },
  { id: 'blocks', name: 'Blocks' },
  { id: 'time', name: 'Bytes × time' },
];
export const byWays: readonly { id: FrameKey; name: string }[] = [
  { id: 'line', name: 'By line' },
  { id: 'function', name: 'By function' },
  { id: 'file', name: 'By file' },
];
export const framesWays: readonly { id: FramesOf; name: string }[] = [
  { id: 'own', name: 'Own code' },
  { id: 'shown', name: 'Without interpreter' },
  { id: 'all', name: 'All frames' },
];

/** The file that a difference begins with, if it is another one that is still open. */
export function otherOf(
  { of, other, weight }: FlameChoices,
  { files, view }: PanelPage,
): (PanelFile & { event: number }) | undefined {
  const file = files.find(({ name }) => name === other?.file);
  // Time passes differently in two runs.
  if (of !== 'difference' || weight === 'time' || !other || !file || file.view === view) return undefined;
  return { ...file, event: eventOf(other.moment, file.view, -1) };
}

/** Events that a range begins and ends with. */
export interface Stretch {
  from: number;
  to: number;
  /** The reader marked it. */
  marked: boolean;
}

/** `marked`: the events of the page's range; undefined = none is marked. `other`: a difference begins in another file. */
export function stretchOf(
  chosen: FlameChoices,
  other: boolean,
  marked: { from: number; to: number } | undefined,
  event: number,
  events: number,
): Stretch {
  if (chosen.of === 'difference') {
    if (other) return { from: event, to: event, marked: false };
    if (chosen.base !== undefined) return { from: chosen.base, to: event, marked: false };
    return marked ? { ...marked, marked: true } : { from: -1, to: event, marked: false };
  }
  if (chosen.of === 'moment') return { from: -1, to: event, marked: false };
  return marked ? { ...marked, marked: true } : { from: -1, to: events - 1, marked: false };
}

export function treeOf(chosen: FlameChoices, { from, to }: Stretch, filter: string): CallTree {
  const { of, weight, by, frames, inverted } = chosen;
  const onlyFiltered = chosen.onlyFiltered && filter !== '';
  return { of, from, to, weight, by, frames, inverted, filter, onlyFiltered };
}

/** The page's range as the question of its events. */
export function questionOf({ axis, from, to }: Range): { axis: Range['axis']; from: number; to: number } {
  return { axis, from: Math.floor(from), to: Math.floor(to) };
}
