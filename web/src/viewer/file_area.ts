// What of an open file is on the page, below its name.
import { html, nothing, type TemplateResult } from 'lit';
import type { Axis, Band, Bands, EngineView, ViewInfo } from '../../engine/index.ts';
import type { Goal } from '../words/described.ts';
import type { BesideChange } from '../model/beside/files.ts';
import type { OpenFile } from '../model/open_files.ts';
import { wholeSeries, type SeriesChoice } from '../model/series_choice.ts';
import type { Look } from '../model/stacking.ts';
import type { Range } from '../model/workspace.ts';
import { fleetArea } from './fleet_area.ts';
import './filter_bar.ts';
import '../controls/tabs.ts';
import type { Tab } from '../controls/tabs.ts';
import { detailsTab, prepare } from '../panels/drawer.ts';
import { around, type PanelEvents } from '../panels/panel.ts';
import '../panels/panel_slot.ts';
import { answerTabs, isBeside, mainTabs, panelOf, tabsFor, type MainId } from '../panels/registry.ts';
import '../files/stats.ts';
import '../timeline/timeline.ts';
import type { ViewerParts } from './parts.ts';
import { need } from './sheets.ts';

/** Least height of what is above the answers, in CSS pixels. */
const pictureHeight = 260;

/** The numbers of its device, the filter: in the uppermost line. */
export function inTopBar(page: ViewerParts, file: OpenFile, view: EngineView): TemplateResult {
  const filter = page.workspace.get('filter');
  return html`<gpustrata-stats
      part="numbers"
      .info=${view.info}
      .only=${Boolean(view.shown.only)}
      .diagnostics=${file.diagnostics}
      @choose=${(event: CustomEvent<'peak' | 'oom' | 'notes'>) => page.chooseStat(event.detail)}></gpustrata-stats>
    <gpustrata-filter
      part="filter"
      .text=${filter.text}
      .found=${filter.found}
      .error=${filter.error}
      .current=${filter.match}
      .only=${Boolean(view.shown.only)}
      @only=${() => page.actions.showOnlyThese()}
      .complete=${(asked: { text: string; cursor: number }) => view.ask('complete', asked)}
      .owner=${(address: string) => view.ask('owner', { event: view.info.events, address })}
      @filter=${(event: CustomEvent<string>) => page.filter.set(event.detail)}
      @step=${(event: CustomEvent<1 | -1>) => page.actions.stepMatch(event.detail)}></gpustrata-filter>`;
}

