// Everything one can do by key, in one table: the page acts by it, and the sheet of keys (`?`) is printed from it.
import { answerTabs, mainTabs, type MainId, type PanelId } from '../panels/registry.ts';
import type { Movement } from '../timeline/tracks/motion.ts';

export type ActionId = (typeof table)[number]['id'] | `panel-${MainId}`;

/** What actions ask of the timeline. */
export interface TimelineActions {
  fit(): void;
  fitHeight(): Promise<void>;
  goToPeak(): void;
  stepMarker(by: 1 | -1): void;
  measure(): void;
}

/** What actions act on: the viewer. */
export interface ActionTarget {
  readonly timeline: TimelineActions | null;
  openKeys(): void;
  openAbout(): void;
  openExport(): void;
  toggleTheme(): void;
  toggleExactBytes(): void;
  changeAxis(): void;
  changeColour(): void;
  changeStacking(): void;
  changeBands(): boolean;
  focusFilter(): boolean;
  filterByBlock(): boolean;
  showOnlyThese(): boolean;
  hideEarlier(): boolean;
  stepMatch(by: 1 | -1): void;
  stepEvent(by: 1 | -1): boolean;
  nextOom(): boolean;
  showMain(main: MainId): boolean;
  toggleAnswer(answer: PanelId): boolean;
  toggleDetails(): boolean;
  openFiles(): void;
  stepFile(by: 1 | -1): boolean;
  stepSnapshot(by: 1 | -1): boolean;
  stepDevice(by: 1 | -1): boolean;
  closeFile(): boolean;
  copyLink(): boolean;
  copyDetails(): boolean;
  pinAtCursor(from: EventTarget | undefined): boolean;
  stepBack(): boolean;
  follow(): boolean;
}

export interface Action {
  id: string;
  group: 'Move and zoom' | 'Find' | 'Blocks' | 'Panels' | 'Page';
  /**
   * As `keyOf` names them. `Key...` and `Arrow...` are places on the keyboard; anything else is the letter typed.
   */
  keys: readonly string[];
  what: string;
  /** Lasts while the key is held. */
  movement?: Movement;
  /** False = the key meant nothing here, and the browser may have it. */
  run?: (page: ActionTarget, from: EventTarget | undefined) => boolean | void;
}

const onTimeline =
  (act: (timeline: TimelineActions) => unknown) =>
  (page: ActionTarget): boolean => {
    if (!page.timeline) return false;
    void act(page.timeline);
    return true;
  };

