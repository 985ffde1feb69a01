// `gpustrata live`: the page follows a program while it allocates, holds still while one looks back, and tells the end.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { expect, test, type Locator, type Page } from '@playwright/test';
import { root, tool } from '../built.mjs';
import { expectAccessible } from './accessible.ts';
import { countOf, settledView } from './page.ts';
import { shot, waitForState } from './support.ts';

/** A program that allocates when it is told to (tests/support/live_program.py). */
class Program {
  private readonly process: ChildProcess;
  private readonly lines: AsyncIterator<string>;
  private readonly input: Interface;

  constructor(journal: string) {
    const environment = {
      PYTHONPATH: join(root, 'capture/python'),
      GPUSTRATA_CAPTURE: join(dirname(tool), '../lib/libgpustrata_capture.so'),
    };
    this.process = spawn('python3', [join(root, 'tests/support/live_program.py'), journal], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...environment },
    });
    this.input = createInterface(this.process.stdout!);
    this.lines = this.input[Symbol.asyncIterator]();
  }

  /** How many blocks came so far. */
  async started(): Promise<number> {
    return Number((await this.lines.next()).value);
  }
  async tell(line: number | 'close'): Promise<number> {
    this.process.stdin!.write(`${line}\n`);
    return this.started();
  }
  get number(): number {
    return this.process.pid!;
  }
  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill('SIGKILL');
    await once(this.process, 'exit');
  }
}

let folder: string;
let server: ChildProcess | undefined;
let programs: Program[] = [];

test.beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'live-'));
});
test.afterEach(async () => {
  server?.kill();
  await Promise.all(programs.map((one) => one.kill()));
  programs = [];
  rmSync(folder, { recursive: true });
});

async function begin(name: string, blocks: number): Promise<Program> {
  const program = new Program(join(folder, name));
  programs.push(program);
  expect(await program.started()).toBe(0);
  expect(await program.tell(blocks)).toBe(blocks);
  return program;
}

async function live(page: Page, what = folder): Promise<void> {
  server = spawn(tool, ['live', what], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(server.stdout!, 'data')) as [Buffer];
  await page.goto(line.toString().trim());
}

const badge = (page: Page): Locator => page.locator('gpustrata-live');
const expectState = (page: Page, state: string): Promise<void> =>
  expect(badge(page)).toHaveAttribute('data-live', state);
const expectBlocks = (page: Page, count: number): Promise<void> =>
  expect.poll(() => countOf(page, 'blocks')).toBe(count);

