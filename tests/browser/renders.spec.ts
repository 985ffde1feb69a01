// What is made anew while one points and zooms: that which changed, and nothing else.
import { expect, test, type Page } from '@playwright/test';
import { keepDetails, pointOf, settledView, viewAfter } from './page.ts';
import { MiB, wrapper } from './pickle.ts';
import { openKnown, openSnapshot } from './support.ts';

/** Counts updates of the page's elements by their names, from now on. */
async function countUpdates(page: Page): Promise<void> {
  await page.waitForSelector('gpustrata-viewer[data-whole]');
  await page.evaluate(() => {
    interface Updating extends HTMLElement {
      update(changed: unknown): void;
    }
    // What all elements have in common renders, unless nothing that they show has changed.
    let at = document.querySelector('gpustrata-viewer') as Updating;
    let base = at;
    for (; !Object.hasOwn(at, 'performUpdate'); at = Object.getPrototypeOf(at) as Updating)
      if (Object.hasOwn(at, 'update')) base = at;
    const { update } = base;
    const counts: Record<string, number> = {};
    Object.assign(globalThis, { counts });
    base.update = function (this: Updating, changed: unknown) {
      counts[this.localName] = (counts[this.localName] ?? 0) + 1;
      update.call(this, changed);
    };
  });
  // What was begun when the file opened is over.
  await expect
    .poll(async () => {
      await page.evaluate(() => {
        const { counts } = globalThis as unknown as { counts: Record<string, number> };
        for (const name of Object.keys(counts)) delete counts[name];
      });
      await page.waitForTimeout(500);
      return updates(page);
    })
    .toEqual({});
}
const updates = (page: Page): Promise<Record<string, number>> =>
  page.evaluate(() => (globalThis as unknown as { counts: Record<string, number> }).counts);

/** Points there, and waits for the level that is read off. */
async function point(page: Page, event: number, bytes: number, level: number): Promise<void> {
  const at = await pointOf(page, event + 0.5, bytes);
  await page.mouse.move(at.x, at.y);
  await expect(page.locator('[data-readout=allocated]')).toHaveAttribute('data-bytes', String(level));
}

test('pointing makes nothing anew but the line and the words that follow the pointer', async ({ page }) => {
  await openKnown(page);
  await countUpdates(page);
  // A alone, then A, B and C: another moment, and two other blocks.
  await point(page, 1, 1 * MiB, 4 * MiB);
  await expect(page.locator('.plot .tip')).toContainText('4.0 MiB');
  await point(page, 4, 5 * MiB, 7 * MiB);
  await expect(page.locator('.plot .tip')).toContainText('2.0 MiB');
  await point(page, 4, 6.5 * MiB, 7 * MiB);
  await expect(page.locator('.plot .tip')).toContainText('1.0 MiB');
  expect(await updates(page)).toEqual({});
});

test('pointing lays out the words that follow the pointer, once, and takes nothing away meanwhile', async ({
  page,
}) => {
  await openKnown(page);
  await countUpdates(page);
  await page.locator('gpustrata-timeline').evaluate(({ shadowRoot }) => {
    // An animation begins anew where an element was away, even if only while others were laid out.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('@keyframes there { to { top: 0 } } .foot { animation: there 1000s }');
    shadowRoot!.adoptedStyleSheets.push(sheet);
    const seen = { begins: 0, early: 0 };
    Object.assign(globalThis, { seen });
    shadowRoot!.addEventListener('animationstart', () => (seen.begins += 1));
    // A canvas that is asked for its font lays out what has changed before.
    const changes = new MutationObserver(() => undefined);
    changes.observe(shadowRoot!, { subtree: true, childList: true, characterData: true });
    const { get, set } = Object.getOwnPropertyDescriptor(CanvasRenderingContext2D.prototype, 'font')!;
    Object.defineProperty(CanvasRenderingContext2D.prototype, 'font', {
      get,
      set(font) {
        if (changes.takeRecords().length > 0) seen.early += 1;
        set!.call(this, font);
      },
    });
  });
  const seen = (): Promise<unknown> => page.evaluate(() => (globalThis as unknown as { seen: unknown }).seen);
  await expect.poll(seen).toEqual({ begins: 1, early: 0 });
  await point(page, 1, 1 * MiB, 4 * MiB);
  await point(page, 4, 5 * MiB, 7 * MiB);
  await expect(page.locator('.plot .tip')).toContainText('2.0 MiB');
  await point(page, 1, 1 * MiB, 4 * MiB);
  expect(await seen()).toEqual({ begins: 1, early: 0 });
});

test('with details open, a block that is pointed at makes them anew, and not what is about them', async ({
  page,
}) => {
  await openSnapshot(page, wrapper({ one: {}, other: {} }));
  await settledView(page);
  await expect(page.locator('gpustrata-peak-row')).toBeVisible();
  await keepDetails(page);
  await countUpdates(page);
  await point(page, 1, 1 * MiB, 4 * MiB);
  await expect(page.locator('gpustrata-details h2')).toHaveAttribute('data-bytes', String(4 * MiB));
  await point(page, 4, 5 * MiB, 7 * MiB);
  await expect(page.locator('gpustrata-details h2')).toHaveAttribute('data-bytes', String(2 * MiB));
  const made = Object.keys(await updates(page)).filter((name) => !/-(details|stack|copy)/.test(name));
  expect(made).toEqual(['gpustrata-viewer']);
});

test('the minimap keeps its canvas while the view moves, and nothing of what it showed', async ({ page }) => {
  const whole = await openKnown(page);
  const canvas = page.locator('gpustrata-minimap canvas');
  const picture = (): Promise<string> => canvas.evaluate((of) => (of as HTMLCanvasElement).toDataURL());
  await expect.poll(async () => (await picture()).length).toBeGreaterThan(1000);
  const before = await picture();
  await canvas.evaluate((of) => {
    const { get, set } = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, 'width')!;
    of.dataset['sized'] = '0';
    Object.defineProperty(of, 'width', {
      get,
      set(width: number) {
        of.dataset['sized'] = String(Number(of.dataset['sized']) + 1);
        set!.call(of, width);
      },
    });
  });
  const at = await pointOf(page, 5, MiB);
  await page.mouse.move(at.x, at.y);
  for (let i = 0; i < 5; i += 1) await page.mouse.wheel(0, -200);
  const near = await viewAfter(page, whole);
  expect(near.x1 - near.x0).toBeLessThan(whole.x1 - whole.x0);
  expect(await picture()).not.toBe(before);
  await page.keyboard.press('f');
  await viewAfter(page, near);
  await expect.poll(picture).toBe(before);
  await expect(canvas).toHaveAttribute('data-sized', '0');
});
