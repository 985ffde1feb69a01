// Pictures of the page at an eighth of its size, which a machine's fonts change little, and how far two of them are apart.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';

const folder = join(import.meta.dirname, 'looks');
/** Pixels of the page, each way, that one of a small picture stands for. */
const scale = 8;
/** Steps of 256 by which one channel may differ: text of another font is about as dark, what is missing is not there. */
const channelSteps = 16;
/** Of the small picture, what may differ by more. */
const largestShare = 0.005;

/** A PNG at an eighth, as base64; `drawing` is a page of its own. */
async function smallOf(drawing: Page, png: Buffer): Promise<string> {
  return drawing.evaluate(
    async ({ data, scale }) => {
      const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
      const canvas = document.createElement('canvas');
      canvas.width = Math.round(image.width / scale);
      canvas.height = Math.round(image.height / scale);
      const context = canvas.getContext('2d')!;
      context.imageSmoothingQuality = 'high';
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      return canvas.toDataURL('image/png').split(',')[1]!;
    },
    { data: png.toString('base64'), scale },
  );
}

/** Share of two small pictures whose colours are not alike; 1 where their sizes are not the same. */
async function difference(drawing: Page, one: string, other: string): Promise<number> {
  return drawing.evaluate(
    async ({ pictures, channelSteps }) => {
      const [a, b] = await Promise.all(
        pictures.map(async (data) => {
          const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
          const canvas = new OffscreenCanvas(image.width, image.height);
          const context = canvas.getContext('2d')!;
          context.drawImage(image, 0, 0);
          return context.getImageData(0, 0, image.width, image.height);
        }),
      );
      if (a!.width !== b!.width || a!.height !== b!.height) return 1;
      let different = 0;
      for (let at = 0; at < a!.data.length; at += 4)
        if ([0, 1, 2].some((i) => Math.abs(a!.data[at + i]! - b!.data[at + i]!) > channelSteps))
          different += 1;
      return (different * 4) / a!.data.length;
    },
    { pictures: [one, other], channelSteps },
  );
}

/** Waits until the page stands still, and holds it against the picture `name` of `looks/`. */
export async function expectLook(page: Page, name: string): Promise<void> {
  const drawing = await page.context().newPage();
  let now = '';
  await page.bringToFront();
  await expect
    .poll(
      async () => {
        const before = now;
        now = await smallOf(drawing, await page.screenshot({ animations: 'disabled' }));
        return now === before;
      },
      { intervals: [100, 200, 400] },
    )
    .toBe(true);
  const path = join(folder, `${name}.png`);
  if (process.env.GPUSTRATA_WRITE_LOOKS) writeFileSync(path, Buffer.from(now, 'base64'));
  const share = await difference(drawing, now, readFileSync(path).toString('base64'));
  await drawing.close();
  expect.soft(share, `${name} differs; GPUSTRATA_WRITE_LOOKS=1 writes it anew`).toBeLessThan(largestShare);
}
