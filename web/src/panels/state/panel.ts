// The allocator's state after the chosen event: its numbers, and the segments and blocks as a picture.
import { html } from 'lit';
import type { LoadedPanel } from '../panel.ts';
import './picture.ts';
import { wholeState, type StateMemory } from './state_window.ts';

export const panel: LoadedPanel<StateMemory> = {
  reads: ['event', 'pinned', 'segment', 'theme', 'colourBy', 'highlight'],
  initial: { window: wholeState(1, 1), colouring: 'blocks' },
  show: (page, kept) =>
    html`<gpustrata-state-picture
      role="region"
      aria-label="State"
      .page=${page}
      .kept=${kept}></gpustrata-state-picture>`,
};