const table = [
  {
    id: 'zoom-in',
    group: 'Move and zoom',
    keys: ['KeyW'],
    what: 'zoom in about the pointer',
    movement: 'zoom-in',
  },
  { id: 'zoom-out', group: 'Move and zoom', keys: ['KeyS'], what: 'zoom out', movement: 'zoom-out' },
  { id: 'left', group: 'Move and zoom', keys: ['KeyA', 'ArrowLeft'], what: 'move left', movement: 'left' },
  {
    id: 'right',
    group: 'Move and zoom',
    keys: ['KeyD', 'ArrowRight'],
    what: 'move right',
    movement: 'right',
  },
  { id: 'up', group: 'Move and zoom', keys: ['ArrowUp'], what: 'move up', movement: 'up' },
  { id: 'down', group: 'Move and zoom', keys: ['ArrowDown'], what: 'move down', movement: 'down' },
  {
    id: 'taller',
    group: 'Move and zoom',
    keys: ['Shift KeyW'],
    what: 'stretch the height',
    movement: 'taller',
  },
  {
    id: 'shorter',
    group: 'Move and zoom',
    keys: ['Shift KeyS'],
    what: 'flatten the height',
    movement: 'shorter',
  },
  {
    id: 'fit',
    group: 'Move and zoom',
    keys: ['f'],
    what: 'show everything',
    run: onTimeline((t) => t.fit()),
  },
  {
    id: 'fit-height',
    group: 'Move and zoom',
    keys: ['Shift f'],
    what: 'height of what is visible',
    run: onTimeline((t) => t.fitHeight()),
  },
  {
    id: 'follow',
    group: 'Find',
    keys: ['End'],
    what: 'follow what is being written',
    run: (page) => page.follow(),
  },
  { id: 'peak', group: 'Find', keys: ['p'], what: 'go to the peak', run: onTimeline((t) => t.goToPeak()) },
  {
    id: 'oom',
    group: 'Find',
    keys: ['o'],
    what: 'next out-of-memory event, on all devices',
    run: (page) => page.nextOom(),
  },
  {
    id: 'next-marker',
    group: 'Find',
    keys: ['k'],
    what: 'next marker: snapshot, note, out of memory',
    run: onTimeline((t) => t.stepMarker(1)),
  },
  {
    id: 'previous-marker',
    group: 'Find',
    keys: ['Shift k'],
    what: 'previous marker',
    run: onTimeline((t) => t.stepMarker(-1)),
  },
  { id: 'filter', group: 'Find', keys: ['/'], what: 'search and filter', run: (page) => page.focusFilter() },
  {
    id: 'filter-by-block',
    group: 'Find',
    keys: ['x'],
    what: 'filter by the line of the block in the details',
    run: (page) => page.filterByBlock(),
  },
  {
    id: 'only',
    group: 'Find',
    keys: ['h'],
    what: 'matching blocks only, stacked from zero',
    run: (page) => page.showOnlyThese(),
  },
  {
    id: 'earlier',
    group: 'Find',
    keys: ['Shift h'],
    what: 'hide what was there before the first event',
    run: (page) => page.hideEarlier(),
  },
  { id: 'next-match', group: 'Find', keys: ['n'], what: 'next match', run: (page) => page.stepMatch(1) },
  {
    id: 'previous-match',
    group: 'Find',
    keys: ['Shift n'],
    what: 'previous match',
    run: (page) => page.stepMatch(-1),
  },
  {
    id: 'next-event',
    group: 'Find',
    keys: [']'],
    what: 'next event',
    run: (page) => page.stepEvent(1),
  },
  {
    id: 'previous-event',
    group: 'Find',
    keys: ['['],
    what: 'previous event',
    run: (page) => page.stepEvent(-1),
  },
  {
    id: 'pin',
    group: 'Blocks',
    keys: ['Enter', 'Space'],
    what: 'pin the block under the cursor (on the timeline)',
    run: (page, from) => page.pinAtCursor(from),
  },
  {
    id: 'back',
    group: 'Blocks',
    keys: ['Escape'],
    what: 'one step back: box, ruler, pin, filter',
    run: (page) => page.stepBack(),
  },
  {
    id: 'copy',
    group: 'Blocks',
    keys: ['Ctrl c'],
    what: 'copy the details as text',
    run: (page) => page.copyDetails(),
  },
  {
    id: 'details',
    group: 'Panels',
    keys: ['l'],
    what: 'details: keep them open, or open them for what is chosen',
    run: (page) => page.toggleDetails(),
  },
  {
    id: 'measure',
    group: 'Find',
    keys: ['m'],
    what: 'measure, from the cursor or by dragging',
    run: onTimeline((t) => t.measure()),
  },
  { id: 'axis', group: 'Page', keys: ['e'], what: 'events or time', run: (page) => page.changeAxis() },
  {
    id: 'colour',
    group: 'Page',
    keys: ['c'],
    what: 'next way to colour',
    run: (page) => page.changeColour(),
  },
  {
    id: 'stacking',
    group: 'Page',
    keys: ['y'],
    what: 'stack by group of the colours, or by age',
    run: (page) => page.changeStacking(),
  },
  {
    id: 'bands',
    group: 'Page',
    keys: ['v'],
    what: 'next view: active memory, with private pools, segments',
    run: (page) => page.changeBands(),
  },
  {
    id: 'open',
    group: 'Page',
    keys: ['Ctrl o'],
    what: 'open files',
    run: (page) => page.openFiles(),
  },
  { id: 'next-file', group: 'Page', keys: ['.'], what: 'next file', run: (page) => page.stepFile(1) },
  {
    id: 'previous-file',
    group: 'Page',
    keys: [','],
    what: 'previous file',
    run: (page) => page.stepFile(-1),
  },
  {
    id: 'next-snapshot',
    group: 'Page',
    keys: ['r'],
    what: 'next snapshot of the file',
    run: (page) => page.stepSnapshot(1),
  },
  {
    id: 'previous-snapshot',
    group: 'Page',
    keys: ['Shift r'],
    what: 'previous snapshot of the file',
    run: (page) => page.stepSnapshot(-1),
  },
  {
    id: 'next-device',
    group: 'Page',
    keys: ['g'],
    what: 'next device',
    run: (page) => page.stepDevice(1),
  },
  {
    id: 'previous-device',
    group: 'Page',
    keys: ['Shift g'],
    what: 'previous device',
    run: (page) => page.stepDevice(-1),
  },
  {
    id: 'close-file',
    group: 'Page',
    keys: ['Shift x'],
    what: 'close the file',
    run: (page) => page.closeFile(),
  },
  { id: 'about', group: 'Page', keys: ['b'], what: 'about this file', run: (page) => page.openAbout() },
  {
    id: 'link',
    group: 'Page',
    keys: ['u'],
    what: 'copy a link to this view',
    run: (page) => page.copyLink(),
  },
  { id: 'picture', group: 'Page', keys: ['i'], what: 'save the picture', run: (page) => page.openExport() },
  { id: 'theme', group: 'Page', keys: ['t'], what: 'light or dark', run: (page) => page.toggleTheme() },
  {
    id: 'exact',
    group: 'Page',
    keys: ['Shift b'],
    what: 'exact bytes beside sizes, on or off',
    run: (page) => page.toggleExactBytes(),
  },
  { id: 'keys', group: 'Page', keys: ['?'], what: 'this sheet', run: (page) => page.openKeys() },
] as const satisfies readonly Action[];
const panelActions = [
  ...mainTabs.map(
    ({ id, name, key }) =>
      ({
        id: `panel-${id}`,
        group: 'Panels',
        keys: key === '' ? [] : [key],
        what: name,
        run: (page: ActionTarget) => page.showMain(id),
      }) as const,
  ),
  ...answerTabs.map(
    ({ id, name, key }) =>
      ({
        id: `panel-${id}`,
        group: 'Panels',
        keys: key === '' ? [] : [key],
        what: `open or close: ${name}`,
        run: (page: ActionTarget) => page.toggleAnswer(id),
      }) as const,
  ),
];
export const actions: readonly (Action & { id: ActionId })[] = [...table, ...panelActions];

