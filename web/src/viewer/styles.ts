// How the element divides its room. What depends on its width asks the element's own (container queries), never the window's.
import { css } from 'lit';

export const layout = css`
  :host {
    position: relative;
    display: grid;
    grid-template: minmax(0, 1fr) / minmax(0, 1fr);
    container-type: inline-size;
    height: 640px; /* unless the page says otherwise */
    overflow: auto;
    background: var(--bg);
    color: var(--text);
    font:
      14px/1.4 system-ui,
      -apple-system,
      'Segoe UI',
      Roboto,
      sans-serif;
  }
  :host([exact-bytes]) {
    --exact-bytes: shown;
  }
  :host(:focus) {
    outline: none; /* it is focused by clicks, so that its keys work; what is inside shows its focus */
  }
  .frame {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
  }
  main {
    position: relative;
    flex: 1;
    min-height: 0;
    display: flex;
    flex-direction: column;
  }
  gpustrata-start,
  gpustrata-served-start {
    flex: 1;
    min-height: 0;
  }
  .work {
    flex: 1;
    min-height: 0;
    display: grid;
    /* Of a row as high as its content the timeline would be laid out twice, at its least height first, where its parts are gone. */
    grid-template: minmax(0, 1fr) / minmax(0, 1fr);
  }
  .with-side {
    grid-template-columns: minmax(0, 1fr) 1px min(var(--side), 45%);
  }
  .with-side.details-only {
    animation: details 250ms;
  }
  /* The picture keeps its width until the second click of a double click was made. */
  @keyframes details {
    from,
    to {
      grid-template-columns: minmax(0, 1fr) 0px 0px;
    }
  }
  .side {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
    background: var(--surface);
  }
  .work:not(.with-side) .side {
    display: none;
  }
  .side gpustrata-details {
    flex: 1;
    min-height: 0;
  }
  .left {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
  }
  gpustrata-timeline {
    flex: 1 1 0;
  }
  .left:not(.with-main) gpustrata-timeline {
    min-height: 240px;
  }
  .with-main gpustrata-timeline {
    flex: 0 1 clamp(120px, 24%, 200px);
  }
  .main {
    flex: 1 1 0;
    min-height: 140px;
    border-top: 1px solid var(--line);
  }
  gpustrata-drawer {
    flex: none;
  }
  gpustrata-answers {
    flex: 1;
  }
  .with-answer gpustrata-drawer {
    flex: 0 1 var(--panel);
  }
  .nothing {
    margin: auto;
    padding: 24px;
    max-width: 52ch;
    line-height: 1.5;
  }
  .nothing h2 {
    margin: 0 0 8px;
    font-size: 20px;
  }
  .nothing p {
    margin: 0;
    color: var(--dim);
  }
  .cover {
    flex: 1;
    display: grid;
    min-height: 0;
  }
  .cover.over {
    position: absolute;
    inset: 0;
    z-index: 5;
    background: color-mix(in srgb, var(--bg) 70%, transparent);
  }
  .drop {
    position: absolute;
    inset: 8px;
    z-index: 20;
    display: grid;
    place-items: center;
    border: 2px dashed var(--accent);
    border-radius: 12px;
    background: color-mix(in srgb, var(--accent-soft) 85%, transparent);
    color: var(--accent);
    font-size: 20px;
    font-weight: 600;
    pointer-events: none;
  }
  @media print {
    :host {
      height: auto;
      background: none;
    }
    .work {
      display: block;
    }
    gpustrata-splitter,
    gpustrata-link-note,
    gpustrata-toast,
    .cover,
    .drop {
      display: none;
    }
    gpustrata-timeline,
    .main {
      flex: none;
      break-inside: avoid;
    }
    gpustrata-drawer,
    .with-answer gpustrata-drawer {
      flex: none;
      height: auto;
    }
    gpustrata-details {
      overflow: visible;
    }
  }
  @media screen {
    @container (min-width: 900px) {
      .details-in-front gpustrata-answers {
        flex: none;
      }
      .with-side:not(.details-in-front, .details-only) gpustrata-details {
        display: none;
      }
    }
    @container (max-width: 899px) {
      .frame {
        min-height: 100%; /* longer than the element: it scrolls, or the page does */
        height: max-content;
      }
      /* The answer, the picture, what is chosen. */
      .work.with-side {
        display: flex;
        flex-direction: column;
        animation: none;
      }
      .side {
        display: contents;
      }
      .left,
      .side > * {
        flex: none;
      }
      .work > gpustrata-splitter {
        display: none;
      }
      gpustrata-answers {
        order: -1;
        border-bottom: 1px solid var(--line);
      }
      .side gpustrata-details {
        border-top: 1px solid var(--line);
      }
      gpustrata-timeline {
        flex: none;
        height: max(560px, var(--timeline-room, 0px));
      }
      .with-main gpustrata-timeline {
        flex: none;
        height: 200px;
        min-height: 0;
      }
      .main {
        flex: none;
        height: max(400px, var(--timeline-room, 0px));
      }
      .with-answer gpustrata-drawer {
        flex: none;
      }
    }
  }
`;
