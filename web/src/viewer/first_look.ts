// How a file opens for a reader who never chose a way to colour: by what tells most of its peak apart. Categories first, as far as
// they were recorded or the rules know them (the legend says which), else stacks, else each block.
import type { ColourBy, EngineView } from '../../engine/index.ts';
import type { SettingsStore } from '../model/settings.ts';
import type { Workspace } from '../model/workspace.ts';
import { reportOf } from '../panels/reports.ts';

/** Ways that are tried, with the share of the peak that may be of nothing known or of what is left over. */
const ways: readonly (readonly [by: ColourBy, unknown: number])[] = [
  ['category', 0.25],
  ['stack', 0.5],
];
const mostOfOne = 0.95; // of the peak: more would be one colour
const nothingKnown: ReadonlySet<string> = new Set(['unknown', 'other', 'no stack']);

async function tells(view: EngineView, by: ColourBy, mostUnknown: number): Promise<boolean> {
  const [{ kinds }, shares] = await Promise.all([
    view.ask('kinds', { by }),
    view.ask('shares', { by, event: view.info.peak.event, filter: '' }),
  ]);
  if (shares.level <= 0) return false;
  let unknown = 0;
  let largest = 0;
  kinds.forEach(({ label, merged }, index) => {
    const share = (shares.kinds[index]?.bytes ?? 0) / shares.level;
    largest = Math.max(largest, share);
    if (nothingKnown.has(label) || merged > 0) unknown += share;
  });
  return unknown <= mostUnknown && largest <= mostOfOne;
}

async function surestColour(view: EngineView): Promise<ColourBy> {
  await reportOf(view); // in parts; what categories need is there then
  for (const [by, unknown] of ways) if (await tells(view, by, unknown)) return by;
  return 'allocation';
}

/** The page, as far as this goes. */
export interface FirstLookTarget {
  /** `look`: the colours of the view, once they are decided. */
  readonly dataset: DOMStringMap;
  readonly settings: SettingsStore;
  readonly workspace: Workspace;
}

export class FirstLook {
  /** A link or the reader said how it looks. */
  isChosen = false;
  private readonly decided = new WeakSet<EngineView>();

  constructor(private readonly page: FirstLookTarget) {}

  /** This view comes, for the first time or again. */
  begin(view: EngineView | undefined): void {
    if (view && this.decided.has(view)) this.tell();
    else delete this.page.dataset['look'];
  }

  /** Of a view whose first picture is there. */
  async of(view: EngineView | undefined): Promise<void> {
    const { workspace } = this.page;
    const colour =
      view?.info.bands === 'blocks' && this.isOpen
        ? await surestColour(view).catch(() => undefined)
        : undefined;
    if (view !== workspace.get('view')) return;
    const look = workspace.get('look');
    if (this.isOpen && colour !== undefined && colour !== look.colour)
      workspace.change({ look: { ...look, colour } });
    if (view) this.decided.add(view);
    this.tell();
  }

  private tell(): void {
    this.page.dataset['look'] = this.page.workspace.get('look').colour;
  }

  private get isOpen(): boolean {
    return !this.isChosen && this.page.settings.load().colour === undefined;
  }
}