test('the picture follows, holds still when one looks back, goes on, and ends', async ({ page }) => {
  const failures: string[] = [];
  page.on('pageerror', (error) => failures.push(String(error)));
  const program = await begin('run.gpustrata', 200);
  await live(page);
  await waitForState(page, 'ready');
  await expectState(page, 'following');
  await expectBlocks(page, 200);
  const before = await settledView(page);
  await expectAccessible(page);

  // What the reader set up stays: a filter, the way to colour, an open panel with its choices.
  await page.keyboard.press('/');
  await page.keyboard.type('forward');
  const matches = page.locator('gpustrata-filter [data-count]');
  await expect(matches).toHaveAttribute('data-count', '200');
  await page.locator('[role=tab][data-panel=flame]').click();
  await expect(page.locator('gpustrata-flame-graph .scroller[data-settled]')).toBeVisible();
  await expectState(page, 'following');

  const came = await program.tell(150);
  await expectBlocks(page, came);
  const after = await settledView(page);
  expect(after.x0).toBe(0);
  expect(after.x1).toBeGreaterThan(before.x1);
  await expect(page.getByLabel('Search and filter blocks')).toHaveValue('forward');
  await expect(matches).toHaveAttribute('data-count', String(came));
  await expect(page.locator('gpustrata-flame-graph .scroller[data-settled]')).toBeVisible();
  await shot(page, 'live-following');

  // One looks back: nothing moves, and how much came is told.
  await page.locator('.plot').focus();
  await page.keyboard.press('d');
  await page.keyboard.press('w');
  await page.keyboard.press('a');
  await expectState(page, 'holding');
  const held = await settledView(page);
  const events = await countOf(page, 'events');
  const later = await program.tell(100);
  const told = async (): Promise<number> => Number(await badge(page).getAttribute('data-newer'));
  await expect.poll(told).toBeGreaterThanOrEqual(300); // a block that comes and goes is three events
  const newer = await told();
  expect(await settledView(page)).toEqual(held);
  await expectBlocks(page, came);
  await shot(page, 'live-holding');
  await expectAccessible(page);

  // A key leads back to the end, and what came is there, as many events as were told.
  await page.locator('.plot').focus();
  await page.keyboard.press('End');
  await expectState(page, 'following');
  await expectBlocks(page, later);
  expect(await countOf(page, 'events')).toBe(events + newer);
  expect((await settledView(page)).x0).toBe(0);

  // Stopped by hand, and on again.
  await badge(page).getByRole('button').click();
  await expectState(page, 'paused');
  const paused = await program.tell(10);
  await expect(badge(page)).toHaveAttribute('data-newer', /^[1-9]/);
  await expectBlocks(page, later);
  await badge(page).getByRole('button').click();
  await expectState(page, 'following');
  await expectBlocks(page, paused);

  const last = await program.tell(5);
  await program.tell('close');
  await expectState(page, 'closed');
  await expectBlocks(page, last);
  expect(failures).toEqual([]);
});

/** Frames in which something was gone that is there all the time, as they come. */
async function watchFrames(
  page: Page,
): Promise<() => Promise<{ frames: number; gone: string[]; readings: number }>> {
  await page.evaluate(() => {
    const all = (root: Document | ShadowRoot, selector: string): Element[] => [
      ...root.querySelectorAll(selector),
      ...[...root.querySelectorAll('*')].flatMap((one) =>
        one.shadowRoot ? all(one.shadowRoot, selector) : [],
      ),
    ];
    const seen = { frames: 0, gone: [] as string[], readings: 0, done: false };
    (window as unknown as { seen: typeof seen }).seen = seen;
    let last: string | undefined;
    const look = (): void => {
      seen.frames += 1;
      const canvas = all(document, 'canvas.base')[0] as HTMLCanvasElement;
      const { width, height } = canvas;
      // A column through the bands: something of it is coloured.
      const pixels = canvas.getContext('2d')!.getImageData(Math.round(width * 0.6), 0, 1, height).data;
      let inked = 0;
      for (let at = 0; at < pixels.length; at += 4) if (pixels[at]! !== pixels[at + 2]!) inked += 1;
      if (inked < height / 4) seen.gone.push(`picture ${inked} of ${height}`);
      if (!all(document, '.answer[data-answered]')[0]) seen.gone.push('overview');
      if (!all(document, 'gpustrata-minimap')[0]) seen.gone.push('minimap');
      const { followed } = (all(document, 'gpustrata-viewer')[0] as HTMLElement).dataset;
      if (followed !== last) seen.readings += 1;
      last = followed;
      if (!seen.done) requestAnimationFrame(look);
    };
    look();
  });
  return () =>
    page.evaluate(() => {
      const { seen } = window as unknown as {
        seen: { frames: number; gone: string[]; readings: number; done: boolean };
      };
      seen.done = true;
      return seen;
    });
}

/** What of a panel is there all the time, in its own root. */
const panels = [
  ['state', '.picture[data-settled]'],
  ['map', 'gpustrata-address-map .scroller[data-settled]'],
  ['flame', 'gpustrata-flame-graph .scroller[data-settled]'],
  ['memory', '.table[data-settled]'],
  ['events', '[role=row][data-event]'],
] as const;

