// GPUs of one snapshot below each other, on one axis and one scale of bytes; the one on which memory ran out says so. A place in
// a track leads to that moment of that device.
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { element } from '../../controls/element.ts';
import { formatBytes, formatCount, plural } from '../../base/format.ts';
import { reasonOf } from '../../base/reason.ts';
import type { AxisUnits, CssPx } from '../../base/units.ts';
import { colorsOf } from '../../draw/colors.ts';
import { deviceName } from '../../model/devices.ts';
import { levelOf, type ChartMark, type Cursor } from '../../series/chart.ts';
import type { Stretch } from '../../series/stretch.ts';
import { answerStyles } from '../answer_styles.ts';
import { mostEvents, OpenedViews } from '../opened_views.ts';
import { maybeStretch } from '../link_field.ts';
import { tell, type Kept, type LoadedPanel, type PanelPage } from '../panel.ts';
import { listed, tracksOf, type Listed, type Track, type Tracks } from './tracks.ts';

/** All of the same height: few are higher. */
const heightOf = (count: number): CssPx => (count < 3 ? 200 : count < 5 ? 140 : 100);

/** What of the common axis is seen; undefined = all. */
interface Seen {
  stretch: Stretch | undefined;
}

@element('gpustrata-devices')
export class DevicesPanel extends LitElement {
  @property({ attribute: false }) page!: PanelPage;
  @property({ attribute: false }) kept!: Kept<Seen>;
  @state() private tracks: Tracks | undefined;
  @state() private problem: string | undefined;
  /** Shared by all tracks. */
  @state() private stretch: Stretch | undefined;
  @state() private cursor: Cursor | undefined;
  private readonly opened = new OpenedViews<Listed>(() => void this.found());

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('page');
    // Another device of the same tracks is seen as the one before was.
    const isOther = before && before.view !== this.page.view;
    if (changed.has('kept') && (this.kept.value.stretch || !isOther)) this.stretch = this.kept.value.stretch;
    if (this.page.settled && this.isConnected) void this.open();
  }
  override connectedCallback(): void {
    super.connectedCallback();
    this.requestUpdate(); // they were let go
  }
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.opened.close();
    this.tracks = undefined;
  }

  private async open(): Promise<void> {
    const { engine, shown } = this.page.view;
    try {
      await this.opened.open(engine, String(shown.snapshot), (contents) => {
        this.tracks = undefined;
        this.problem = undefined;
        if (!this.kept.value.stretch) this.stretch = undefined;
        this.cursor = undefined;
        const all = listed(contents, shown.snapshot);
        const events = all.reduce((sum, one) => sum + one.events, 0);
        if (events <= mostEvents) return all;
        this.problem = `The devices have ${formatCount(events)} events together: too many to replay all of them at once. The bar above shows one after the other.`;
        return [];
      });
    } catch (error) {
      if (engine.alive) this.problem = reasonOf(error);
    }
  }
  private async found(): Promise<void> {
    const { all } = this.opened;
    try {
      const tracks = await tracksOf(all);
      if (all === this.opened.all) this.tracks = tracks;
    } catch (error) {
      if (all === this.opened.all && this.page.view.engine.alive) this.problem = reasonOf(error);
    }
  }

  private see(stretch: Stretch, extent: AxisUnits): void {
    this.stretch = stretch;
    this.kept.keep({ stretch: stretch.x0 <= 0 && stretch.x1 >= extent ? undefined : stretch });
  }
  private async choose({ device, eventAt }: Track, units: AxisUnits): Promise<void> {
    const event = await eventAt(units).catch(() => undefined);
    tell(this, 'choose-device', { device, ...(event !== undefined && { event }) });
  }

  protected override render(): TemplateResult {
    const { tracks, problem } = this;
    if (problem !== undefined) return html`<p role="alert">${problem}</p>`;
    if (!tracks)
      return html`<p class="dim" data-waiting>Replaying ${plural(this.page.devices, 'device')}…</p>`;
    const { axis, all } = tracks;
    const isSaved = all.every(({ view }) => !view.info.has_history);
    const by = isSaved
      ? 'as saved'
      : axis.axis === 'time'
        ? 'on one clock'
        : 'each by its own events, because the file has no times: moments do not line up';
    return html`<div
      class="answer"
      data-tracks=${all.length}
      data-axis=${axis.axis}
      .style=${`--chart-height: ${heightOf(all.length)}px`}>
      <p class="dim">
        ${plural(all.length, 'device')} ${by}, and on one scale of bytes. Click in a track, or press Enter, to
        go to ${isSaved ? '' : 'that moment of '}that device.
      </p>
      ${all.map((track) => this.track(track, tracks))}
    </div>`;
  }

  private track(track: Track, { axis }: Tracks): TemplateResult {
    const { device, view, oom, failures, course } = track;
    const { info, theme } = this.page;
    const colors = colorsOf(theme);
    const { peak, reserved_peak, capacity, is_processor, has_history } = view.info;
    const name = deviceName(device, is_processor);
    const marks: ChartMark[] = failures.map((position) => ({ position, text: '', look: 'bad' }));
    return html`<section data-track=${device} data-failed=${oom.count > 0 ? oom.count : nothing}>
      <gpustrata-chart
        low
        .of=${course}
        .levels=${[
          levelOf('allocated', colors.snapshot, 'area', peak.bytes),
          levelOf('reserved', colors.reserved, 'line', reserved_peak),
        ].map((level) => ({ ...level, isSaved: !has_history }))}
        .marks=${marks}
        .limit=${capacity ?? undefined}
        .top=${axis.top}
        .stretch=${this.stretch}
        .cursor=${this.cursor}
        .theme=${theme}
        label="Memory of ${name}, up to ${formatBytes(axis.top)}; Enter goes to ${has_history ? 'a moment of it' : 'it'}"
        @stretch=${({ detail }: CustomEvent<Stretch>) => this.see(detail, axis.extent)}
        @cursor=${({ detail }: CustomEvent<Cursor | null>) => (this.cursor = detail ?? undefined)}
        @choose=${({ detail }: CustomEvent<AxisUnits>) => void this.choose(track, detail)}>
        <h2>
          <button
            class="link"
            aria-current=${device === info.device ? 'true' : 'false'}
            title="Show this device in the timeline"
            @click=${() => tell(this, 'choose-device', { device })}>
            ${name}
          </button>
          ${oom.count === 0 ? nothing : html`<strong class="bad">${failureText(oom)}</strong>`}
          ${device === info.device ? html`<span class="dim">in the timeline above</span>` : nothing}
        </h2>
      </gpustrata-chart>
    </section>`;
  }

  static override styles = [
    answerStyles,
    css`
      section {
        max-width: 1400px;
        margin-top: 10px;
        padding-left: 8px;
        border-left: 3px solid transparent;
      }
      h2 {
        display: flex;
        flex-wrap: wrap;
        align-items: baseline;
        gap: 0 12px;
      }
      h2 .dim {
        font-weight: 400;
      }
      [aria-current='true'] {
        color: var(--text);
      }
      [data-failed] {
        border-left-color: var(--bad);
      }
    `,
  ];
}

function failureText({ count, events }: Track['oom']): string {
  const [first] = events;
  const where = first === undefined ? '' : ` at event ${formatCount(first)}`;
  return `Out of memory${where}${count > 1 ? `, ${formatCount(count)} times in all` : ''}`;
}

export const panel: LoadedPanel<Seen> = {
  reads: ['settled', 'theme', 'devices'],
  initial: { stretch: undefined },
  linked: { stretch: maybeStretch },
  show: (page, kept) =>
    html`<gpustrata-devices
      role="region"
      aria-label="Devices"
      .page=${page}
      .kept=${kept}></gpustrata-devices>`,
};
