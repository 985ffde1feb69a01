// The element inside somebody else's page: several of them, their lives, what stays the host's.
import { expect, test, type Locator, type Page } from '@playwright/test';
import { watchErrors } from './page.ts';
import { knownSnapshot, MiB } from './pickle.ts';
import { waitForState, openPage, choose } from './support.ts';

/** A page that is not ours, beside the built site, with `body` in it. */
async function openHost(page: Page, body: string, query = ''): Promise<void> {
  const text = `<!doctype html><meta charset="utf-8"><title>host</title>
    <style>gpustrata-viewer { width: 640px; height: 420px; border: 1px solid } </style>
    <script type="module" src="viewer.js"></script>${body}`;
  const host = new RegExp('/host\\.html');
  await page.context().route(host, (route) => route.fulfill({ body: text, contentType: 'text/html' }));
  for (const [name, options] of [
    ['a', {}],
    ['b', { extra: MiB }],
    ['c', { extra: 2 * MiB }],
  ] as const)
    await page
      .context()
      .route(`**/${name}.pickle`, (route) => route.fulfill({ body: knownSnapshot(options) }));
  await page.goto(`${process.env.GPUSTRATA_URL}host.html${query}`);
}
const ready = (viewer: Locator): Promise<void> =>
  expect(viewer).toHaveAttribute('data-state', 'ready', { timeout: 30_000 });
const nameIn = (viewer: Locator): Locator => viewer.locator('.file-name');
const view = async (viewer: Locator): Promise<string> =>
  (await viewer.locator('.plot[data-settled]').getAttribute('data-view')) ?? '';

const three = `<gpustrata-viewer id="one" src="a.pickle"></gpustrata-viewer>
  <gpustrata-viewer id="two" src="b.pickle" theme="dark"></gpustrata-viewer>
  <gpustrata-viewer id="three" src="c.pickle" theme="light" style="width: 1100px"></gpustrata-viewer>
  <div id="text" contenteditable>letters</div>`;

test('three viewers on one page: each has its own file, keys, theme and size', async ({ page }) => {
  await openHost(page, three);
  const [one, two, three_] = ['#one', '#two', '#three'].map((id) => page.locator(id)) as [
    Locator,
    Locator,
    Locator,
  ];
  for (const viewer of [one, two, three_]) await ready(viewer);
  await expect(nameIn(one)).toHaveText('a.pickle');
  await expect(nameIn(two)).toHaveText('b.pickle');
  await expect(nameIn(three_)).toHaveText('c.pickle');
  await expect(two).toHaveAttribute('data-theme', 'dark');
  await expect(three_).toHaveAttribute('data-theme', 'light');

  // A key acts where the focus is, and nowhere else.
  await page.locator('body').press('2');
  for (const viewer of [one, two, three_])
    await expect(viewer.locator('[role=tab][data-panel=state]')).toHaveAttribute('aria-selected', 'false');
  await two.locator('.plot').focus();
  await page.keyboard.press('2');
  await expect(two.locator('[role=tab][data-panel=state]')).toHaveAttribute('aria-selected', 'true');
  await expect(one.locator('[role=tab][data-panel=state]')).toHaveAttribute('aria-selected', 'false');
  // A click anywhere inside gives it the keys; the theme of one is not that of another.
  await one.locator('.file-name').click();
  await page.keyboard.press('t');
  const themes = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('gpustrata-viewer')].map((viewer) => viewer.dataset['theme']),
  );
  expect(themes[1]).toBe('dark');
  expect(themes[2]).toBe('light');
  expect(themes[0]).toBe('dark'); // the system's is light

  // Letters of the host stay letters.
  const text = page.locator('#text');
  await text.click();
  await page.keyboard.press('End');
  await page.keyboard.type('pfo1t/');
  await expect(text).toHaveText('letterspfo1t/');

  // There is no address of its own, so no link to copy.
  await expect(one.locator('[data-action=picture]')).toBeVisible();
  await expect(one.locator('[data-action=link]')).toHaveCount(0);

  // Nothing of the host's own is touched.
  expect(await page.title()).toBe('host');
  expect(new URL(page.url()).hash).toBe('');
  expect(await page.evaluate(() => document.documentElement.style.colorScheme)).toBe('');
  expect(await page.evaluate(() => localStorage.length)).toBe(0);
});

