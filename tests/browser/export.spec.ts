// The picture as a file, and on paper.
import { readFileSync } from 'node:fs';
import { expect, test, type Page } from '@playwright/test';
import { settledView } from './page.ts';
import { openPage, waitForState } from './support.ts';

async function openSample(page: Page): Promise<void> {
  await openPage(page, '?open=samples/training_run.pickle');
  await waitForState(page, 'ready');
  await settledView(page);
}
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

test('SVG: lines and text as shapes, the bands inside', async ({ page }) => {
  await openSample(page);
  await page.getByLabel('Colour by').selectOption('stack');
  await expect(page.locator('[data-kind]').first()).toHaveAttribute('data-bytes', /\d/);
  await settledView(page);
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
    };
  }, content.toString());
  expect(found.error).toBe('');
  expect(found.texts).toContain('training_run.pickle');
  expect(found.texts).toContain('Peak 2.62 GiB');
  expect(found.texts).toContain('2.0 GiB');
  expect(found.images).toBe(1);
  expect(found.paths.every((length) => length > 50)).toBe(true);
  expect(found.legend).toBe(2 + (await page.locator('[data-kind]').count()));
  expect(content.toString()).not.toContain('NaN');
});

test('on paper there are no controls, and the picture is whole', async ({ page }) => {
  await openSample(page);
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByLabel('Search and filter blocks')).toBeHidden();
  await expect(page.getByRole('button', { name: 'Keys' })).toBeHidden();
  await expect(page.locator('memstrata-minimap')).toBeHidden();
  await expect(page.locator('canvas.base')).toBeVisible();
  await expect(page.locator('[data-stat="peak"]')).toBeVisible();
  const pdf = await page.pdf({ format: 'A4', landscape: true });
  expect(pdf.subarray(0, 4).toString()).toBe('%PDF');
});
