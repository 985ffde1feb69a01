// What of an open file is on the page, below its name.
import { html, nothing, type TemplateResult } from 'lit';
import type { Axis, Band, ViewInfo } from '../../engine/index.ts';
import type { Goal } from '../words/described.ts';
import type { BesideChange } from '../model/beside_files.ts';
import type { OpenFile } from '../model/open_files.ts';
import type { Look } from '../model/stacking.ts';
import type { Range } from '../model/workspace.ts';
import { fleetArea } from './fleet_area.ts';
import './filter_bar.ts';
import '../controls/tabs.ts';
import type { Tab } from '../controls/tabs.ts';
import { prepare } from '../panels/drawer.ts';
import type { PanelEvents } from '../panels/panel.ts';
import '../panels/overview/panel.ts'; // seen at once
import '../panels/panel_slot.ts';
import {
  answerTabs,
  lacking,
  mainTabs,
  panelOf,
  tabsFor,
  type MainId,
  type PanelId,
} from '../panels/registry.ts';
import '../files/stats.ts';
import '../timeline/timeline.ts';
import type { ViewerParts } from './parts.ts';
import { need } from './sheets.ts';

/** Least height of what is above the answers, in CSS pixels. */
const pictureHeight = 260;

/** The numbers of its device, the filter, warnings. */
export function aboveTimeline(page: ViewerParts, file: OpenFile): TemplateResult {
  const filter = page.workspace.get('filter');
  const { view } = file;
  if (file.died || file.diagnostics.length > 0) need('banners');
  if (file.diagnostics.length > 0) need('notes');
  return html`
    ${
      view
        ? html`<section part="numbers" class="second" aria-label="Numbers of the device, and the filter">
            <gpustrata-stats
              .info=${view.info}
              .diagnostics=${file.diagnostics}
              @choose=${(event: CustomEvent<'peak' | 'oom' | 'notes'>) => page.chooseStat(event.detail)}></gpustrata-stats>
            <gpustrata-filter
              .text=${filter.text}
              .found=${filter.found}
              .error=${filter.error}
              .current=${filter.match}
              .only=${Boolean(view.shown.only)}
              @only=${() => page.actions.showOnlyThese()}
              .complete=${(asked: { text: string; cursor: number }) => view.ask('complete', asked)}
              @filter=${(event: CustomEvent<string>) => page.filter.set(event.detail)}
              @step=${(event: CustomEvent<1 | -1>) => page.actions.stepMatch(event.detail)}></gpustrata-filter>
          </section>`
        : nothing
    }
    <gpustrata-banners
      role="region"
      aria-label="Warnings"
      .died=${file.died}
      .diagnostics=${file.diagnostics}
      @reopen=${() => page.files.reopen()}
      @notes=${() => page.notes?.open()}></gpustrata-banners>
    ${file.diagnostics.length > 0 ? html`<gpustrata-notes .diagnostics=${file.diagnostics}></gpustrata-notes>` : nothing}
  `;
}

