// Theme, sizes, keys that belong to the page, and what axe-core finds.
import { expect, test } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { colourBy, settledView, keepDetails, pointAt } from './page.ts';
import { waitForState, openPage, choose, openKnown, openSample } from './support.ts';

test('T changes the theme, which is remembered', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await openPage(page);
  const viewer = page.locator('gpustrata-viewer');
  await expect(viewer).toHaveAttribute('data-theme', 'light');
  await page.keyboard.press('t');
  await expect(viewer).toHaveAttribute('data-theme', 'dark');
  await page.reload();
  await expect(viewer).toHaveAttribute('data-theme', 'dark');
});

test('the theme follows the system until one is chosen', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await openPage(page);
  await expect(page.locator('gpustrata-viewer')).toHaveAttribute('data-theme', 'dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await expect(page.locator('gpustrata-viewer')).toHaveAttribute('data-theme', 'light');
});

test('a file opens by what tells most of it apart, until the reader or a link says otherwise', async ({
  page,
}) => {
  const colour = page.getByLabel('Colour by');
  const legend = page.locator('gpustrata-legend');
  await openSample(page);
  await expect(colour).toHaveValue('category');
  await expect(legend.locator('[data-kind=optimizer_state]')).toContainText('optimizer state');
  await expect(legend.locator('[data-inferred]')).toHaveText('inferred by rules: see Memory');
  await expect(page).toHaveURL(/colour=category/);
  // Links of those who saw each block name no colour.
  const link = page.url().replace('&colour=category', '');
  await page.goto('about:blank');
  await page.goto(link);
  await waitForState(page, 'ready');
  await expect(page.locator('[data-finding=peak]')).toBeVisible();
  await expect(colour).toHaveValue('allocation');
  await openPage(page, '');
  await openSample(page);
  await colour.selectOption('size');
  await openSample(page, 'leak.pickle.gz');
  await expect(page.locator('[data-finding=leaks]')).toBeVisible();
  await expect(colour).toHaveValue('size');
});

test('the colours that come with a file leave the picture where it is', async ({ page }) => {
  await page.addInitScript(() => {
    const heights: number[] = [];
    Object.assign(globalThis, { heights });
    const look = (): void => {
      const viewer = document.querySelector('gpustrata-viewer');
      const timeline = viewer?.shadowRoot?.querySelector('gpustrata-timeline')?.shadowRoot;
      const legend = timeline?.querySelector('gpustrata-legend');
      if (timeline?.querySelector('.plot[data-view]')) heights.push(legend?.clientHeight ?? -1);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  const seen = (): Promise<number[]> =>
    page.evaluate(() => [...new Set((globalThis as unknown as { heights: number[] }).heights)]);
  await openSample(page);
  await expect(page.getByLabel('Colour by')).toHaveValue('category');
  const heights = await seen();
  expect(heights).toHaveLength(1);
  expect(heights[0]).toBeGreaterThan(40);
  await colourBy(page, 'stack');
  expect(await seen()).toEqual(heights);
});

test('? shows the keys', async ({ page }) => {
  await openPage(page);
  await page.keyboard.press('?');
  await expect(page.getByRole('heading', { name: 'Keys' })).toBeVisible();
  for (const id of ['open', 'next-file', 'next-snapshot', 'next-device', 'close-file'])
    await expect(page.locator(`[data-key-of="${id}"] kbd`).first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('heading', { name: 'Keys' })).toBeHidden();
});

test('the details can be made wider by key, and stay so', async ({ page }) => {
  await openKnown(page);
  await keepDetails(page);
  const splitter = page.getByRole('separator', { name: 'Width of the answers and details' });
  const before = Number(await splitter.getAttribute('aria-valuenow'));
  await splitter.focus();
  await page.keyboard.press('ArrowLeft');
  await expect(splitter).toHaveAttribute('aria-valuenow', String(before + 16));
  await openKnown(page);
  await expect(splitter).toHaveAttribute('aria-valuenow', String(before + 16));
});

test('Ctrl C copies the details as text', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openSample(page);
  const at = await pointAt(page, 0.5, 0.02);
  await page.mouse.click(at.x, at.y);
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeVisible();
  const name = await page.locator('gpustrata-details [data-name]').textContent();
  await page.keyboard.press('Control+c');
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain(name);
});

test('names and lines of a stack are whole in the narrow panel', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await openSample(page);
  const at = await pointAt(page, 0.33, 0.387);
  await page.mouse.click(at.x, at.y);
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeVisible();
  const parts = page.locator('gpustrata-details .frame :is(.function, .file)');
  expect(await parts.count()).toBeGreaterThan(2);
  await settledView(page);
  const cut = (): Promise<unknown[]> =>
    parts.evaluateAll((all) =>
      all.filter((part) => part.scrollWidth > part.clientWidth).map((part) => part.textContent),
    );
  await expect.poll(cut).toEqual([]); // once the panel has its width
});

for (const [width, height] of [
  [320, 640],
  [390, 844],
  [820, 1100],
  [1280, 800],
  [2560, 1440],
] as const) {
  test(`nothing is cut off at ${width} x ${height}`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    await openSample(page);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wider).toBeLessThanOrEqual(0);
    await colourBy(page, 'stack'); // the legend takes room, too
    const plot = (await page.locator('.plot').boundingBox())!;
    expect(plot.height).toBeGreaterThanOrEqual(200);
    expect(plot.width).toBeGreaterThanOrEqual(Math.min(width, 320) - 1);
    for (const stat of await page.locator('[data-stat]:visible').all()) {
      const box = (await stat.boundingBox())!;
      expect(box.x).toBeGreaterThanOrEqual(0);
      expect(box.x + box.width).toBeLessThanOrEqual(width);
    }
  });
}

