// What of an open file is on the page, below its name.
import { html, nothing, type TemplateResult } from 'lit';
import type { Axis, Band, ColourBy } from '../engine/answers.ts';
import type { Goal } from '../words/described.ts';
import type { OpenFile } from '../model/open_files.ts';
import { showsMoment, type PanelId } from '../model/panel_ids.ts';
import '../files/banners.ts';
import '../details/details.ts';
import './filter_bar.ts';
import '../files/notes.ts';
import '../panels/panel_area.ts';
import type { PanelEvents } from '../panels/panel.ts';
import '../controls/splitter.ts';
import '../files/stats.ts';
import '../timeline/timeline.ts';
import type { ViewerParts } from './parts.ts';

/** Least height of the timeline, in CSS pixels. */
const timelineHeight = 300;

/** The numbers of its device, the filter, warnings. */
export function aboveTimeline(page: ViewerParts, file: OpenFile): TemplateResult {
  return html`
    ${
      file.view
        ? html`<section class="second" aria-label="Numbers of the device, and the filter">
            <memstrata-stats
              .info=${file.view}
              .diagnostics=${file.diagnostics}
              @choose=${(event: CustomEvent<'peak' | 'oom' | 'notes'>) => page.chooseStat(event.detail)}></memstrata-stats>
            <memstrata-filter
              .text=${page.filter.text}
              .found=${page.filter.found}
              .error=${page.filter.error}
              .current=${page.filter.match}
              .complete=${(asked: { text: string; cursor: number }) => file.engine.call('complete', asked)}
              @filter=${(event: CustomEvent<string>) => page.filter.set(event.detail)}
              @step=${(event: CustomEvent<1 | -1>) => page.actions.stepMatch(event.detail)}></memstrata-filter>
          </section>`
        : nothing
    }
    <memstrata-banners
      role="region"
      aria-label="Warnings"
      .died=${file.died}
      .diagnostics=${file.diagnostics}
      @reopen=${() => page.files.reopen()}
      @notes=${() => page.notes?.open()}></memstrata-banners>
    ${file.diagnostics.length > 0 ? html`<memstrata-notes .diagnostics=${file.diagnostics}></memstrata-notes>` : nothing}
  `;
}

/** Timeline, panels, details. */
export function workArea(page: ViewerParts, file: OpenFile): TemplateResult {
  const { view } = file;
  if (!view) {
    return html`<div class="nothing">
      <h2>Nothing to draw</h2>
      <p>
        This snapshot names no segment and no event on any device: no GPU memory was in use and nothing was
        recorded when it was saved.
      </p>
    </div>`;
  }
  return html`<div class="work" .style=${`--details: ${page.detailsWidth}px; --panel: ${page.panelHeight}px`}>
    <div class="left ${page.panel ? 'with-panel' : ''}">
      <memstrata-timeline
        .engine=${file.engine}
        .info=${view}
        .theme=${page.theme}
        .axis=${page.axis}
        .pinned=${page.choices.block}
        .colourBy=${page.colour}
        .chosen=${showsMoment(page.panel) ? page.choices.event : undefined}
        .highlight=${page.filter.highlight}
        .firstView=${page.firstView}
        @colour-change=${(event: CustomEvent<ColourBy>) => page.setColour(event.detail)}
        @choose-event=${(event: CustomEvent<PanelEvents['choose-event']>) => page.choices.chooseEvent(event.detail)}
        @moved=${() => page.moved()}
        @point=${(event: CustomEvent<Band>) => page.choices.pointBlock(event.detail)}
        @pin=${(event: CustomEvent<Band>) => page.choices.pin(event.detail)}
        @toggle-pin=${(event: CustomEvent<Band | undefined>) => page.choices.togglePin(event.detail)}
        @axis-change=${(event: CustomEvent<Axis>) => (page.axis = event.detail)}
        @first-picture=${() => page.firstPicture()}></memstrata-timeline>
      ${
        page.panel
          ? html`<memstrata-splitter
              direction="height"
              label="Height of the panel"
              .size=${page.panelHeight}
              .least=${140}
              .most=${2000}
              .rest=${timelineHeight}
              @resize=${(event: CustomEvent<number>) => (page.panelHeight = event.detail)}
              @resized=${() => page.settings.save({ panelHeight: page.panelHeight })}></memstrata-splitter>`
          : nothing
      }
      <memstrata-panels
        .open=${page.panel}
        .page=${page.panelPage(file, view)}
        @open-panel=${(event: CustomEvent<PanelId | undefined>) => page.openPanel(event.detail ?? undefined)}
        @choose-event=${(event: CustomEvent<PanelEvents['choose-event']>) => {
          page.choices.chooseEvent(event.detail);
          void page.timeline?.showEvent(event.detail.event);
        }}
        @choose-block=${(event: CustomEvent<PanelEvents['choose-block']>) => void page.choices.chooseBlock(event.detail ?? undefined)}
        @point-thing=${(event: CustomEvent<PanelEvents['point-thing']>) => page.choices.pointThing(event.detail ?? undefined)}
        @choose-thing=${(event: CustomEvent<PanelEvents['choose-thing']>) => page.choices.chooseThing(event.detail ?? undefined)}></memstrata-panels>
    </div>
    <memstrata-splitter
      label="Width of the details"
      .size=${page.detailsWidth}
      .least=${260}
      @resize=${(event: CustomEvent<number>) => (page.detailsWidth = event.detail)}
      @resized=${() => page.settings.save({ detailsWidth: page.detailsWidth })}></memstrata-splitter>
    <memstrata-details
      role="region"
      aria-label="Details"
      tabindex="0"
      .of=${page.choices.described}
      .info=${view}
      .pinned=${page.choices.isHeld}
      @go=${(event: CustomEvent<Goal>) => void page.choices.go(event.detail)}
      @unpin=${() => page.choices.letGo()}></memstrata-details>
  </div>`;
}
