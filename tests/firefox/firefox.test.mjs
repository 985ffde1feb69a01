/* global document, navigator -- inside the page */
// The page in Debian's Firefox: from the disk, below a path, over the server, in others' pages; under its policies, and without
// a request to anybody else.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { serve } from '../../site/serve.mjs';
import { samples, site, tool } from '../built.mjs';
import { shownBy } from '../browser/panels.mjs';
import { buildReactExample } from '../browser/react_example.mjs';
import { click, coloursOfPicture, dataOf, find, openTab, shown, startFirefox, textWith } from './firefox.mjs';

const run = join(samples, 'training_run.pickle');
const peakOfRun = '2814816256'; // of the sample, as the README tells it
const options = { timeout: 300_000 };

let browser, address, closeServer;
before(async () => {
  browser = await startFirefox();
  // As if the site lay below a path of a larger one.
  const { url, close } = await serve({ folder: site, below: 'team/tools' });
  [address, closeServer] = [`${url}team/tools/`, close];
});
after(async () => {
  await browser?.close();
  await closeServer?.();
});

test(
  'one file from the disk: a snapshot is chosen, drawn and read; nothing is asked of a network',
  options,
  async () => {
    const offline = pathToFileURL(join(site, 'gpustrata.html')).href;
    const { page, wrong, close } = await openTab(browser, { allowed: [offline] });
    await page.goto(offline);
    await find(page, 'gpustrata-viewer[data-state=empty]');
    await (await find(page, 'input[type=file]')).uploadFile(run);
    await shown(page);
    assert.equal((await dataOf(page, '[data-stat=peak]')).bytes, peakOfRun);
    assert.ok((await coloursOfPicture(page)) > 20);
    // What lies in the engine's second half here lies in the same file.
    await click(page, '[role=tab][data-panel=state]');
    await find(page, '.picture[data-settled]');
    assert.deepEqual(wrong, []);
    await close();
  },
);

test('a page that the command made shows its snapshot at once', options, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gpustrata-html-'));
  const made = join(folder, 'run äöü.html');
  execFileSync(tool, ['html', run, '-o', made]);
  const here = pathToFileURL(made).href;
  const { page, wrong, close } = await openTab(browser, { allowed: [here] });
  await page.goto(here);
  await shown(page);
  assert.equal((await dataOf(page, '[data-stat=peak]')).bytes, peakOfRun);
  assert.deepEqual(wrong, []);
  await close();
  rmSync(folder, { recursive: true });
});

test('below a path: every panel opens; pointing, keys and wheel do what they do', options, async () => {
  const { page, wrong, close } = await openTab(browser, { allowed: [address] });
  await page.goto(`${address}?open=samples/training_run.pickle`);
  await shown(page);
  const plot = await find(page, '.plot');
  const box = await plot.boundingBox();
  // A block that is high enough to be one; above it a click takes groups.
  await page.mouse.click(box.x + box.width * 0.45, box.y + box.height * 0.9);
  await find(page, '[data-action=unpin], gpustrata-details');
  const whole = (await dataOf(page, '.plot')).view;
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.5);
  await page.mouse.wheel({ deltaY: -300 });
  await find(page, `.plot[data-settled]:not([data-view="${whole}"])`);
  const panels = await page.evaluate(() => {
    const roots = [document];
    const names = [];
    for (const root of roots)
      for (const element of root.querySelectorAll('*')) {
        if (element.shadowRoot) roots.push(element.shadowRoot);
        if (element.matches('[role=tab][data-panel]') && element.getAttribute('aria-disabled') !== 'true')
          names.push(element.dataset.panel);
      }
    return names;
  });
  assert.ok(panels.length >= 8, panels.join());
  for (const name of panels.filter((one) => one !== 'details')) {
    const tab = await find(page, `[role=tab][data-panel=${name}]`);
    // A click on an open panel of the drawer closes it.
    if ((await tab.evaluate((node) => node.ariaSelected)) !== 'true') await tab.click();
    await find(page, `[role=tab][data-panel=${name}][aria-selected=true]`);
    // Across shadow roots: of each of them the last part.
    const last = (one) => one.split(' ').at(-1);
    await find(page, shownBy(name).split(', ').map(last).join(', '));
  }
  assert.deepEqual(wrong, []);
  await close();
});

test('every sample opens below a path', options, async () => {
  const { page, wrong, close } = await openTab(browser, { allowed: [address] });
  const files = readdirSync(samples).filter((name) => /\.(pickle|gz|zip)$/.test(name));
  assert.ok(files.length >= 8, files.join());
  for (const file of files) {
    await page.goto(`${address}?open=samples/${file}`);
    await shown(page);
    assert.ok((await coloursOfPicture(page)) > 3, file);
    // Firefox complains of what a page that is left was still loading: its panels come when it has time.
    await page.waitForNetworkIdle({ idleTime: 300, timeout: 30_000 });
  }
  assert.deepEqual(wrong, []);
  await close();
});

test('without a network the page opens again, and the guide', options, async () => {
  const { url, close: closeOwn } = await serve({ folder: site, below: 'other' });
  const { page, wrong, close } = await openTab(browser, { allowed: [`${url}other/`] });
  await page.goto(`${url}other/`);
  await find(page, 'gpustrata-viewer[data-state=empty]');
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await closeOwn(); // nobody answers any more
  await page.goto(`${url}other/`);
  await (await find(page, 'input[type=file]')).uploadFile(run);
  await shown(page);
  await page.goto(`${url}other/guide/leak.html`);
  await textWith(page, 'h1', 'What leaks?');
  assert.deepEqual(wrong, []);
  await close();
});