test('a host styles and hides parts', async ({ page }) => {
  await openHost(
    page,
    `<style>
      gpustrata-viewer::part(answers), gpustrata-viewer::part(panels) { display: none }
      gpustrata-viewer::part(main) { outline: 3px solid rgb(1, 2, 3) }
      gpustrata-viewer::part(numbers) { background: rgb(4, 5, 6) }
    </style><gpustrata-viewer src="a.pickle"></gpustrata-viewer>`,
  );
  const viewer = page.locator('gpustrata-viewer');
  await ready(viewer);
  await expect(viewer.locator('gpustrata-top-bar')).toBeVisible();
  await expect(viewer.locator('gpustrata-answers')).toBeHidden();
  await expect(viewer.locator('gpustrata-drawer')).toBeHidden();
  await expect(viewer.locator('main')).toHaveCSS('outline-color', 'rgb(1, 2, 3)');
  await expect(viewer.locator('gpustrata-stats')).toHaveCSS('background-color', 'rgb(4, 5, 6)');
});

test('a file that is dropped on a viewer is opened there and nowhere else', async ({ page }) => {
  await openHost(page, three);
  for (const id of ['#one', '#two', '#three']) await ready(page.locator(id));
  await page.evaluate(
    (bytes) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(bytes)], 'dropped.pickle'));
      const drop = new DragEvent('drop', {
        dataTransfer: data,
        bubbles: true,
        cancelable: true,
        composed: true,
      });
      document.querySelector('#two')!.shadowRoot!.querySelector('main')!.dispatchEvent(drop);
    },
    [...knownSnapshot()],
  );
  await expect(nameIn(page.locator('#two'))).toHaveText('dropped.pickle');
  await expect(nameIn(page.locator('#one'))).toHaveText('a.pickle');
  await expect(nameIn(page.locator('#three'))).toHaveText('c.pickle');
});

test('src may be set later; the ?url= of the host is not fetched', async ({ page }) => {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await openHost(page, '<gpustrata-viewer id="one"></gpustrata-viewer>', '?url=b.pickle&open=c.pickle');
  const one = page.locator('#one');
  await expect(one).toHaveAttribute('data-state', 'empty');
  await one.evaluate((viewer) => viewer.setAttribute('src', 'a.pickle'));
  await ready(one);
  await expect(nameIn(one)).toHaveText('a.pickle');
  await one.evaluate((viewer) => viewer.setAttribute('src', 'b.pickle'));
  await expect(nameIn(one)).toHaveText('b.pickle'); // instead of the other one
  await ready(one);
  await expect(one.locator('[data-entry]')).toHaveCount(0);
  expect(asked.filter((path) => path.endsWith('c.pickle'))).toEqual([]);
  expect(asked.filter((path) => path.endsWith('a.pickle'))).toHaveLength(1);
});

test('moving the element keeps its file open; removing it ends its workers', async ({ page }) => {
  await page.clock.install();
  let fetched = 0;
  page.on('request', (request) => (fetched += request.url().endsWith('a.pickle') ? 1 : 0));
  await openHost(
    page,
    '<div id="here"><gpustrata-viewer id="one" src="a.pickle"></gpustrata-viewer></div><div id="there"></div>',
  );
  const one = page.locator('#one');
  await ready(one);
  const before = await view(one);
  await page.evaluate(() =>
    document.querySelector('#there')!.append(document.querySelector('gpustrata-viewer')!),
  );
  await page.clock.fastForward(60_000); // an element that is not there again by then is disposed of
  await ready(one);
  expect(await view(one)).toBe(before);
  expect(fetched).toBe(1);

  await page.evaluate(() => document.querySelector('gpustrata-viewer')!.remove());
  await expect.poll(() => page.workers().length).toBe(0);
});

