// How a file opens for a reader who never chose a way to colour: grouped by what tells most of its peak apart. Categories first, as far
// as they were recorded or the rules know them (the legend says which), else stacks, else each block by age.
import type { EngineView } from '../../engine/index.ts';
import type { SettingsStore } from '../model/settings.ts';
import type { Workspace } from '../model/workspace.ts';
import type * as Decision from './surest_colour.ts';

/** What decides, not needed for a first picture. */
export const loadDecision = (): Promise<typeof Decision> => import('./surest_colour.ts');

/** The page, as far as this goes. */
export interface FirstLookTarget {
  /** `look`: the colours of the view, once they are decided. */
  readonly dataset: DOMStringMap;
  readonly settings: SettingsStore;
  readonly workspace: Workspace;
  requestUpdate(): void;
}

export class FirstLook {
  /** A link or the reader said how it looks. */
  isChosen = false;
  private readonly decided = new WeakSet<EngineView>();
  private isFirst = true;

  constructor(private readonly page: FirstLookTarget) {}

  /** Colours may still come to the first view; later ones begin with those that are there. */
  get isOpen(): boolean {
    return this.isFirst && this.mayChoose && this.page.workspace.get('view')?.info.bands === 'blocks';
  }

  /** This view comes, for the first time or again. */
  begin(view: EngineView | undefined): void {
    if (view && this.decided.has(view)) this.tell();
    else delete this.page.dataset['look'];
  }

  /** Of a view whose first picture is there. */
  async of(view: EngineView | undefined): Promise<void> {
    const { workspace } = this.page;
    const colour =
      view?.info.bands === 'blocks' && this.mayChoose
        ? await loadDecision()
            .then((one) => one.surestColour(view))
            .catch(() => undefined)
        : undefined;
    if (view !== workspace.get('view')) return;
    const look = workspace.get('look');
    if (this.mayChoose && colour !== undefined && colour !== look.colour)
      workspace.change({ look: { colour, stacking: colour === 'allocation' ? 'blocks' : 'groups' } });
    if (view) {
      this.decided.add(view);
      this.isFirst = false;
    }
    this.tell();
  }

  private tell(): void {
    this.page.dataset['look'] = this.page.workspace.get('look').colour;
    this.page.requestUpdate();
  }

  private get mayChoose(): boolean {
    return !this.isChosen && this.page.settings.load().colour === undefined;
  }
}