/** What the mouse and fingers do, for the sheet. */
export const gestures: readonly { keys: string; what: string }[] = [
  { keys: 'Wheel', what: 'zoom; with Shift or Alt the height, with Ctrl both' },
  { keys: 'Drag', what: 'move; with Shift draw a box to zoom to' },
  { keys: 'Click', what: 'pin a block, or let it go, and choose the moment; light a group' },
  { keys: 'Drag the ruler', what: 'choose the moment' },
  { keys: 'Double click', what: 'fit the life of a block' },
  { keys: 'Click a region', what: 'fit it; a marker: go there' },
  { keys: 'Pinch', what: 'zoom both ways; tap pins' },
];

const byKey = new Map<string, Action>();
for (const action of actions) for (const key of action.keys) byKey.set(key, action);

/** The action of a key press, if it has one. */
export function actionOf(event: KeyboardEvent): Action | undefined {
  if (event.altKey) return undefined;
  const modifiers = event.ctrlKey || event.metaKey ? 'Ctrl ' : event.shiftKey ? 'Shift ' : '';
  const place =
    byKey.get(modifiers + event.code) ?? (modifiers === 'Shift ' ? byKey.get(event.code) : undefined);
  if (place?.movement && !(event.ctrlKey || event.metaKey)) return place;
  const key = event.key === ' ' ? 'Space' : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  // Shift makes another character of a sign, and means something of its own only with letters.
  const letter = key.length === 1 && key !== event.key.toUpperCase() && /\p{L}/u.test(key);
  if (event.ctrlKey || event.metaKey) return byKey.get(`Ctrl ${key}`);
  return byKey.get(event.shiftKey && letter ? `Shift ${key}` : key);
}

/** Movements that a released key may have started. */
export function movementsOf(code: string): Movement[] {
  return [byKey.get(code)?.movement, byKey.get(`Shift ${code}`)?.movement].filter((one) => one !== undefined);
}

const names: Record<string, string> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Escape: 'Esc',
};

/** `Shift KeyW` as people read it: `Shift W`. */
export function keyText(key: string): string {
  return key
    .split(' ')
    .map(
      (part) =>
        names[part] ??
        (part.startsWith('Key') ? part.slice(3) : part.length === 1 ? part.toUpperCase() : part),
    )
    .join(' ');
}
