// A first picture runs what never ran: the browser compiles the engine twice, quickly at first and well once it has run a
// while, for all workers; it compiles scripts when they are first called, and makes an element's template and styles when
// one is first shown. So a viewer that nobody sees opens a made-up recording and draws it, while no file is open. It has
// the size of the one that is seen, which so knows where its plot will lie.
import type { Application, ViewerChange } from '../viewer/application.ts';
import type { GpustrataViewer } from '../viewer/viewer.ts';
import { madeUpRecording } from './made_up_recording.ts';

const rounds = 12_000; // 24,000 events, 6 MB: enough for the browser to compile what reads them well

export class Rehearsal {
  private readonly stage = document.createElement('div');
  private isOver = false;

  /** Begins when the page has nothing else to do. The stage stands in `host`, whose colours it takes. */
  constructor(
    private readonly host: Node,
    /** Another one. */
    private readonly viewer: GpustrataViewer,
    { address, settings, site }: Application,
  ) {
    // It hears no key, has no address and keeps nothing.
    this.viewer.application = {
      events: new EventTarget(),
      address: {
        connect: () => undefined,
        disconnect: () => undefined,
        replace: () => undefined,
        push: () => undefined,
        linkTo: (shown) => address.linkTo(shown),
      },
      settings: { load: () => settings.load(), save: () => undefined },
      site,
      server: undefined,
    };
    this.viewer.addEventListener('first-picture', () => this.finish(), { once: true });
    // A file that is opened tells what is wrong.
    this.viewer.addEventListener('viewer-change', ({ detail }: CustomEvent<ViewerChange>) => {
      if (detail.state === 'error') this.stop();
    });
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => this.play(), { timeout: 1000 });
    else setTimeout(() => this.play(), 200); // Safari
  }

  /** Leaves nothing behind. */
  stop(): void {
    this.isOver = true;
    this.stage.remove();
    this.viewer.dispose();
  }

  private play(): void {
    if (this.isOver) return;
    // Closed, hidden and inert: nothing looks into it, neither a screen reader nor a script that looks for the timeline.
    this.stage.inert = true;
    this.stage.style.cssText = 'position: absolute; inset: 0; visibility: hidden; contain: strict';
    this.viewer.style.cssText = 'height: 100%';
    this.stage.attachShadow({ mode: 'closed' }).append(this.viewer);
    this.host.appendChild(this.stage);
    const file = new File([madeUpRecording(rounds)], 'rehearsal');
    this.viewer.receive({ files: [{ name: file.name, source: { file } }] });
  }

  private finish(): void {
    const { pool } = this.viewer.files;
    this.stop();
    pool.warmUp(2);
    performance.mark('gpustrata:rehearsed');
  }
}