test('the guide: every page under its policy, with its pictures', options, async () => {
  const { page, wrong, close } = await openTab(browser, { allowed: [address] });
  for (const name of readdirSync(join(site, 'guide')).filter((file) => file.endsWith('.html'))) {
    await page.goto(`${address}guide/${name}`);
    const broken = await page.evaluate(async () => {
      const pictures = [...document.images];
      for (const picture of pictures) picture.loading = 'eager';
      await Promise.allSettled(pictures.map((picture) => picture.decode()));
      return pictures.filter(({ naturalWidth }) => naturalWidth === 0).map(({ src }) => src);
    });
    assert.deepEqual(broken, [], name);
    const rules = await page.evaluate(() => document.styleSheets[0].cssRules.length);
    assert.ok(rules > 10, name);
  }
  assert.deepEqual(wrong, []);
  await close();
});

test('plain page: two viewers, a file, its refusal in words', options, async () => {
  const { page, wrong, close } = await openTab(browser, { allowed: [address] });
  await page.goto(`${address}examples/plain.html`);
  await shown(page, '#first');
  await shown(page, '#second');
  await (await find(page, '#file')).uploadFile(join(samples, 'leak.pickle.gz'));
  await textWith(page, '#told', '"file":"leak.pickle.gz"');
  const folder = mkdtempSync(join(tmpdir(), 'gpustrata-broken-'));
  writeFileSync(join(folder, 'broken.pickle'), 'no snapshot');
  await (await find(page, '#file')).uploadFile(join(folder, 'broken.pickle'));
  await textWith(page, '#told', 'invalid_format');
  assert.deepEqual(wrong, []);
  await close();
  rmSync(folder, { recursive: true });
});

test('panel of a dashboard under a strict policy: a stream, and another one after it', options, async () => {
  const { page, wrong, close } = await openTab(browser, { allowed: [address] });
  await page.goto(`${address}examples/panel.html`);
  await shown(page);
  await page.select('#run', 'leak.pickle.gz');
  await textWith(page, '.file-name', 'leak.pickle.gz');
  await shown(page);
  assert.equal(await page.$$eval('gpustrata-viewer', (all) => all.length), 1);
  assert.deepEqual(wrong, []);
  await close();
});

test('frame of another origin: refused by default, driven by an origin that is named', options, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gpustrata-frame-'));
  const [around, inside] = [join(folder, 'around'), join(folder, 'inside')];
  for (const part of ['examples', 'samples', 'icon.svg'])
    cpSync(join(site, part), join(around, part), { recursive: true });
  cpSync(site, inside, { recursive: true });
  const outer = await serve({ folder: around });
  const frames = await serve({ folder: inside });
  const example = readFileSync(join(site, 'examples/iframe.html'), 'utf8')
    .replace("frame-src 'self'", `frame-src ${new URL(frames.url).origin}`)
    .replace('../embed.html', `${frames.url}embed.html`);
  writeFileSync(join(around, 'examples/iframe.html'), example);
  const { page, wrong, close } = await openTab(browser, { allowed: [outer.url, frames.url] });
  const warnings = [];
  page.on('console', (message) => warnings.push(message.text()));
  await page.goto(`${outer.url}examples/iframe.html`);
  const end = Date.now() + 60_000;
  const refused = `messages from ${new URL(outer.url).origin} are refused`;
  while (!warnings.some((text) => text.includes(refused))) {
    assert.ok(Date.now() < end, `no refusal: ${warnings.join()}`);
    await new Promise((next) => setTimeout(next, 100));
  }
  await textWith(page, '#told', 'No answer yet.');

  // As `site/build.mjs --parents` writes it.
  const named = readFileSync(join(site, 'embed.html'), 'utf8').replace(
    'name="gpustrata-parents" content=""',
    `name="gpustrata-parents" content="${new URL(outer.url).origin}"`,
  );
  writeFileSync(join(inside, 'embed.html'), named);
  await page.goto(`${outer.url}examples/iframe.html`);
  await textWith(page, '#told', 'leak.pickle.gz'); // of an event, whichever came last
  const frame = await (await find(page, '#frame')).contentFrame();
  await textWith(frame, '.file-name', 'leak.pickle.gz');
  assert.deepEqual(wrong, []);
  await close();
  await outer.close();
  await frames.close();
  rmSync(folder, { recursive: true });
});

test('React: the npm package in a bundle', options, async () => {
  const folder = buildReactExample();
  const { url, close: closeOwn } = await serve({ folder: join(folder, 'public') });
  const { page, wrong, close } = await openTab(browser, { allowed: [url] });
  await page.goto(url);
  await (await find(page, 'input[aria-label=Snapshot]')).uploadFile(run);
  await shown(page);
  await textWith(page, '#chosen', 'After event');
  assert.deepEqual(wrong, []);
  await close();
  await closeOwn();
  rmSync(folder, { recursive: true });
});

test('over the server: the folder is a list, a file of it opens', options, async () => {
  const server = spawn(tool, ['serve', samples], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(server.stdout, 'data');
  const served = line.toString().trim();
  const { page, wrong, close } = await openTab(browser, { allowed: [served] });
  await page.goto(served);
  await find(page, 'gpustrata-served[data-to-examine="0"]');
  await click(page, 'gpustrata-served tbody button, tbody button');
  await shown(page);
  await textWith(page, '[data-served]', new URL(served).host);
  assert.deepEqual(wrong, []);
  await close();
  server.kill();
});