/** Timeline, panels, details. */
export function workArea(page: ViewerParts, file: OpenFile): TemplateResult {
  const { view } = file;
  if (!view && file.contents.fleets > 0) return fleetArea(page, file);
  if (!view && file.contents.series > 0) {
    // All that some files have; others need not wait for it.
    import('../series/series.ts').catch(() =>
      page.toast.say('The charts could not be loaded. Is the server still there?'),
    );
    return html`<gpustrata-series .engine=${file.engine} .theme=${page.themes.theme}></gpustrata-series>`;
  }
  if (!view && file.contents.is_trace)
    return html`<div class="nothing" data-nothing="trace">
      <h2>No memory records</h2>
      <p>
        This trace of a profiler has none. Record it with <code>profile_memory=True</code>, for lines of code
        also with <code>with_stack=True</code>, and export it again.
      </p>
    </div>`;
  if (!view) {
    return html`<div class="nothing">
      <h2>Nothing to draw</h2>
      <p>
        This snapshot names no segment and no event on any device: no GPU memory was in use and nothing was
        recorded when it was saved.
      </p>
    </div>`;
  }
  const { rooms } = page;
  const { main, answer } = rooms;
  const beside = page.beside.files;
  const trace = beside.trace !== undefined;
  const withReasons = (tabs: readonly Tab[]): Tab[] =>
    tabsFor(tabs, view.info, trace).map((tab) => ({ ...tab, lacks: lacking(tab.id, view.info, trace) }));
  const panelPage = rooms.panelPage(view);
  const withDetails = page.choices.isAny || page.detailsOpen;
  return html`<div
    class="work ${withDetails ? 'with-details' : ''}"
    .style=${`--details: ${page.detailsWidth}px; --panel: ${page.panelHeight}px`}>
    <div
      class="left ${main === 'timeline' ? '' : 'with-main'} ${answer ? 'with-answer' : ''}"
      @choose-event=${(event: CustomEvent<PanelEvents['choose-event']>) => {
        page.choices.chooseEvent(event.detail);
        void page.timeline?.showEvent(event.detail.event);
      }}
      @choose-block=${(event: CustomEvent<PanelEvents['choose-block']>) => void page.choices.chooseBlock(event.detail ?? undefined)}
      @point-thing=${(event: CustomEvent<PanelEvents['point-thing']>) => page.choices.pointThing(event.detail ?? undefined)}
      @choose-thing=${(event: CustomEvent<PanelEvents['choose-thing']>) => page.choices.chooseThing(event.detail ?? undefined)}
      @choose-editor=${({ detail: editor }: CustomEvent<PanelEvents['choose-editor']>) => {
        page.editor = editor;
        page.settings.save({ editor });
      }}
      @choose-source=${({ detail }: CustomEvent<PanelEvents['choose-source'] | null>) => (page.source = detail ?? undefined)}
      @beside-change=${(event: CustomEvent<BesideChange>) => page.beside.change(event.detail)}
      @go=${(event: CustomEvent<Goal>) => void page.choices.go(event.detail)}>
      <gpustrata-timeline
        .device=${view}
        .theme=${page.themes.theme}
        .axis=${page.axis}
        .pinned=${page.choices.block}
        .colourBy=${page.colour}
        .stacking=${page.stacking}
        .chosen=${page.choices.event}
        .highlight=${page.workspace.get('filter').highlight}
        .firstView=${page.firstView}
        .beside=${beside}
        .told=${page.beside.told}
        .tips=${!withDetails}
        @look-change=${(event: CustomEvent<Partial<Look>>) => page.setLook(event.detail)}
        @choose-event=${(event: CustomEvent<PanelEvents['choose-event']>) => page.choices.chooseEvent(event.detail)}
        @moved=${() => page.moved()}
        @range-change=${(event: CustomEvent<Range | null>) => page.workspace.change({ range: event.detail ?? undefined })}
        @point=${(event: CustomEvent<Band>) => page.choices.pointBlock(event.detail)}
        @pin=${(event: CustomEvent<Band>) => page.choices.pin(event.detail)}
        @toggle-pin=${(event: CustomEvent<Band | undefined>) => page.choices.togglePin(event.detail)}
        @axis-change=${(event: CustomEvent<Axis>) => (page.axis = event.detail)}
        @first-picture=${() => page.firstPicture()}>
        <gpustrata-tabs
          slot="tabs"
          label="Pictures"
          .tabs=${withReasons(mainTabs)}
          .open=${main}
          @near=${(event: CustomEvent<string>) => prepare(event.detail, panelPage)}
          @open=${(event: CustomEvent<MainId>) => page.openPanel(event.detail)}></gpustrata-tabs>
      </gpustrata-timeline>
      ${
        main === 'timeline'
          ? nothing
          : html`<gpustrata-panel
              class="main"
              role="tabpanel"
              aria-label=${panelOf(main)?.name ?? ''}
              .of=${main}
              .page=${panelPage}
              .round=${rooms.round}></gpustrata-panel>`
      }
      ${
        answer
          ? html`<gpustrata-splitter
              direction="height"
              label="Height of the panel"
              .size=${page.panelHeight}
              .least=${100}
              .most=${2000}
              .rest=${pictureHeight}
              @resize=${(event: CustomEvent<number>) => (page.panelHeight = event.detail)}
              @resized=${() => page.settings.save({ panelHeight: page.panelHeight })}></gpustrata-splitter>`
          : nothing
      }
      <gpustrata-drawer
        part="panels"
        .tabs=${withReasons(answerTabs)}
        .open=${answer}
        .page=${panelPage}
        .round=${rooms.round}
        @open-panel=${(event: CustomEvent<PanelId | null>) => page.openPanel(event.detail ?? undefined)}></gpustrata-drawer>
    </div>
    ${withDetails ? details(page, view.info) : nothing}
  </div>`;
}

function details(page: ViewerParts, info: ViewInfo): TemplateResult {
  need('details');
  return html`<gpustrata-splitter
      label="Width of the details"
      .size=${page.detailsWidth}
      .least=${260}
      @resize=${(event: CustomEvent<number>) => (page.detailsWidth = event.detail)}
      @resized=${() => page.settings.save({ detailsWidth: page.detailsWidth })}></gpustrata-splitter>
    <gpustrata-details
      part="details"
      role="region"
      aria-label="Details"
      tabindex="0"
      .of=${page.choices.described}
      .info=${info}
      .editor=${page.editor}
      .source=${page.source}
      .pinned=${page.choices.isHeld}
      @go=${(event: CustomEvent<Goal>) => void page.choices.go(event.detail)}
      @unpin=${() => page.choices.letGo()}></gpustrata-details>`;
}
