// embed.html: the viewer in a frame of somebody else's page, driven by messages. Refused by default: only origins that
// the page names in `<meta name="gpustrata-parents">` are heard, nobody else gets an answer or learns anything.
//
//   to the frame     { gpustrata: 1, id, do: 'hello' }
//                    { gpustrata: 1, id, do: 'open', file: Blob, ... }  or  { ..., url: 'address', ... }: with what OpenOptions has
//                    { gpustrata: 1, id, do: 'select', what }             a Choice of viewer/element_types.ts
//                    { gpustrata: 1, id, do: 'getState' }, { ..., do: 'setState', state }, { ..., do: 'theme', theme }
//   back             { gpustrata: 1, id, answer }  or  { gpustrata: 1, id, error: { code, message, offset } }
//   after a `hello`  { gpustrata: 1, event, detail }                      load, error, select, viewchange
import type { Choice, Theme, ViewerElement, ViewerEvents } from '../viewer/element_types.ts';

const protocol = 1;
const events = ['load', 'error', 'select', 'viewchange'] as const satisfies readonly (keyof ViewerEvents)[];

const parents = new Set(
  (document.querySelector<HTMLMetaElement>('meta[name=gpustrata-parents]')?.content ?? '')
    .split(/\s+/)
    .filter((origin) => origin !== ''),
);
const viewer = document.querySelector<HTMLElement>('gpustrata-viewer') as ViewerElement;

/** What may be asked; whatever is missing or of another kind is refused in words. */
const asked: Record<string, (message: Record<string, unknown>) => unknown> = {
  hello: () => ({ version: protocol }),
  open: ({ file, url, name, panel, filter, event, theme }) => {
    if (theme !== undefined && !isTheme(theme)) throw wrong('theme is light, dark or auto.');
    const options = {
      ...(typeof name === 'string' && { name }),
      ...(typeof panel === 'string' && { panel }),
      ...(typeof filter === 'string' && { filter }),
      ...(Number.isSafeInteger(event) && { event: event as number }),
      ...(theme !== undefined && { theme }),
    };
    if (file instanceof Blob) return viewer.open(file, options);
    if (typeof url === 'string') return viewer.open(url, options);
    throw wrong('open needs a file, which is a Blob, or a url.');
  },
  select: async ({ what }) => {
    await viewer.select(choiceOf(what));
    return null;
  },
  getState: () => viewer.getState() ?? null,
  setState: ({ state }) => {
    if (typeof state !== 'string') throw wrong('setState needs a state, which is a text.');
    return viewer.setState(state);
  },
  theme: ({ theme }) => {
    if (!isTheme(theme)) throw wrong('theme is light, dark or auto.');
    viewer.theme = theme;
    return null;
  },
};

const isTheme = (theme: unknown): theme is Theme => theme === 'light' || theme === 'dark' || theme === 'auto';

function wrong(message: string): Error {
  return Object.assign(new Error(message), { code: 'message', offset: -1 });
}

function choiceOf(what: unknown): Choice {
  if (what === null || what === 'peak') return what;
  const { event, block } = (what ?? {}) as { event?: unknown; block?: unknown };
  if (Number.isSafeInteger(event)) return { event: event as number };
  if (Number.isSafeInteger(block)) return { block: block as number };
  throw wrong('select takes { event }, { block }, "peak" or null.');
}

let warned = false;
let stopTelling = (): void => undefined;

addEventListener('message', (message: MessageEvent<unknown>) => {
  const data = message.data as Record<string, unknown> | null;
  if (typeof data !== 'object' || data?.['gpustrata'] !== protocol) return;
  if (message.source !== window.parent || window.parent === window || !parents.has(message.origin)) {
    if (!warned)
      console.warn(
        `gpustrata: messages from ${message.origin} are refused, see "Put it into your own page".`,
      );
    warned = true;
    return;
  }
  const reply = (rest: object): void =>
    window.parent.postMessage({ gpustrata: protocol, ...rest }, message.origin);
  const { id } = data;
  const act = Object.hasOwn(asked, String(data['do'])) ? asked[String(data['do'])] : undefined;
  void (async () => {
    try {
      if (!act) throw wrong(`There is no "${String(data['do']).slice(0, 100)}".`);
      if (data['do'] === 'hello') tellTo(reply);
      reply({ id, answer: await act(data) });
    } catch (error) {
      const { code = 'internal', offset = -1 } = error as { code?: string; offset?: number };
      reply({ id, error: { code, message: error instanceof Error ? error.message : String(error), offset } });
    }
  })();
});

/** What happens is told to who said hello last. */
function tellTo(reply: (message: object) => void): void {
  stopTelling();
  const stop = new AbortController();
  stopTelling = () => stop.abort();
  for (const event of events)
    viewer.addEventListener(event, ({ detail }: CustomEvent) => reply({ event, detail: detail as unknown }), {
      signal: stop.signal,
    });
}