test('ten times there and gone: workers and memory are where they were', async ({ page }) => {
  await openHost(page, '<div id="place"></div>');
  const cycle = async (): Promise<void> => {
    await page.evaluate(() => {
      const viewer = document.createElement('gpustrata-viewer');
      viewer.setAttribute('src', 'a.pickle');
      document.querySelector('#place')!.append(viewer);
    });
    await ready(page.locator('gpustrata-viewer'));
    await page.locator('.plot[data-settled]').waitFor();
    await page.evaluate(() => {
      const viewer = document.querySelector('gpustrata-viewer')!;
      viewer.remove();
      (viewer as HTMLElement & { dispose(): void }).dispose(); // the same as waiting
    });
    await expect.poll(() => page.workers().length).toBe(0);
  };
  const session = await page.context().newCDPSession(page);
  const counted = async (): Promise<{ nodes: number; heap: number }> => {
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    const of = (name: string): number => metrics.find((one) => one.name === name)?.value ?? 0;
    return { nodes: of('Nodes'), heap: of('JSHeapUsedSize') };
  };
  await session.send('Performance.enable');
  await cycle();
  await cycle();
  const before = await counted();
  for (let time = 0; time < 10; time += 1) await cycle();
  // One collection does not reach all: nodes and scripts hold each other.
  await expect.poll(async () => (await counted()).nodes - before.nodes).toBeLessThan(100); // one viewer has hundreds
  expect((await counted()).heap - before.heap).toBeLessThan(2 * MiB);
});

test('ten files opened and closed: workers and memory are where they were', async ({ page }) => {
  await openHost(page, '<gpustrata-viewer id="one" src="a.pickle"></gpustrata-viewer>');
  const one = page.locator('#one');
  await ready(one);
  const cycle = async (): Promise<void> => {
    await one.evaluate((viewer, bytes) => {
      const file = new File([new Uint8Array(bytes)], 'again.pickle');
      const chosen = { files: [{ name: file.name, source: { file } }] };
      (viewer as HTMLElement & { receive(chosen: object): void }).receive(chosen);
    }, bytes);
    await expect(nameIn(one)).toHaveText('again.pickle');
    await ready(one);
    await one.locator('.plot[data-settled]').waitFor();
    await one.locator('.plot').focus();
    await page.keyboard.press('Shift+X');
    await expect(nameIn(one)).toHaveText('a.pickle');
  };
  const bytes = [...knownSnapshot({ extra: MiB })];
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const heap = async (): Promise<number> => {
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0;
  };
  await cycle();
  await cycle();
  const most = 3; // its own, and those that wait
  await expect.poll(() => page.workers().length).toBeLessThanOrEqual(most);
  const before = await heap();
  for (let time = 0; time < 10; time += 1) await cycle();
  await expect.poll(() => page.workers().length).toBeLessThanOrEqual(most);
  expect((await heap()) - before).toBeLessThan(2 * MiB);
});

