// The picture as a file, and on paper.
import { readFileSync } from 'node:fs';
import { expect, test, type Locator, type Page } from '@playwright/test';
import { colourBy, settledView, keepDetails } from './page.ts';
import { openKnown, openSample } from './support.ts';

async function saved(page: Page, kind: 'png' | 'svg'): Promise<{ name: string; content: Buffer }> {
  await page.keyboard.press('i');
  const coming = page.waitForEvent('download');
  await page.locator(`[data-save="${kind}"]`).click();
  const download = await coming;
  return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
}

test('PNG: the pixels of the screen with title and legend', async ({ page }) => {
  await openSample(page);
  await page.getByLabel('Colour by').selectOption('size');
  await expect(page.locator('[data-kind="1 to 10 MiB"]')).toHaveAttribute('data-bytes', /\d/);
  await settledView(page);
  const { name, content } = await saved(page, 'png');
  expect(name).toBe('training_run.pickle-device0.png');
  expect(content.subarray(1, 4).toString()).toBe('PNG');
  const canvas = page.locator('canvas.base');
  const [width, height] = await canvas.evaluate((it: HTMLCanvasElement) => [it.width, it.height]);
  expect(content.readUInt32BE(16)).toBe(width);
  expect(content.readUInt32BE(20)).toBeGreaterThan(height + 56);
});

test('PNG: a long text of the legend ends before the next column', async ({ page }) => {
  const called = (letter: string) => ({
    frames: [{ filename: '/home/me/train.py', line: 42, name: letter.repeat(80) }],
  });
  await openKnown(page, { changed: { 1: called('m'), 3: called('w'), 4: called('n') } });
  await colourBy(page, 'stack');
  const { content } = await saved(page, 'png');
  const plot = await page.locator('canvas.base').evaluate((it: HTMLCanvasElement) => it.height);
  // Below the title (56) and the plot; columns of 300 begin at 16, their texts end 8 before the next one.
  const [before, between] = await page.evaluate(
    async ({ png, top }) => {
      const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes]));
      const ctx = new OffscreenCanvas(image.width, image.height).getContext('2d')!;
      ctx.drawImage(image, 0, 0);
      const drawn = (left: number, width: number): boolean => {
        const pixels = new Uint32Array(ctx.getImageData(left, top, width, image.height - top).data.buffer);
        return pixels.some((one) => one !== pixels[0]);
      };
      return [drawn(316 - 40, 30), drawn(316 - 7, 6)];
    },
    { png: content.toString('base64'), top: 56 + plot },
  );
  expect([before, between]).toEqual([true, false]);
});

test('SVG: lines and text as shapes, the bands inside', async ({ page }) => {
  await openSample(page);
  await colourBy(page, 'stack');
  const { name, content } = await saved(page, 'svg');
  expect(name).toBe('training_run.pickle-device0.svg');
  const found = await page.evaluate((text) => {
    const svg = new DOMParser().parseFromString(text, 'image/svg+xml');
    return {
      error: svg.querySelector('parsererror')?.textContent ?? '',
      texts: [...svg.querySelectorAll('text')].map((one) => one.textContent),
      images: svg.querySelectorAll('image[href^="data:image/png"]').length,
      paths: [...svg.querySelectorAll('g[clip-path] > path')].map(
        (one) => one.getAttribute('d')?.length ?? 0,
      ),
      legend: svg.querySelectorAll('rect[rx]').length,
      sizes: svg.querySelectorAll('text[text-anchor="end"]').length,
      lines: [...svg.querySelectorAll('g > path')].filter((one) =>
        /^M[\d.]+ [\d.]+h[\d.]+$/.test(one.getAttribute('d') ?? ''),
      ).length,
    };
  }, content.toString());
  expect(found.error).toBe('');
  expect(found.texts).toContain('training_run.pickle');
  expect(found.texts).toContain('Peak 2.6 GiB');
  expect(found.texts).toContain('2.0 GiB');
  expect(found.images).toBe(1);
  expect(found.paths.every((length) => length > 50)).toBe(true);
  expect(found.lines).toBe(found.sizes + 1); // one at each size of the ruler, and the axis
  expect(found.legend).toBe(2 + (await page.locator('[data-kind]').count()));
  expect(content.toString()).not.toContain('NaN');
});