test('panels follow, too, and keep what they show until the next is there', async ({ page }) => {
  const program = await begin('run.gpustrata', 300);
  await live(page);
  await waitForState(page, 'ready');
  await settledView(page);
  for (const [panel, settled] of panels) {
    await page.locator(`[role=tab][data-panel=${panel}]`).click();
    await expect(page.locator(settled).first()).toBeVisible();
    await expectState(page, 'following');
    const came = await program.tell(20);
    await expectBlocks(page, came);
    await expect(page.locator(settled).first()).toBeVisible();
  }
});

test('nothing blinks while it follows', async ({ page }) => {
  const program = await begin('run.gpustrata', 300);
  await live(page);
  await waitForState(page, 'ready');
  await settledView(page);
  await expect(page.locator('gpustrata-overview [data-answered]')).toBeVisible();
  const told = await watchFrames(page);
  let came = 300;
  for (let time = 0; time < 20; time += 1) {
    came = await program.tell(20);
    await page.waitForTimeout(100);
  }
  await expectBlocks(page, came);
  await settledView(page);
  const { frames, gone, readings } = await told();
  expect(gone).toEqual([]);
  expect(frames).toBeGreaterThan(readings);
  expect(readings).toBeGreaterThan(2); // it came in parts
});

test('ranks of a host stand in a row as they come; one that is killed is said to be', async ({ page }) => {
  await live(page);
  await waitForState(page, 'empty'); // nothing is written yet
  const first = await begin('rank0.gpustrata', 50);
  await waitForState(page, 'ready');
  await expectBlocks(page, 50);
  const second = await begin('rank1.gpustrata', 20);
  const entry = (name: string): Locator => page.locator(`[data-entry="${name}.gpustrata"]`);
  await expect(entry('rank1')).toHaveAttribute('data-entry-state', 'ready');
  // What one looks at stays.
  await expect(page.locator('.file-name')).toHaveText('rank0.gpustrata');
  await expectState(page, 'following');
  await shot(page, 'live-ranks');

  // One that is not shown follows, too: its peak is that of blocks that came later.
  const before = await entry('rank1').innerText();
  await second.tell(60);
  await expect(entry('rank1')).not.toHaveText(before, { useInnerText: true });
  await page.keyboard.press('.');
  await expect(page.locator('.file-name')).toHaveText('rank1.gpustrata');
  await expectBlocks(page, 80);
  await expectState(page, 'following');

  // What one looked at in it is there when one comes back, though it went on.
  await page.locator('.plot').click({ position: { x: 500, y: 500 } });
  await expectState(page, 'holding');
  await page.keyboard.press(',');
  await expect(page.locator('.file-name')).toHaveText('rank0.gpustrata');
  await expectState(page, 'following');
  await second.tell(10);
  await expectBlocks(page, await first.tell(10));
  await page.keyboard.press('.');
  await expectState(page, 'holding');
  await expect(badge(page)).toHaveAttribute('data-newer', /^[1-9]/);
  await expectBlocks(page, 80);
  await page.keyboard.press('End');
  await expectState(page, 'following');
  await expectBlocks(page, 90);

  await first.tell(20);
  await first.kill();
  await page.keyboard.press(',');
  await expectState(page, 'left');
  await expectBlocks(page, 80);
  await expect(badge(page).locator('.badge')).toHaveAttribute(
    'title',
    new RegExp(`Process ${first.number} `),
  );
  await page.keyboard.press('t');
  await shot(page, 'live-stopped-dark');
  await expectAccessible(page);
});

test('a process is followed by its number; a server that ends is told', async ({ page }) => {
  const program = await begin('run.gpustrata', 40);
  await live(page, String(program.number));
  await waitForState(page, 'ready');
  await expect(page.locator('.file-name')).toHaveText('run.gpustrata');
  await expectBlocks(page, await program.tell(15));
  server?.kill();
  await expectState(page, 'away');
});
