// A first picture runs code that never ran: the browser compiles the engine twice, quickly at first and well once it has
// run a while, for all workers; scripts when they are first called; and an element's template and styles are made when it
// is first shown. A made-up recording is opened and drawn where nobody sees it, while no file is open, so that the first
// file finds all this done.
import { html, render } from 'lit';
import type { Theme } from '../draw/colors.ts';
import type { EngineClient } from '../engine/client.ts';
import { madeUpRecording } from '../engine/made_up_recording.ts';
import type { EnginePool } from '../engine/pool.ts';

const rounds = 12_000; // 24,000 events, some 6 MB: enough to be compiled well
const budget = 256 * 1024 ** 2;

export class Rehearsal {
  private engine: EngineClient | undefined;
  private readonly stage = document.createElement('div');
  private over = false;

  /** Begins when the page has nothing else to do. */
  constructor(
    private readonly pool: EnginePool,
    private readonly host: Node,
    private readonly theme: Theme,
  ) {
    const begin = (): void => void this.play().catch(() => this.stop()); // what failed is told when a file is opened
    // Safari has no such call.
    if ('requestIdleCallback' in globalThis) requestIdleCallback(begin, { timeout: 1000 });
    else setTimeout(begin, 200);
  }

  private async play(): Promise<void> {
    const engine = await this.pool.another();
    if (this.over) return engine.terminate();
    this.engine = engine;
    const file = new File([madeUpRecording(rounds)], 'rehearsal');
    const { view, diagnostics } = await engine.call('open', { source: { file }, budget });
    if (this.over || !view) return this.stop();

    // Closed: nothing looks into it, neither a reader of the screen nor a script that looks for the page's timeline.
    const root = this.stage.attachShadow({ mode: 'closed' });
    this.stage.inert = true;
    this.stage.style.cssText = 'position: fixed; inset: 0; visibility: hidden; contain: strict';
    render(
      html`<memstrata-stats .info=${view} .diagnostics=${diagnostics}></memstrata-stats>
        <memstrata-filter></memstrata-filter>
        <memstrata-timeline
          .engine=${engine}
          .info=${view}
          .theme=${this.theme}
          @first-picture=${() => this.stop()}></memstrata-timeline>
        <memstrata-details .info=${view}></memstrata-details>`,
      root,
    );
    this.host.appendChild(this.stage);
  }

  /** Leaves nothing behind. */
  stop(): void {
    this.over = true;
    this.engine?.terminate();
    this.stage.remove();
  }
}