/** Warnings. */
export function aboveTimeline(page: ViewerParts, file: OpenFile): TemplateResult {
  if (file.died || file.diagnostics.length > 0) need('banners');
  if (file.diagnostics.length > 0) need('notes');
  return html`
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
    return html`<gpustrata-series
      .engine=${file.engine}
      .theme=${page.themes.theme}
      .choice=${file.series ?? wholeSeries}
      .files=${page.files.entries.map((entry) => entry.file)}
      @series-choice=${({ detail }: CustomEvent<SeriesChoice>) => page.setSeries(file, detail)}></gpustrata-series>`;
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
  const { main, side, answer } = rooms;
  const beside = page.beside.files;
  const panelPage = rooms.panelPage(view);
  const withReasons = (tabs: readonly Tab[]): Tab[] =>
    tabsFor(tabs, view.info, around(panelPage)).map((tab) => ({ ...tab, lacks: rooms.lacking(tab.id) }));
  const withDetails = page.choices.isAny || page.detailsOpen;
  const detailsInFront = withDetails && page.detailsInFront;
  const openAnswer = ({ detail }: CustomEvent<string>): unknown => page.toggleAnswer(detail);
  return html`<div
    class="work ${side || withDetails ? 'with-side' : ''} ${side ? '' : 'details-only'} ${detailsInFront ? 'details-in-front' : ''}"
    .style=${`--side: ${page.detailsWidth}px; --panel: ${page.panelHeight}px`}
    @choose-event=${(event: CustomEvent<PanelEvents['choose-event']>) => {
      page.choices.chooseEvent(event.detail);
      void page.timeline?.showEvent(event.detail.event);
    }}
    @choose-block=${(event: CustomEvent<PanelEvents['choose-block']>) => void page.choose(event, () => page.choices.chooseBlock(event.detail ?? undefined))}
    @point-thing=${(event: CustomEvent<PanelEvents['point-thing']>) => page.choices.pointThing(event.detail ?? undefined)}
    @choose-thing=${(event: CustomEvent<PanelEvents['choose-thing']>) => void page.choose(event, () => page.choices.chooseThing(event.detail ?? undefined))}
    @choose-editor=${({ detail: editor }: CustomEvent<PanelEvents['choose-editor']>) => {
      page.editor = editor;
      page.settings.save({ editor });
    }}
    @choose-texts=${(event: CustomEvent<PanelEvents['choose-texts']>) => page.choosePanelTexts(event.detail)}
    @choose-source=${({ detail }: CustomEvent<PanelEvents['choose-source'] | null>) => (page.source = detail ?? undefined)}
    @beside-change=${(event: CustomEvent<BesideChange>) => page.beside.change(event.detail)}
    @choose-device=${({ detail }: CustomEvent<PanelEvents['choose-device']>) => void showMoment(page, file, detail)}
    @go=${(event: CustomEvent<Goal>) => void page.choose(event, () => page.choices.go(event.detail))}>
    <div class="left ${main === 'timeline' ? '' : 'with-main'} ${answer ? 'with-answer' : ''}">
      <gpustrata-timeline
        .device=${view}
        .theme=${page.themes.theme}
        .axis=${page.axis}
        .pinned=${page.choices.block}
        .colourBy=${page.colour}
        .stacking=${page.stacking}
        .capacity=${page.workspace.get('capacity')}
        .chosen=${page.choices.event}
        .highlight=${page.workspace.get('filter').highlight}
        .firstView=${page.firstView}
        .beside=${beside}
        .told=${page.beside.told}
        .tips=${!detailsInFront}
        ?switching=${page.files.switching}
        ?undecided=${page.firstLook.isOpen}
        @bands=${(event: CustomEvent<Bands>) => void page.bands.to(event.detail)}
        @hide-earlier=${() => page.actions.hideEarlier()}
        @capacity-change=${(event: CustomEvent<number | null>) => page.workspace.change({ capacity: event.detail ?? undefined }, true)}
        @look-change=${(event: CustomEvent<Partial<Look>>) => page.setLook(event.detail)}
        @choose-event=${(event: CustomEvent<PanelEvents['choose-event']>) => page.choices.chooseEvent(event.detail)}
        @moved=${() => page.moved()}
        @resized=${() => page.prepareOthers()}
        @range-change=${(event: CustomEvent<Range | null>) => page.workspace.change({ range: event.detail ?? undefined })}
        @point=${(event: CustomEvent<Band>) => page.choices.pointBlock(event.detail)}
        @pin=${(event: CustomEvent<Band>) => page.choices.pin(event.detail)}
        @toggle-pin=${(event: CustomEvent<Band | undefined>) => page.choices.togglePin(event.detail)}
        @axis-change=${(event: CustomEvent<Axis>) => (page.axis = event.detail)}
        @first-picture=${() => page.firstPicture()}>
        <gpustrata-tabs
          slot="tabs"
          label="Pictures"
          narrow
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
              .page=${panelPage}></gpustrata-panel>`
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
        .tabs=${withReasons(side ? answerTabs.filter((tab) => !isBeside(tab)) : answerTabs)}
        .open=${answer}
        .page=${panelPage}
        @toggle-panel=${openAnswer}></gpustrata-drawer>
    </div>
    ${side || withDetails ? sideSplitter(page) : nothing}
    <div class="side">
      ${
        side
          ? html`<gpustrata-answers
              part="answers"
              .tabs=${[...withReasons(answerTabs.filter(isBeside)), ...(withDetails ? [detailsTab] : [])]}
              .open=${side}
              ?covered=${detailsInFront}
              .page=${panelPage}
              @show-details=${({ detail }: CustomEvent<boolean>) => page.showDetails(detail)}
              @toggle-panel=${openAnswer}></gpustrata-answers>`
          : nothing
      }
      ${withDetails ? details(page, view.info) : nothing}
    </div>
  </div>`;
}

async function showMoment(
  page: ViewerParts,
  { snapshot }: OpenFile,
  { device, event }: PanelEvents['choose-device'],
): Promise<void> {
  if (!(await page.goToDevice({ snapshot, device })) || event === undefined) return;
  page.choices.chooseEvent({ event, step: false });
  await page.timeline?.showEvent(event);
}

function sideSplitter(page: ViewerParts): TemplateResult {
  return html`<gpustrata-splitter
    label="Width of the answers and details"
    .size=${page.detailsWidth}
    .least=${260}
    @resize=${(event: CustomEvent<number>) => (page.detailsWidth = event.detail)}
    @resized=${() => page.settings.save({ detailsWidth: page.detailsWidth })}></gpustrata-splitter>`;
}

function details(page: ViewerParts, info: ViewInfo): TemplateResult {
  need('details');
  return html`<gpustrata-details
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