/** A pixel of what is on the screen (or paper), by parts of the element's size. */
async function colourOf(page: Page, what: Locator, right: number, down: number): Promise<number[]> {
  const png = (await what.screenshot()).toString('base64');
  return page.evaluate(
    async ({ png, right, down }) => {
      const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes]));
      const ctx = new OffscreenCanvas(image.width, image.height).getContext('2d')!;
      ctx.drawImage(image, 0, 0);
      const at = (size: number, part: number): number => Math.floor((size - 1) * part);
      return [...ctx.getImageData(at(image.width, right), at(image.height, down), 1, 1).data.slice(0, 3)];
    },
    { png, right, down },
  );
}
/** Degrees on the wheel of colours. */
function hueOf([r = 0, g = 0, b = 0]: number[]): number {
  return (Math.atan2(Math.sqrt(3) * (g - b), 2 * r - g - b) * 180) / Math.PI;
}

test('on paper the dark theme is light in the same hues, without waiting for a picture', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await openSample(page);
  await keepDetails(page);
  await colourBy(page, 'stack');
  const swatch = page.locator('[data-kind] svg').nth(1);
  const places = [
    [page.locator('header'), 0.5, 0.05],
    [page.locator('.plot'), 0.002, 0.01],
    [page.locator('gpustrata-regions canvas'), 0.002, 0.5],
    [page.locator('gpustrata-details'), 0.02, 0.02],
  ] as const;
  const hue = hueOf(await colourOf(page, swatch, 0.5, 0.5));
  for (const [what, right, down] of places)
    expect(Math.max(...(await colourOf(page, what, right, down))), String(what)).toBeLessThan(60);
  await page.emulateMedia({ media: 'print' });
  for (const [what, right, down] of places)
    expect(Math.min(...(await colourOf(page, what, right, down))), String(what)).toBeGreaterThan(240);
  const turned = Math.abs(hueOf(await colourOf(page, swatch, 0.5, 0.5)) - hue);
  expect(Math.min(turned, 360 - turned)).toBeLessThan(25);
  await page.emulateMedia({ media: 'screen' });
  for (const [what, right, down] of places)
    expect(Math.max(...(await colourOf(page, what, right, down))), String(what)).toBeLessThan(60);
});

test('on paper State, map and flame graph are as they were drawn, as wide as the paper', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await openSample(page);
  const corner = [0, 1].flatMap((right) => [0, 1].map((down) => [right, down] as const));
  for (const key of ['2', '3', '4']) {
    await page.keyboard.press(key);
    const canvas = page.locator('.main canvas');
    await expect(page.locator('.main [data-settled]')).toBeVisible();
    const [width = 0, height = 0] = await canvas.evaluate((one: HTMLCanvasElement) => [
      one.width,
      one.height,
    ]);
    expect(height, key).toBeGreaterThan(100);
    await page.emulateMedia({ media: 'print' });
    const box = (await canvas.boundingBox())!;
    expect(box.width / box.height, key).toBeCloseTo(width / height, 1);
    const corners = [];
    for (const [right, down] of corner)
      corners.push(Math.min(...(await colourOf(page, canvas, right, down))));
    expect(Math.max(...corners), key).toBeGreaterThan(200);
    for (const control of await page.locator('.main .button, .main select').all())
      await expect(control, key).toBeHidden();
    await page.emulateMedia({ media: 'screen' });
  }
});

test('on paper there are no controls, and the picture is whole', async ({ page }) => {
  await openSample(page);
  await keepDetails(page);
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByLabel('Search and filter blocks')).toBeHidden();
  await expect(page.getByRole('button', { name: 'Keys' })).toBeHidden();
  await expect(page.locator('gpustrata-minimap')).toBeHidden();
  await expect(page.locator('canvas.base')).toBeVisible();
  await expect(page.locator('[data-stat="peak"]')).toBeVisible();
  const plot = (await page.locator('.plot').boundingBox())!;
  const details = (await page.locator('gpustrata-details').boundingBox())!;
  expect(details.y).toBeGreaterThanOrEqual(plot.y + plot.height); // below, not behind
  const pdf = await page.pdf({ format: 'A4', landscape: true });
  expect(pdf.subarray(0, 4).toString()).toBe('%PDF');
});
