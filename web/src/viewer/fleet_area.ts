// A fleet on the page. All of it but this comes with the first fleet, or soon after the page's.
import { html, type TemplateResult } from 'lit';
import type { FleetView } from '../fleet/fleet.ts';
import type { ChosenFiles } from '../files/open_file.ts';
import '../files/file_button.ts';
import { usualChoice, type FleetChoice } from '../model/fleet_choice.ts';
import type { RankFile } from '../model/fleet_facts.ts';
import type { OpenFile } from '../model/open_files.ts';
import type { ViewerParts } from './parts.ts';

const opening = () => import('./open_rank.ts');

export async function loadFleet(): Promise<void> {
  await Promise.all([import('../fleet/fleet.ts'), opening()]);
}

export function fleetArea(page: ViewerParts, file: OpenFile): TemplateResult {
  loadFleet().catch(() =>
    page.toast.say('The view of ranks could not be loaded. Is the server still there?'),
  );
  return html`<memstrata-fleet
    .engine=${file.engine}
    .theme=${page.theme}
    .choice=${file.fleet ?? usualChoice}
    .openRank=${(rank: RankFile) => opening().then(({ openRank }) => openRank(page, file, rank))}
    @fleet-choice=${({ detail }: CustomEvent<Partial<FleetChoice>>) => page.setFleet(file, detail)}
    @files=${(event: CustomEvent<ChosenFiles>) => {
      const { detail, currentTarget } = event;
      event.stopPropagation();
      void opening().then(({ takeFiles }) => takeFiles(page, detail, currentTarget as FleetView));
    }}>
    <memstrata-file-button slot="choose" label="Choose the file…"></memstrata-file-button>
    <memstrata-file-button slot="choose" folder label="Choose its folder…"></memstrata-file-button>
  </memstrata-fleet>`;
}
