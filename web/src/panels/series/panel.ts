// Numbers over time that the file tells besides its blocks.
import { html } from 'lit';
import '../../series/series.ts';
import type { LoadedPanel } from '../panel.ts';

export const panel: LoadedPanel = {
  reads: ['theme'],
  initial: {},
  show: ({ view, theme }) =>
    html`<gpustrata-series
      role="region"
      aria-label="Numbers over time"
      .engine=${view.engine}
      .theme=${theme}></gpustrata-series>`,
};
