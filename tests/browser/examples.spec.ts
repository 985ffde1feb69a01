// The examples of site/examples, each in a browser under its own policy, and the messages of the page for frames.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import { serve } from '../../site/serve.mjs';
import { site } from '../built.mjs';
import { knownSnapshot } from './pickle.ts';
import { buildReactExample } from './react_example.mjs';

test.describe.configure({ timeout: 240_000 });
const patient = { timeout: 120_000 };

/** What the page complained about: its policy, requests to elsewhere, errors. */
function complaints(page: Page, ...origins: string[]): string[] {
  const all: string[] = [];
  page.on('console', (message) => message.type() === 'error' && all.push(message.text()));
  page.on('pageerror', (error) => all.push(error.message));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (/^https?:$/.test(url.protocol) && !origins.includes(url.origin)) all.push(request.url());
  });
  return all;
}
const here = (): string => process.env.GPUSTRATA_URL ?? '';
const origin = (): string => new URL(here()).origin;

test('plain page: two viewers, a file, a choice, and the same view in both', async ({ page }) => {
  const wrong = complaints(page, origin());
  await page.goto(`${here()}examples/plain.html`);
  const [first, second] = [page.locator('#first'), page.locator('#second')];
  await expect(first).toHaveAttribute('data-state', 'ready', patient);
  await expect(second).toHaveAttribute('data-state', 'ready', patient);
  await first.locator('.plot[data-settled]').waitFor(patient);
  await first.locator('[role=tab][data-panel=state]').click();
  await page.locator('#same').click();
  await expect(second.locator('[role=tab][data-panel=state]')).toHaveAttribute(
    'aria-selected',
    'true',
    patient,
  );
  await page.locator('#file').setInputFiles({ name: 'mine.pickle', mimeType: '', buffer: knownSnapshot() });
  await expect(page.locator('#told')).toContainText('"file":"mine.pickle"', patient);
  await expect(first.locator('.file-name').first()).toHaveText('mine.pickle');
  await page
    .locator('#file')
    .setInputFiles({ name: 'broken.pickle', mimeType: '', buffer: Buffer.from('no snapshot') });
  await expect(page.locator('#told')).toContainText('invalid_format', patient);
  expect(wrong).toEqual([]);
});

test('panel of a dashboard: a stream of its own, made anew for another run', async ({ page }) => {
  const wrong = complaints(page, origin());
  await page.goto(`${here()}examples/panel.html`);
  const viewer = page.locator('gpustrata-viewer');
  await expect(viewer).toHaveAttribute('data-state', 'ready', patient);
  await page.locator('#run').selectOption('leak.pickle.gz');
  await expect(viewer.locator('.file-name')).toHaveText('leak.pickle.gz', patient);
  await expect(viewer).toHaveCount(1);
  await expect(viewer).toHaveCSS('--accent', '#d9480f');
  expect(wrong).toEqual([]);
});

test('frame: refused by default; an origin that is named drives it and is told what happens', async ({
  page,
}) => {
  // The page around it lies on another origin than the frame. Both are served: a browser lets no page of unknown origin
  // put one of this computer into a frame.
  const folder = mkdtempSync(join(tmpdir(), 'gpustrata-frame-'));
  const [around, inside] = [join(folder, 'around'), join(folder, 'inside')];
  cpSync(join(site, 'examples'), join(around, 'examples'), { recursive: true });
  cpSync(join(site, 'samples'), join(around, 'samples'), { recursive: true });
  cpSync(join(site, 'icon.svg'), join(around, 'icon.svg'));
  cpSync(site, inside, { recursive: true });
  const { url, close } = await serve({ folder: around });
  const frames = await serve({ folder: inside });
  const parent = new URL(url).origin;
  const frameOrigin = new URL(frames.url).origin;
  const example = readFileSync(join(site, 'examples/iframe.html'), 'utf8')
    .replace("frame-src 'self'", `frame-src ${frameOrigin}`)
    .replace('../embed.html', `${frames.url}embed.html`);
  writeFileSync(join(around, 'examples/iframe.html'), example);
  const wrong = complaints(page, parent, frameOrigin);
  const warnings: string[] = [];
  page.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()));
  await page.goto(`${url}examples/iframe.html`);
  await expect.poll(() => warnings.join(), patient).toContain(`messages from ${parent} are refused`);
  await expect(page.locator('#told')).toHaveText('No answer yet.');

  // As `site/build.mjs --parents` writes it.
  const named = readFileSync(join(site, 'embed.html'), 'utf8').replace(
    'name="gpustrata-parents" content=""',
    `name="gpustrata-parents" content="https://other.example ${parent}"`,
  );
  writeFileSync(join(inside, 'embed.html'), named);
  await page.goto(`${url}examples/iframe.html`);
  const viewer = page.frameLocator('#frame').locator('gpustrata-viewer');
  await expect(viewer).toHaveAttribute('data-state', 'ready', patient);
  await expect(viewer.locator('.file-name')).toHaveText('leak.pickle.gz');
  await expect(page.locator('#told')).toContainText(/load|select|viewchange/, patient);

  const answers = await page.evaluate(async (to) => {
    const frame = document.querySelector('iframe')!.contentWindow!;
    const ask = (what: object): Promise<unknown> =>
      new Promise((resolve) => {
        const id = Math.random();
        addEventListener('message', function heard({ data }: MessageEvent<{ id?: number }>) {
          if (data.id !== id) return;
          removeEventListener('message', heard);
          resolve(data);
        });
        frame.postMessage({ gpustrata: 1, id, ...what }, to);
      });
    const state = (await ask({ do: 'getState' })) as { answer: string };
    return {
      state: state.answer,
      set: await ask({ do: 'setState', state: state.answer }),
      wrongState: await ask({ do: 'setState', state: 'nothing' }),
      unknown: await ask({ do: 'constructor' }),
      noFile: await ask({ do: 'open' }),
      noChoice: await ask({ do: 'select', what: { event: 'x' } }),
      chosen: await ask({ do: 'select', what: { event: 12 } }),
    };
  }, frameOrigin);
  expect(answers.state).toContain('file=leak.pickle.gz');
  expect(answers.set).toMatchObject({ answer: true });
  expect(answers.wrongState).toMatchObject({ answer: false });
  expect(answers.unknown).toMatchObject({ error: { code: 'message' } });
  expect(answers.noFile).toMatchObject({ error: { code: 'message' } });
  expect(answers.noChoice).toMatchObject({ error: { code: 'message' } });
  expect(answers.chosen).toMatchObject({ answer: null });
  await expect(page.locator('#told')).toContainText('12', patient);
  expect(wrong).toEqual([]);
  await close();
  await frames.close();
  rmSync(folder, { recursive: true });
});

test('React: the npm package in a bundle, files from state, events as properties', async ({ page }) => {
  const folder = buildReactExample();
  const { url, close } = await serve({ folder: join(folder, 'public') });
  const wrong = complaints(page, new URL(url).origin);
  await page.goto(url);
  await page
    .getByLabel('Snapshot', { exact: true })
    .setInputFiles({ name: 'known.pickle', mimeType: '', buffer: knownSnapshot() });
  await expect(page.locator('gpustrata-viewer')).toHaveAttribute('data-state', 'ready', patient);
  await expect(page.locator('#chosen')).toContainText('After event', patient);
  expect(wrong).toEqual([]);
  await close();
  rmSync(folder, { recursive: true });
});
