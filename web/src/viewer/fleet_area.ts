// A fleet on the page.
import { html, type TemplateResult } from 'lit';
import type { FleetView } from '../fleet/fleet.ts';
import '../files/file_button.ts';
import type { ChosenFiles } from '../files/open_file.ts';
import { usualChoice, type FleetChoice } from '../model/fleet_choice.ts';
import type { RankFile } from '../model/fleet_facts.ts';
import type { OpenFile } from '../model/open_files.ts';
import type { ViewerParts } from './parts.ts';

/** Its code comes with the first fleet, or soon after the page's. */
export async function loadFleet(): Promise<void> {
  await Promise.all([import('../fleet/fleet.ts'), opening()]);
}
const opening = () => import('./rank_opening.ts');

export function fleetArea(page: ViewerParts, file: OpenFile): TemplateResult {
  loadFleet().catch(() =>
    page.toast.say('The view of ranks could not be loaded. Is the server still there?'),
  );
  return html`<gpustrata-fleet
    .engine=${file.engine}
    .theme=${page.themes.theme}
    .choice=${file.fleet ?? usualChoice}
    .openRank=${async (rank: RankFile) => (await opening()).openRank(page, file, rank)}
    @fleet-choice=${({ detail }: CustomEvent<Partial<FleetChoice>>) => page.setFleet(file, detail)}
    @files=${(event: CustomEvent<ChosenFiles>) => takeFiles(page, event)}>
    <gpustrata-file-button slot="choose" label="Choose the file…"></gpustrata-file-button>
    <gpustrata-file-button slot="choose" folder label="Choose its folder…"></gpustrata-file-button>
  </gpustrata-fleet>`;
}

/** Files that were chosen for a rank: of a folder they lie beside from now on, one alone is the rank's. */
function takeFiles(page: ViewerParts, event: CustomEvent<ChosenFiles>): void {
  event.stopPropagation();
  const { detail, currentTarget } = event;
  const beside = detail.beside ?? [];
  page.rankFiles.add(beside);
  if (beside.length > 1) (currentTarget as FleetView).retry();
  else page.receive(detail);
}
