// What the actions of the page do (actions.ts): keys, buttons of the top bar.
import { copyText } from '../base/clipboard.ts';
import { colourNames, colourWays } from '../model/colours.ts';
import { recordedOnly } from '../model/filtering.ts';
import { bandsNames, bandsWays } from '../model/bands.ts';
import { nextDevice, nextSnapshot } from '../model/devices.ts';
import type { MainId, PanelId } from '../panels/registry.ts';
import { askForFiles } from '../files/file_button.ts';
import { sideOf } from './open_panels.ts';
import { openSheet } from './sheets.ts';
import { somethingSelected, type KeyTarget } from './key_presses.ts';
import type { TimelineView } from '../timeline/timeline.ts';
import type { ViewerParts } from './parts.ts';

export class ViewerActions implements KeyTarget {
  constructor(private readonly page: ViewerParts) {}

  get timeline(): TimelineView | null {
    return this.page.timeline;
  }
  get takesKeys(): boolean {
    return this.page.files.state !== 'loading';
  }
  get letterKeys(): boolean {
    return this.page.letterKeys;
  }
  get scrolling(): (EventTarget | null)[] {
    return [this.page.details, this.page.answers, this.page.drawer, this.page.mainPanel];
  }

  follow(): boolean {
    return this.page.application?.served?.goOn() ?? false;
  }
  openKeys(): void {
    void openSheet('keys', this.page);
  }
  openAbout(): void {
    void openSheet('about', this.page).then(() => this.page.links.remember());
  }
  openExport(): void {
    void openSheet('exporter', this.page);
  }
  toggleExactBytes(): void {
    this.page.exactBytes = !this.page.exactBytes;
  }
  toggleTheme(): void {
    this.page.themes.toggle();
  }
  changeAxis(): void {
    void this.timeline?.changeAxis(this.page.axis === 'event' ? 'time' : 'event');
  }
  changeColour(): void {
    const next = colourWays[(colourWays.indexOf(this.page.colour) + 1) % colourWays.length] ?? 'allocation';
    this.page.setLook({ colour: next });
    this.page.toast.say(`Colour: ${colourNames[next].toLowerCase()}`);
  }
  changeStacking(): void {
    if (this.page.file?.view?.info.bands === 'pools') return this.page.toast.say('Pools are stacked by age');
    const stacking = this.page.stacking === 'blocks' ? 'groups' : 'blocks';
    this.page.setLook({ stacking });
    const { colour } = this.page;
    this.page.toast.say(
      stacking === 'blocks'
        ? 'Stacked by age, the oldest block below'
        : `Stacked by group: ${colourNames[colour].toLowerCase()}`,
    );
  }
  changeBands(): boolean {
    const bands = this.page.file?.view?.info.bands;
    const next = bands && bandsWays[(bandsWays.indexOf(bands) + 1) % bandsWays.length];
    if (!next) return false;
    void this.page.bands.to(next).then(() => this.page.toast.say(`View: ${bandsNames[next]}`));
    return true;
  }
  focusFilter(): boolean {
    this.page.filterBar?.focus();
    return this.page.filterBar !== null;
  }
  /** By the first way that the details offer: the line that asked, or the size. */
  filterByBlock(): boolean {
    const { choices, workspace, filter } = this.page;
    const goal = choices.described?.ways.find((way) => way.goal.to === 'filter')?.goal;
    if (goal?.to !== 'filter') return false;
    filter.set(workspace.get('filter').text === goal.text ? '' : goal.text);
    return true;
  }
  showOnlyThese(): boolean {
    const { onlyThese, toast } = this.page;
    if (onlyThese.toggle()) toast.say(onlyThese.wished ? 'Matching blocks only' : 'All blocks');
    else toast.say('No filter is set that matches any block');
    return true;
  }
  /** By the filter, which says so. */
  hideEarlier(): boolean {
    const { filter, onlyThese, workspace } = this.page;
    const { text } = workspace.get('filter');
    const isHidden = onlyThese.wished && text.includes(recordedOnly);
    const others = text.replace(recordedOnly, '').replace(/\s+/g, ' ').trim();
    onlyThese.wished = !isHidden || others !== '';
    filter.set(isHidden ? others : `${others} ${recordedOnly}`.trim());
    return true;
  }
  stepMatch(by: 1 | -1): void {
    void this.showMatch(by);
  }
  private async showMatch(by: 1 | -1): Promise<void> {
    const rank = await this.page.filter.step(by).catch(() => undefined); // the engine died: the page says so already
    if (rank !== undefined) await this.page.choices.showBlock(rank);
  }
  stepEvent(by: 1 | -1): boolean {
    this.timeline?.stepEvent(by);
    return this.timeline !== null;
  }
  nextOom(): boolean {
    return this.page.choices.nextOom();
  }
  showMain(main: MainId): boolean {
    const { page } = this;
    if (!page.timeline) return false;
    if (page.openPanel(main)) void page.updateComplete.then(() => page.mainPanel?.focus());
    return true;
  }
  toggleAnswer(answer: PanelId): boolean {
    const { page } = this;
    if (!page.drawer) return false;
    if (page.toggleAnswer(answer))
      void page.updateComplete.then(() => (sideOf(answer) ? page.answers : page.drawer)?.focusPanel());
    return true;
  }
  toggleDetails(): boolean {
    const { page } = this;
    page.detailsOpen = !page.detailsOpen;
    page.detailsInFront = page.detailsOpen;
    page.settings.save({ detailsOpen: page.detailsOpen });
    return page.timeline !== null;
  }
  stepFile(by: 1 | -1): boolean {
    this.page.files.step(by);
    return this.page.files.entries.length > 1;
  }
  stepDevice(by: 1 | -1): boolean {
    const { file } = this.page;
    if (!file?.view) return false;
    return this.page.showDevice(
      nextDevice(file.contents, { device: file.view.info.device, snapshot: file.snapshot }, by),
    );
  }
  stepSnapshot(by: 1 | -1): boolean {
    const { file } = this.page;
    return this.page.showDevice(file && nextSnapshot(file.contents, file.snapshot, by));
  }
  openFiles(): void {
    askForFiles((chosen) => this.page.receive(chosen));
  }
  closeFile(): boolean {
    const { files } = this.page;
    const { shown } = files;
    if (shown) files.close(shown);
    return shown !== undefined;
  }
  copyLink(): boolean {
    const { link } = this.page.links;
    if (link === undefined) return false;
    void copyText(link).then((done) =>
      this.page.toast.say(
        done
          ? 'Link copied. It holds the view, not the data: whoever opens it needs the file.'
          : 'The browser does not let this page copy. The link is in the address bar.',
      ),
    );
    return true;
  }
  copyDetails(): boolean {
    const { details, shadowRoot } = this.page;
    if (!details?.of) return false;
    if (somethingSelected([shadowRoot, details.shadowRoot])) return false;
    details.copy();
    return true;
  }
  pinAtCursor(from: EventTarget | undefined): boolean {
    if (!(from instanceof HTMLElement) || !from.classList.contains('plot')) return false;
    this.timeline?.pinAtCursor();
    return true;
  }
  /** `Esc`: one level. */
  stepBack(): boolean {
    const { files, choices, filterBar } = this.page;
    const filter = this.page.workspace.get('filter');
    if (files.state === 'error') {
      files.back();
      return true;
    }
    if (this.timeline?.giveUp()) return true;
    if (choices.letGo()) return true;
    if (filter.found || filter.text !== '') {
      filterBar?.clear();
      return true;
    }
    return false;
  }
}