test('what a router keeps in the history stays there', async ({ page }) => {
  await openPage(page);
  await page.evaluate(() => history.replaceState({ route: 'viewer' }, ''));
  await choose(page, { name: 'known.pickle', buffer: knownSnapshot() });
  await waitForState(page, 'ready');
  await expect(page).toHaveURL(/#file=/);
  expect(await page.evaluate(() => history.state as unknown)).toEqual({ route: 'viewer' });
});

test('the sheet of keys names no link where there is none', async ({ page }) => {
  await openHost(page, '<gpustrata-viewer id="one" src="a.pickle"></gpustrata-viewer>');
  const viewer = page.locator('#one');
  await ready(viewer);
  await viewer.locator('.plot').focus();
  await page.keyboard.press('?');
  await expect(viewer.locator('[data-key-of=picture]')).toBeVisible();
  await expect(viewer.locator('[data-key-of=link]')).toHaveCount(0);
  await openPage(page);
  await page.keyboard.press('?');
  await expect(page.locator('[data-key-of=link]')).toBeVisible();
});

test('an element that was disposed of and is put back tells its page as before', async ({ page }) => {
  await page.clock.install();
  await openHost(page, '<gpustrata-viewer id="one" src="a.pickle"></gpustrata-viewer>');
  const one = page.locator('#one');
  await ready(one);
  await page.evaluate(() => {
    const viewer = document.querySelector('gpustrata-viewer')!;
    const told: string[] = [];
    Object.assign(globalThis, { told, viewer });
    for (const type of ['load', 'select', 'viewchange']) viewer.addEventListener(type, () => told.push(type));
    viewer.remove();
  });
  await page.clock.fastForward(60_000);
  await expect.poll(() => page.workers().length).toBe(0);
  await page.evaluate(() => {
    const { viewer, told } = globalThis as unknown as { viewer: HTMLElement; told: string[] };
    told.length = 0;
    document.body.append(viewer);
  });
  await ready(one);
  await one.evaluate((viewer) =>
    (viewer as HTMLElement & { select(what: object): Promise<void> }).select({ event: 2 }),
  );
  await page.clock.runFor(1000);
  const told = await page.evaluate(() => (globalThis as unknown as { told: string[] }).told);
  expect([...new Set(told)].sort()).toEqual(['load', 'select', 'viewchange']);
});

test('theme is a property, too, and the colours of the page reach the picture', async ({ page }) => {
  const errors = watchErrors(page);
  await openHost(
    page,
    `<style>gpustrata-viewer { --surface: rgb(255, 248, 231) }</style>
    <gpustrata-viewer id="one" src="a.pickle"></gpustrata-viewer>`,
  );
  const one = page.locator('#one');
  await ready(one);
  await one.locator('.plot[data-settled]').waitFor();
  const corner = (): Promise<number[]> =>
    one
      .locator('canvas.base')
      .evaluate((canvas: HTMLCanvasElement) => [...canvas.getContext('2d')!.getImageData(1, 1, 1, 1).data]);
  await expect.poll(corner).toEqual([255, 248, 231, 255]);
  // As React 19 sets what an element has a property for.
  await one.evaluate((viewer) => Object.assign(viewer, { theme: 'dark' }));
  await expect(one).toHaveAttribute('data-theme', 'dark');
  await one.evaluate((viewer) => {
    viewer.style.setProperty('--surface', '#102030');
    Object.assign(viewer, { theme: 'light' });
  });
  await expect(one).toHaveAttribute('data-theme', 'light');
  await expect.poll(corner).toEqual([16, 32, 48, 255]);
  expect(errors).toEqual([]);
});

test('a second copy of the script does no harm', async ({ page }) => {
  const errors = watchErrors(page);
  await openHost(page, '<gpustrata-viewer id="one" src="a.pickle"></gpustrata-viewer>');
  const one = page.locator('#one');
  await ready(one);
  await page.evaluate(() => import(new URL('viewer.js?again', location.href).href));
  await page.evaluate(() => {
    const two = document.createElement('gpustrata-viewer');
    two.id = 'two';
    two.setAttribute('src', 'b.pickle');
    document.body.append(two);
  });
  await ready(page.locator('#two'));
  await expect(nameIn(one)).toHaveText('a.pickle');
  expect(errors).toEqual([]);
});

test('open shows what the page wants to be seen first', async ({ page }) => {
  await openHost(page, '<gpustrata-viewer id="one"></gpustrata-viewer>');
  const one = page.locator('#one');
  await expect(one).toHaveAttribute('data-state', 'empty');
  await one.evaluate((viewer) =>
    (viewer as HTMLElement & { open(source: string, options: object): Promise<object> }).open('a.pickle', {
      panel: 'flame',
      filter: 'size>1MiB',
      event: 2,
      theme: 'dark',
    }),
  );
  await expect(one).toHaveAttribute('data-theme', 'dark');
  await expect(one.locator('[role=tab][data-panel=flame]')).toHaveAttribute('aria-selected', 'true');
  await expect(one.locator('gpustrata-filter [data-count]')).toHaveAttribute('data-count', '2');
  await expect(one.locator('gpustrata-flame .says')).toContainText('alive after event 2');
});
