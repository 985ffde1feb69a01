// A first picture runs what never ran: the browser compiles the engine twice, quickly at first and well once it has run a
// while, for all workers; it compiles scripts when they are first called, and makes an element's template and styles when
// one is first shown. So a made-up recording is opened and drawn where nobody sees it, while no file is open.
import { html, render } from 'lit';
import type { Theme } from '../draw/colors.ts';
import type { EngineClient } from '../engine/client.ts';
import { madeUpRecording } from '../engine/made_up_recording.ts';
import type { EnginePool } from '../engine/pool.ts';
import '../details/details.ts';
import '../viewer/filter_bar.ts';
import '../files/stats.ts';
import '../timeline/timeline.ts';

const rounds = 12_000; // 24,000 events, 6 MB: enough for the browser to compile what reads them well
const budget = 256 * 1024 ** 2;

export class Rehearsal {
  private readonly stage = document.createElement('div');
  private engine: EngineClient | undefined;
  private isOver = false;

  /** Begins when the page has nothing else to do. The stage stands in `host`, whose colours it takes. */
  constructor(
    private readonly pool: EnginePool,
    private readonly host: Node,
    private readonly theme: Theme,
  ) {
    const begin = (): void => void this.play().catch(() => this.stop()); // a file that is opened tells what is wrong
    if ('requestIdleCallback' in globalThis) requestIdleCallback(begin, { timeout: 1000 });
    else setTimeout(begin, 200); // Safari
  }

  /** Leaves nothing behind. */
  stop(): void {
    this.isOver = true;
    this.engine?.terminate();
    this.stage.remove();
  }

  private async play(): Promise<void> {
    if (this.isOver) return;
    this.engine = await this.pool.spare();
    if (this.isOver) return this.stop();
    this.engine.onDeath = () => this.stop();
    const file = new File([madeUpRecording(rounds)], 'rehearsal');
    const { view, diagnostics } = await this.engine.call('open', { source: { file }, budget });
    if (this.isOver || !view) return this.stop();

    // Closed, hidden and inert: nothing looks into it, neither a screen reader nor a script that looks for the timeline.
    this.stage.inert = true;
    this.stage.style.cssText = 'position: absolute; inset: 0; visibility: hidden; contain: strict';
    render(
      html`<memstrata-stats .info=${view} .diagnostics=${diagnostics}></memstrata-stats>
        <memstrata-filter></memstrata-filter>
        <memstrata-timeline
          .engine=${this.engine}
          .info=${view}
          .theme=${this.theme}
          @first-picture=${() => this.finish()}></memstrata-timeline>
        <memstrata-details .info=${view}></memstrata-details>`,
      this.stage.attachShadow({ mode: 'closed' }),
    );
    this.host.appendChild(this.stage);
  }

  private finish(): void {
    this.stop();
    this.pool.warmUp(2);
    performance.mark('memstrata:rehearsed');
  }
}