for (const deviceScaleFactor of [1, 2]) {
  test.describe(`4K at ${deviceScaleFactor} pixels a CSS pixel`, () => {
    test.use({ viewport: { width: 3840, height: 2160 }, deviceScaleFactor });
    test('the picture fills the screen sharply, nothing is cut off', async ({ page }) => {
      await openSample(page);
      const size = await page.evaluate(() => ({
        wider: document.documentElement.scrollWidth - innerWidth,
        higher: document.documentElement.scrollHeight - innerHeight,
      }));
      expect(size.wider).toBeLessThanOrEqual(0);
      expect(size.higher).toBeLessThanOrEqual(0);
      const plot = (await page.locator('.plot').boundingBox())!;
      expect(plot.width).toBeGreaterThan(3000);
      expect(plot.height).toBeGreaterThan(1600);
      const canvas = await page
        .locator('canvas.base')
        .evaluate(({ width, height }: HTMLCanvasElement) => ({ width, height }));
      expect(canvas.width).toBe(Math.round(plot.width * deviceScaleFactor));
      expect(canvas.height).toBe(Math.round(plot.height * deviceScaleFactor));
      await expect(page.locator('.problem')).toBeHidden();
      const at = await pointAt(page, 0.5, 0.02);
      await page.mouse.click(at.x, at.y);
      await expect(page.getByRole('button', { name: 'Unpin' })).toBeVisible();
    });
  });
}

for (const theme of ['light', 'dark'] as const) {
  test(`axe-core finds nothing, ${theme}`, async ({ page }) => {
    test.setTimeout(120_000);
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await openPage(page);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Open the sample' }).click();
    await waitForState(page, 'ready');
    await settledView(page);
    await colourBy(page, 'stack');
    const at = await pointAt(page, 0.5, 0.02);
    await page.mouse.click(at.x, at.y);
    await expect(page.getByRole('button', { name: 'Unpin' })).toBeVisible();
    await page.getByLabel('Search and filter blocks').fill('s');
    await expect(page.locator('gpustrata-filter').getByRole('option').first()).toBeVisible();
    await page.keyboard.press('ArrowDown');
    await expectAccessible(page);
    await page.getByLabel('Search and filter blocks').fill('size>x');
    await page.keyboard.press('Enter');
    await expect(page.locator('gpustrata-filter [role=alert]')).toBeVisible();
    await expectAccessible(page);
    for (const key of ['?', 'b', 'i']) {
      await page.locator('.plot').focus();
      await page.keyboard.press(key);
      await expect(page.getByRole('dialog')).toBeVisible();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toBeHidden();
    }
    await choose(page, { name: 'empty.pickle', buffer: Buffer.alloc(0) });
    await waitForState(page, 'error'); // with two files: the row of bars, too
    await expectAccessible(page);
    await page.setViewportSize({ width: 320, height: 640 });
    await page.getByRole('button', { name: 'Back to training_run.pickle' }).click();
    await settledView(page);
    await expectAccessible(page);
  });
}
